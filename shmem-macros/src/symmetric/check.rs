//! Syntax checks of `#[symmetric]`: of its arguments and of the item below it.
//!
//! rustc checks the rest on the expansion: the partition exists, the contents may be in symmetric memory, page sizes agree.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, Lit, Local, Pat, Path, PathArguments, Type, parse_quote};

use super::Static;
use crate::arguments::{Arguments, PageSize, Value, macros_among};
use crate::messages::{self, Errors, readable};

pub(super) struct Placement {
    pub(super) root: TokenStream,
    /// The span of `unsafe` in `unsafe(crate = path)`.
    pub(super) promise: Option<Span>,
    /// The partition's type.
    pub(super) partition: TokenStream,
    /// The partition as a user writes it in a call.
    pub(super) partition_text: Option<String>,
    pub(super) pgsize: Option<PageSize>,
}

pub(super) struct Binding {
    pub(super) name: String,
    pub(super) initial: TokenStream,
    pub(super) span: Span,
}

pub(super) fn placement(arguments: &Arguments, errors: &mut Errors) -> Placement {
    let root = arguments.root(errors);
    let path = arguments.read("partition", errors, partition);
    Placement {
        partition_text: path.as_ref().map(readable),
        partition: path.map_or_else(|| quote!(#root::__private::default), ToTokens::into_token_stream),
        root,
        promise: arguments.promise(),
        pgsize: arguments.read("pgsize", errors, Value::page_size),
    }
}

/// Parses the path of a partition, bare or in a string. The path keeps the user's spans, so that rustc reports a typo there.
fn partition(value: &Value) -> Result<Path, String> {
    match value {
        Value::Path(path) => Ok(path.clone()),
        Value::Lit(Lit::Str(text)) if text.value().trim().is_empty() => {
            Err(messages::PARTITION_EMPTY.to_owned())
        }
        Value::Lit(Lit::Str(text)) => {
            text.parse_with(Path::parse_mod_style).map_err(|_| messages::not_a_partition_name(text.value()))
        }
        _ => Err(messages::PARTITION.to_owned()),
    }
}

/// Checks a static, and replaces refused parts. Returns whether rustc still has to check the type of its contents.
pub(super) fn object(declared: &mut Static, errors: &mut Errors) -> bool {
    let Static { attributes, mutability, name, generics, contents, image, .. } = declared;
    if let Some(token) = mutability {
        errors.push(token, messages::MUTABLE);
    }
    let others = macros_among(attributes);
    errors.extend(others.iter().map(|path| (messages::attribute_of_static(readable(path)), path)));
    attributes.retain(|attribute| macros_among(std::slice::from_ref(attribute)).is_empty());
    let (instead, has_image): (Type, bool) = match contents {
        // rustc's parser has reported the missing type.
        None => (parse_quote!([u8; 0]), false),
        // rustc's parser has refused the generic parameters. The type and the value may name these, so both are replaced.
        Some(_) if !generics.params.is_empty() => (parse_quote!([u8; 0]), false),
        Some(Type::Slice(slice)) => {
            let item = &slice.elem;
            errors.push(&*slice, messages::unsized_contents(name, readable(item)));
            (parse_quote!([#item; 0]), true)
        }
        Some(Type::Path(path)) if path.path.is_ident("str") => {
            errors.push(path, messages::unsized_text(name));
            (parse_quote!([u8; 0]), true)
        }
        Some(Type::Path(path)) => {
            if let Some(inner) = argument(&path.path, "Symmetric").cloned() {
                errors.push(path, messages::already_wrapped(readable(&inner)));
                *contents = Some(inner);
                return true;
            }
            let value = argument(&path.path, "Atomic").filter(|value| is_no_atomic_value(value));
            let Some(value) = value else { return true };
            errors.push(value, messages::not_an_atomic_value(readable(value)));
            let mut path = path.clone();
            if let Some(last) = path.path.segments.last_mut() {
                last.arguments = PathArguments::AngleBracketed(parse_quote!(<u64>));
            }
            (Type::Path(path), false)
        }
        Some(_) => return true,
    };
    *contents = Some(instead);
    *image = image.take().filter(|_| has_image);
    false
}

/// Returns whether a type is a primitive type that cannot be the value of an `Atomic`.
fn is_no_atomic_value(value: &Type) -> bool {
    const OTHERS: &[&str] = &["u8", "u16", "u128", "i8", "i16", "i128", "bool", "char"];
    matches!(value, Type::Path(path) if OTHERS.iter().any(|other| path.path.is_ident(other)))
}

/// Returns the `T` of `Symmetric<T>`, or of another generic type called `name`.
fn argument<'a>(path: &'a Path, name: &str) -> Option<&'a Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

pub(super) fn binding(local: &Local, errors: &mut Errors) -> Option<Binding> {
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        untyped => untyped,
    };
    let name = match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => name.ident.to_string(),
        other => {
            errors.push(other, messages::LET_PATTERN);
            return None;
        }
    };
    let Some(init) = &local.init else {
        errors.push(pattern, messages::LET_VALUE);
        return None;
    };
    if let Some((token, _)) = &init.diverge {
        errors.push(token, messages::LET_ELSE);
        return None;
    }
    Some(Binding { name, initial: init.expr.to_token_stream(), span: init.expr.span() })
}
