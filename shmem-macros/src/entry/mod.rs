//! The attributes on functions: `#[shmem::main]`, `#[shmem::test]`, `#[shmem::collective]`.

mod function;
mod phases;
mod test;

use proc_macro2::TokenStream;
use quote::quote;

use crate::arguments::{Arguments, COLLECTIVE, MAIN};
use crate::messages::Errors;

pub(crate) use test::expand as test;

/// `#[shmem::main]`: the function becomes the body of `main`, called with the world.
pub(crate) fn main(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, TokenStream> {
    let mut errors = Errors::default();
    let arguments = Arguments::parse(arguments, MAIN, &mut errors);
    let root = arguments.root(&mut errors);
    let (function, can_be_called) = function::entry(item, MAIN, &arguments, &root, &mut errors)?;
    // `main` is emitted even if the function cannot be called, because rustc would report a missing `main` as a second error.
    let call = if can_be_called {
        quote!(#root::__private::main(__body))
    } else {
        quote!(::std::process::ExitCode::FAILURE)
    };
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let unused = (!can_be_called).then(|| quote!(#[allow(dead_code)]));
    let body = function::body(&function);
    Ok(quote! {
        #errors
        #(#attributes)*
        #visibility fn #name() -> ::std::process::ExitCode {
            #unused
            #body
            #call
        }
    })
}

/// `#[shmem::collective]`: emits the function with each `#[symmetric] let` rewritten, and otherwise unchanged.
pub(crate) fn collective(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, TokenStream> {
    let mut errors = Errors::default();
    Arguments::parse(arguments, COLLECTIVE, &mut errors);
    let mut function = function::parse(item, COLLECTIVE.0, &mut errors)?;
    function::rewrite_lets(&mut function, &mut errors);
    phases::refuse_nested(&mut function);
    Ok(quote!(#errors #function))
}
