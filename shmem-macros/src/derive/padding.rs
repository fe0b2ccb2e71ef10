//! Whether a struct can have padding.
//!
//! Without parameters the sizes are known, and a constant compares them. With parameters nothing
//! can be evaluated here: the sizes are known only where the type is used, which is too late, since
//! `Pod` lets anyone look at all bytes from then on. So a generic struct must have a shape that has
//! no padding whatever its parameters are: all fields are built, through arrays, from elements of
//! one alignment. Then each field's size is a multiple of that alignment, and so is each offset.
//!
//! Elements without parameters are compared by rustc. The others are compared by their tokens, of which
//! two kinds do not mean the same wherever they stand: calls of macros, and `$crate`.

use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Generics, Ident, Type};

use super::parse::Repr;

/// What proves that there is no padding.
pub(super) enum Proof {
    /// Nothing is left to prove.
    Shape,
    /// The sizes of the fields add up to the size of the struct.
    Sizes(Vec<Type>),
    /// The elements, none of which depends on a parameter, have one alignment.
    Alignments(Vec<Type>),
}

/// The proof for a struct of `fields`; nothing if there is none.
pub(super) fn proof(generics: &Generics, repr: &Repr, fields: &[Type]) -> Option<Proof> {
    let is_generic = generics.type_params().next().is_some() || generics.const_params().next().is_some();
    if !is_generic {
        return Some(Proof::Sizes(fields.to_vec()));
    }
    if repr.transparent || (repr.packed && !repr.aligned) {
        return Some(Proof::Shape);
    }
    if repr.aligned {
        return None;
    }
    let elements: Vec<&Type> = fields.iter().map(element).collect();
    if elements.len() < 2 {
        return Some(Proof::Shape);
    }
    let parameters: Vec<Ident> = generics
        .type_params()
        .map(|parameter| parameter.ident.clone())
        .chain(generics.const_params().map(|parameter| parameter.ident.clone()))
        .collect();
    if elements.iter().all(|element| !mentions(element, &parameters)) {
        return Some(Proof::Alignments(elements.into_iter().cloned().collect()));
    }
    let first = elements[0];
    let alike = elements.iter().all(|element| text(element) == text(first));
    let ambiguous = mentions(first, &[]) || text(first).contains("$crate");
    (alike && !ambiguous).then_some(Proof::Shape)
}

/// `T` of `[[T; N]; M]`.
fn element(field: &Type) -> &Type {
    match field {
        Type::Array(array) => element(&array.elem),
        Type::Paren(paren) => element(&paren.elem),
        Type::Group(group) => element(&group.elem),
        other => other,
    }
}

fn text(tokens: &Type) -> String {
    tokens.to_token_stream().to_string()
}

/// Whether one of `names` stands anywhere in the type.
fn mentions(element: &Type, names: &[Ident]) -> bool {
    struct Search<'a> {
        names: &'a [Ident],
        found: bool,
    }
    impl VisitMut for Search<'_> {
        fn visit_ident_mut(&mut self, name: &mut Ident) {
            self.found |= self.names.contains(name);
        }

        // A macro could expand to anything.
        fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
            self.found = true;
            visit_mut::visit_macro_mut(self, call);
        }
    }
    let mut search = Search { names, found: false };
    search.visit_type_mut(&mut element.clone());
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;
    use syn::{ItemStruct, parse_quote};

    fn of(item: &ItemStruct, repr: Repr) -> Option<Proof> {
        let fields: Vec<Type> = item.fields.iter().map(|field| field.ty.clone()).collect();
        proof(&item.generics, &repr, &fields)
    }

    fn c() -> Repr {
        Repr { c: true, ..Repr::default() }
    }

    #[test]
    fn one_element_type_is_a_proof() {
        let row: ItemStruct = parse_quote!(
            struct Row<T, const N: usize> {
                head: T,
                rest: [[T; N]; 3],
            }
        );
        assert!(matches!(of(&row, c()), Some(Proof::Shape)));
    }

    #[test]
    fn lengths_may_be_parameters_if_alignments_agree() {
        let row: ItemStruct = parse_quote!(
            struct Row<const N: usize> {
                head: u64,
                rest: [f64; N],
            }
        );
        assert!(matches!(of(&row, c()), Some(Proof::Alignments(elements)) if elements.len() == 2));
    }

    #[test]
    fn parameters_of_different_fields_are_no_proof() {
        for item in [
            parse_quote!(
                struct Pair<T, U> {
                    a: T,
                    b: U,
                }
            ),
            parse_quote!(
                struct Pair<T> {
                    a: T,
                    b: u64,
                }
            ),
            parse_quote!(
                struct Pair<T> {
                    a: Wrap<T>,
                    b: u64,
                }
            ),
            parse_quote!(
                struct Pair<const N: usize> {
                    a: Buffer<{ N + 1 }>,
                    b: u64,
                }
            ),
            parse_quote!(
                struct Pair<T> {
                    a: element!(),
                    b: u64,
                }
            ),
        ] {
            let item: ItemStruct = item;
            assert!(of(&item, c()).is_none(), "{}", quote!(#item));
            let aligned = Repr { c: true, aligned: true, ..Repr::default() };
            assert!(of(&item, aligned).is_none());
            assert!(matches!(of(&item, Repr { packed: true, ..c() }), Some(Proof::Shape)));
        }
    }

    #[test]
    fn equal_tokens_that_may_mean_different_types_are_no_proof() {
        let row: ItemStruct = parse_quote!(
            struct Row<const N: usize> {
                head: element!(),
                rest: [element!(); N],
            }
        );
        assert!(of(&row, c()).is_none());
        // What rustc can compare, it does.
        let row: ItemStruct = parse_quote!(
            struct Row<const N: usize> {
                head: Element,
                rest: [Element; N],
            }
        );
        assert!(matches!(of(&row, c()), Some(Proof::Alignments(elements)) if elements.len() == 2));
    }

    #[test]
    fn without_parameters_sizes_are_compared() {
        let pair: ItemStruct = parse_quote!(
            struct Pair {
                a: u64,
                b: u32,
            }
        );
        assert!(matches!(of(&pair, c()), Some(Proof::Sizes(fields)) if fields.len() == 2));
    }
}
