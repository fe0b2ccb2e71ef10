//! Strided transfers beside other libraries; and, as in the literature, the strided routines of each library against a loop of its
//! own puts or gets (`strided-own`).

use shmem_core::strided::Level;

use super::*;

/// Runs a task beside peers. If no peer is installed, `strided-own` measures only our library, and `strided-peers` nothing.
pub(super) fn measure(runner: &mut Runner, task: &str) -> Done {
    let programs = runner.programs(&Peer::STRIDED)?;
    if programs.is_none() && task == "strided-peers" {
        return Ok(());
    }
    let given = programs.as_ref().map(PeArguments::beside).unwrap_or_default();
    runner.repeat(&runner.job(task, 2, given).heap(32 << 20))
}

/// Transfers in a sample. Each is complete at its destination before the next one begins.
const TRANSFERS: usize = 20;

/// Offset of the destination from a multiple of two pages, in bytes.
const START: usize = 256;

/// Offset of the source from a multiple of two pages, in bytes. If strides are powers of two, these offsets decide which cache sets
/// and TLB sets both sides share. This value is best for MPI.
const SKEW: usize = ALIGN / 2 + 320;

const DOUBLE: usize = size_of::<f64>();

/// Number of doubles of each side: as many as in the peers' arrays, and extra space for alignment.
const DOUBLES: usize = 1100 * 1032 + 2 * ALIGN / DOUBLE;

/// Returns the number of blocks; then, in doubles: the length of a block, the destination's stride, and the source's stride.
fn doubles(pattern: &Pattern) -> [usize; 4] {
    let [_, Level { count, to, from }] = pattern.inner();
    [count, pattern.block() / DOUBLE, to / DOUBLE, from / DOUBLE]
}

/// Makes a request to a peer for a transfer. MPI's operations are `put` and `get` with vector types, `put-each` and `get-each` with
/// a loop, all with a flush. OpenSHMEM's are `iput` and `iget`, `putmem` and `getmem` with a loop, all with a quiet.
fn request(
    case: &str,
    operation: &'static str,
    (pattern, skew): (Pattern, usize),
    times: usize,
) -> PeerRequest {
    let [count, block, to, from] = doubles(&pattern);
    let numbers = format!("{count} {block} {to} {from} {skew} {times}");
    PeerRequest { case: case.to_owned(), operation, numbers }
}

/// Runs `measure` on PE 0. Both sides are symmetric memory, at the same offsets in pages as the peers' arrays.
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
        // SAFETY: the PE's own copy of `source` lives until the job ends, and only this reference accesses it.
        let own: &mut [f64] = unsafe { &mut *source.here(world).as_ptr() };
        measure(world, bench, &mut Sides::new(world, to.index(first..), bytemuck::cast_slice_mut(own)));
    })?)
}

/// Compares all transfers with each peer, each complete at its destination. Our routines are compared with the peer's fastest call
/// (`iput` for single elements in OpenSHMEM), and our loop of puts with the peer's loop.
pub(super) fn beside_peers(world: &World, bench: &Bench<'_>, sides: &mut Sides<'_>) {
    for peer in bench.beside() {
        let kinds: &[_] = if peer.peer == Peer::MPI { &["mpi"] } else { &["oshmem", "a1"] };
        for (kind, (case, pattern, skew)) in
            kinds.iter().flat_map(|kind| layouts("peers").map(move |one| (*kind, one)))
        {
            let operation = match kind {
                "mpi" => "put",
                "oshmem" if pattern.block() == DOUBLE => "iput",
                _ => "putmem",
            };
            sides.skewed(skew);
            // `timed` loads the caches with our data first, as the peer does with its own.
            let time = || {
                if kind == "a1" {
                    return Ok(timed(TRANSFERS, || {
                        sides.loop_of_puts(&pattern, Direction::Put);
                        world.quiet();
                    }));
                }
                let (to, source) = sides.elements();
                Ok(timed(TRANSFERS, || routine(world, to, source, &pattern)))
            };
            let asked = request(case, operation, (pattern, skew), TRANSFERS);
            let found = peer.against(&asked, bench.repetitions, time);
            if !bench.keep(&format!("peers {kind}/{case}"), &peer, found) {
                break;
            }
        }
    }
}

fn routine(world: &World, place: On<'_, [f64]>, source: &[f64], pattern: &Pattern) {
    let [count, block, to, from] = doubles(black_box(pattern));
    if block == 1 {
        world.iput(place, source, to, from, count);
    } else {
        world.ibput(place, source, to, from, block, count);
    }
    world.quiet();
}

/// Measures strided routines of each library against a loop of its own puts or gets: elements at equal strides on both sides.
pub(super) fn own(world: &World, bench: &Bench<'_>, sides: &mut Sides<'_>) {
    // A sample transfers some 20,000 elements.
    let times = |elements| 20_000 / elements;
    let of_way = |way| {
        let of = move |stride| [16, 128, 1024].map(|elements| (way, stride, elements));
        [2, 8, 16, 128, 129, 1024].into_iter().flat_map(of)
    };
    let all: Vec<_> = Direction::BOTH.into_iter().flat_map(of_way).collect();
    let (there, own) = sides.skewed(SKEW).elements();
    for &((name, direction), stride, elements) in black_box(&all) {
        bench.pair(format!("strided-own ours/{name}/{stride}/{elements}"), || {
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
        // [strided routine, routine that is called in a loop], for puts and for gets.
        let (library, ways) = match peer.peer {
            Peer::MPI => ("mpi", [["put", "put-each"], ["get", "get-each"]]),
            _ => ("oshmem", [["iput", "putmem"], ["iget", "getmem"]]),
        };
        for &((name, direction), stride, elements) in &all {
            let case = format!("{name}/{stride}/{elements}");
            let transfer = (even(DOUBLE, elements, DOUBLE * stride), SKEW);
            let [routine, each] = ways[usize::from(direction == Direction::Get)]
                .map(|operation| request(&case, operation, transfer, times(elements)));
            let found = peer.beside(&routine, &peer, &each, bench.repetitions);
            if !bench.keep(&format!("strided-own {library}/{case}"), &peer, found) {
                break;
            }
        }
    }
}
