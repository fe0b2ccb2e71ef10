//! Agreement on a persist that all PEs' files can restore. The head of [`super`] has the proof.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The state of the file of one PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The newest persist in the file; 0: none.
    pub generation: u64,
    /// Whether the file also has the persist before.
    pub has_previous: bool,
    /// A number common to the files of one heap.
    pub set: u64,
}

impl FileState {
    /// Whether the file has no persist.
    pub fn is_new(&self) -> bool {
        self.generation == 0
    }

    /// Whether the file has a persist.
    fn has(&self, generation: u64) -> bool {
        generation == self.generation || self.has_previous && generation + 1 == self.generation
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation {
            0 => f.write_str("nothing persisted yet"),
            generation => write!(f, "persist {generation}"),
        }
    }
}

/// Returns the number of the persist that all files, by PE, have; 0: none, the heap is new.
/// Fails if no crash leaves such files: with a PE, and why its file does not fit the others.
/// Panics if there are no files.
pub fn agree(found: &[FileState]) -> Result<u64, (usize, String)> {
    let apart = |one: usize, other: usize, whose: &str| {
        let there = format!("PE {one} has {}, PE {other} has {}{whose}", found[one], found[other]);
        let remedy = "put back all of them from one copy, or name other files";
        Err((other, format!("the files of the PEs do not belong together: {there}; {remedy}")))
    };
    let differs = |one: usize| found.iter().position(|file| !file.is_new() && file.set != found[one].set);
    let used = found.iter().position(|file| !file.is_new());
    if let Some((one, other)) = used.and_then(|one| Some((one, differs(one)?))) {
        return apart(one, other, " of another heap");
    }
    let least = (0..found.len()).min_by_key(|pe| found[*pe].generation).unwrap_or_default();
    let target = found[least].generation;
    match found.iter().position(|file| !file.has(target)) {
        Some(other) => apart(least.min(other), least.max(other), ""),
        None => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (The simulated jobs check that all crashes leave files that agree.)
    #[test]
    fn other_files_are_refused() {
        let found = |generation, has_previous| FileState { generation, has_previous, set: 5 };
        for files in [
            [found(0, false), found(2, true)],
            [found(1, true), found(3, true)],
            [found(1, true), found(2, false)],
            [found(4, true), found(2, true)],
        ] {
            let among = [files[0], found(2, true), files[1]];
            assert!(agree(&files).is_err() && agree(&among).is_err(), "{files:?}");
        }
        let (pe, error) = agree(&[found(3, true), FileState { set: 6, ..found(3, true) }]).unwrap_err();
        assert!(
            pe == 1 && error.contains("PE 0 has persist 3, PE 1 has persist 3 of another heap; put back")
        );
    }
}
