//! Parses, checks and expands `strided!`. Its syntax:
//!
//! ```text
//! strided  := token "," [arguments ";"] place "=" place
//! place    := object ["@" pe] "[" axis,* "]" fields
//! object   := path ("." member)*  |  "(" expression ")"
//! pe       := path ("." member)*  |  "(" expression ")"
//! axis     := ["dyn"] expression
//!           | ["dyn"] range [";" ["dyn"] step [";" ["dyn"] block]]
//! fields   := ("." member)*  |  ("." member)* ".{" member,* "}"
//! ```

mod check;
mod emit;
mod parse;

use proc_macro2::TokenStream;

use crate::messages::Errors;

pub(crate) fn expand(body: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let written = parse::transfer(body, &mut errors);
    match written.and_then(|written| check::transfer(written, &mut errors)) {
        Some(transfer) => emit::transfer(&transfer, errors),
        None => emit::refused(errors),
    }
}
