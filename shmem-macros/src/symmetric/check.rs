//! What is required of the arguments and of the item, as far as syntax can tell.
//!
//! The rest is checked by rustc on the expansion: that the partition exists, that the contents may
//! live in symmetric memory, that page sizes agree.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, Lit, Local, Pat, Path, PathArguments, Type, parse_quote};

use super::Static;
use crate::arguments::{Arguments, PageSize, Value, macros_among};
use crate::diag::{self, Errors, readable};

/// Where an object is to lie.
pub(super) struct Placement {
    /// The path of this library.
    pub(super) root: TokenStream,
    /// Where it is promised that this is its path.
    pub(super) promise: Option<Span>,
    /// The partition's type.
    pub(super) partition: TokenStream,
    /// How a user would name the partition in a call.
    pub(super) partition_text: Option<String>,
    /// The page size asked for.
    pub(super) pgsize: Option<PageSize>,
}

/// A `let`, in order.
pub(super) struct Binding {
    /// The name of the variable.
    pub(super) name: String,
    /// The initial contents.
    pub(super) initial: TokenStream,
    /// Where they stand, as far as one span can say.
    pub(super) span: Span,
}

/// Checks `partition` and `pgsize`.
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

/// The path that a string or a bare path gives. Names resolve at the user's tokens, so that a typo
/// is rustc's own "cannot find type, a similar name exists", at the literal.
fn partition(value: &Value) -> Result<Path, String> {
    match value {
        Value::Path(path) => Ok(path.clone()),
        Value::Lit(Lit::Str(text)) if text.value().trim().is_empty() => Err(diag::PARTITION_EMPTY.to_owned()),
        Value::Lit(Lit::Str(text)) => {
            text.parse_with(Path::parse_mod_style).map_err(|_| diag::not_a_partition_name(text.value()))
        }
        _ => Err(diag::PARTITION.to_owned()),
    }
}

/// Checks a static. What is wrong with it is left out or replaced, so that its uses go on. Gives whether its contents are left for
/// rustc to judge.
pub(super) fn object(declared: &mut Static, errors: &mut Errors) -> bool {
    let Static { attributes, mutability, name, generics, contents, image, .. } = declared;
    if let Some(token) = mutability {
        errors.push(token, diag::MUTABLE);
    }
    let others = macros_among(attributes);
    errors.extend(others.iter().map(|path| (diag::attribute_of_static(readable(path)), path)));
    attributes.retain(|attribute| macros_among(std::slice::from_ref(attribute)).is_empty());
    let (instead, has_image): (Type, bool) = match contents {
        // rustc's parser has said that a type is missing.
        None => (parse_quote!([u8; 0]), false),
        // rustc's parser has said that a static has none. They may stand in the type and in the value.
        Some(_) if !generics.params.is_empty() => (parse_quote!([u8; 0]), false),
        Some(Type::Slice(slice)) => {
            let item = &slice.elem;
            errors.push(&*slice, diag::unsized_contents(name, readable(item)));
            (parse_quote!([#item; 0]), true)
        }
        Some(Type::Path(path)) if path.path.is_ident("str") => {
            errors.push(path, diag::unsized_text(name));
            (parse_quote!([u8; 0]), true)
        }
        Some(Type::Path(path)) => {
            if let Some(inner) = argument(&path.path, "Symmetric").cloned() {
                errors.push(path, diag::already_wrapped(readable(&inner)));
                *contents = Some(inner);
                return true;
            }
            let value = argument(&path.path, "Atomic").filter(|value| is_no_atomic_value(value));
            let Some(value) = value else { return true };
            errors.push(value, diag::not_an_atomic_value(readable(value)));
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

/// Whether a type is one of the primitive ones that no word of atomic operations has as its value.
fn is_no_atomic_value(value: &Type) -> bool {
    const OTHERS: &[&str] = &["u8", "u16", "u128", "i8", "i16", "i128", "bool", "char"];
    matches!(value, Type::Path(path) if OTHERS.iter().any(|other| path.path.is_ident(other)))
}

/// The `T` of `Symmetric<T>`, or of another such type.
fn argument<'a>(path: &'a Path, name: &str) -> Option<&'a Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
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
    let name = match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => name.ident.to_string(),
        other => {
            errors.push(other, diag::LET_PATTERN);
            return None;
        }
    };
    let Some(init) = &local.init else {
        errors.push(pattern, diag::LET_VALUE);
        return None;
    };
    if let Some((token, _)) = &init.diverge {
        errors.push(token, diag::LET_ELSE);
        return None;
    }
    Some(Binding { name, initial: init.expr.to_token_stream(), span: init.expr.span() })
}
