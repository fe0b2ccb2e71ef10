//! Which persist the files of all PEs can come to. The argument stands at the head of [`super`].

use core::fmt;

use super::format::State;

/// How far the file of one PE is, as told to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub(super) state: State,
    pub(super) generation: u64,
    pub(super) set: u64,
}

impl Found {
    /// A file in which nothing was ever persisted.
    #[cfg(test)]
    pub(super) const NEW: Self = Self { state: State::New, generation: 0, set: 0 };

    /// As words, for the other PEs.
    pub fn encode(&self) -> [u64; 3] {
        [self.state as u64, self.generation, self.set]
    }

    /// What [`encode`](Self::encode) made; `None` if it is something else.
    pub fn decode([state, generation, set]: [u64; 3]) -> Option<Self> {
        let state = [State::New, State::Copying, State::Stable].into_iter().find(|s| *s as u64 == state)?;
        Some(Self { state, generation, set })
    }

    /// Whether nothing was persisted in it, not even halfway.
    pub fn is_new(&self) -> bool {
        self.state == State::New
    }

    /// The persist in C, and the newest one in the file.
    fn has(&self) -> (u64, u64) {
        match self.state {
            State::New => (0, 0),
            State::Copying => (self.generation.saturating_sub(1), self.generation),
            State::Stable => (self.generation, self.generation),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            State::New => f.write_str("nothing persisted yet"),
            State::Copying => write!(f, "persist {} under way", self.generation),
            State::Stable => write!(f, "persist {}", self.generation),
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
    let Some(least) = all().min_by_key(|(_, file)| file.has().1) else { panic!("a job has PEs") };
    let (_, target) = least.1.has();
    match all().find(|(_, file)| file.has().0 != target && file.has().1 != target) {
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

    const fn stable(generation: u64) -> Found {
        Found { state: State::Stable, generation, set: 5 }
    }

    const fn copying(generation: u64) -> Found {
        Found { state: State::Copying, generation, set: 5 }
    }

    #[test]
    fn other_files_are_refused() {
        for files in [
            [Found::NEW, stable(1)],
            [Found::NEW, copying(2)],
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
