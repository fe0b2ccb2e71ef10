//! Lists of arguments: `partition = "fast", pgsize = "2M"`; the path of the library, and attributes that may be macros.
//!
//! Every macro of this crate takes such a list. Unknown and repeated names are refused here, with
//! the names that are allowed; what remains is taken out by name.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use shmem_grammar::{check_page_size, parse_size};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::Bracket;
use syn::{Attribute, ExprArray, Lit, Meta, Path, Token};

use crate::diag::{self, Errors};

/// Arguments that stand by themselves.
const FLAGS: [&str; 1] = ["words"];

/// What stands behind the name of an argument.
pub(crate) enum Value {
    /// A literal.
    Lit(Lit),
    /// A name or a path.
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
pub(crate) struct Arguments {
    list: Vec<Argument>,
    /// The `unsafe` of `unsafe(crate = path)`.
    promise: Option<Span>,
}

pub(crate) struct Argument {
    key: Ident,
    pub(crate) value: Option<Value>,
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
            () if input.peek(Bracket) => Some(Value::Array(input.parse()?)),
            () => Some(Value::Path(Path::parse_mod_style(input)?)),
        };
        Ok(Self { key, value })
    }
}

impl Arguments {
    /// Reads the arguments of `owner`, which takes those in `allowed` (and `crate`).
    pub(crate) fn parse(tokens: TokenStream, owner: &str, allowed: &[&str], errors: &mut Errors) -> Self {
        let mut promise = None;
        let list = |input: ParseStream| {
            let mut arguments: Vec<Argument> = Vec::new();
            while !input.is_empty() {
                if input.peek(Token![unsafe]) {
                    let (argument, at) = promised(input)?;
                    arguments.push(argument);
                    promise = Some(at);
                    input.parse::<Option<Token![,]>>()?;
                    continue;
                }
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
            } else if FLAGS.contains(&key.as_str()) != argument.value.is_none() {
                let is_missing = argument.value.is_none();
                let said = if is_missing { diag::missing_value(key) } else { diag::needless_value(key) };
                errors.push(&argument.key, said);
            } else {
                kept.push(argument);
            }
        }
        Self { list: kept, promise }
    }

    /// Whether an argument is there.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.list.iter().any(|argument| argument.key == key)
    }

    /// Where an argument stands that has no value.
    pub(crate) fn flag(&self, key: &str) -> Option<Span> {
        self.list.iter().find(|argument| argument.key == key).map(|argument| argument.key.span())
    }

    /// Takes an argument out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.list.iter().position(|argument| argument.key == key)?;
        self.list.swap_remove(at).value
    }

    /// Where it is promised that the path of this library leads to this library.
    pub(crate) fn promise(&self) -> Option<Span> {
        self.promise
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

/// `unsafe(crate = path)`, and where the `unsafe` stands.
pub(crate) fn promised(input: ParseStream) -> syn::Result<(Argument, Span)> {
    let at = input.parse::<Token![unsafe]>()?.span;
    let list;
    syn::parenthesized!(list in input);
    let argument: Argument = list.parse()?;
    if argument.key != "crate" || !list.is_empty() {
        return Err(syn::Error::new_spanned(argument.key, diag::UNSAFE));
    }
    Ok((argument, at))
}

/// The path of this library, unless a program says otherwise: `::shmem`, or the name that a program gave to its
/// dependency.
pub(crate) fn root() -> TokenStream {
    let name = renamed(std::env::args()).and_then(|name| syn::parse_str::<Ident>(&name).ok());
    match name {
        Some(name) => quote!(::#name),
        None => quote!(::shmem),
    }
}

/// This library, as the expansions that rest on `unsafe` name it.
pub(crate) struct Sealed {
    /// What a block begins with in which it is named.
    pub(crate) begin: TokenStream,
    /// What stands in one of them: somebody's promise.
    pub(crate) promise: TokenStream,
    /// The path, behind that.
    pub(crate) root: TokenStream,
}

/// This library, at `root`. Nothing, if it is not there, which was reported.
///
/// Whoever can say what a path means can take the checks out of an expansion: a program may call itself `shmem`
/// (`extern crate self as shmem`), or `core`. An `extern crate` inside a block asks the compiler for the crate that it
/// was given, whatever the program calls its own. For a path that the program has given somebody must answer, because
/// there may be anything at its end. So the word `unsafe` must stand there, `unsafe(crate = path)`: `forbid(unsafe_code)`
/// refuses it, and where rustc does not look, in macros of other crates, a reader finds it.
pub(crate) fn sealed(root: &TokenStream, promise: Option<Span>, errors: &mut Errors) -> Option<Sealed> {
    let default = self::root();
    if let Some(span) = promise {
        let promise = quote_spanned!(span=> #[allow(unused_unsafe)] const _: () = unsafe {};);
        return Some(Sealed { begin: TokenStream::new(), promise, root: root.clone() });
    }
    if let Some(confusion) = confusion(std::env::args()) {
        errors.push_error(syn::Error::new(Span::call_site(), confusion));
        return None;
    }
    if root.to_string() != default.to_string() {
        // It goes on with the library itself.
        errors.push(root, diag::unsafe_crate(diag::readable(root)));
    }
    // Under its own name, which rustc prints from then on.
    let name = default.into_iter().last();
    Some(Sealed { begin: quote!(extern crate #name;), promise: TokenStream::new(), root: quote!(#name) })
}

/// What is wrong if the compiler was given another library under this one's name and this one under none, or two
/// files that are called as this library's.
fn confusion(arguments: impl Iterator<Item = String>) -> Option<&'static str> {
    let dependencies = dependencies(arguments);
    let files: BTreeSet<&str> = dependencies.iter().filter_map(|(_, file)| file.as_deref()).collect();
    let is_taken = dependencies.iter().any(|(name, _)| name == "shmem");
    match files.len() {
        0 if is_taken => Some(diag::OTHER_LIBRARY),
        0 | 1 => None,
        _ => Some(diag::TWO_LIBRARIES),
    }
}

/// The name under which the compiler was given this library, if it is another one than its own.
fn renamed(arguments: impl Iterator<Item = String>) -> Option<String> {
    let libraries = dependencies(arguments).into_iter().filter_map(|(name, file)| file.and(Some(name)));
    let mut names: Vec<String> = libraries.collect();
    let is_itself = names.iter().any(|name| name == "shmem");
    names.pop().filter(|_| !is_itself)
}

/// All dependencies: Cargo passes `--extern name=path/libshmem-0123456789abcdef.rmeta` for each. (Macros run inside the
/// compiler.) Of each the name, and the file, if that is called as this library's; without a file it is looked for by its name.
fn dependencies(arguments: impl Iterator<Item = String>) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut is_value = false;
    for argument in arguments {
        let value = match argument.strip_prefix("--extern=") {
            Some(value) => value,
            None if std::mem::replace(&mut is_value, argument == "--extern") => &argument,
            None => continue,
        };
        let (name, path) = value.split_once('=').unwrap_or((value, ""));
        let name = name.rsplit(':').next().unwrap_or(name);
        let file = path.rsplit('/').next().unwrap_or(path);
        let is_library = file.starts_with("libshmem-") || file.starts_with("libshmem.");
        let is_looked_for = path.is_empty() && name == "shmem";
        found.push((name.to_owned(), (is_library || is_looked_for).then(|| path.to_owned())));
    }
    found
}

/// A page size, and where it was written.
pub(crate) struct PageSize {
    /// A page size that some machine may have.
    pub(crate) bytes: u64,
    pub(crate) span: Span,
}

/// The page size that an argument gives.
pub(crate) fn page_size(value: Value, errors: &mut Errors) -> Option<PageSize> {
    let Value::Lit(literal) = value else {
        errors.push(value, diag::SIZE);
        return None;
    };
    let refusal = match size(&literal) {
        Ok((bytes, text)) => match check_page_size(bytes) {
            Ok(()) => return Some(PageSize { bytes, span: literal.span() }),
            Err(fault) => format!("`{text}`: {fault}"),
        },
        Err(refusal) => refusal,
    };
    errors.push(literal, refusal);
    None
}

/// Bytes of the size that `literal` writes, and the text it was written as: `"64M"`, `64M`, `"1.5G"`, `4096`. What a size is says
/// `shmem-grammar`, as it does for the environment (`SHMEM_SYMMETRIC_PARTITION1=SIZE=1.5G`). `64M` without quotes is a legal Rust
/// token: an integer literal with the suffix `M`.
pub(crate) fn size(literal: &Lit) -> Result<(u64, String), String> {
    let text = match literal {
        Lit::Str(text) => text.value(),
        Lit::Int(number) => format!("{}{}", number.base10_digits(), number.suffix()),
        Lit::Float(number) => format!("{}{}", number.base10_digits(), number.suffix()),
        _ => return Err(diag::SIZE.to_owned()),
    };
    match parse_size(&text) {
        Ok(bytes) => Ok((bytes, text)),
        Err(fault) => Err(fault.to_string()),
    }
}

// Attributes that change nothing.
//
// What stands below a macro sees what the macro made, and may make something else of it. Some expansions rest on not
// being changed: they let through what is the language's own. Such a name cannot be given to anything else; rustc calls
// that ambiguous. Two kinds are missing from the list because it does not do so for them: an attribute of a tool may be a
// macro of a module that is called as the tool, and `derive`, which is a macro of the prelude, whatever a program calls
// so.
const INERT: &str =
    "allow automatically_derived cfg deny deprecated doc expect forbid must_use non_exhaustive repr warn";

/// The names of those attributes that may be macros, also where a condition gives them.
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
    // The first is the condition.
    given.map_or_else(|| vec![path.clone()], |given| given.iter().skip(1).flat_map(macros_of).collect())
}

#[cfg(test)]
mod tests {
    use super::{confusion, renamed};

    fn name(arguments: &str) -> Option<String> {
        renamed(arguments.split(' ').map(str::to_owned))
    }

    #[test]
    fn the_name_of_a_dependency_is_that_of_the_compiler() {
        assert_eq!(name("rustc --extern syn=a/libsyn-0.rmeta --edition=2024"), None);
        assert_eq!(name("rustc --extern shmem=a/libshmem-0.rmeta"), None);
        assert_eq!(name("rustc --extern pgas=a/libshmem-0.rmeta --extern b=a/libb-0.rlib").unwrap(), "pgas");
        assert_eq!(name("rustc --extern=priv:pgas=a/libshmem-0.rlib").unwrap(), "pgas");
        // Under both names, one of them is the usual one.
        assert_eq!(name("rustc --extern pgas=a/libshmem-0.rlib --extern shmem=a/libshmem-0.rlib"), None);
        assert_eq!(name("rustc --extern pgas=a/libshmem_core-0.rlib --extern c"), None);
    }

    #[test]
    fn a_name_alone_is_not_the_library() {
        let both = "rustc --extern pgas=a/libshmem-0.rlib --extern shmem=a/libfacade-0.rlib";
        assert_eq!(name(both).unwrap(), "pgas");
        let confused = |arguments: &str| confusion(arguments.split(' ').map(str::to_owned)).is_some();
        assert!(!confused(both));
        assert!(confused("rustc --extern shmem=a/libfacade-0.rlib"));
        assert!(confused("rustc --extern shmem=a/libshmem-0.rlib --extern pgas=a/libshmem-1.rlib"));
        assert!(!confused("rustc --extern shmem=a/libshmem-0.rmeta"));
        assert!(!confused("rustc --extern shmem"));
        assert!(!confused("rustc --extern facade=a/libfacade-0.rlib"));
    }
}
