//! The attributes and macros of `shmem-rt`.

use proc_macro::TokenStream;

/// A symmetric object.
#[proc_macro_attribute]
pub fn symmetric(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// The entry of a program.
#[proc_macro_attribute]
pub fn main(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// A test that runs on several PEs.
#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// A function in which `#[symmetric] let` works.
#[proc_macro_attribute]
pub fn collective(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// Partitions of symmetric memory.
#[proc_macro]
pub fn partitions(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Plain data of the user's own.
#[proc_macro_derive(Symmetric, attributes(symmetric))]
pub fn derive_symmetric(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
