//! `partitions!`.

mod check;
mod emit;
mod parse;

use proc_macro2::TokenStream;

use crate::diag::Errors;

/// Expands the body of the macro.
pub(crate) fn expand(body: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let written = parse::partitions(body, &mut errors);
    let partitions = check::partitions(written, &mut errors);
    emit::partitions(&partitions, errors)
}
