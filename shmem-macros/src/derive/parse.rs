//! The type behind `#[derive(Symmetric)]`, as written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Data, DeriveInput, Generics, Member, Type, Visibility};

use crate::arguments::Arguments;
use crate::diag::{self, Errors};

/// A struct, or what the derive was wrongly put on.
pub(super) struct Written {
    /// The path of this library.
    pub(super) root: TokenStream,
    /// Where it is promised that this is its path.
    pub(super) promise: Option<Span>,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    pub(super) repr: Repr,
    /// Where `#[shmem(words)]` says that it holds words.
    pub(super) words: Option<Span>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) fields: Vec<Field>,
    /// It is an enum or a union, which was reported.
    pub(super) refused: bool,
}

/// A field, as the derive sees it.
pub(super) struct Field {
    pub(super) visibility: Visibility,
    pub(super) member: Member,
    pub(super) ty: Type,
}

/// What `#[repr(..)]` says.
#[derive(Default)]
pub(super) struct Repr {
    pub(super) c: bool,
    pub(super) transparent: bool,
    pub(super) aligned: bool,
}

/// Reads the type.
pub(super) fn structure(item: TokenStream, errors: &mut Errors) -> Option<Written> {
    let input: DeriveInput = syn::parse2(item).map_err(|error| errors.push_error(error)).ok()?;
    let repr = repr(&input.attrs, errors);
    let Said { root, promise, words } = said(&input.attrs, errors);
    let mut refused = true;
    let fields = match input.data {
        Data::Struct(data) => {
            refused = false;
            let field = |(member, field): (Member, &syn::Field)| Field {
                visibility: field.vis.clone(),
                member,
                ty: field.ty.clone(),
            };
            data.fields.members().zip(&data.fields).map(field).collect()
        }
        Data::Enum(data) => {
            errors.push(data.enum_token, diag::derive_on("an enum"));
            Vec::new()
        }
        Data::Union(data) => {
            errors.push(data.union_token, diag::derive_on("a union"));
            Vec::new()
        }
    };
    let attributes = input.attrs;
    Some(Written {
        root,
        promise,
        name: input.ident,
        generics: input.generics,
        repr,
        words,
        attributes,
        fields,
        refused,
    })
}

fn repr(attributes: &[Attribute], errors: &mut Errors) -> Repr {
    let mut repr = Repr::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let read = attribute.parse_nested_meta(|meta| {
            if meta.input.peek(syn::token::Paren) {
                let list;
                syn::parenthesized!(list in meta.input);
                list.parse::<TokenStream>()?;
            }
            match meta.path.to_token_stream().to_string().trim_start_matches("r#") {
                "C" => repr.c = true,
                "transparent" => repr.transparent = true,
                "align" => repr.aligned = true,
                // rustc judges what does not belong here.
                _ => {}
            }
            Ok(())
        });
        if let Err(error) = read {
            errors.push_error(error);
        }
    }
    repr
}

/// What `#[shmem(..)]` says.
struct Said {
    root: TokenStream,
    promise: Option<Span>,
    words: Option<Span>,
}

/// `#[shmem(words, unsafe(crate = my::shmem))]`.
fn said(attributes: &[Attribute], errors: &mut Errors) -> Said {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("shmem"));
    let list = attribute.and_then(|attribute| attribute.meta.require_list().ok());
    let tokens = list.map_or_else(TokenStream::new, |list| list.tokens.clone());
    let mut arguments = Arguments::parse(tokens, "`#[shmem(..)]`", &["words"], errors);
    Said { root: arguments.root(errors), promise: arguments.promise(), words: arguments.flag("words") }
}
