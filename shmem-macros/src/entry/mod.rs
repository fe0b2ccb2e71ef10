//! The attributes on functions: `#[shmem::main]`, `#[shmem::test]`, `#[shmem::collective]`.

mod function;
mod phases;
mod test;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::arguments::Arguments;
use crate::diag::{self, Errors};

pub(crate) use test::expand as test;

const MAIN: &str = "`#[shmem::main]`";
const COLLECTIVE: &str = "`#[shmem::collective]`";

/// `#[shmem::main]`: the function becomes the body of `main`, called with the world.
pub(crate) fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut arguments = Arguments::parse(arguments, MAIN, &["threads"], &mut errors);
    let root = arguments.root(&mut errors);
    let level: Option<Ident> = function::level(arguments.take("threads"), &mut errors);
    let mut function = match function::parse(item, MAIN, &mut errors) {
        Ok(function) => function,
        Err(item) => {
            let errors = errors.into_tokens();
            return quote!(#errors #item);
        }
    };
    if function.sig.ident == "main" {
        function::check_entry(&function.sig, MAIN, &mut errors);
    } else {
        errors.push(&function.sig.ident, diag::MAIN_NAME);
    }
    if let Some(level) = level.filter(|_| errors.is_empty()) {
        function::set_level(&mut function.sig, &level, &root, &mut errors);
    }
    let well_formed = errors.is_empty();
    function::rewrite_lets(&mut function, &mut errors);
    phases::refuse_nested(&mut function);
    // With a signature that cannot be called, there is still a `main`, or rustc asks for one.
    let call = if well_formed {
        quote!(#root::__private::main(__body))
    } else {
        quote!(::std::process::ExitCode::FAILURE)
    };
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let unused = (!well_formed).then(|| quote!(#[allow(dead_code)]));
    let body = function::body(&function);
    let errors = errors.into_tokens();
    quote! {
        #errors
        #(#attributes)*
        #visibility fn #name() -> ::std::process::ExitCode {
            #unused
            #body
            #call
        }
    }
}

/// `#[shmem::collective]`: the function stays what it is, with its `#[symmetric] let`s rewritten.
pub(crate) fn collective(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    Arguments::parse(arguments, COLLECTIVE, &[], &mut errors);
    let item = match function::parse(item, COLLECTIVE, &mut errors) {
        Ok(mut function) => {
            function::rewrite_lets(&mut function, &mut errors);
            phases::refuse_nested(&mut function);
            quote!(#function)
        }
        Err(item) => item,
    };
    let errors = errors.into_tokens();
    quote!(#errors #item)
}
