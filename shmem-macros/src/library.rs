//! This library, as expansions name it.
//!
//! Whoever can say what a path means can take the checks out of an expansion: a program may call itself `shmem`
//! (`extern crate self as shmem`), or `core`. An `extern crate` inside a block asks the compiler for the crate that it
//! was given, whatever the program calls its own. For a path that the program has given somebody must answer, because
//! there may be anything at its end. So the word `unsafe` must stand there, `unsafe(crate = path)`: `forbid(unsafe_code)`
//! refuses it, and where rustc does not look, in macros of other crates, a reader finds it.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::diag::{self, Errors};

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
            // Under both names, one of them is the usual one.
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
