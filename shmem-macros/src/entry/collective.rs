//! `#[shmem::collective]`: the function stays what it is, with its `#[symmetric] let`s rewritten.

use proc_macro2::TokenStream;
use quote::quote;

use super::{function, phases};
use crate::arguments::Arguments;
use crate::diag::Errors;

const OWNER: &str = "`#[shmem::collective]`";

/// Expands the attribute with `arguments` on `item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    Arguments::parse(arguments, OWNER, &[], &mut errors);
    let item = match function::parse(item, OWNER, &mut errors) {
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
