//! `#[derive(Symmetric)]`: parses the type, checks its syntax, and expands it (`emit`).
//!
//! Structs must not have generic parameters, because the derive checks at the declaration that there is no padding, and sizes must
//! be known for that.

mod emit;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Generics, Member, Type, Visibility};

use crate::arguments::{Arguments, DERIVE};
use crate::library::{self, Sealed};
use crate::messages::{self, Errors};
use crate::tokens::names;

pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let item = syn::parse2(item).map_err(|error| errors.push_error(error)).ok();
    match item.and_then(|item| checked(item, &mut errors)) {
        None => errors.into_token_stream(),
        Some(structure) => emit::structure(&structure, errors),
    }
}

struct Field {
    visibility: Visibility,
    member: Member,
    ty: Type,
    /// The error about the syntax of the field's type, if there is one. rustc checks the meaning of the type.
    refusal: Option<String>,
}

/// Returns whether `#[repr(..)]` names `C` or `transparent`. (rustc refuses invalid arguments of `repr`.)
fn is_laid_out(attributes: &[Attribute]) -> bool {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("repr"));
    let lists = lists.filter_map(|attribute| attribute.meta.require_list().ok());
    lists.flat_map(|list| names(list.tokens.clone())).any(|name| {
        let name = name.unraw();
        name == "C" || name == "transparent"
    })
}

/// Parses the arguments of the struct's attribute, such as `#[shmem(words, unsafe(crate = my::shmem))]`.
fn said(attributes: &[Attribute], errors: &mut Errors) -> Arguments {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("shmem"));
    let list = attribute.and_then(|attribute| attribute.meta.require_list().ok());
    Arguments::parse(list.map_or_else(TokenStream::new, |list| list.tokens.clone()), DERIVE, errors)
}

struct Structure {
    sealed: Sealed,
    name: Ident,
    generics: Generics,
    fields: Vec<Field>,
    /// Whether the struct may hold words (`Atomic`, `Signal`), so that no operation moves it as a whole.
    has_words: bool,
    /// Whether the macro has found no error in the struct.
    is_good: bool,
    /// Whether no proof can be emitted, because the item has parameters or is not a struct.
    is_hopeless: bool,
}

/// Checks the struct. Returns `None` if this library cannot be named.
fn checked(input: DeriveInput, errors: &mut Errors) -> Option<Structure> {
    let DeriveInput { attrs: attributes, ident: name, generics, data, .. } = input;
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
            errors.push(data.enum_token, messages::derive_on("an enum"));
            Vec::new()
        }
        Data::Union(data) => {
            errors.push(data.union_token, messages::derive_on("a union"));
            Vec::new()
        }
    };
    if !is_hopeless && !is_laid_out(&attributes) {
        errors.push(&name, messages::DERIVE_REPR);
    }
    for lifetime in generics.lifetimes() {
        errors.push(lifetime, messages::DERIVE_LIFETIME);
        is_hopeless = true;
    }
    if !is_hopeless {
        errors.extend(fields.iter().filter_map(|field| Some((field.refusal.clone()?, &field.ty))));
    }
    if generics.type_params().next().is_some() || generics.const_params().next().is_some() {
        errors.push(&name, messages::generic_struct(&name));
        is_hopeless = true;
    }
    let sealed = library::sealed(&root, said.promise(), errors)?;
    let is_good = errors.is_empty();
    Some(Structure { sealed, name, generics, fields, has_words: words.is_some(), is_good, is_hopeless })
}

/// Returns the error text of a field whose type is, by its syntax, an address, a slice, or a primitive type with invalid values.
fn refusal(name: &Ident, field: &Type) -> Option<String> {
    let text = || field.to_token_stream().to_string().replace("& ", "&");
    match field {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => Some(messages::address_field(name, text())),
        Type::Path(path) if path.path.is_ident("bool") || path.path.is_ident("char") => {
            Some(messages::narrow_field(name, &text()))
        }
        Type::Slice(slice) => Some(messages::unsized_contents(name, slice.elem.to_token_stream())),
        _ => None,
    }
}
