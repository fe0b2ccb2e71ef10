//! Parses lists of macro arguments, such as `partition = "fast", pgsize = "2M"`. Finds attributes that may be macros.
//!
//! Every macro of this crate takes such a list. Parsing refuses unknown and repeated names. Callers look values up by name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use shmem_grammar::{check_page_size, parse_size};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::token::Bracket;
use syn::{Attribute, ExprArray, Lit, Meta, Path, Token};

use crate::library;
use crate::messages::{self, Errors};

/// The name of a macro as error texts show it, and the names of the arguments that the macro accepts besides `crate`.
pub(crate) type Owner = (&'static str, &'static [&'static str]);

pub(crate) const COLLECTIVE: Owner = ("`#[shmem::collective]`", &[]);
pub(crate) const DERIVE: Owner = ("`#[shmem(..)]`", &["words"]);
pub(crate) const MAIN: Owner = ("`#[shmem::main]`", &["threads"]);
pub(crate) const PARTITION: Owner = ("a partition", &["id", "size", "kind", "policy", "pgsize"]);
pub(crate) const STRIDED: Owner = ("`strided!`", &["algorithm"]);
pub(crate) const SYMMETRIC: Owner = ("`#[symmetric]`", &["partition", "pgsize"]);
pub(crate) const TEST: Owner = ("`#[shmem::test]`", &["pes", "threads", "env", "timeout"]);

/// Names of arguments that have no value.
const FLAGS: [&str; 1] = ["words"];

pub(crate) enum Value {
    Lit(Lit),
    Path(Path),
    /// A list in parentheses.
    List(TokenStream),
    /// A list in brackets.
    Array(ExprArray),
}

impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Lit(lit) => lit.to_tokens(tokens),
            Self::Path(path) => path.to_tokens(tokens),
            Self::List(list) => list.to_tokens(tokens),
            Self::Array(array) => array.to_tokens(tokens),
        }
    }
}

impl Value {
    /// Returns the value as a name: the text of a string, the tokens of another literal, or an identifier.
    fn name(&self) -> Option<String> {
        match self {
            Self::Lit(Lit::Str(text)) => Some(text.value()),
            Self::Lit(lit) => Some(lit.to_token_stream().to_string()),
            Self::Path(path) => path.get_ident().map(|name| name.unraw().to_string()),
            _ => None,
        }
    }

    /// Reads a name and looks it up with `find`. If `find` returns `None`, the error text is `unknown(name)`.
    pub(crate) fn one_of<T>(
        &self,
        find: impl Fn(&str) -> Option<T>,
        unknown: impl Fn(&str) -> String,
    ) -> Result<T, String> {
        let name = self.name();
        let found = name.as_deref().and_then(find);
        found.ok_or_else(|| match self {
            Self::List(list) => unknown(&format!("({list})")),
            other => unknown(&name.unwrap_or_else(|| other.to_token_stream().to_string())),
        })
    }

    /// Reads a size, such as `"64M"`, `64M`, `"1.5G"` or `4096`, in the syntax that environment variables have. Returns
    /// the bytes and the text. (Without quotes, `64M` is a Rust token: an integer literal with the suffix `M`.)
    pub(crate) fn size(&self) -> Result<(u64, String), String> {
        let text = match self {
            Self::Lit(Lit::Str(text)) => text.value(),
            Self::Lit(Lit::Int(number)) => format!("{}{}", number.base10_digits(), number.suffix()),
            Self::Lit(Lit::Float(number)) => format!("{}{}", number.base10_digits(), number.suffix()),
            _ => return Err(messages::SIZE.to_owned()),
        };
        parse_size(&text).map(|bytes| (bytes, text)).map_err(|fault| fault.to_string())
    }

    pub(crate) fn page_size(&self) -> Result<PageSize, String> {
        let (bytes, text) = self.size()?;
        check_page_size(bytes).map_err(|fault| format!("`{text}`: {fault}"))?;
        Ok(PageSize { bytes, span: self.span() })
    }
}

pub(crate) struct PageSize {
    pub(crate) bytes: u64,
    pub(crate) span: Span,
}

pub(crate) struct Arguments {
    list: Vec<Argument>,
}

pub(crate) struct Argument {
    key: Ident,
    value: Option<Value>,
    /// The span of `unsafe` in `unsafe(crate = path)`.
    promise: Option<Span>,
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if let Some(token) = input.parse::<Option<Token![unsafe]>>()? {
            let list;
            syn::parenthesized!(list in input);
            let argument: Self = list.parse()?;
            if argument.key != "crate" || !list.is_empty() {
                return Err(syn::Error::new_spanned(argument.key, messages::UNSAFE));
            }
            return Ok(Self { promise: Some(token.span), ..argument });
        }
        let key = Ident::parse_any(input)?;
        let value = if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            Some(Value::List(list.parse()?))
        } else if input.parse::<Option<Token![=]>>()?.is_some() {
            match () {
                () if input.is_empty() || input.peek(Token![,]) => None,
                () if input.peek(Lit) => Some(Value::Lit(input.parse()?)),
                () if input.peek(Bracket) => Some(Value::Array(input.parse()?)),
                () => Some(Value::Path(Path::parse_mod_style(input)?)),
            }
        } else {
            None
        };
        Ok(Self { key, value, promise: None })
    }
}

impl Arguments {
    pub(crate) fn parse(tokens: TokenStream, (owner, allowed): Owner, errors: &mut Errors) -> Self {
        let list = |input: ParseStream| {
            let mut arguments: Vec<Argument> = Vec::new();
            while !input.is_empty() {
                if !input.peek(Ident::peek_any) {
                    return Err(input.error(messages::not_an_argument(owner, allowed)));
                }
                arguments.push(input.parse()?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(arguments)
        };
        let mut kept: Vec<Argument> = Vec::new();
        for argument in list.parse2(tokens).unwrap_or_else(|error| {
            errors.push_error(error);
            Vec::new()
        }) {
            let key = argument.key.to_string();
            let refusal = if !allowed.contains(&key.as_str()) && key != "crate" {
                messages::unknown_argument(owner, &key, allowed)
            } else if kept.iter().any(|earlier| earlier.key == argument.key) {
                messages::repeated_argument(&key)
            } else if FLAGS.contains(&key.as_str()) == argument.value.is_none() {
                kept.push(argument);
                continue;
            } else if argument.value.is_none() {
                messages::missing_value(&key)
            } else {
                messages::needless_value(&key)
            };
            errors.push(&argument.key, refusal);
        }
        Self { list: kept }
    }

    pub(crate) fn one(argument: Option<Argument>) -> Self {
        Self { list: argument.into_iter().collect() }
    }

    fn find(&self, key: &str) -> Option<&Argument> {
        self.list.iter().find(|argument| argument.key == key)
    }

    /// Returns the span of an argument without a value, or `None` if the program does not give the argument.
    pub(crate) fn flag(&self, key: &str) -> Option<Span> {
        self.find(key).map(|argument| argument.key.span())
    }

    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.find(key)?.value.as_ref()
    }

    /// Converts the value of an argument with `read`. An error of `read` is reported at the tokens of the value.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        errors: &mut Errors,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.value(key)?;
        read(value).map_err(|refusal| errors.push(value, refusal)).ok()
    }

    /// Returns the span of `unsafe` in `unsafe(crate = path)`, by which the program promises that the path leads to this library.
    pub(crate) fn promise(&self) -> Option<Span> {
        self.find("crate")?.promise
    }

    /// Returns the path of this library: `::shmem`, or the value of `crate = ..`.
    pub(crate) fn root(&self, errors: &mut Errors) -> TokenStream {
        let path = |value: &Value| match value {
            Value::Path(path) => Ok(path.to_token_stream()),
            _ => Err(messages::CRATE.to_owned()),
        };
        if let Some(Argument { key, value: None, .. }) = self.find("crate") {
            errors.push(key, messages::CRATE);
        }
        self.read("crate", errors, path).unwrap_or_else(library::root)
    }
}

// Built-in attributes that change no item. A program cannot redefine these names, unlike `derive` and names of tools (`rustfmt`).
const INERT: &str =
    "allow automatically_derived cfg deny deprecated doc expect forbid must_use non_exhaustive repr warn";

/// Returns the paths of the attributes that may be macros, including those inside `cfg_attr`.
pub(crate) fn macros_among(attributes: &[Attribute]) -> Vec<Path> {
    attributes.iter().flat_map(|attribute| macros_of(&attribute.meta)).collect()
}

fn macros_of(attribute: &Meta) -> Vec<Path> {
    let path = attribute.path();
    if INERT.split(' ').any(|name| path.is_ident(name)) {
        return Vec::new();
    }
    let given = match attribute {
        Meta::List(list) if path.is_ident("cfg_attr") => {
            list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
        }
        _ => None,
    };
    // The first argument of `cfg_attr` is its condition.
    given.map_or_else(|| vec![path.clone()], |given| given.iter().skip(1).flat_map(macros_of).collect())
}
