//! The path of this library in expansions.
//!
//! An expansion contains checks, which are functions of this library. A program that puts something else at the library's
//! path (itself, by `extern crate self as shmem`) removes them. So expansions with `unsafe` name the library by an
//! `extern crate` inside a block, which always means the crate that the compiler was given. A path that the program gives may lead
//! anywhere. So it needs the word `unsafe`, as in `unsafe(crate = path)`, which `forbid(unsafe_code)` refuses.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::messages::{self, Errors};

/// The default path of this library: `::shmem`, or the name of the program's dependency.
pub(crate) fn root() -> TokenStream {
    let name = renamed(std::env::args()).and_then(|name| syn::parse_str::<Ident>(&name).ok());
    match name {
        Some(name) => quote!(::#name),
        None => quote!(::shmem),
    }
}

/// The path of this library in expansions that contain `unsafe`, with the items that make the path trustworthy.
pub(crate) struct Sealed {
    /// The `extern crate` item at the start of the expansion's block.
    pub(crate) begin: TokenStream,
    /// At the program's word `unsafe`: an empty `unsafe` block, which `forbid(unsafe_code)` refuses. Without that word: empty.
    pub(crate) promise: TokenStream,
    /// The path of the library for the tokens after `begin`.
    pub(crate) root: TokenStream,
}

/// Returns the trustworthy path of this library. Returns `None`, with an error, if another library may be at `root`.
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
        // After this error, the expansion uses the default path, so that no further errors follow.
        errors.push(root, messages::unsafe_crate(messages::readable(root)));
    }
    // The `extern crate` has the dependency's own name, because rustc prints this name in errors.
    let name = default.into_iter().last();
    Some(Sealed { begin: quote!(extern crate #name;), promise: TokenStream::new(), root: quote!(#name) })
}

/// Returns an error text if the compiler was given only another library called `shmem`, or two files with this library's name.
fn confusion(arguments: impl Iterator<Item = String>) -> Option<&'static str> {
    let dependencies = dependencies(arguments);
    let files: BTreeSet<&str> = dependencies.iter().filter_map(|(_, file)| file.as_deref()).collect();
    let is_taken = dependencies.iter().any(|(name, _)| name == "shmem");
    match files.len() {
        0 if is_taken => Some(messages::OTHER_LIBRARY),
        0 | 1 => None,
        _ => Some(messages::TWO_LIBRARIES),
    }
}

/// Returns the name that the program gives to its dependency on this library, if it differs from `shmem`.
fn renamed(arguments: impl Iterator<Item = String>) -> Option<String> {
    let libraries = dependencies(arguments).into_iter().filter_map(|(name, file)| file.and(Some(name)));
    let mut names: Vec<String> = libraries.collect();
    let is_itself = names.iter().any(|name| name == "shmem");
    names.pop().filter(|_| !is_itself)
}

/// Returns the names of all dependencies (`--extern name=path/libshmem-0123.rmeta`), with the file if it may be this library.
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

#[cfg(test)]
mod tests {
    use super::{confusion, renamed};

    #[test]
    fn the_library_is_known_by_its_file_and_has_the_name_that_the_compiler_was_given() {
        for (arguments, name, is_confused) in [
            ("--extern syn=a/libsyn-0.rmeta --edition=2024", None, false),
            ("--extern shmem=a/libshmem-0.rmeta", None, false),
            ("--extern shmem", None, false),
            ("--extern pgas=a/libshmem-0.rmeta --extern b=a/libb-0.rlib", Some("pgas"), false),
            ("--extern=priv:pgas=a/libshmem-0.rlib", Some("pgas"), false),
            // With two names, the usual one counts.
            ("--extern pgas=a/libshmem-0.rlib --extern shmem=a/libshmem-0.rlib", None, false),
            ("--extern pgas=a/libshmem_core-0.rlib --extern c", None, false),
            ("--extern facade=a/libfacade-0.rlib", None, false),
            // A name alone is not the library.
            ("--extern pgas=a/libshmem-0.rlib --extern shmem=a/libfacade-0.rlib", Some("pgas"), false),
            ("--extern shmem=a/libfacade-0.rlib", None, true),
            ("--extern shmem=a/libshmem-0.rlib --extern pgas=a/libshmem-1.rlib", None, true),
        ] {
            let given = || ["rustc"].into_iter().chain(arguments.split(' ')).map(str::to_owned);
            assert_eq!(renamed(given()).as_deref(), name, "{arguments}");
            assert_eq!(confusion(given()).is_some(), is_confused, "{arguments}");
        }
    }
}
