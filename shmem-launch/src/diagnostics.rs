//! Prints error texts and warnings on standard error.

use std::fmt::Write as _;
use std::io::stderr;

use rustix::io::{retry_on_intr, write};

/// Prints lines on standard error, in one write if possible, because several PEs print there. Escapes control characters, because
/// the text may come from other processes.
pub fn say(text: &str) {
    // Without the standard library's lock on standard error, because a thread that holds the lock may wait for this thread.
    let text = line(text);
    let mut rest = text.as_bytes();
    while let Ok(written @ 1..) = retry_on_intr(|| write(stderr(), rest)) {
        rest = &rest[written..];
    }
}

pub(crate) fn line(text: &str) -> String {
    format!("{}\n", visible(text))
}

/// Returns the text with control characters escaped, except line ends and tabs.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if c.is_control() => shown.extend(c.escape_debug()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Returns a list of PEs as text: `PE 3`, or `PEs 0, 2-5`. The numbers in `pes` must ascend.
pub fn numbers(pes: &[usize]) -> String {
    let mut text = String::from(if pes.len() == 1 { "PE " } else { "PEs " });
    let mut rest = pes;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate().take_while(|&(i, &pe)| first.checked_add(i) == Some(pe)).count();
        if rest.len() != pes.len() {
            text.push_str(", ");
        }
        let _ = match run {
            1 => write!(text, "{first}"),
            2 => write!(text, "{first}, {}", rest[1]),
            _ => write!(text, "{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_name_each_pe_once(pes in prop::collection::btree_set(prop_oneof![0..30_usize, usize::MAX - 9..=usize::MAX], 1..30)) {
            let pes: Vec<usize> = pes.into_iter().collect();
            let text = numbers(&pes);
            let list = text.trim_start_matches("PEs ").trim_start_matches("PE ");
            let back: Vec<usize> = list.split(", ").flat_map(|part| {
                let (a, b) = part.split_once('-').unwrap_or((part, part));
                a.parse::<usize>().unwrap()..=b.parse().unwrap()
            }).collect();
            prop_assert_eq!(back, pes);
        }

        #[test]
        fn what_reaches_a_terminal_prints(text in any::<String>(), controls in "[\\x00-\\x1f\\x7f-\\u{9f}]*") {
            let shown = visible(&(text.clone() + &controls));
            prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{:?}", shown);
            let prints: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
            prop_assert_eq!(visible(&prints), prints);
        }
    }
}
