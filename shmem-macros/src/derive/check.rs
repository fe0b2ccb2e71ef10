//! What is required of the struct, as far as syntax can tell.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Generics, Member, Type};

use super::padding::{self, Proof};
use super::parse::Written;
use crate::diag::{self, Errors};

/// A struct, in order.
pub(super) struct Structure {
    pub(super) root: TokenStream,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// The fields whose types rustc must still judge.
    pub(super) fields: Vec<Type>,
    /// All fields, if there is nothing wrong with any.
    pub(super) members: Vec<(Member, Type)>,
    /// What is left to prove about padding.
    pub(super) proof: Proof,
    /// It has a lifetime, or is no struct: it cannot even pretend to be plain data.
    pub(super) hopeless: bool,
}

/// Checks the struct.
pub(super) fn structure(written: Written, errors: &mut Errors) -> Structure {
    let Written { root, name, generics, repr, fields, refused } = written;
    let mut hopeless = refused;
    if !refused && !repr.c && !repr.transparent {
        errors.push(&name, diag::DERIVE_REPR);
    }
    for lifetime in generics.lifetimes() {
        errors.push(lifetime, diag::DERIVE_LIFETIME);
        hopeless = true;
    }
    let members = fields.clone();
    let (good, bad): (Vec<Type>, Vec<Type>) =
        fields.into_iter().map(|(_, field)| field).partition(|field| refusal(&name, field).is_none());
    for field in bad.iter().filter(|_| !hopeless) {
        errors.extend(refusal(&name, field).map(|message| (message, field)));
    }
    let proof = if errors.is_empty() {
        padding::proof(&generics, &repr, &good).unwrap_or_else(|| {
            errors.push(&name, diag::generic_padding(&name.to_string()));
            Proof::Shape
        })
    } else {
        // Sizes of a struct that must change anyway say nothing.
        Proof::Shape
    };
    let members = if errors.is_empty() { members } else { Vec::new() };
    Structure { root, name, generics, fields: good, members, proof, hopeless }
}

/// Why a field can be refused by its looks: addresses, and the two primitive types that have
/// invalid bit patterns.
fn refusal(name: &Ident, field: &Type) -> Option<String> {
    let (name, text) = (name.to_string(), || field.to_token_stream().to_string().replace("& ", "&"));
    match field {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => Some(diag::address_field(&name, &text())),
        Type::Path(path) if path.path.is_ident("bool") || path.path.is_ident("char") => {
            Some(diag::narrow_field(&name, &text()))
        }
        Type::Slice(slice) => Some(diag::unsized_contents(&name, &slice.elem.to_token_stream().to_string())),
        _ => None,
    }
}
