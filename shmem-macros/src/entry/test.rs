//! `#[shmem::test]`: the function becomes a test that runs on several PEs.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Lit, LitStr, Token};

use super::function;
use crate::arguments::{Arguments, Value};
use crate::diag::{self, Errors};

const OWNER: &str = "`#[shmem::test]`";

/// Expands the attribute with `arguments` on `item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut arguments = Arguments::parse(arguments, OWNER, &["pes", "threads", "env"], &mut errors);
    let root = arguments.root(&mut errors);
    let pes = arguments.take("pes").map_or(1, |value| pes(value, &mut errors));
    let variables = arguments.take("env").map_or_else(Vec::new, |value| environment(value, &mut errors));
    let level: Option<Ident> = function::level(arguments.take("threads"), &mut errors);
    let mut function = match function::parse(item, OWNER, &mut errors) {
        Ok(function) => function,
        Err(item) => {
            let errors = errors.into_tokens();
            return quote!(#errors #item);
        }
    };
    function::check_entry(&function.sig, OWNER, &mut errors);
    if let Some(level) = level.filter(|_| errors.is_empty()) {
        function::set_level(&mut function.sig, &level, &root, &mut errors);
    }
    let well_formed = errors.is_empty();
    function::rewrite_lets(&mut function, &mut errors);
    let errors = errors.into_tokens();
    if !well_formed {
        return quote!(#errors #[allow(dead_code)] #function);
    }
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let path = format!("::{name}");
    let variables = variables.iter().map(|(key, value)| quote!((#key, #value)));
    let body = function::body(&function);
    quote! {
        #errors
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() {
            #body
            #root::__private::test(
                ::core::concat!(::core::module_path!(), #path), #pes, &[#(#variables),*], __body,
            )
        }
    }
}

fn pes(value: Value, errors: &mut Errors) -> usize {
    let pes = match &value {
        Value::Lit(Lit::Int(number)) => number.base10_parse().ok().filter(|pes| *pes > 0),
        _ => None,
    };
    pes.unwrap_or_else(|| {
        errors.push(value, diag::PES);
        1
    })
}

/// The pairs of `env("NAME" = "value", ..)`.
fn environment(value: Value, errors: &mut Errors) -> Vec<(LitStr, LitStr)> {
    let pair = |input: ParseStream| {
        let key = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((key, input.parse()?))
    };
    let list = |input: ParseStream| Punctuated::<_, Token![,]>::parse_terminated_with(input, pair);
    match &value {
        Value::List(tokens) => match list.parse2(tokens.clone()) {
            Ok(pairs) => pairs.into_iter().collect(),
            Err(error) => {
                errors.push_error(syn::Error::new(error.span(), diag::ENV));
                Vec::new()
            }
        },
        _ => {
            errors.push(value, diag::ENV);
            Vec::new()
        }
    }
}
