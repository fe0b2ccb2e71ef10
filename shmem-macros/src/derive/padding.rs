//! Whether a struct can have padding.
//!
//! Without parameters the sizes are known, and a constant compares them. With parameters nothing can be evaluated here:
//! the sizes are known only where the type is used, which is too late, since `Pod` lets anyone look at all bytes from
//! then on. So rustc must prove it for all parameters at once. Three facts are enough:
//!
//! 1. Each field is an element, or arrays of elements.
//! 2. All elements have one alignment. Then each field's size is a multiple of it, and so is each offset.
//! 3. The struct is not aligned to more than its fields.
//!
//! What stands in the source proves neither of the first two: equal words need not mean equal types (a constant can depend on
//! the line on which it is asked for). What stands there only tells this module which proof to ask for, and each is one that
//! rustc makes of the types of the final struct; see `emit.rs`.
//!
//! The third is read from the attributes, of which only `repr` can align, and which mean what they say: all of a generic
//! struct are rustc's own (`arguments::macros_among`), so nothing behind the derive adds one, and conditions have been judged when a derive
//! sees them. (An alignment of a type with open parameters is a number that nobody can ask for.)
//!
//! `packed` and `transparent` prove nothing here: of a struct whose parameters are open, rustc tells nobody that it is so.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Generics, Type};

use super::Repr;
use crate::groups::names;

/// What proves that there is no padding.
pub(super) enum Proof {
    /// The sizes of the fields add up to the size of the struct, which has no parameters.
    Sizes,
    /// There is one field at most.
    Single,
    /// The elements are of one type.
    Alike(Vec<Element>),
    /// The elements, none of which depends on a parameter, have one alignment.
    Alignments(Vec<Element>),
}

/// What a field is made of.
pub(super) struct Element {
    pub(super) ty: Type,
    /// In how many arrays it stands, one in the other.
    pub(super) depth: usize,
}

/// Whether it has parameters other than lifetimes.
pub(super) fn is_generic(generics: &Generics) -> bool {
    generics.type_params().next().is_some() || generics.const_params().next().is_some()
}

/// The proof for a struct of `fields`; nothing if there is none.
pub(super) fn proof(generics: &Generics, repr: &Repr, fields: &[Type]) -> Option<Proof> {
    if !is_generic(generics) {
        return Some(Proof::Sizes);
    }
    if repr.aligned {
        return None;
    }
    let elements: Vec<Element> = fields.iter().map(element).collect();
    if elements.len() < 2 {
        return Some(Proof::Single);
    }
    // What is said of `Self` depends on them all.
    let parameters: Vec<Ident> = generics
        .type_params()
        .map(|parameter| parameter.ident.unraw())
        .chain(generics.const_params().map(|parameter| parameter.ident.unraw()))
        .chain([Ident::new("Self", Span::call_site())])
        .collect();
    if elements.iter().all(|element| !mentions(&element.ty, &parameters)) {
        return Some(Proof::Alignments(elements));
    }
    let first = text(&elements[0].ty);
    let is_alike = elements.iter().all(|element| text(&element.ty) == first);
    is_alike.then_some(Proof::Alike(elements))
}

/// `T` of `[[T; N]; M]`.
fn element(field: &Type) -> Element {
    match field {
        Type::Array(array) => {
            let inner = element(&array.elem);
            Element { depth: inner.depth + 1, ..inner }
        }
        Type::Paren(paren) => element(&paren.elem),
        Type::Group(group) => element(&group.elem),
        other => Element { ty: other.clone(), depth: 0 },
    }
}

fn text(tokens: &Type) -> String {
    tokens.to_token_stream().to_string()
}

/// Whether one of `parameters` stands anywhere in the type, or a macro, which could expand to anything.
fn mentions(element: &Type, parameters: &[Ident]) -> bool {
    let is_one = |name: &Ident| parameters.contains(&name.unraw());
    let text = text(element);
    let is_macro = |(at, _): (usize, &str)| {
        text[..at].trim_end().ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    };
    names(element.to_token_stream()).iter().any(is_one) || text.match_indices('!').any(is_macro)
}

#[cfg(test)]
mod tests {
    use syn::{Data, DeriveInput};

    use super::*;

    /// (A struct that `ui-tests` refuses shows what is said; which alignments are equal, rustc knows.)
    #[test]
    fn what_may_depend_on_a_parameter_is_not_proved() {
        for (item, is_proved) in [
            ("struct Alike<T, const N: usize> { first: T, others: [[T; N]; 2] }", true),
            ("struct Single<T> { first: Wrap<T> }", true),
            ("struct Line<const N: usize> { kind: u32, values: [f64; N] }", true),
            (
                "struct Same<const N: usize> { first: <Self as Pick>::Out, others: [<Self as Pick>::Out; N] }",
                true,
            ),
            // A name is the same with `r#`.
            ("struct Raw<T> { first: r#T, second: u64 }", false),
            ("struct Wrapped<T> { first: Wrap<T>, second: u64 }", false),
            ("struct Computed<const N: usize> { first: Buffer<N>, second: u64 }", false),
            ("struct ByMacro<const N: usize> { first: element!(), second: [u64; N] }", false),
            // What `Self` says depends on the parameters.
            ("struct Row<const N: usize> { first: <Self as Pick>::Out, others: [u64; N] }", false),
        ] {
            let parsed: DeriveInput = syn::parse_str(item).unwrap();
            let Data::Struct(data) = parsed.data else { unreachable!() };
            let fields: Vec<Type> = data.fields.into_iter().map(|field| field.ty).collect();
            let is_found = proof(&parsed.generics, &Repr::default(), &fields).is_some();
            assert_eq!(is_found, is_proved, "{item}");
        }
    }
}
