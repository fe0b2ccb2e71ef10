//! Strided transfers beside other libraries.
//!
//! The literature does not assess implementations by each other, but by what each makes of a strided routine with what its user
//! would write without it, a loop of its own puts or gets: `strided-own`.

use super::*;
use crate::strided::baseline::loop_of_puts;

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

/// Doubles of the arrays of peers: all transfers fit.
const MOST: usize = 1100 * 1032;

/// Doubles that each of two places must have, so that all transfers fit wherever it begins: two
/// pages for that, and two for the skew of the source.
const DOUBLES: usize = MOST + 2 * PAGES / size_of::<f64>();

/// Blocks of doubles, from one array to another: how many, doubles in each, and from the start of one to that of the next at
/// the destination and at the source; and bytes from a multiple of two pages to the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Transfer {
    blocks: usize,
    block: usize,
    to: usize,
    from: usize,
    skew: usize,
}

const fn of(blocks: usize, block: usize, to: usize, from: usize, skew: usize) -> Transfer {
    Transfer { blocks, block, to, from, skew }
}

/// All cases: strides that are powers of two beside strides that are not, since caches like the
/// one and not the other; and where both sides have such a stride, sources that lie in the same sets
/// of caches and TLBs as the destination.
const ALL: [(&str, Transfer); 18] = [
    ("column/2", of(1000, 1, 2, 2, SKEW)),
    ("column/128", of(1000, 1, 128, 128, SKEW)),
    ("column/128/same-sets", of(1000, 1, 128, 128, START)),
    ("column/129", of(1000, 1, 129, 129, SKEW)),
    ("column4/128", of(250, 4, 128, 128, SKEW)),
    ("column4/128/same-sets", of(250, 4, 128, 128, START)),
    ("column4/129", of(250, 4, 129, 129, SKEW)),
    ("pack/2", of(1000, 1, 1, 2, SKEW)),
    ("pack/128", of(1000, 1, 1, 128, SKEW)),
    ("pack/129", of(1000, 1, 1, 129, SKEW)),
    ("unpack/2", of(1000, 1, 2, 1, SKEW)),
    ("unpack/128", of(1000, 1, 128, 1, SKEW)),
    ("unpack/129", of(1000, 1, 129, 1, SKEW)),
    ("pack4/128", of(250, 4, 4, 128, SKEW)),
    ("unpack4/128", of(250, 4, 128, 4, SKEW)),
    // Pitches of 8256 and 8192 bytes.
    ("pitch/8256", of(1024, 1, 1032, 1032, SKEW)),
    ("pitch/8192", of(1024, 1, 1024, 1024, SKEW)),
    ("pitch/8192/same-sets", of(1024, 1, 1024, 1024, START)),
];

/// What asks a peer for a transfer by one of its calls: of MPI `put` and `get` with vector types, `put-each` and `get-each` in a
/// loop, and a flush; of OpenSHMEM `iput` and `iget`, `putmem` and `getmem` in a loop, and a quiet.
fn request(case: &str, operation: &'static str, transfer: &Transfer, times: usize) -> Request {
    let Transfer { blocks, block, to, from, skew } = transfer;
    let numbers = format!("{blocks} {block} {to} {from} {skew} {times}");
    Request { case: case.to_owned(), operation, numbers }
}

/// The arrays of transfers: one on another PE, and one here. They begin in their pages as the
/// peers' do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrays<'a> {
    to: On<'a, [f64]>,
    from: &'a [f64],
}

/// Doubles from `address` to a multiple of two pages.
fn skip(address: usize) -> usize {
    (address.next_multiple_of(PAGES) - address) / size_of::<f64>()
}

/// Measures with arrays of both PEs, on PE 0.
pub(super) fn with_arrays(bench: &mut Bench<'_>, measure: fn(&mut Bench<'_>, Arrays<'_>)) -> Done {
    let world = bench.world;
    let (to, source) = (world.alloc(zeroed::<f64>(DOUBLES))?, world.alloc(zeroed::<f64>(DOUBLES))?);
    // SAFETY: this PE's copy of `source` is written by nobody: no PE has a place on it but this
    // reference, until it is freed with the job.
    let from = unsafe { source.here(world).as_ref() };
    let to = to.on(bench.other());
    let first = skip(near(to.ptr(world)).addr()) + START / size_of::<f64>();
    let arrays = Arrays { to: to.index(first..), from: &from[skip(from.as_ptr().addr())..] };
    world.barrier_all();
    if world.my_pe() == 0 {
        measure(bench, arrays);
    }
    world.barrier_all();
    Ok(())
}

/// All transfers beside a peer's, each complete at its destination, in turn: our routines beside the one of its calls that does
/// it fastest (OpenSHMEM's `iput` knows elements only, and is the faster one for these), and our loop of puts beside theirs.
pub(super) fn beside_peers(bench: &mut Bench<'_>, arrays: Arrays<'_>) {
    for mut peer in std::mem::take(&mut bench.beside) {
        let kinds: &[_] = if peer.peer == Peer::MPI { &["mpi"] } else { &["oshmem", "a1"] };
        for (kind, (case, transfer)) in kinds.iter().flat_map(|kind| ALL.map(|one| (*kind, one))) {
            let (operation, ours): (_, fn(&World, Arrays<'_>, &Transfer)) = match kind {
                "mpi" => ("put", routine),
                "oshmem" if transfer.block == 1 => ("iput", routine),
                "oshmem" => ("putmem", routine),
                _ => ("putmem", puts),
            };
            // The caches belonged to somebody else, as they do for the peer.
            let time = || timed(TRANSFERS, || ours(bench.world, arrays, &transfer));
            let asked = request(case, operation, &transfer, TRANSFERS);
            let found = peer.against(&asked, bench.repetitions, time);
            if !bench.keep(&format!("peers {kind}/{case}"), (peer.peer, &peer.library), found) {
                break;
            }
        }
    }
}

/// Where a transfer's source begins.
fn source<'a>(arrays: Arrays<'a>, transfer: &Transfer) -> &'a [f64] {
    &arrays.from[transfer.skew / size_of::<f64>()..]
}

fn routine(world: &World, arrays: Arrays<'_>, transfer: &Transfer) {
    let transfer = black_box(transfer);
    let (Transfer { blocks, block, to, from, .. }, source) = (*transfer, source(arrays, transfer));
    if block == 1 {
        world.iput(arrays.to, source, to, from, blocks);
    } else {
        world.ibput(arrays.to, source, to, from, block, blocks);
    }
    world.quiet();
}

fn puts(world: &World, arrays: Arrays<'_>, transfer: &Transfer) {
    const DOUBLE: usize = size_of::<f64>();
    let transfer = black_box(transfer);
    let (Transfer { blocks, block, to, from, .. }, source) = (*transfer, source(arrays, transfer));
    let spread = Spread { block: block * DOUBLE, count: blocks, to: to * DOUBLE, from: from * DOUBLE };
    let (reads, writes, pattern) = (source.len() * DOUBLE, arrays.to.len() * DOUBLE, spread.pattern());
    let hulls = pattern.hulls();
    assert!(hulls.0 <= writes && hulls.1 <= reads, "{spread} does not fit arrays of {writes} and {reads}");
    let start: *mut u8 = near(arrays.to.ptr(world)).cast();
    let place = start.addr()..start.addr() + writes;
    // SAFETY: all blocks lie in the arrays, as just checked. Nobody writes to the source, which is
    // borrowed; the destination is memory of its PE, which lives while the token does.
    unsafe { loop_of_puts(&pattern, &place, start, source.as_ptr().cast(), Direction::Put) };
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
pub(super) fn own(bench: &mut Bench<'_>, arrays: Arrays<'_>) {
    let name = |library: &str, (direction, stride, elements): Column| {
        format!("strided-own {library}/{}/{stride}/{elements}", direction.name())
    };
    let mut place = vec![0.0; DOUBLES];
    let first = skip(place.as_ptr().addr()) + SKEW / size_of::<f64>();
    columns().for_each(|column| of_ours(bench, &name("ours", column), arrays, &mut place[first..], column));
    for mut peer in std::mem::take(&mut bench.beside) {
        // By its strided routine, and by that of which its users would make a loop.
        let (library, ways) = match peer.peer {
            Peer::MPI => ("mpi", [["put", "put-each"], ["get", "get-each"]]),
            _ => ("oshmem", [["iput", "putmem"], ["iget", "getmem"]]),
        };
        for column @ (direction, stride, elements) in columns() {
            let case = format!("{}/{stride}/{elements}", direction.name());
            let transfer = of(elements, 1, stride, stride, SKEW);
            let [routine, each] = ways[usize::from(direction == Direction::Get)]
                .map(|operation| request(&case, operation, &transfer, times(elements)));
            let found = peer.in_turn(&routine, None, &each, bench.repetitions);
            if !bench.keep(&name(library, column), (peer.peer, &peer.library), found) {
                break;
            }
        }
    }
}

fn of_ours(bench: &Bench<'_>, name: &str, arrays: Arrays<'_>, into: &mut [f64], column: Column) {
    let (world, there, here) = (bench.world, arrays.to, &arrays.from[SKEW / size_of::<f64>()..]);
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
