//! Lists of arguments: `partition = "fast", pgsize = "2M"`.
//!
//! Every macro of this crate takes such a list. Unknown and repeated names are refused here, with
//! the names that are allowed; what remains is taken out by name.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Lit, Path, Token};

use crate::diag::{self, Errors};

/// What stands behind the name of an argument.
pub(crate) enum Value {
    /// A literal.
    Lit(Lit),
    /// A name or a path.
    Path(Path),
    /// A list in parentheses.
    List(TokenStream),
}

impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Lit(lit) => lit.to_tokens(tokens),
            Self::Path(path) => path.to_tokens(tokens),
            Self::List(list) => list.to_tokens(tokens),
        }
    }
}

impl Value {
    /// The text, if it is a string or one plain name.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Self::Lit(Lit::Str(text)) => Some(text.value()),
            Self::Path(path) => path.get_ident().map(|name| name.unraw().to_string()),
            _ => None,
        }
    }
}

/// The arguments of one macro.
pub(crate) struct Arguments(Vec<Argument>);

struct Argument {
    key: Ident,
    value: Option<Value>,
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let key = Ident::parse_any(input)?;
        if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            return Ok(Self { key, value: Some(Value::List(list.parse()?)) });
        }
        if !input.peek(Token![=]) {
            return Ok(Self { key, value: None });
        }
        input.parse::<Token![=]>()?;
        let value = match () {
            () if input.is_empty() || input.peek(Token![,]) => None,
            () if input.peek(Lit) => Some(Value::Lit(input.parse()?)),
            () => Some(Value::Path(Path::parse_mod_style(input)?)),
        };
        Ok(Self { key, value })
    }
}

impl Arguments {
    /// Reads the arguments of `owner`, which takes those in `allowed` (and `crate`).
    pub(crate) fn parse(tokens: TokenStream, owner: &str, allowed: &[&str], errors: &mut Errors) -> Self {
        let list = |input: ParseStream| {
            let mut arguments: Vec<Argument> = Vec::new();
            while !input.is_empty() {
                if !input.peek(Ident::peek_any) {
                    return Err(input.error(diag::not_an_argument(owner, allowed)));
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
            if !allowed.contains(&key.as_str()) && key != "crate" {
                errors.push(&argument.key, diag::unknown_argument(owner, &key, allowed));
            } else if kept.iter().any(|earlier| earlier.key == argument.key) {
                errors.push(&argument.key, diag::repeated_argument(&key));
            } else if argument.value.is_none() {
                errors.push(&argument.key, diag::missing_value(&key));
            } else {
                kept.push(argument);
            }
        }
        Self(kept)
    }

    /// Whether an argument is there.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|argument| argument.key == key)
    }

    /// Takes an argument out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|argument| argument.key == key)?;
        self.0.swap_remove(at).value
    }

    /// The path of this library: `::shmem`, or what `crate = ..` says.
    pub(crate) fn root(&mut self, errors: &mut Errors) -> TokenStream {
        match self.take("crate") {
            None => root(),
            Some(Value::Path(path)) => path.into_token_stream(),
            Some(other) => {
                errors.push(other, diag::CRATE);
                root()
            }
        }
    }
}

/// The path of this library, unless a program says otherwise.
pub(crate) fn root() -> TokenStream {
    quote!(::shmem)
}
