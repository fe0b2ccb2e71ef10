//! What is required of the arguments and of the item, as far as syntax can tell.
//!
//! The rest is checked by rustc on the expansion: that the partition exists, that the contents may
//! live in symmetric memory, that page sizes agree.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, GenericArgument, Lit, Local, Pat, Path, PathArguments, Type, Visibility};

use super::parse::Static;
use crate::arguments::{Arguments, Value};
use crate::diag::{self, Errors};
use crate::size::{self, PageSize};

/// Where an object is to lie.
pub(super) struct Placement {
    /// The path of this library.
    pub(super) root: TokenStream,
    /// The partition's type.
    pub(super) partition: TokenStream,
    /// How a user would name the partition in a call.
    pub(super) partition_text: String,
    /// The page size asked for.
    pub(super) pgsize: Option<PageSize>,
}

/// A static, in order.
pub(super) struct Object {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) contents: TokenStream,
    pub(super) image: Option<TokenStream>,
    /// The contents are known to be wrong, and that was said.
    pub(super) refused: bool,
}

/// A `let`, in order.
pub(super) struct Binding {
    /// The initial contents.
    pub(super) initial: TokenStream,
    /// Where they stand, as far as one span can say.
    pub(super) span: Span,
}

/// Checks `partition` and `pgsize`.
pub(super) fn placement(arguments: &mut Arguments, errors: &mut Errors) -> Placement {
    let root = arguments.root(errors);
    let path = arguments.take("partition").and_then(|value| partition(value, errors));
    let pgsize = arguments.take("pgsize").and_then(|value| size::page(value, errors));
    Placement {
        partition_text: path.as_ref().map_or_else(|| "default".to_owned(), readable),
        partition: path.map_or_else(|| quote!(#root::__private::default), ToTokens::into_token_stream),
        root,
        pgsize,
    }
}

/// The path that a string or a bare path gives. Names resolve at the user's tokens, so that a typo
/// is rustc's own "cannot find type, a similar name exists", at the literal.
fn partition(value: Value, errors: &mut Errors) -> Option<Path> {
    match value {
        Value::Path(path) => Some(path),
        Value::Lit(Lit::Str(text)) if text.value().trim().is_empty() => {
            errors.push(text, diag::PARTITION_EMPTY);
            None
        }
        Value::Lit(Lit::Str(text)) => text
            .parse_with(Path::parse_mod_style)
            .map_err(|_| errors.push(&text, diag::not_a_partition_name(&text.value())))
            .ok(),
        other => {
            errors.push(other, diag::PARTITION);
            None
        }
    }
}

/// Tokens as a user would write them, near enough for a message.
fn readable(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    [
        (" :: ", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (" ,", ","),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

/// Checks a static.
pub(super) fn object(declared: Static, errors: &mut Errors) -> Object {
    if let Some(token) = declared.mutability {
        errors.push(token, diag::MUTABLE);
    }
    let name = declared.name.to_string();
    let mut contents = declared.contents.to_token_stream();
    let mut refused = false;
    match &declared.contents {
        Type::Slice(slice) => {
            let item = &slice.elem;
            errors.push(&declared.contents, diag::unsized_contents(&name, &readable(item)));
            (contents, refused) = (quote!([#item; 0]), true);
        }
        Type::Path(path) if path.path.is_ident("str") => {
            errors.push(&declared.contents, diag::unsized_text(&name));
            (contents, refused) = (quote!([u8; 0]), true);
        }
        Type::Path(path) => {
            if let Some(inner) = wrapped(&path.path) {
                errors.push(&declared.contents, diag::already_wrapped(&readable(inner)));
                contents = inner.to_token_stream();
            }
        }
        _ => {}
    }
    Object {
        attributes: declared.attributes,
        visibility: declared.visibility,
        name: declared.name,
        contents,
        image: declared.image,
        refused,
    }
}

/// The `T` of `Symmetric<T>`.
fn wrapped(path: &Path) -> Option<&Type> {
    let last = path.segments.last().filter(|last| last.ident == "Symmetric")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

/// Checks a `let`.
pub(super) fn binding(local: &Local, errors: &mut Errors) -> Option<Binding> {
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        untyped => untyped,
    };
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {}
        other => {
            errors.push(other, diag::LET_PATTERN);
            return None;
        }
    }
    let Some(init) = &local.init else {
        errors.push(pattern, diag::LET_VALUE);
        return None;
    };
    if let Some((token, _)) = &init.diverge {
        errors.push(token, diag::LET_ELSE);
        return None;
    }
    Some(Binding { initial: init.expr.to_token_stream(), span: init.expr.span() })
}
