//! Strided transfers beside other libraries.
//!
//! The literature does not assess implementations by each other, but by what each makes of a strided routine with what its user
//! would write without it, a loop of its own puts or gets: `strided-own`.

use super::sides::ALIGN;
use super::*;

/// Our routines against theirs. Nothing is measured where none of them is there.
pub(super) fn beside(runner: &mut Runner) -> Done {
    let Some(programs) = runner.programs(&Peer::STRIDED, PATIENCE)? else { return Ok(()) };
    runner.repeat(&runner.job("strided-peers", 2, Given::beside(&programs)).heap(32 << 20))
}

/// The strided routines of each library against its own loop of puts or gets; ours are always there.
pub(super) fn own_loops(runner: &mut Runner) -> Done {
    let programs = runner.programs(&Peer::STRIDED, PATIENCE)?;
    let given = programs.as_ref().map(Given::beside).unwrap_or_default();
    runner.repeat(&runner.job("strided-own", 2, given).heap(32 << 20))
}

/// Transfers in one sample, each complete at its destination before the next one begins.
const TRANSFERS: usize = 20;

/// Bytes from a multiple of two pages to the destination.
const START: usize = 256;

/// Bytes from there to the source, where nothing else is wanted. At strides that are powers of two, where
/// each side begins decides which sets of caches and TLBs the two share: this is what suits MPI best.
const SKEW: usize = ALIGN / 2 + 320;

const DOUBLE: usize = size_of::<f64>();

/// Doubles of each of two places: those of the peers' arrays, and what sides are longer by.
const DOUBLES: usize = 1100 * 1032 + 2 * ALIGN / DOUBLE;

/// Blocks of doubles: how many, doubles in each, and from the start of one to that of the next at the destination and at the
/// source.
const fn of(count: usize, block: usize, to: usize, from: usize) -> Spread {
    Spread { block, count, to, from }
}

/// All cases: strides that are powers of two beside strides that are not, since caches like the one and not the other; and where
/// both sides have such a stride, sources that lie in the same sets of caches and TLBs as the destination.
const ALL: [Layout; 18] = [
    ("column/2", of(1000, 1, 2, 2), SKEW),
    ("column/128", of(1000, 1, 128, 128), SKEW),
    ("column/128/same-sets", of(1000, 1, 128, 128), START),
    ("column/129", of(1000, 1, 129, 129), SKEW),
    ("column4/128", of(250, 4, 128, 128), SKEW),
    ("column4/128/same-sets", of(250, 4, 128, 128), START),
    ("column4/129", of(250, 4, 129, 129), SKEW),
    ("pack/2", of(1000, 1, 1, 2), SKEW),
    ("pack/128", of(1000, 1, 1, 128), SKEW),
    ("pack/129", of(1000, 1, 1, 129), SKEW),
    ("unpack/2", of(1000, 1, 2, 1), SKEW),
    ("unpack/128", of(1000, 1, 128, 1), SKEW),
    ("unpack/129", of(1000, 1, 129, 1), SKEW),
    ("pack4/128", of(250, 4, 4, 128), SKEW),
    ("unpack4/128", of(250, 4, 128, 4), SKEW),
    // Pitches of 8256 and 8192 bytes.
    ("pitch/8256", of(1024, 1, 1032, 1032), SKEW),
    ("pitch/8192", of(1024, 1, 1024, 1024), SKEW),
    ("pitch/8192/same-sets", of(1024, 1, 1024, 1024), START),
];

/// What asks a peer for a transfer by one of its calls: of MPI `put` and `get` with vector types, `put-each` and `get-each` in a
/// loop, and a flush; of OpenSHMEM `iput` and `iget`, `putmem` and `getmem` in a loop, and a quiet.
fn request(case: &str, operation: &'static str, (spread, skew): (Spread, usize), times: usize) -> Request {
    let Spread { block, count, to, from } = spread;
    let numbers = format!("{count} {block} {to} {from} {skew} {times}");
    Request { case: case.to_owned(), operation, numbers }
}

/// Measures with sides in symmetric memory of both PEs, which begin in their pages as the peers' do, on PE 0.
pub(super) fn with_arrays(
    world: &World,
    bench: &Bench<'_>,
    measure: fn(&World, &Bench<'_>, &mut Sides<'_>),
) -> Done {
    let (to, source) = (world.alloc(zeroed::<f64>(DOUBLES))?, world.alloc(zeroed::<f64>(DOUBLES))?);
    let to = to.on(other(world));
    let address = near(to.ptr(world)).addr();
    let first = (address.next_multiple_of(ALIGN) - address + START) / DOUBLE;
    Ok(alone(world, || {
        // SAFETY: this PE's copy of `source`: no PE has a place on it but this reference, until it is freed with the job.
        let own: &mut [f64] = unsafe { &mut *source.here(world).as_ptr() };
        measure(world, bench, &mut Sides::new(world, to.index(first..), bytemuck::cast_slice_mut(own)));
    })?)
}

/// All transfers beside a peer's, each complete at its destination, in turn: our routines beside the one of its calls that does
/// it fastest (OpenSHMEM's `iput` knows elements only, and is the faster one for these), and our loop of puts beside theirs.
pub(super) fn beside_peers(world: &World, bench: &Bench<'_>, sides: &mut Sides<'_>) {
    for peer in bench.beside() {
        let kinds: &[_] = if peer.peer == Peer::MPI { &["mpi"] } else { &["oshmem", "a1"] };
        for (kind, (case, spread, skew)) in kinds.iter().flat_map(|kind| ALL.map(|one| (*kind, one))) {
            let operation = match kind {
                "mpi" => "put",
                "oshmem" if spread.block == 1 => "iput",
                _ => "putmem",
            };
            sides.skewed(skew);
            let Spread { block, count, to, from } = spread;
            let pattern =
                Spread { block: DOUBLE * block, count, to: DOUBLE * to, from: DOUBLE * from }.pattern();
            // The caches belonged to somebody else, as they do for the peer.
            let time = || {
                let puts = |sides: &mut Sides<'_>| {
                    sides.loop_of_puts(&pattern, Direction::Put);
                    world.quiet();
                };
                if kind == "a1" {
                    return Ok(timed(TRANSFERS, || puts(sides)));
                }
                let (to, source) = sides.elements();
                Ok(timed(TRANSFERS, || routine(world, to, source, &spread)))
            };
            let asked = request(case, operation, (spread, skew), TRANSFERS);
            let found = peer.against(&asked, bench.repetitions, time);
            if !bench.keep(&format!("peers {kind}/{case}"), &peer, found) {
                break;
            }
        }
    }
}

fn routine(world: &World, place: On<'_, [f64]>, source: &[f64], spread: &Spread) {
    let Spread { block, count, to, from } = *black_box(spread);
    if block == 1 {
        world.iput(place, source, to, from, count);
    } else {
        world.ibput(place, source, to, from, block, count);
    }
    world.quiet();
}

/// The strided routines of each library against its own loop of puts or gets, of elements at the same distance on both sides: which
/// way they go, doubles from one to the next, and how many they are.
pub(super) fn own(world: &World, bench: &Bench<'_>, sides: &mut Sides<'_>) {
    // Some 20,000 elements in a sample.
    let times = |elements| 20_000 / elements;
    let strides = [2, 8, 16, 128, 129, 1024];
    let columns = strides.map(|stride| [16, 128, 1024].map(|elements| (stride, elements)));
    let all = columns.as_flattened().iter();
    let all: Vec<_> =
        Direction::BOTH.iter().flat_map(|direction| all.clone().map(move |one| (*direction, *one))).collect();
    let (there, own) = sides.skewed(SKEW).elements();
    for &(direction, (stride, elements)) in &all {
        let (direction, stride, elements) = black_box((direction, stride, elements));
        bench.pair(format!("strided-own ours/{}/{stride}/{elements}", direction.name()), || {
            let routine = timed(times(elements), || {
                match direction {
                    Direction::Put => world.iput(there, own, stride, stride, elements),
                    Direction::Get => world.iget(own, there, stride, stride, elements),
                }
                world.quiet();
            });
            let each_one = timed(times(elements), || {
                for at in (0..elements).map(|element| element * stride) {
                    match direction {
                        Direction::Put => world.put(there.index(at), &own[at]),
                        Direction::Get => world.get(&mut own[at], there.index(at)),
                    }
                }
                world.quiet();
            });
            (routine, each_one)
        });
    }
    for peer in bench.beside() {
        // By its strided routine, and by that of which its users would make a loop.
        let (library, ways) = match peer.peer {
            Peer::MPI => ("mpi", [["put", "put-each"], ["get", "get-each"]]),
            _ => ("oshmem", [["iput", "putmem"], ["iget", "getmem"]]),
        };
        for &(direction, (stride, elements)) in &all {
            let case = format!("{}/{stride}/{elements}", direction.name());
            let transfer = (of(elements, 1, stride, stride), SKEW);
            let [routine, each] = ways[usize::from(direction == Direction::Get)]
                .map(|operation| request(&case, operation, transfer, times(elements)));
            let found = peer.beside(&routine, &peer, &each, bench.repetitions);
            if !bench.keep(&format!("strided-own {library}/{case}"), &peer, found) {
                break;
            }
        }
    }
}
