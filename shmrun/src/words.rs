//! The words of a command line, as this launcher's options are written.

use std::ffi::{OsStr, OsString};

use clap::Command;

/// `-np 4` as `-n 4`: other launchers take it so. What stands behind the program is the program's.
pub(crate) fn with_np(command: &Command, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    // The first is the command itself.
    let mut at = 1;
    while let Some(word) = words.get_mut(at) {
        if word == "-np" {
            *word = "-n".into();
        }
        let Some(option) = word.to_str().filter(|word| word.starts_with('-') && *word != "--") else { break };
        at += if takes_the_next(command, option) { 2 } else { 1 };
    }
    words
}

/// Whether the word behind this one is the value of an option.
fn takes_the_next(command: &Command, word: &str) -> bool {
    let mut options = command.get_arguments();
    let option = match word.strip_prefix("--") {
        // `--env=A=b` has its value.
        Some(long) => options.find(|option| option.get_long() == Some(long)),
        // As has `-n4`.
        None => options.find(|option| {
            option.get_short().is_some_and(|short| OsStr::new(word) == OsStr::new(&format!("-{short}")))
        }),
    };
    option.is_some_and(|option| option.get_action().takes_values())
}
