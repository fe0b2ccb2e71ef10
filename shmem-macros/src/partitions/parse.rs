//! Partitions as written: `/// docs  pub fast { id = 2, size = "256M" }`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Path, Token, Visibility};

use crate::arguments::{self, Value};
use crate::diag::{self, Errors};

/// The whole body.
pub(super) struct Written {
    /// The path after `crate =`.
    pub(super) root: Option<Path>,
    /// The `unsafe` of `unsafe(crate = path)`.
    pub(super) promise: Option<Span>,
    pub(super) entries: Vec<Entry>,
}

/// One partition.
pub(super) struct Entry {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) arguments: TokenStream,
}

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Ident::peek_any) || !input.peek2(syn::token::Brace) {
            return Err(input.error(diag::PARTITION_ENTRY));
        }
        let name = input.parse()?;
        let arguments;
        syn::braced!(arguments in input);
        Ok(Self { attributes, visibility, name, arguments: arguments.parse()? })
    }
}

/// Reads the body: what stands before a mistake is kept.
pub(super) fn partitions(body: TokenStream, errors: &mut Errors) -> Written {
    let mut written = Written { root: None, promise: None, entries: Vec::new() };
    let list = |input: ParseStream| {
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            written.root = Some(Path::parse_mod_style(input)?);
            input.parse::<Token![;]>()?;
        }
        if input.peek(Token![unsafe]) && input.peek2(syn::token::Paren) {
            let (argument, at) = arguments::promised(input)?;
            match argument.value {
                Some(Value::Path(path)) => (written.root, written.promise) = (Some(path), Some(at)),
                other => errors.push(other, diag::CRATE),
            }
            input.parse::<Token![;]>()?;
        }
        while !input.is_empty() {
            match input.parse() {
                Ok(entry) => written.entries.push(entry),
                Err(error) => {
                    // What follows is as likely a consequence of this mistake as a new one.
                    input.parse::<TokenStream>()?;
                    return Err(error);
                }
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    if let Err(error) = list.parse2(body) {
        errors.push_error(error);
    }
    written
}
