//! Whether all PEs are set up alike, and what each tells the others of its memory: the two exchanges of a start
//! that every job makes.
//!
//! A launcher may be slow, so the first PE alone tells how it is set up, and each compares that with its own: text, the first line
//! of which is the name of the library, which says how the words of the runtime lie in memory. That finds mistakes before anything
//! is made. What comes to it later is compared byte for byte when there is memory to do it in, before the program has its world
//! ([`compare`]).

use shmem_core::alike::Alike;
use shmem_core::context::Endpoint;
use shmem_core::observe::Family;
use shmem_core::partition::Grant;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec;
use shmem_launch::cpus::Cpus;

use crate::error::{Error, ErrorKind, Result};
use crate::grants;
use crate::group::{Operation, Purpose, Team};

/// Compares what all PEs must agree on, a line each, the first of which is the name of the library, with what the first PE has.
///
/// # Errors
///
/// If that has another text. Who has the same goes on, and no further than to where all wait for all.
pub(crate) fn agree(mine: &str, bootstrap: &dyn Bootstrap) -> Result<()> {
    let told = bootstrap.told_by(&[0], "setup", mine.as_bytes()).map_err(Error::launcher)?;
    match told.first() {
        Some(theirs) if theirs != mine.as_bytes() => {
            Err(setups_differ(bootstrap.number(), mine.as_bytes(), 0, theirs))
        }
        _ => Ok(()),
    }
}

/// Meets all PEs for the first time: each compares its setup with that of the first one, byte for byte.
///
/// # Errors
///
/// If any differ, on all of them.
pub(crate) fn compare(team: &Team, endpoint: &Endpoint, mine: &[u8]) -> Result<()> {
    let operation = Operation::named(Family::TeamSync, "the start of the program");
    let purpose = Purpose { operation, opens: false, arguments: &[], subject: &String::new, location: None };
    let agreed = team.agree_on(endpoint, &purpose);
    let theirs = agreed.said_by_first(mine);
    let (me, first) = (endpoint.me().number(), team.member(0).number());
    let same = if theirs == mine { Ok(()) } else { Err(setups_differ(me, mine, first, &theirs)) };
    agreed.settle(same.map(|()| Vec::new())).map(drop)
}

/// The error for a setup of PE `me` that is not that of PE `pe`.
fn setups_differ(me: usize, mine: &[u8], pe: usize, theirs: &[u8]) -> Error {
    let (mine, theirs) = (String::from_utf8_lossy(mine), String::from_utf8_lossy(theirs));
    let (here, there) = first_difference(&mine, &theirs);
    ErrorKind::SetupsDiffer { me, pe, here: here.to_owned(), there: there.to_owned() }.into()
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeMemory {
    /// Of which file parts its slot consists.
    pub(crate) pieces: Vec<u8>,
    /// The CPUs that it may run on.
    pub(crate) cpus: Cpus,
    /// What its partitions were granted.
    pub(crate) grants: Vec<Grant>,
}

impl PeMemory {
    /// What each PE tells. All have as many partitions as this one was granted.
    ///
    /// # Errors
    ///
    /// If the launcher is lost, or what a PE tells is garbled.
    pub(crate) fn exchange(
        pieces: &[u8],
        granted: &[Grant],
        bootstrap: &dyn Bootstrap,
    ) -> Result<Alike<Self>> {
        let mine = (pieces, Cpus::here(), grants::encode(granted));
        let all = bootstrap.exchange("told", &codec::encode(&mine));
        let all: Alike<Vec<u8>> = all.map_err(Error::launcher)?.into_iter().collect();
        let told = all.map(|told| Self::decode(told, granted.len()));
        match told.iter().position(Option::is_none) {
            None => Ok(told.map(|told| told.clone().unwrap_or_else(|| unreachable!("none is missing")))),
            Some(pe) => Err(Error::launcher(format!("what PE {pe} tells of its memory is garbled"))),
        }
    }

    /// What a PE with so many partitions tells.
    fn decode(told: &[u8], partitions: usize) -> Option<Self> {
        let (pieces, cpus, granted) = codec::decode::<(Vec<u8>, Cpus, Vec<u8>)>(told).ok()?;
        let grants = grants::decode(&granted).filter(|grants| grants.len() == partitions)?;
        Some(Self { pieces, cpus, grants })
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::context::Initiator as _;

    use super::*;

    #[test]
    fn the_first_difference_is_found_where_it_is() {
        assert_eq!(first_difference("a\nb\nc", "a\nx\nc"), ("b", "x"));
        assert_eq!(first_difference("a", "a\nb"), ("nothing more", "b"));
    }

    #[test]
    fn setups_are_compared_byte_for_byte() {
        crate::loopback::run::<crate::thread::Single>(3, None, |world| {
            // Longer than what collectives bring at once.
            let setup = |last: &str| ["a line\n"; 3000].concat() + last;
            let compared = |mine: &str| compare(world.team(), world.endpoint(), mine.as_bytes());
            assert!(compared(&setup("end")).is_ok());
            assert!(compared("").is_ok());
            for mine in [setup("other"), setup("enx"), setup("en"), setup("end and more"), String::new()] {
                let mine = if world.my_pe() == 2 { mine } else { setup("end") };
                let error = compared(&mine).unwrap_err().to_string();
                assert!(error.contains("PE 2 has `") && error.contains("where PE 0 has `"), "{error}");
            }
        })
        .unwrap();
    }

    #[test]
    fn what_is_garbled_is_refused() {
        let told = codec::encode(&(b"pieces".to_vec(), Cpus::here(), grants::encode(&[])));
        assert_eq!(PeMemory::decode(&told, 0).unwrap().pieces, b"pieces");
        assert!(PeMemory::decode(&told, 1).is_none());
        for end in 0..told.len() {
            assert!(PeMemory::decode(&told[..end], 0).is_none(), "{end}");
        }
    }
}
