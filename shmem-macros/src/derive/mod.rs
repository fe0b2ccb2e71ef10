//! `#[derive(Symmetric)]`: the type as written, what is required of it as far as syntax can tell (here, and `padding`), and the
//! expansion (`emit`).

mod emit;
mod padding;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Generics, Member, Path, Type, Visibility};

use crate::arguments::{Arguments, DERIVE, macros_among};
use crate::diag::{self, Errors};
use crate::groups::names;
use crate::library::{self, Sealed};
use padding::Proof;

/// Expands the derive on `item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let item = syn::parse2(item).map_err(|error| errors.push_error(error)).ok();
    match item.and_then(|item| checked(item, &mut errors)) {
        None => errors.into_tokens(),
        Some(structure) => emit::structure(&structure, errors),
    }
}

/// A field, as the derive sees it.
struct Field {
    visibility: Visibility,
    member: Member,
    ty: Type,
    /// Why it is refused by its looks; the others are still to be judged by rustc.
    refusal: Option<String>,
}

/// What `#[repr(..)]` says.
#[derive(Default)]
struct Repr {
    c: bool,
    transparent: bool,
    aligned: bool,
}

/// (rustc judges what does not belong there.)
fn repr(attributes: &[Attribute]) -> Repr {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("repr"));
    let lists = lists.filter_map(|attribute| attribute.meta.require_list().ok());
    let words: Vec<Ident> = lists.flat_map(|list| names(list.tokens.clone())).collect();
    let says = |word: &str| words.iter().any(|name| name.unraw() == word);
    Repr { c: says("C"), transparent: says("transparent"), aligned: says("align") }
}

/// `#[shmem(words, unsafe(crate = my::shmem))]`.
fn said(attributes: &[Attribute], errors: &mut Errors) -> Arguments {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("shmem"));
    let list = attribute.and_then(|attribute| attribute.meta.require_list().ok());
    Arguments::parse(list.map_or_else(TokenStream::new, |list| list.tokens.clone()), DERIVE, errors)
}

/// A struct, in order.
struct Structure {
    sealed: Sealed,
    name: Ident,
    generics: Generics,
    /// All fields.
    fields: Vec<Field>,
    /// What is left to prove about padding.
    proof: Proof,
    /// It holds words, and is not moved as a whole.
    has_words: bool,
    /// Nothing is wrong with it so far.
    is_good: bool,
    /// It has a lifetime, or is no struct: it cannot even pretend to be plain data.
    is_hopeless: bool,
}

/// Checks the struct. Nothing can be said of it without this library.
fn checked(input: DeriveInput, errors: &mut Errors) -> Option<Structure> {
    let DeriveInput { attrs: attributes, ident: name, generics, data, .. } = input;
    let repr = repr(&attributes);
    let said = said(&attributes, errors);
    let (root, words) = (said.root(errors), said.flag("words"));
    let mut is_hopeless = !matches!(data, Data::Struct(_));
    let fields: Vec<Field> = match data {
        Data::Struct(data) => data
            .fields
            .members()
            .zip(&data.fields)
            .map(|(member, field)| Field {
                visibility: field.vis.clone(),
                member,
                ty: field.ty.clone(),
                refusal: refusal(&name, &field.ty),
            })
            .collect(),
        Data::Enum(data) => {
            errors.push(data.enum_token, diag::derive_on("an enum"));
            Vec::new()
        }
        Data::Union(data) => {
            errors.push(data.union_token, diag::derive_on("a union"));
            Vec::new()
        }
    };
    if !is_hopeless && !repr.c && !repr.transparent {
        errors.push(&name, diag::DERIVE_REPR);
    }
    for lifetime in generics.lifetimes() {
        errors.push(lifetime, diag::DERIVE_LIFETIME);
        is_hopeless = true;
    }
    if !is_hopeless {
        errors.extend(fields.iter().filter_map(|field| Some((field.refusal.clone()?, &field.ty))));
    }
    if let Some(span) = words.filter(|_| padding::is_generic(&generics)) {
        errors.push_error(syn::Error::new(span, diag::generic_words(&name)));
        is_hopeless = true;
    }
    if padding::is_generic(&generics) && !is_hopeless {
        // Nothing behind the derive may change its `repr`. (Without parameters, sizes are compared.)
        let refused = |path: &Path| diag::attribute_of_generic(diag::readable(path), &name);
        // Its own: rustc takes it for nothing else there.
        let others = macros_among(&attributes).into_iter().filter(|path| !path.is_ident("shmem"));
        errors.extend(others.map(|path| (refused(&path), path)));
    }
    let proof = if errors.is_empty() {
        padding::proof(&generics, &repr, &fields.iter().map(|field| field.ty.clone()).collect::<Vec<_>>())
            .unwrap_or_else(|| {
                let is_aligned = repr.aligned;
                let refusal =
                    if is_aligned { diag::aligned_generic(&name) } else { diag::generic_padding(&name) };
                errors.push(&name, refusal);
                Proof::Single
            })
    } else {
        // Sizes of a struct that must change anyway say nothing.
        Proof::Single
    };
    let sealed = library::sealed(&root, said.promise(), errors)?;
    let is_good = errors.is_empty();
    Some(Structure {
        sealed,
        name,
        generics,
        fields,
        proof,
        has_words: words.is_some(),
        is_good,
        is_hopeless,
    })
}

/// Why a field can be refused by its looks: addresses, and the two primitive types that have
/// invalid bit patterns.
fn refusal(name: &Ident, field: &Type) -> Option<String> {
    let text = || field.to_token_stream().to_string().replace("& ", "&");
    match field {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => Some(diag::address_field(name, text())),
        Type::Path(path) if path.path.is_ident("bool") || path.path.is_ident("char") => {
            Some(diag::narrow_field(name, &text()))
        }
        Type::Slice(slice) => Some(diag::unsized_contents(name, slice.elem.to_token_stream())),
        _ => None,
    }
}
