//! Safe macros that change items after other macros have seen these items.
//!
//! A crate of its own, built by `compiler.rs`.

extern crate proc_macro;

use std::collections::BTreeMap;
use std::sync::Mutex;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Replaces `old` by `new` in an item: `#[changes::words(old => new)]`.
#[proc_macro_attribute]
pub fn words(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = arguments.to_string();
    let (old, new) = arguments.split_once("=>").expect("`old => new`");
    let item = item.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(item.contains(old.trim()), "`{old}` is not in `{item}`");
    item.replace(old.trim(), new.trim()).parse().expect("Rust")
}

/// Expands to the next group at each expansion: `changes::each_time!((a) (b) (c))`.
#[proc_macro]
pub fn each_time(list: TokenStream) -> TokenStream {
    static NEXT: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut next = NEXT.lock().expect("no expansion panics with it");
    // White space is removed, because it depends on the macros that the tokens have passed through.
    let next = next.entry(list.to_string().replace(char::is_whitespace, "")).or_default();
    let list: Vec<Group> = list
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
            _ => None,
        })
        .collect();
    *next += 1;
    list[(*next - 1) % list.len()].stream()
}

/// Implements a trait for every type: `#[changes::nothing_required(..)]`. Removes an item that is no trait.
#[proc_macro_attribute]
pub fn nothing_required(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = item.to_string();
    let mut words = item.split_whitespace().skip_while(|word| *word != "trait");
    match words.nth(1) {
        Some(name) => format!("{item} impl<__T: ?Sized> {name} for __T {{}}").parse().expect("Rust"),
        None => TokenStream::new(),
    }
}
