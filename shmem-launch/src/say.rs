//! Messages to people.

use std::io::stderr;

use rustix::io::{retry_on_intr, write};

/// Prints lines in one piece: several PEs write to the same place. What others have said may be in them, so characters
/// that would do something to a terminal are shown and not sent to it.
pub fn say(text: &str) {
    // Past the lock of the standard library: a thread of the program may hold it while it waits for what this one is to do.
    let text = line(text);
    let mut rest = text.as_bytes();
    while let Ok(written @ 1..) = retry_on_intr(|| write(stderr(), rest)) {
        rest = &rest[written..];
    }
    // If nobody reads messages any more, nobody can be told.
}

/// The text as it is printed.
pub(crate) fn line(text: &str) -> String {
    format!("{}\n", visible(text))
}

/// The text with all characters that do not print made visible, but for those that lines are made of.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_reaches_a_terminal_prints(text in any::<String>(), controls in "[\\x00-\\x1f\\x7f-\\u{9f}]*") {
            let shown = visible(&(text.clone() + &controls));
            prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{:?}", shown);
            let prints: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
            prop_assert_eq!(visible(&prints), prints);
        }
    }
}
