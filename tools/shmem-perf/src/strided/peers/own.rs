//! Each implementation's strided routines, beside its own loop of puts or gets.
//!
//! That is how the literature assesses implementations: not one with another, but what each makes of a strided
//! routine with what its user would write without it.

use std::cell::RefCell;
use std::hint::black_box;

use shmem_core::context::{Order, Rma, Stores, Strided};

use super::comparison::{Arrays, skip};
use super::transfer::{Operation, SKEW, Transfer, request_of};
use crate::peers::{Peer, PeerError, Request, Running};
use crate::samples::{Samples, nanoseconds_each};
use crate::strided::Direction;

/// Elements moved by one sample, about: short columns are moved more often.
const MOVED: usize = 20_000;

/// Numbers of elements of a column.
pub const ELEMENTS: [usize; 3] = [16, 128, 1024];

/// Doubles from one element to the next.
pub const STRIDES: [usize; 6] = [2, 8, 16, 128, 129, 1024];

/// Elements at the same distance on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Which way they go.
    pub direction: Direction,
    /// Doubles from one to the next.
    pub stride: usize,
    /// How many they are.
    pub elements: usize,
}

impl Column {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        [Direction::Put, Direction::Get].into_iter().flat_map(|direction| {
            let each = move |stride| ELEMENTS.map(|elements| Self { direction, stride, elements });
            STRIDES.into_iter().flat_map(each)
        })
    }

    /// How often it is moved in a sample.
    const fn times(self) -> usize {
        MOVED / self.elements
    }

    const fn transfer(self) -> Transfer {
        Transfer::column(self.elements, self.stride)
    }
}

/// The time of a strided routine beside that of a loop, in nanoseconds for a column; or why there is none.
#[derive(Debug)]
pub struct Own {
    /// What was moved.
    pub column: Column,
    /// The pairs.
    pub samples: Result<Samples, PeerError>,
}

/// Moves all columns by `iput` and `iget`, and by loops of `put` and `get`, each complete at the other PE, in turn.
///
/// # Panics
///
/// If the arrays are not on this node.
pub fn ours<I: Stores>(token: &I, arrays: Arrays<'_>, repetitions: usize) -> Vec<Own> {
    let mut place = vec![0.0; Arrays::DOUBLES];
    let first = skip(place.as_ptr().addr()) + SKEW / size_of::<f64>();
    let into = RefCell::new(&mut place[first..]);
    let there = arrays.to;
    let here = &arrays.from[SKEW / size_of::<f64>()..];
    Column::all()
        .map(|column| {
            let Column { direction, stride, elements } = column;
            let routine = || {
                let (stride, elements) = black_box((stride, elements));
                match direction {
                    Direction::Put => token.iput(there, here, stride, stride, elements),
                    Direction::Get => token.iget(&mut into.borrow_mut(), there, stride, stride, elements),
                }
                token.quiet();
            };
            let each = || {
                let (stride, elements) = black_box((stride, elements));
                let mut into = into.borrow_mut();
                for at in (0..elements).map(|element| element * stride) {
                    match direction {
                        Direction::Put => token.put(there.index(at), &here[at]),
                        Direction::Get => token.get(&mut into[at], there.index(at)),
                    }
                }
                token.quiet();
            };
            let time = |one: &dyn Fn()| {
                // What the other way left in the caches is not its own.
                one();
                nanoseconds_each(column.times(), || (0..column.times()).for_each(|_| one()))
            };
            let samples = Samples::alternate(repetitions, || time(&routine), || time(&each));
            Own { column, samples: Ok(samples) }
        })
        .collect()
}

/// Lets a peer do the same with its own routines. It ends early if the peer does.
pub fn theirs(peer: &mut Running, repetitions: usize) -> Vec<Own> {
    let mut all = Vec::new();
    for column in Column::all() {
        let ways = ways(peer.peer(), column.direction);
        let [routine, each] = ways.map(|operation| asked(operation, column));
        let samples = pairs(peer, &routine, &each, repetitions);
        let lost = samples.as_ref().is_err_and(PeerError::is_final);
        all.push(Own { column, samples });
        if lost {
            break;
        }
    }
    all
}

fn asked(operation: Operation, column: Column) -> Request {
    let Column { direction, stride, elements } = column;
    let case = format!("{}/{stride}/{elements}", direction.name());
    request_of(case, operation, &column.transfer(), column.times())
}

/// The strided routine of a peer, and that of which its users would make a loop.
fn ways(peer: Peer, direction: Direction) -> [Operation; 2] {
    match (peer, direction) {
        (Peer::Mpi, Direction::Put) => [Operation::Put, Operation::PutEach],
        (Peer::Mpi, Direction::Get) => [Operation::Get, Operation::GetEach],
        (_, Direction::Put) => [Operation::Iput, Operation::Putmem],
        (_, Direction::Get) => [Operation::Iget, Operation::Getmem],
    }
}

fn pairs(
    peer: &mut Running,
    routine: &Request,
    each: &Request,
    repetitions: usize,
) -> Result<Samples, PeerError> {
    peer.check(routine)?;
    peer.check(each)?;
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let cost = peer.sample(routine)?;
        samples.push(cost, peer.sample(each)?);
    }
    Ok(samples)
}

/// What an implementation's routines are compared with: `library` is its name, none ours.
pub fn compared(peer: Option<(Peer, &str)>) -> String {
    let (routines, each, library) = match peer {
        None => ("iput and iget", "put and get", "this library"),
        Some((Peer::Mpi, library)) => {
            ("MPI_Put and MPI_Get with vector types", "MPI_Put and MPI_Get", library)
        }
        Some((_, library)) => {
            ("shmem_double_iput and _iget", "shmem_putmem and shmem_getmem of an element", library)
        }
    };
    format!("{routines} of {library}, against a loop of its own {each}; time for a column")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_the_arrays() {
        for column in Column::all() {
            let transfer = column.transfer();
            assert!(transfer.doubles(transfer.to) <= 1100 * 1032, "{column:?}");
            assert!(transfer.doubles(transfer.from) + SKEW / 8 + 2048 <= Arrays::DOUBLES, "{column:?}");
            assert!(column.times() >= 10, "{column:?}");
        }
        assert_eq!(Column::all().count(), 2 * ELEMENTS.len() * STRIDES.len());
    }

    #[test]
    fn a_routine_and_its_loop_are_asked_of_the_same_library() {
        for peer in Peer::STRIDED {
            for column in Column::all() {
                let [routine, each] = ways(peer, column.direction);
                assert!(routine.peer() == peer && each.peer() == peer && routine != each);
                assert_eq!(asked(routine, column).numbers, asked(each, column).numbers);
            }
        }
    }
}
