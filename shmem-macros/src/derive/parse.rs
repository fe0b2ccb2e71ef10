//! The type behind `#[derive(Symmetric)]`, as written.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Data, DeriveInput, Generics, Member, Type};

use crate::arguments::Arguments;
use crate::diag::{self, Errors};

/// A struct, or what the derive was wrongly put on.
pub(super) struct Written {
    /// The path of this library.
    pub(super) root: TokenStream,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    pub(super) repr: Repr,
    pub(super) fields: Vec<(Member, Type)>,
    /// It is an enum or a union, which was reported.
    pub(super) refused: bool,
}

/// What `#[repr(..)]` says.
#[derive(Default)]
pub(super) struct Repr {
    pub(super) c: bool,
    pub(super) transparent: bool,
    /// To one byte: `packed(2)` can still leave a byte between two fields.
    pub(super) packed: bool,
    pub(super) aligned: bool,
}

/// Reads the type.
pub(super) fn structure(item: TokenStream, errors: &mut Errors) -> Option<Written> {
    let input: DeriveInput = syn::parse2(item).map_err(|error| errors.push_error(error)).ok()?;
    let repr = repr(&input.attrs, errors);
    let root = root(&input.attrs, errors);
    let mut refused = true;
    let fields = match input.data {
        Data::Struct(data) => {
            refused = false;
            data.fields.members().zip(data.fields.iter().map(|field| field.ty.clone())).collect()
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
    Some(Written { root, name: input.ident, generics: input.generics, repr, fields, refused })
}

fn repr(attributes: &[Attribute], errors: &mut Errors) -> Repr {
    let mut repr = Repr::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let read = attribute.parse_nested_meta(|meta| {
            let mut argument = String::new();
            if meta.input.peek(syn::token::Paren) {
                let list;
                syn::parenthesized!(list in meta.input);
                argument = list.parse::<TokenStream>()?.to_string();
            }
            match meta.path.to_token_stream().to_string().as_str() {
                "C" => repr.c = true,
                "transparent" => repr.transparent = true,
                "packed" => repr.packed = matches!(argument.as_str(), "" | "1"),
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

/// `#[shmem(crate = my::shmem)]`.
fn root(attributes: &[Attribute], errors: &mut Errors) -> TokenStream {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("shmem"));
    let list = attribute.and_then(|attribute| attribute.meta.require_list().ok());
    let tokens = list.map_or_else(TokenStream::new, |list| list.tokens.clone());
    Arguments::parse(tokens, "`#[shmem(..)]`", &[], errors).root(errors)
}
