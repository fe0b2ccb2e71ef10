//! Source files of the workspace, as text.

/// Returns a source without comments and test items. Relies on rustfmt: an item's last line has the indentation of its first.
pub fn shipped(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let starts = |line: &str, words: [&str; 2]| words.iter().any(|word| line.trim_start().starts_with(word));
    let mut lines = text.lines().filter(|line| !starts(line, ["//", "#[doc"]));
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if starts(line, ["#[cfg(test", "#[cfg(all(test"]) {
            let _ = lines.find(|end| indent(end) == indent(line) && end.ends_with(['}', ';', ',']));
        } else {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}
