//! Which persist the files of all PEs can come to. The argument stands at the head of [`super`].

use core::fmt;

/// How far the file of one PE is, as told to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The newest persist in the file; 0: none.
    pub generation: u64,
    /// Whether that one is under way: then the copy holds the one before, or part of this one.
    pub is_copying: bool,
    /// A number that the files of one heap share.
    pub set: u64,
}

impl Found {
    /// Whether nothing was persisted in it, not even halfway.
    pub fn is_new(&self) -> bool {
        self.generation == 0
    }

    /// Whether it can come to a persist.
    fn has(&self, generation: u64) -> bool {
        generation == self.generation || self.is_copying && generation + 1 == self.generation
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.generation, self.is_copying) {
            (0, _) => f.write_str("nothing persisted yet"),
            (generation, true) => write!(f, "persist {generation} under way"),
            (generation, false) => write!(f, "persist {generation}"),
        }
    }
}

/// Files that no crash leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the files of the PEs do not belong together: PE {} has {}, PE {} has {}{}; put back all of them from one copy, or name other files",
    .one.0, .one.1, .other.0, .other.1, if *.sets { " of another heap" } else { "" }
)]
pub struct Disagreement {
    /// A PE and what it has.
    pub one: (usize, Found),
    /// Another one.
    pub other: (usize, Found),
    /// Whether they were not made together.
    pub sets: bool,
}

/// The number of the persist that all files can come to; 0: none, the heap is new.
///
/// # Errors
///
/// If no crash leaves such files behind.
///
/// # Panics
///
/// If there are no files.
pub fn agree(found: &[Found]) -> Result<u64, Disagreement> {
    let used = || found.iter().copied().enumerate().filter(|(_, file)| !file.is_new());
    if let Some(one) = used().next()
        && let Some(other) = used().find(|(_, file)| file.set != one.1.set)
    {
        return Err(Disagreement { one, other, sets: true });
    }
    let all = || found.iter().copied().enumerate();
    let Some(least) = all().min_by_key(|(_, file)| file.generation) else { panic!("a job has PEs") };
    let target = least.1.generation;
    match all().find(|(_, file)| !file.has(target)) {
        Some(other) => {
            let (one, other) = if least.0 < other.0 { (least, other) } else { (other, least) };
            Err(Disagreement { one, other, sets: false })
        }
        None => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn found(generation: u64, is_copying: bool) -> Found {
        Found { generation, is_copying, set: 5 }
    }

    /// That all crashes leave files that agree is what the simulated jobs check.
    #[test]
    fn other_files_are_refused() {
        let (stable, copying) = (|generation| found(generation, false), |generation| found(generation, true));
        for files in [
            [stable(0), stable(1)],
            [stable(0), copying(2)],
            [stable(1), stable(2)],
            [copying(1), copying(3)],
            [stable(1), copying(3)],
            [copying(4), stable(2)],
        ] {
            let error = agree(&files).unwrap_err();
            assert!(!error.sets, "{files:?}");
            assert!(agree(&[files[0], copying(2), files[1]]).is_err(), "{files:?}");
        }
        let error = agree(&[stable(3), Found { set: 6, ..stable(3) }]).unwrap_err().to_string();
        assert_eq!(
            error,
            "the files of the PEs do not belong together: PE 0 has persist 3, PE 1 has persist 3 of another heap; \
             put back all of them from one copy, or name other files"
        );
    }
}
