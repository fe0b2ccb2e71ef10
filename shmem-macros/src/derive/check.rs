//! What is required of the struct, as far as syntax can tell.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Generics, Path, Type};

use super::padding::{self, Proof};
use super::parse::{Field, Written};
use crate::arguments::{self, Sealed};
use crate::diag::{self, Errors};
use crate::inert;

/// A struct, in order.
pub(super) struct Structure {
    pub(super) sealed: Sealed,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// All fields.
    pub(super) fields: Vec<Field>,
    /// Which of them are refused by their looks: the others are still to be judged by rustc.
    pub(super) refused: Vec<bool>,
    /// What is left to prove about padding.
    pub(super) proof: Proof,
    /// It holds words, and is not moved as a whole.
    pub(super) has_words: bool,
    /// Nothing is wrong with it so far.
    pub(super) is_good: bool,
    /// It has a lifetime, or is no struct: it cannot even pretend to be plain data.
    pub(super) is_hopeless: bool,
}

/// Checks the struct. Nothing can be said of it without this library.
pub(super) fn structure(written: Written, errors: &mut Errors) -> Option<Structure> {
    let Written { root, promise, name, generics, repr, words, attributes, fields, refused: mut is_hopeless } =
        written;
    if !is_hopeless && !repr.c && !repr.transparent {
        errors.push(&name, diag::DERIVE_REPR);
    }
    for lifetime in generics.lifetimes() {
        errors.push(lifetime, diag::DERIVE_LIFETIME);
        is_hopeless = true;
    }
    let refusals: Vec<Option<String>> = fields.iter().map(|field| refusal(&name, &field.ty)).collect();
    if !is_hopeless {
        let said = refusals.iter().zip(&fields);
        errors.extend(said.filter_map(|(refusal, field)| Some((refusal.clone()?, &field.ty))));
    }
    if let Some(span) = words.filter(|_| padding::is_generic(&generics)) {
        errors.push_error(syn::Error::new(span, diag::generic_words(&name.to_string())));
        is_hopeless = true;
    }
    if padding::is_generic(&generics) && !is_hopeless {
        // Nothing behind the derive may change its `repr`. (Without parameters, sizes are compared.)
        let said = |path: &Path| diag::attribute_of_generic(&diag::path(path), &name.to_string());
        // Its own: rustc takes it for nothing else there.
        let others = inert::others(&attributes).into_iter().filter(|path| !path.is_ident("shmem"));
        errors.extend(others.map(|path| (said(&path), path)));
    }
    let proof = if errors.is_empty() {
        padding::proof(&generics, &repr, &fields.iter().map(|field| field.ty.clone()).collect::<Vec<_>>())
            .unwrap_or_else(|| {
                let said = if repr.aligned { diag::aligned_generic } else { diag::generic_padding };
                errors.push(&name, said(&name.to_string()));
                Proof::Single
            })
    } else {
        // Sizes of a struct that must change anyway say nothing.
        Proof::Single
    };
    let refused = refusals.iter().map(Option::is_some).collect();
    let sealed = arguments::sealed(&root, promise, errors)?;
    let is_good = errors.is_empty();
    Some(Structure {
        sealed,
        name,
        generics,
        fields,
        refused,
        proof,
        has_words: words.is_some(),
        is_good,
        is_hopeless,
    })
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
