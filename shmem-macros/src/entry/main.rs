//! `#[shmem::main]`: the function becomes the body of `main`, called with the world.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{function, phases};
use crate::arguments::Arguments;
use crate::diag::{self, Errors};

const OWNER: &str = "`#[shmem::main]`";

/// Expands the attribute with `arguments` on `item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut arguments = Arguments::parse(arguments, OWNER, &["threads"], &mut errors);
    let root = arguments.root(&mut errors);
    let level: Option<Ident> = function::level(arguments.take("threads"), &mut errors);
    let mut function = match function::parse(item, OWNER, &mut errors) {
        Ok(function) => function,
        Err(item) => {
            let errors = errors.into_tokens();
            return quote!(#errors #item);
        }
    };
    if function.sig.ident == "main" {
        function::check_entry(&function.sig, OWNER, &mut errors);
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
