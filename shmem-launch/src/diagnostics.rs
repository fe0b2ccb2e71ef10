//! Prints error texts and warnings on standard error.

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
