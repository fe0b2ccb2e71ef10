//! `#[shmem::test]`: the function becomes a test that runs on several PEs.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Lit, LitStr, Meta, MetaNameValue, Token};

use super::function;
use crate::arguments::{Arguments, TEST, Value};
use crate::messages::{self, Errors};
use crate::tokens::option;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, TokenStream> {
    let mut errors = Errors::default();
    let arguments = Arguments::parse(arguments, TEST, &mut errors);
    let root = arguments.root(&mut errors);
    let pes = arguments.read("pes", &mut errors, pes).unwrap_or(Pes::One(1));
    let limit = arguments.read("timeout", &mut errors, timeout);
    let variables = arguments.read("env", &mut errors, environment).unwrap_or_default();
    let (mut function, can_be_called) = function::entry(item, TEST, &arguments, &root, &mut errors)?;
    let panics = should_panic(&mut function.attrs);
    if !can_be_called {
        return Ok(quote!(#errors #[allow(dead_code)] #function));
    }
    let each = matches!(pes, Pes::Each(_));
    // With several PE counts, the function is emitted beside its tests, which copy only its `cfg` and `ignore` attributes.
    let of_tests = |attribute: &Attribute| !each || attribute.path().is_ident("cfg") || ignores(attribute);
    let attributes: Vec<_> = function.attrs.iter().filter(|attribute| of_tests(attribute)).cloned().collect();
    let (visibility, name) = (function.vis.clone(), function.sig.ident.clone());
    let variables = variables.iter().map(|(key, value)| quote!((#key, #value)));
    let variables = quote!(&[#(#variables),*]);
    let limit = option(limit.map(|limit| quote!(::core::time::Duration::from_millis(#limit))));
    let test = |name: &Ident, pes: usize, body: &TokenStream, run: TokenStream| {
        let path = format!("::{name}");
        quote! {
            #[::core::prelude::v1::test]
            #(#attributes)*
            #visibility fn #name() {
                #body
                #root::__private::test(
                    ::core::concat!(::core::module_path!(), #path), #pes, #limit, #variables, #panics,
                    #run,
                )
            }
        }
    };
    Ok(match pes {
        Pes::One(pes) => {
            let test = test(&name, pes, &function::body(&function), quote!(__body));
            quote!(#errors #test)
        }
        Pes::Each(all) => {
            let tests = all.into_iter().map(|pes| {
                let numbered = format_ident!("{name}_on_{pes}");
                test(&numbered, pes, &TokenStream::new(), quote!(#name))
            });
            let tests = quote!(#(#tests)*);
            function.attrs.retain(|attribute| !ignores(attribute));
            quote!(#errors #[cfg(test)] #function #tests)
        }
    })
}

/// Returns whether the attribute is `ignore`, or a `cfg_attr` that contains `ignore`.
fn ignores(attribute: &Attribute) -> bool {
    attribute.path().is_ident("ignore")
        || attribute.path().is_ident("cfg_attr")
            && attribute
                .meta
                .to_token_stream()
                .to_string()
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == "ignore")
}

enum Pes {
    One(usize),
    /// One test for each number of PEs. The name of the test contains the number.
    Each(BTreeSet<usize>),
}

/// Removes `#[should_panic]`, and returns its expected text as an `Option`'s tokens. Leaves a malformed attribute for rustc to
/// report.
fn should_panic(attributes: &mut Vec<Attribute>) -> TokenStream {
    let found = attributes.iter().enumerate().find_map(|(at, attribute)| Some((at, expected(attribute)?)));
    option(found.map(|(at, expected)| {
        attributes.remove(at);
        expected
    }))
}

/// Returns the text in `#[should_panic]`, `#[should_panic = ".."]` or `#[should_panic(expected = "..")]`.
fn expected(attribute: &Attribute) -> Option<LitStr> {
    if !attribute.path().is_ident("should_panic") {
        return None;
    }
    match &attribute.meta {
        Meta::Path(path) => Some(LitStr::new("", path.span())),
        Meta::NameValue(pair) => syn::parse2(pair.value.to_token_stream()).ok(),
        Meta::List(list) => {
            let pair: MetaNameValue =
                list.parse_args().ok().filter(|pair: &MetaNameValue| pair.path.is_ident("expected"))?;
            syn::parse2(pair.value.to_token_stream()).ok()
        }
    }
}

fn pes(value: &Value) -> Result<Pes, String> {
    let number = |lit: &Lit| match lit {
        Lit::Int(number) => number.base10_parse().ok().filter(|pes| *pes > 0),
        _ => None,
    };
    let element = |expr: &Expr| match expr {
        Expr::Lit(lit) => number(&lit.lit),
        _ => None,
    };
    let pes = match value {
        Value::Lit(lit) => number(lit).map(Pes::One),
        Value::Array(array) if !array.elems.is_empty() => {
            let numbers: Option<BTreeSet<_>> = array.elems.iter().map(element).collect();
            numbers.filter(|numbers| numbers.len() == array.elems.len()).map(Pes::Each)
        }
        _ => None,
    };
    pes.ok_or_else(|| messages::PES.to_owned())
}

/// Returns the milliseconds of `timeout`, whose value is in seconds, such as `30` or `0.5`.
fn timeout(value: &Value) -> Result<u64, String> {
    let seconds = match value {
        Value::Lit(Lit::Int(number)) if number.suffix().is_empty() => number.base10_parse::<f64>().ok(),
        Value::Lit(Lit::Float(number)) if number.suffix().is_empty() => number.base10_parse::<f64>().ok(),
        _ => None,
    };
    let limit = seconds.map(|seconds| (seconds * 1000.0).ceil()).filter(|limit| (1.0..1e15).contains(limit));
    limit.map(|limit| limit as u64).ok_or_else(|| messages::TIMEOUT.to_owned())
}

/// Returns the pairs of `env("NAME" = "value", ..)`.
fn environment(value: &Value) -> Result<Vec<(LitStr, LitStr)>, String> {
    let pair = |input: ParseStream| {
        let key = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((key, input.parse()?))
    };
    let list = |input: ParseStream| Punctuated::<_, Token![,]>::parse_terminated_with(input, pair);
    let pairs = match value {
        Value::List(tokens) => list.parse2(tokens.clone()).ok(),
        _ => None,
    };
    pairs.map(|pairs| pairs.into_iter().collect()).ok_or_else(|| messages::ENV.to_owned())
}
