//! What a file says that matters here: its modules, what it defines, and the paths that it names.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::module::Named;

/// A part of a module.
pub(crate) enum Item {
    /// `mod name;`, with the path that it is given.
    Module(String, Option<String>),
    /// `mod name { .. }`
    Inline(String, Vec<Item>),
    /// What is defined under a name.
    Defined(String),
    /// A macro that stands at the root of the crate.
    Exported(String),
    /// A path of two names or more, or a `use`.
    Path(Named),
}

/// The parts of a text, without what is compiled for tests alone.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let stream = TokenStream::from_str(text).expect("a source of Rust");
    let mut items = Vec::new();
    read(stream, &mut items);
    items
}

fn read(stream: TokenStream, items: &mut Vec<Item>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let (mut at, mut public) = (0, false);
    let (mut path, mut exported) = (None, false);
    while at < tokens.len() {
        let word = word(&tokens[at]);
        let next = tokens.get(at + 1).and_then(self::word);
        match (word.as_deref(), next) {
            _ if is_mark(&tokens[at], '#') && group(tokens.get(at + 1), Delimiter::Bracket).is_some() => {
                let attribute = tokens[at + 1].to_string().replace(char::is_whitespace, "");
                at += 2;
                if attribute == "[cfg(test)]" || attribute.starts_with("[cfg(all(test,") {
                    at = behind_item(&tokens, at);
                }
                exported |= attribute == "[macro_export]";
                path = attribute
                    .strip_prefix("[path=\"")
                    .and_then(|rest| rest.strip_suffix("\"]"))
                    .map(str::to_owned)
                    .or(path);
                continue;
            }
            (Some("pub"), _) => {
                public = true;
                at += if group(tokens.get(at + 1), Delimiter::Parenthesis).is_some() { 2 } else { 1 };
                continue;
            }
            // `use<'a>` is none, nor is `$use` of a macro.
            (Some("use"), _)
                if !(tokens.get(at + 1).is_some_and(|token| is_mark(token, '<'))
                    || at > 0 && is_mark(&tokens[at - 1], '$')) =>
            {
                let end = (at..tokens.len()).find(|&end| is_mark(&tokens[end], ';')).unwrap_or(tokens.len());
                let inside = tokens[at + 1..end].iter().filter(|token| !is_mark(token, '$'));
                tree(&inside.cloned().collect::<Vec<_>>(), &mut Vec::new(), public, items);
                at = end;
            }
            (Some("mod"), Some(name)) => {
                match group(tokens.get(at + 2), Delimiter::Brace) {
                    Some(inside) => {
                        let mut inner = Vec::new();
                        read(inside, &mut inner);
                        items.push(Item::Inline(name, inner));
                    }
                    None => items.push(Item::Module(name, path.take())),
                }
                at += 2;
            }
            (Some("macro_rules"), _) if tokens.get(at + 1).is_some_and(|token| is_mark(token, '!')) => {
                let name = tokens.get(at + 2).and_then(self::word).unwrap_or_default();
                items.push(if exported { Item::Exported(name) } else { Item::Defined(name) });
                at += 2;
            }
            (
                Some("fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"),
                Some(name),
            ) => {
                items.push(Item::Defined(name));
                at += 1;
            }
            (Some(_), _) => at = expression(&tokens, at, items),
            _ => {
                if let TokenTree::Group(inside) = &tokens[at] {
                    read(inside.stream(), items);
                }
            }
        }
        (public, exported, path) = (false, false, None);
        at += 1;
    }
}

/// Reads a path in the middle of something else, and returns where its last name stands.
fn expression(tokens: &[TokenTree], start: usize, items: &mut Vec<Item>) -> usize {
    let mut path = vec![word(&tokens[start]).expect("it starts with a name")];
    let mut at = start;
    while is_separator(tokens, at + 1) {
        let Some(name) = tokens.get(at + 3).and_then(word) else { break };
        path.push(name);
        at += 3;
    }
    // `::name` is another crate's, and `.name::<..>` a method.
    let begins =
        start == 0 || !(is_mark(&tokens[start - 1], '.') || start >= 2 && is_separator(tokens, start - 2));
    if begins && path.len() > 1 {
        items.push(Item::Path(Named { path, name: None, is_use: false, is_glob: false, passes_on: false }));
    }
    at
}

/// Reads what stands behind `use`.
fn tree(tokens: &[TokenTree], before: &mut Vec<String>, public: bool, items: &mut Vec<Item>) {
    let depth = before.len();
    let mut at = 0;
    if is_separator(tokens, 0) {
        // `::name`: another crate.
        return;
    }
    while let Some(token) = tokens.get(at) {
        if let Some(inside) = group(Some(token), Delimiter::Brace) {
            let inside: Vec<TokenTree> = inside.into_iter().collect();
            for part in inside.split(|token| is_mark(token, ',')).filter(|part| !part.is_empty()) {
                tree(part, before, public, items);
            }
            before.truncate(depth);
            return;
        }
        let is_glob = is_mark(token, '*');
        if !is_glob {
            before.push(word(token).expect("a `use` is made of names"));
        }
        if !is_separator(tokens, at + 1) {
            let alias = tokens.get(at + 2).and_then(word);
            let last = before.iter().rev().find(|name| *name != "self").cloned();
            let name = if is_glob { None } else { alias.or(last) };
            items.push(Item::Path(Named {
                path: before.clone(),
                name,
                is_use: true,
                is_glob,
                passes_on: public,
            }));
            break;
        }
        at += 3;
    }
    before.truncate(depth);
}

/// The position behind the item that starts at `at`, with its attributes.
fn behind_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        let ends = is_mark(token, ';') || group(Some(token), Delimiter::Brace).is_some();
        // `use a::{b};` ends behind its braces.
        if ends && !tokens.get(at).is_some_and(|token| is_mark(token, ';')) {
            break;
        }
    }
    at
}

fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == mark)
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    [at, at + 1].iter().all(|&at| tokens.get(at).is_some_and(|token| is_mark(token, ':')))
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<TokenStream> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}
