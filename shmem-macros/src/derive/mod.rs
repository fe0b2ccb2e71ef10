//! `#[derive(Symmetric)]`.

mod check;
mod emit;
mod padding;
mod parse;

use proc_macro2::TokenStream;

use crate::diag::Errors;

/// Expands the derive on `item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let written = parse::structure(item, &mut errors);
    match written.and_then(|written| check::structure(written, &mut errors)) {
        None => errors.into_tokens(),
        Some(structure) => emit::structure(&structure, errors),
    }
}
