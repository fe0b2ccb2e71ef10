//! Strided transfers beside other libraries; and, as in the literature, the strided routines of each library against a loop of its own puts
//! or gets (`strided-own`).

use shmem_core::strided::Level;

use super::*;

/// Runs a task beside peers, or, if there are none, `strided-own` of our library alone.
pub(super) fn measure(runner: &mut Runner, task: &str) -> Done {
    let programs = runner.programs(&Peer::STRIDED)?;
    if programs.is_none() && task == "strided-peers" {
        return Ok(());
    }
    let given = programs.as_ref().map(Given::beside).unwrap_or_default();
    runner.repeat(&runner.job(task, 2, given).heap(32 << 20))
}

/// Transfers in one sample, each complete at its destination before the next one begins.
const TRANSFERS: usize = 20;

/// The distance of the destination from a multiple of two pages, in bytes.
const START: usize = 256;

/// The distance of the source from a multiple of two pages, in bytes. If strides are powers of two, the starts decide which sets of caches
/// and TLBs both sides share. This value is best for MPI.
const SKEW: usize = ALIGN / 2 + 320;

const DOUBLE: usize = size_of::<f64>();

/// The number of doubles of each side: as in the peers' arrays, and slack for alignment.
const DOUBLES: usize = 1100 * 1032 + 2 * ALIGN / DOUBLE;

/// Returns the number of blocks and, in doubles, the length of a block, the stride of the destination, and that of the source.
fn doubles(pattern: &Pattern) -> [usize; 4] {
    let [_, Level { count, to, from }] = pattern.inner();
    [count, pattern.block() / DOUBLE, to / DOUBLE, from / DOUBLE]
}

/// A request for a transfer. MPI: `put` and `get` with vector types, `put-each` and `get-each` in a loop, and a flush. OpenSHMEM: `iput`
/// and `iget`, `putmem` and `getmem` in a loop, and a quiet.
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

/// Runs `measure` on PE 0, with sides in symmetric memory of both PEs, at the same offsets in pages as those of the peers.
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

/// All transfers, each complete at its destination, in turn with a peer: our routines beside its fastest call (OpenSHMEM's `iput` for
/// elements), and our loop of puts beside its loop.
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
            // The caches hold the peer's data, as they hold ours for the peer.
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

/// The strided routines of each library against its own loop of puts or gets, for elements at the same stride on both sides.
pub(super) fn own(world: &World, bench: &Bench<'_>, sides: &mut Sides<'_>) {
    // Some 20,000 elements in a sample.
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
        // The library's strided routine, and that for a loop.
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
