//! `#[derive(Symmetric)]`: the type as written, what is required of it as far as syntax can tell, and the expansion (`emit`).
//!
//! Structs have no parameters: `Pod` lets anyone look at all bytes, so padding must be ruled out where the struct is declared,
//! and the sizes of one with parameters are known only where it is used.

mod emit;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Generics, Member, Type, Visibility};

use crate::arguments::{Arguments, DERIVE};
use crate::diag::{self, Errors};
use crate::groups::names;
use crate::library::{self, Sealed};

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
}

/// (rustc judges what does not belong there.)
fn repr(attributes: &[Attribute]) -> Repr {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("repr"));
    let lists = lists.filter_map(|attribute| attribute.meta.require_list().ok());
    let words: Vec<Ident> = lists.flat_map(|list| names(list.tokens.clone())).collect();
    let says = |word: &str| words.iter().any(|name| name.unraw() == word);
    Repr { c: says("C"), transparent: says("transparent") }
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
    /// It holds words, and is not moved as a whole.
    has_words: bool,
    /// Nothing is wrong with it so far.
    is_good: bool,
    /// It has parameters, or is no struct: it cannot even pretend to be plain data.
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
    if generics.type_params().next().is_some() || generics.const_params().next().is_some() {
        errors.push(&name, diag::generic_struct(&name));
        is_hopeless = true;
    }
    let sealed = library::sealed(&root, said.promise(), errors)?;
    let is_good = errors.is_empty();
    Some(Structure { sealed, name, generics, fields, has_words: words.is_some(), is_good, is_hopeless })
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
