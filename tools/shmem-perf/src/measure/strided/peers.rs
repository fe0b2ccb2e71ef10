//! Strided transfers beside other libraries.
//!
//! The literature does not assess implementations by each other, but by what each makes of a strided routine with what its user
//! would write without it, a loop of its own puts or gets: `strided-own`.

use super::sides::loop_of_puts;
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

/// Bytes of two pages, to which both sides are laid.
const PAGES: usize = 8192;

/// Bytes from there to the destination.
const START: usize = 256;

/// Bytes from there to the source, where nothing else is wanted. At strides that are powers of two, where
/// each side begins decides which sets of caches and TLBs the two share: this is what suits MPI best.
const SKEW: usize = PAGES / 2 + 320;

/// Doubles that each of two places must have, so that all transfers fit wherever it begins: those of the peers' arrays, two
/// pages for that, and two for the skew of the source.
const DOUBLES: usize = 1100 * 1032 + 2 * PAGES / size_of::<f64>();

/// Blocks of doubles: how many, doubles in each, and from the start of one to that of the next at the destination and at the
/// source.
const fn of(count: usize, block: usize, to: usize, from: usize) -> Spread {
    Spread { block, count, to, from }
}

/// All cases, and bytes from a multiple of two pages to the source: strides that are powers of two beside strides that are not,
/// since caches like the one and not the other; and where both sides have such a stride, sources that lie in the same sets
/// of caches and TLBs as the destination.
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

/// The arrays of transfers: one on another PE, and one here. They begin in their pages as the
/// peers' do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrays<'a> {
    to: On<'a, [f64]>,
    from: &'a [f64],
}

impl<'a> Arrays<'a> {
    /// The source, from so many bytes on.
    fn skewed(self, skew: usize) -> Self {
        Self { from: &self.from[skew / size_of::<f64>()..], ..self }
    }
}

/// Doubles from `address` to a multiple of two pages.
fn skip(address: usize) -> usize {
    (address.next_multiple_of(PAGES) - address) / size_of::<f64>()
}

/// Measures with arrays of both PEs, on PE 0.
pub(super) fn with_arrays(
    world: &World,
    bench: &Bench<'_>,
    measure: fn(&World, &Bench<'_>, Arrays<'_>),
) -> Done {
    let (to, source) = (world.alloc(zeroed::<f64>(DOUBLES))?, world.alloc(zeroed::<f64>(DOUBLES))?);
    // SAFETY: this PE's copy of `source` is written by nobody: no PE has a place on it but this
    // reference, until it is freed with the job.
    let from = unsafe { source.here(world).as_ref() };
    let to = to.on(other(world));
    let first = skip(near(to.ptr(world)).addr()) + START / size_of::<f64>();
    let arrays = Arrays { to: to.index(first..), from: &from[skip(from.as_ptr().addr())..] };
    alone(world, || measure(world, bench, arrays));
    Ok(())
}

/// All transfers beside a peer's, each complete at its destination, in turn: our routines beside the one of its calls that does
/// it fastest (OpenSHMEM's `iput` knows elements only, and is the faster one for these), and our loop of puts beside theirs.
pub(super) fn beside_peers(world: &World, bench: &Bench<'_>, arrays: Arrays<'_>) {
    for peer in bench.beside() {
        let kinds: &[_] = if peer.peer == Peer::MPI { &["mpi"] } else { &["oshmem", "a1"] };
        for (kind, (case, spread, skew)) in kinds.iter().flat_map(|kind| ALL.map(|one| (*kind, one))) {
            let (operation, ours): (_, fn(&World, Arrays<'_>, &Spread)) = match kind {
                "mpi" => ("put", routine),
                "oshmem" if spread.block == 1 => ("iput", routine),
                "oshmem" => ("putmem", routine),
                _ => ("putmem", puts),
            };
            // The caches belonged to somebody else, as they do for the peer.
            let time = || Ok(timed(TRANSFERS, || ours(world, arrays.skewed(skew), &spread)));
            let asked = request(case, operation, (spread, skew), TRANSFERS);
            let found = peer.against(&asked, bench.repetitions, time);
            if !bench.keep(&format!("peers {kind}/{case}"), &peer, found) {
                break;
            }
        }
    }
}

fn routine(world: &World, Arrays { to, from: source }: Arrays<'_>, spread: &Spread) {
    let Spread { block, count, to: apart, from } = *black_box(spread);
    if block == 1 {
        world.iput(to, source, apart, from, count);
    } else {
        world.ibput(to, source, apart, from, block, count);
    }
    world.quiet();
}

fn puts(world: &World, arrays: Arrays<'_>, spread: &Spread) {
    const DOUBLE: usize = size_of::<f64>();
    let Spread { block, count, to, from } = *black_box(spread);
    let spread = Spread { block: block * DOUBLE, count, to: to * DOUBLE, from: from * DOUBLE };
    let (reads, writes, pattern) = (size_of_val(arrays.from), arrays.to.len() * DOUBLE, spread.pattern());
    let hulls = pattern.hulls();
    assert!(hulls.0 <= writes && hulls.1 <= reads, "{spread} does not fit arrays of {writes} and {reads}");
    let start: *mut u8 = near(arrays.to.ptr(world)).cast();
    let place = start.addr()..start.addr() + writes;
    // SAFETY: all blocks lie in the arrays, as just checked. Nobody writes to the source, which is
    // borrowed; the destination is memory of its PE, which lives while the token does.
    unsafe { loop_of_puts(&pattern, &place, start, arrays.from.as_ptr().cast(), Direction::Put) };
    world.quiet();
}

/// Elements at the same distance on both sides: which way they go, doubles from one to the next, and how many they are.
type Column = (Direction, usize, usize);

fn columns() -> impl Iterator<Item = Column> {
    let of = |direction| {
        [2, 8, 16, 128, 129, 1024].map(|stride| [16, 128, 1024].map(|elements| (direction, stride, elements)))
    };
    Direction::BOTH.into_iter().flat_map(of).flatten()
}

/// How often a column is moved in a sample: some 20,000 elements.
const fn times(elements: usize) -> usize {
    20_000 / elements
}

/// The strided routines of each library against its own loop of puts or gets.
pub(super) fn own(world: &World, bench: &Bench<'_>, arrays: Arrays<'_>) {
    let mut place = vec![0.0; DOUBLES];
    let first = skip(place.as_ptr().addr()) + SKEW / size_of::<f64>();
    for column @ (direction, stride, elements) in columns() {
        let name = format!("strided-own ours/{}/{stride}/{elements}", direction.name());
        of_ours(world, bench, name, arrays.skewed(SKEW), &mut place[first..], column);
    }
    for peer in bench.beside() {
        // By its strided routine, and by that of which its users would make a loop.
        let (library, ways) = match peer.peer {
            Peer::MPI => ("mpi", [["put", "put-each"], ["get", "get-each"]]),
            _ => ("oshmem", [["iput", "putmem"], ["iget", "getmem"]]),
        };
        for (direction, stride, elements) in columns() {
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

fn of_ours(
    world: &World,
    bench: &Bench<'_>,
    name: String,
    Arrays { to: there, from: here }: Arrays<'_>,
    into: &mut [f64],
    column: Column,
) {
    let (direction, stride, elements) = black_box(column);
    bench.pair(name, || {
        let routine = timed(times(elements), || {
            match direction {
                Direction::Put => world.iput(there, here, stride, stride, elements),
                Direction::Get => world.iget(into, there, stride, stride, elements),
            }
            world.quiet();
        });
        let each_one = timed(times(elements), || {
            for at in (0..elements).map(|element| element * stride) {
                match direction {
                    Direction::Put => world.put(there.index(at), &here[at]),
                    Direction::Get => world.get(&mut into[at], there.index(at)),
                }
            }
            world.quiet();
        });
        (routine, each_one)
    });
}
