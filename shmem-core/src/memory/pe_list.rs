//! The list of all PEs of a job, which the PEs of a node may have together.

use core::ops::Deref;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::sealed::Sealed;
use crate::pe::Pe;

/// PEs, by number: in memory of this process, or in memory that those of the node share and nobody can change.
#[derive(Debug)]
pub struct PeList(Place);

#[derive(Debug)]
enum Place {
    Own(Box<[Pe]>),
    Shared(Sealed, usize),
}

impl PeList {
    /// These, in memory of this process.
    pub fn new(pes: Vec<Pe>) -> Self {
        Self(Place::Own(pes.into()))
    }

    /// A descriptor of memory with these PEs in it, for [`in_place_of`](Self::in_place_of) in the processes of the node.
    ///
    /// # Errors
    ///
    /// If the system has no memory, or allows no memfd.
    pub fn share(pes: &[Pe]) -> io::Result<OwnedFd> {
        Sealed::make(Pe::bytes_of(pes))
    }

    /// The same PEs in shared memory, which [`share`](Self::share) has made in whatever process and which takes the place of
    /// the `own`.
    ///
    /// # Errors
    ///
    /// If the memory could change, or does not have them, bit for bit.
    pub fn in_place_of(own: &[Pe], shared: impl AsFd) -> io::Result<Self> {
        let bytes = Pe::bytes_of(own);
        let memory = Sealed::open(shared, bytes.len())?;
        if memory.as_ref() != bytes {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has other PEs"));
        }
        Ok(Self(Place::Shared(memory, own.len())))
    }

    /// Whether other processes have it, too.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Place::Shared(..))
    }
}

impl Deref for PeList {
    type Target = [Pe];

    #[inline]
    fn deref(&self) -> &[Pe] {
        match &self.0 {
            Place::Own(pes) => pes,
            Place::Shared(memory, count) => {
                let start = memory.as_ref().as_ptr().cast();
                // SAFETY: the memory begins on a page, and was found equal, bit for bit, to a slice of so many PEs of this
                // process (`in_place_of`), so these are PEs that it may have; nobody can change it (`Sealed`), and it lasts
                // as long as `self`.
                unsafe { core::slice::from_raw_parts(start, *count) }
            }
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_shared_list_is_taken_only_if_it_is_ones_own() {
        // SAFETY: nothing is issued to any of them.
        let pes: Vec<Pe> = (0..1000).map(|number| unsafe { Pe::new(number, number % 7) }).collect();
        let list = PeList::in_place_of(&pes, PeList::share(&pes).unwrap()).unwrap();
        assert!(list.is_shared() && *list == *pes);
        let why = |given: &[Pe]| {
            PeList::in_place_of(&pes, PeList::share(given).unwrap()).map(drop).unwrap_err().to_string()
        };
        let mut other = pes.clone();
        // SAFETY: nothing is issued to it.
        other[999] = unsafe { Pe::new(999, 6) };
        assert_eq!(why(&other), "it has other PEs");
        assert_eq!(why(&pes[1..]), "it has 7992 bytes and not 8000");
        assert!(!PeList::new(pes).is_shared());
    }
}
