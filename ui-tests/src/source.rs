//! Sources of the workspace, as tokens.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Reads a source without documentation, lints, and items of tests.
///
/// # Panics
///
/// If the text is not Rust.
pub fn shipped(text: &str) -> TokenStream {
    without_tests(text.parse().expect("Rust"))
}

fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut kept = Vec::new();
    while let Some(token) = tokens.next() {
        let is_hash = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
        match token {
            TokenTree::Group(group) => {
                kept.push(Group::new(group.delimiter(), without_tests(group.stream())).into());
            }
            other => kept.push(other),
        }
        if is_hash {
            tokens.next_if(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '!'));
            let Some(TokenTree::Group(attribute)) = tokens.peek() else { continue };
            let words = attribute.stream().to_string().replace(' ', "");
            let is_for_tests = words.starts_with("cfg(test") || words.starts_with("cfg(all(test");
            if is_for_tests {
                // The item ends with its body, or with a semicolon.
                let _ = tokens.find(|token| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    TokenTree::Punct(mark) => mark.as_char() == ';',
                    _ => false,
                });
            } else if ["doc=", "expect(", "allow("].iter().any(|start| words.starts_with(start)) {
                tokens.next();
            }
        }
    }
    kept.into_iter().collect()
}
