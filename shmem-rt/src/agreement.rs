//! Whether all PEs have planned the same, and what each tells the others of its memory: the two exchanges of a start
//! that every job makes.

use shmem_core::fingerprint::fingerprint;
use shmem_core::partition::Grant;

use crate::bootstrap::Bootstrap;
use crate::cpus::Cpus;
use crate::error::{Error, Result};
use crate::grants;
use crate::launch::fields::{Malformed, Reader, Writer};

/// Compares what all PEs must agree on, a line each. A number stands for it; the text travels only where the numbers
/// differ, to say where.
///
/// # Errors
///
/// If some PE has another text.
pub(crate) fn agree(mine: &str, bootstrap: &dyn Bootstrap) -> Result<()> {
    let lost = |error: std::io::Error| Error::Launcher(error.to_string());
    let number = fingerprint(mine.bytes()).to_le_bytes();
    if bootstrap.exchange("plan", &number).map_err(lost)?.iter().all(|theirs| *theirs == number) {
        return Ok(());
    }
    for (pe, theirs) in bootstrap.exchange("differing", mine.as_bytes()).map_err(lost)?.iter().enumerate() {
        let theirs = String::from_utf8_lossy(theirs);
        if theirs != mine {
            let (here, there) = first_difference(mine, &theirs);
            return Err(Error::PlansDiffer {
                me: bootstrap.number(),
                pe,
                here: here.to_owned(),
                there: there.to_owned(),
            });
        }
    }
    Ok(())
}

/// The first line in which two descriptions differ.
fn first_difference<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (x, y) => return (x.unwrap_or("nothing more"), y.unwrap_or("nothing more")),
        }
    }
}

/// What a PE tells the others, once it has its memory.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Of which files its place consists.
    pub(crate) pieces: Vec<u8>,
    /// The CPUs that it may run on.
    pub(crate) cpus: Cpus,
    /// What its partitions were granted.
    pub(crate) grants: Vec<Grant>,
}

impl Told {
    /// What each PE tells, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// If the launcher is lost, or what a PE tells is garbled.
    pub(crate) fn exchange(pieces: &[u8], granted: &[Grant], bootstrap: &dyn Bootstrap) -> Result<Vec<Self>> {
        let mut mine = Writer::default();
        mine.bytes(pieces).bytes(&Cpus::here().encode()).bytes(&grants::encode(granted));
        let all = bootstrap.exchange("told", &mine.into_bytes());
        let all = all.map_err(|error| Error::Launcher(error.to_string()))?;
        let garbled = |pe: usize| Error::Launcher(format!("what PE {pe} tells of its memory is garbled"));
        all.iter().enumerate().map(|(pe, told)| Self::decode(told).ok_or_else(|| garbled(pe))).collect()
    }

    fn decode(told: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(told);
        let mut next = || fields.bytes(told.len());
        let parse = || -> Result<_, Malformed> { Ok((next()?, next()?, next()?)) };
        let (pieces, cpus, granted) = { parse }().ok()?;
        Some(Self { pieces: pieces.to_vec(), cpus: Cpus::decode(cpus), grants: grants::decode(granted)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found_where_it_is() {
        assert_eq!(first_difference("a\nb\nc", "a\nx\nc"), ("b", "x"));
        assert_eq!(first_difference("a", "a\nb"), ("nothing more", "b"));
    }

    #[test]
    fn what_is_garbled_is_refused() {
        let mut told = Writer::default();
        told.bytes(b"pieces").bytes(&Cpus::here().encode()).bytes(&grants::encode(&[]));
        let told = told.into_bytes();
        assert_eq!(Told::decode(&told).unwrap().pieces, b"pieces");
        for end in 0..told.len() {
            assert!(Told::decode(&told[..end]).is_none(), "{end}");
        }
    }
}
