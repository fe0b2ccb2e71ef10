//! The attributes and macros of `shmem-rt`. The library `shmem` re-exports and documents them (`shmem-rt/src/macros.rs`).
//!
//! Macros are syntax only. Each one parses its input, checks the syntax, and emits documented items, in this order. A
//! long stage is a file of its own (`parse`, `check`, `emit`). Meaning lives in traits and constant functions, which are
//! tested without a macro. Expansions name items of two places only: of this library's `::shmem::__private` (or of the
//! path that `crate = ..` gives), and of `::core` and `::std`, such as `::core::option::Option`. Expansions with
//! `unsafe` name the library by `extern crate`, because a program could put another module at `::shmem`.

#![expect(missing_docs, reason = "documented where `shmem` re-exports them")]

mod arguments;
mod derive;
mod entry;
mod errors;
mod library;
mod messages;
mod partitions;
mod strided;
mod symmetric;
mod tokens;

use proc_macro::TokenStream;

use tokens::visible;

#[proc_macro_attribute]
pub fn symmetric(arguments: TokenStream, item: TokenStream) -> TokenStream {
    symmetric::expand(visible(arguments), visible(item)).into()
}

#[proc_macro]
pub fn partitions(body: TokenStream) -> TokenStream {
    partitions::expand(visible(body)).into()
}

#[proc_macro_derive(Symmetric, attributes(shmem))]
pub fn derive_symmetric(item: TokenStream) -> TokenStream {
    derive::expand(visible(item)).into()
}

#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::main(visible(arguments), visible(item)).unwrap_or_else(|refused| refused).into()
}

#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::test(visible(arguments), visible(item)).unwrap_or_else(|refused| refused).into()
}

#[proc_macro_attribute]
pub fn collective(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::collective(visible(arguments), visible(item)).unwrap_or_else(|refused| refused).into()
}

#[proc_macro]
pub fn strided(body: TokenStream) -> TokenStream {
    strided::expand(visible(body)).into()
}
