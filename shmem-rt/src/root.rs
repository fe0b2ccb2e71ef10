//! Where `proc` and `sys` are read.

use std::fs;
use std::path::{Path, PathBuf};

use shmem_core::ranges;

/// A directory with `proc` and `sys` in it: `/`, or a machine that a test invented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    /// This machine.
    fn default() -> Self {
        Self::at(Path::new("/"))
    }
}

impl Root {
    /// The machine in `directory`.
    pub fn at(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The text of a file, without blanks around it. What cannot be read is not there: kernels and
    /// containers leave out what they do not have.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        Some(fs::read_to_string(self.0.join(path)).ok()?.trim().to_owned())
    }

    /// The number in a file of one number.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The numbers in a file of ranges, `0-3,8`.
    pub(crate) fn list(&self, path: &str) -> Option<Vec<usize>> {
        ranges::parse(&self.text(path)?)
    }

    /// The numbers `n` for which the directory holds a `<prefix>n<suffix>`, in ascending order.
    pub(crate) fn numbered(&self, directory: &str, prefix: &str, suffix: &str) -> Vec<u64> {
        let entries = fs::read_dir(self.0.join(directory)).into_iter().flatten().flatten();
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| {
                let name = entry.file_name();
                name.to_str()?.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A machine made of files, gone when dropped.
    pub(crate) struct Machine(tempfile::TempDir);

    impl Machine {
        pub(crate) fn new(files: &[(&str, &str)]) -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = machine.0.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            machine
        }

        pub(crate) fn root(&self) -> Root {
            Root::at(self.0.path())
        }
    }

    #[test]
    fn files_that_are_not_there_have_no_text() {
        let machine = Machine::new(&[("sys/a", "12\n"), ("sys/n10/x", ""), ("sys/n2/x", ""), ("sys/nx", "")]);
        assert_eq!(machine.root().number("sys/a"), Some(12));
        assert_eq!(machine.root().number("sys/b"), None);
        assert_eq!(machine.root().numbered("sys", "n", ""), [2, 10]);
    }
}
