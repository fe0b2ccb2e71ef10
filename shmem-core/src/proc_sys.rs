//! Files of `proc` and `sys`, of this machine or a simulated one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cpu_list;

/// A directory with `proc` and `sys`: `/`, or a test's simulated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self::at(Path::new("/"))
    }
}

impl Root {
    /// The machine whose files are in `directory`.
    pub fn at(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// The directory with `proc` and `sys`.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The text of a file, without blanks around it; `None` if the file is unreadable. Kernels and containers leave out files.
    pub fn text(&self, path: &str) -> Option<String> {
        Some(fs::read_to_string(self.0.join(path)).ok()?.trim().to_owned())
    }

    /// The number in a file that has only this number.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The numbers in a file with a list of ranges, such as `0-3,8`.
    pub fn list(&self, path: &str) -> Option<Vec<usize>> {
        cpu_list::parse(&self.text(path)?)
    }

    /// The number after `word` in a file of lines such as `MemTotal: 64 kB` or `Node 2 MemTotal: 64 kB`.
    pub fn field(&self, path: &str, word: &str) -> Option<u64> {
        field(&self.text(path)?, word)
    }

    /// The names in a directory that begin with `prefix`, sorted, without the prefix.
    pub fn names(&self, directory: &str, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(directory)).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| Some(entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned());
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort_unstable();
        names
    }

    /// The numbers `n` of the names `<prefix>n<suffix>` in a directory, in ascending order.
    pub fn numbered(&self, directory: &str, prefix: &str, suffix: &str) -> Vec<u64> {
        let names = self.names(directory, prefix);
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| name.strip_suffix(suffix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The number after `word` in a text of lines such as `MemTotal: 64 kB` or `Node 2 MemTotal: 64 kB`.
pub(crate) fn field(text: &str, word: &str) -> Option<u64> {
    let behind = |line: &str| line.split_whitespace().skip_while(|w| *w != word).nth(1)?.parse().ok();
    text.lines().find_map(behind)
}
