//! Messages to people.

use std::io::Write as _;

/// Prints lines in one piece: several PEs write to the same place.
pub fn say(text: &str) {
    // If nobody reads messages any more, nobody can be told.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
