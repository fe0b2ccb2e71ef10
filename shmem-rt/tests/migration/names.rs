//! The notation of names: alternatives, parts that may be missing, lists of words.

use std::collections::BTreeMap;

/// Lists of words by name.
pub(crate) type Lists = BTreeMap<String, Vec<String>>;

/// Every name that a pattern stands for, in order.
pub(crate) fn expand(pattern: &str, lists: &Lists) -> Vec<String> {
    let Some(open) = pattern.find(['{', '[', '<']) else {
        return vec![pattern.to_owned()];
    };
    let (head, rest) = pattern.split_at(open);
    let close = end_of_group(rest);
    let (inside, tail) = (&rest[1..close], &rest[close + 1..]);
    let middle: Vec<String> = match &rest[..1] {
        "{" => alternatives(inside).into_iter().flat_map(|one| expand(one, lists)).collect(),
        "[" => std::iter::once(String::new()).chain(expand(inside, lists)).collect(),
        _ => match lists.get(inside) {
            Some(words) => words.clone(),
            None => vec![rest[..=close].to_owned()],
        },
    };
    let tails = expand(tail, lists);
    middle.iter().flat_map(|middle| tails.iter().map(move |tail| format!("{head}{middle}{tail}"))).collect()
}

/// Where the group ends that starts a text.
fn end_of_group(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '{' | '[' | '<')) - i32::from(matches!(c, '}' | ']' | '>'));
        if depth == 0 {
            return at;
        }
    }
    panic!("a group without an end: {text}")
}

/// The parts between the commas that are in no group inside.
fn alternatives(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '{' | '[' | '<')) - i32::from(matches!(c, '}' | ']' | '>'));
        if c == ',' && depth == 0 {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The names of a file, and the lists of words that it defines. A list is given by `NAME = words`, and made
/// longer by `NAME += words`.
pub(crate) fn read(text: &str, lists: &mut Lists) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(" = ").or_else(|| line.split_once(" += ")) {
            Some((list, words)) => {
                let words: Vec<String> = words.split(' ').flat_map(|word| expand(word, lists)).collect();
                lists.entry(list.to_owned()).or_default().extend(words);
            }
            None => names.extend(expand(line, lists)),
        }
    }
    names
}
