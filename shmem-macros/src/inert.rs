//! Attributes that change nothing.
//!
//! What stands below a macro sees what the macro made, and may make something else of it. Some expansions rest on not
//! being changed: they let through what is the language's own. Such a name cannot be given to anything else; rustc calls
//! that ambiguous. Two kinds are missing from the list because it does not do so for them: an attribute of a tool may be a
//! macro of a module that is called as the tool, and `derive`, which is a macro of the prelude, whatever a program calls
//! so.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

const INERT: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "must_use",
    "non_exhaustive",
    "repr",
    "warn",
];

/// The names of those attributes that may be macros, also where a condition gives them.
pub(crate) fn others(attributes: &[Attribute]) -> Vec<Path> {
    attributes.iter().flat_map(|attribute| others_of(&attribute.meta)).collect()
}

fn others_of(attribute: &Meta) -> Vec<Path> {
    let path = attribute.path();
    if INERT.iter().any(|name| path.is_ident(name)) {
        return Vec::new();
    }
    let given = match attribute {
        Meta::List(list) if path.is_ident("cfg_attr") => {
            list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
        }
        _ => None,
    };
    // The first is the condition.
    given.map_or_else(|| vec![path.clone()], |given| given.iter().skip(1).flat_map(others_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;
    use syn::parse_quote;

    fn of(attribute: Attribute) -> Vec<String> {
        let others = others(&[attribute]);
        others.iter().map(|path| path.to_token_stream().to_string().replace(' ', "")).collect()
    }

    #[test]
    fn what_may_be_a_macro_is_found_behind_conditions() {
        for inert in [
            parse_quote!(#[doc = "Rows."]),
            parse_quote!(#[cfg_attr(all(unix, feature = "x"), allow(dead_code), doc(hidden))]),
        ] {
            assert_eq!(of(inert), [""; 0]);
        }
        assert_eq!(of(parse_quote!(#[twice])), ["twice"]);
        assert_eq!(of(parse_quote!(#[derive()])), ["derive"]);
        assert_eq!(of(parse_quote!(#[rustfmt::skip])), ["rustfmt::skip"]);
        let nested = parse_quote!(#[cfg_attr(all(), cfg_attr(unix, doc(hidden), a::twice), b)]);
        assert_eq!(of(nested), ["a::twice", "b"]);
    }
}
