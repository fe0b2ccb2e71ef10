//! Which persist the files of all PEs can come to. The argument stands at the head of [`super`].

use core::fmt;

/// How far the file of one PE is.
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

/// The number of the persist that all files, by PE, can come to; 0: none, the heap is new.
///
/// # Errors
///
/// If no crash leaves such files behind: a PE, and why its file does not belong to the others.
///
/// # Panics
///
/// If there are no files.
pub fn agree(found: &[Found]) -> Result<u64, (usize, String)> {
    let all = || found.iter().enumerate();
    let used = || all().filter(|(_, file)| !file.is_new());
    if let Some(one) = used().next()
        && let Some(other) = used().find(|(_, file)| file.set != one.1.set)
    {
        return Err(apart(one, other, " of another heap"));
    }
    let Some(least) = all().min_by_key(|(_, file)| file.generation) else { panic!("a job has PEs") };
    let target = least.1.generation;
    match all().find(|(_, file)| !file.has(target)) {
        Some(other) if other.0 < least.0 => Err(apart(other, least, "")),
        Some(other) => Err(apart(least, other, "")),
        None => Ok(target),
    }
}

fn apart(one: (usize, &Found), other: (usize, &Found), whose: &str) -> (usize, String) {
    let there = format!("PE {} has {}, PE {} has {}{whose}", one.0, one.1, other.0, other.1);
    let remedy = "put back all of them from one copy, or name other files";
    (other.0, format!("the files of the PEs do not belong together: {there}; {remedy}"))
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
            assert!(agree(&files).is_err() && agree(&[files[0], copying(2), files[1]]).is_err(), "{files:?}");
        }
        let (pe, error) = agree(&[stable(3), Found { set: 6, ..stable(3) }]).unwrap_err();
        assert!(
            pe == 1 && error.contains("PE 0 has persist 3, PE 1 has persist 3 of another heap; put back")
        );
    }
}
