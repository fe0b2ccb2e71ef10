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
    match parse::structure(item, &mut errors) {
        None => errors.into_tokens(),
        Some(written) => {
            let structure = check::structure(written, &mut errors);
            emit::structure(&structure, errors)
        }
    }
}
