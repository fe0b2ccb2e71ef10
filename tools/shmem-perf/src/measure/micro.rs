//! The usual micro-benchmarks between two PEs of a node, by the definitions of the OSU benchmarks, ours beside
//! those of [peers](crate::peers): latency, bandwidth, message rate, atomic operations and collectives.
//!
//! All do the same work: what is sent is the PE's own memory, a put is complete at its destination before the
//! next one begins (`quiet`), and messages of a window are completed together. A peer's program says in
//! `examples/peers/micro.h` what it does. The lowest of the peers is no library: C over `mmap`,
//! whose `quiet` is a full fence as ours is.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Duration;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;

use super::collective::{self, Buffers, CollectiveCase};
use super::indexed::random;
use super::{At, Cases, Measure, row};
use crate::bench::{Bench, Records};
use crate::case::Record;
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::peers::{PATIENCE, Peer, PeerError, Programs, Request, Running};
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) const MEASURE: Measure = Measure {
    name: "micro",
    about: "The usual micro-benchmarks between two PEs, by the definitions of the OSU benchmarks: in turn with C over `mmap`, and \
            with Open MPI's OpenSHMEM and MPI and the Rust crate lamellar where they are installed",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { quick, collectives, beside } = Options::from_arg_matches(options)?;
        let cases = match (collectives, quick) {
            (true, _) => &COLLECTIVES,
            (false, true) => &QUICK,
            (false, false) => &MICRO,
        };
        measure(runner, if beside.is_empty() { &Peer::MICRO } else { &beside }, cases)
    },
    usual: false,
    tasks: &[MICRO, QUICK, COLLECTIVES],
    rows: ROWS,
    guards: &[Guard {
        jobs: 1,
        possible: || match Programs::build(&[Peer::Floor], BRIEF).map_err(|why| why.to_string())?.missing() {
            [] => Ok(()),
            [missing, ..] => Err(missing.to_string()),
        },
        ..Guard::of(
            "micro --collectives --beside floor",
            |runner| measure(runner, &[Peer::Floor], &COLLECTIVES),
            || {
                // Private ones of many bytes, and symmetric ones of more. Of a broadcast both PEs copy at the same time where
                // the floor has one copy: on cores that are two threads of one they take that from each other.
                let allowance =
                    |case: &MicroCase| Bound::Eased(if case.operation == "broadcast" { 2.0 } else { 1.5 });
                let has_goal =
                    |case: &MicroCase| case.bytes >= if case.is_direct() { 64 << 10 } else { 4 << 10 };
                let cases = cases(COLLECTIVE).filter(has_goal);
                cases
                    .map(|case| held_by_two(&format!("micro {}/floor", case.name()), allowance(&case)))
                    .collect()
            },
        )
    }],
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("micro | operation/bytes/peer | the usual micro-benchmarks of two PEs; bandwidths: time for each byte; rate: for each \
         message; `-direct`: collectives on symmetric objects, beside the same of the peers | the same by C over `mmap`, \
         OpenSHMEM, MPI and lamellar",
        // The floor copies once what is private to the program, which needs two copies here, side by side; libraries are held
        // to what is symmetric, as theirs is.
         &[("micro broadcast/4096/floor", At::Anywhere, Goal::Ratio(1.5)),
        ("micro broadcast/65536/floor", At::Anywhere, Goal::Ratio(1.4)),
        ("micro broadcast/1048576/floor", At::Anywhere, Goal::Ratio(1.3)),
        ("micro sum/4096/floor", At::Anywhere, Goal::Ratio(1.7)),
        ("micro sum/65536|1048576/floor", At::Anywhere, Goal::Ratio(1.5)),
        ("micro alltoall|fcollect/4096|65536|1048576/floor", At::Anywhere, Goal::Ratio(1.6)),
        ("micro sum-direct/65536../floor", At::Anywhere, Goal::Ratio(1.0)),
        ("micro broadcast-direct|alltoall-direct|fcollect-direct/65536../floor", At::Anywhere, Goal::Ratio(1.1)),
        ("micro broadcast-direct|sum-direct|alltoall-direct|fcollect-direct/*/oshmem-micro|mpi-micro", At::Anywhere, Goal::Ratio(1.0))]),
];

pub(crate) const MICRO: Task = Task::near("micro", |bench| micro(bench, |_| true));
pub(crate) const QUICK: Task =
    Task::near("micro-quick", |bench| micro(bench, |case| SHORT.contains(&case.bytes)));
const COLLECTIVES: Task =
    Task::near("micro-collectives", |bench| micro(bench, |case| cases(COLLECTIVE).any(|one| one == case)));

#[derive(Args, Clone, Debug)]
struct Options {
    /// Fewer sizes, and nothing is built that takes long.
    #[arg(long)]
    quick: bool,
    /// Collectives only, in all sizes.
    #[arg(long, conflicts_with = "quick")]
    collectives: bool,
    /// Beside these only: floor (C over `mmap`), oshmem-micro, mpi-micro, lamellar. Of the last one a first run
    /// builds some two hundred packages.
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',', value_parser = peer)]
    beside: Vec<Peer>,
}

/// How long a peer may take to be built where time is short: long enough for C, and for what was built before.
const BRIEF: Duration = Duration::from_secs(8);

/// A peer with micro-benchmarks, by its name.
fn peer(name: &str) -> std::result::Result<Peer, String> {
    let found = Peer::MICRO.into_iter().find(|peer| peer.name() == name);
    found.ok_or_else(|| format!("it is one of {}", Peer::MICRO.map(Peer::name).join(", ")))
}

/// Measures beside some peers what a task has: all cases, or some.
pub(crate) fn measure(runner: &mut Runner, peers: &[Peer], task: &Task) -> Done {
    let patience = if task.name == MICRO.name { PATIENCE } else { BRIEF };
    let Some(programs) = runner.programs(peers, patience)? else { return Ok(()) };
    runner.repeat(&runner.job(task, 2, &[("SHMEM_SYMMETRIC_SIZE", "48M".to_owned())]).beside(&programs))
}

/// Messages that are under way at once where bandwidths and rates are measured.
const WINDOW: usize = 64;

/// Bytes that are written to and read: messages of a window follow each other, and begin anew behind these.
const ROOM: usize = 4 << 20;

/// Elements of a table that are added to or read in a sample.
const INDICES: usize = 1 << 16;

/// Sizes that are measured where time is short.
const SHORT: [usize; 5] = [0, 8, 4 << 10, 64 << 10, 1 << 20];

const LATENCIES: &[usize] = &[8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];
const WINDOWS: &[usize] = &[64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20];
const OF_SLICES: &[usize] = &[8, 4 << 10, 64 << 10, 1 << 20];
const OF_OBJECTS: &[usize] = &[8, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Operations and their sizes: bytes of messages; of a collective those that one PE contributes, of an alltoall those for each
/// PE, of a table those of one PE.
const OPERATIONS: [(&str, &[usize]); 21] = [
    // A put and its quiet (`osu_oshm_put`); a get; a window of non-blocking puts and their quiet, by the byte; of the smallest
    // ones, by the message; atomic operations on a word of the other PE (`osu_oshm_atomics`). The other PE does nothing.
    ("put", LATENCIES),
    ("get", LATENCIES),
    ("bandwidth", WINDOWS),
    ("rate", &[8]),
    ("fetch-add", &[8]),
    ("add", &[8]),
    ("swap", &[8]),
    ("compare-swap", &[8]),
    ("fetch", &[8]),
    // Windows by both PEs at the same time, by the byte of both; additions to words at random, of a table that both PEs have a
    // half of, in lists by both at the same time, and reads of such words.
    ("bidirectional", WINDOWS),
    ("histogram", &[1 << 20]),
    ("index-gather", &[1 << 20]),
    ("barrier", &[0]),
    // From each PE in turn; sums of `f64`.
    ("broadcast", OF_SLICES),
    ("sum", OF_SLICES),
    ("fcollect", OF_SLICES),
    ("alltoall", OF_SLICES),
    ("broadcast-direct", OF_OBJECTS),
    ("sum-direct", OF_OBJECTS),
    ("fcollect-direct", OF_OBJECTS),
    ("alltoall-direct", OF_OBJECTS),
];

/// The places of those in which both PEs take part, and of those that move data between all; cases before them.
const TWO_SIDED: usize = 9;
const ONE_SIDED: usize = 28;
const COLLECTIVE: usize = 13;

/// A benchmark of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MicroCase {
    pub(super) operation: &'static str,
    pub(super) bytes: usize,
}

/// All cases of the operations from one place on.
fn cases(from: usize) -> impl Iterator<Item = MicroCase> {
    let of = |&(operation, sizes): &(&'static str, &'static [usize])| {
        sizes.iter().map(move |&bytes| MicroCase { operation, bytes })
    };
    OPERATIONS[from..].iter().flat_map(of)
}

impl MicroCase {
    /// The name of the case: `put/8`.
    pub(super) fn name(self) -> String {
        format!("{}/{}", self.operation, self.bytes)
    }

    pub(super) fn is_direct(self) -> bool {
        self.operation.ends_with("-direct")
    }

    /// Its operation, as requests name it: one does the same in a special case.
    fn asked(self) -> &'static str {
        if self.operation == "rate" { "bandwidth" } else { self.operation.trim_end_matches("-direct") }
    }

    /// Operations in one sample: some hundred microseconds, and one of the largest is longer than that.
    fn times(self) -> usize {
        match self.operation {
            "put" | "get" => ((1 << 21) / self.bytes).clamp(2, 5000),
            "bandwidth" | "rate" | "bidirectional" => ((1 << 22) / (WINDOW * self.bytes)).clamp(1, 200),
            "fetch-add" | "add" | "swap" | "compare-swap" | "fetch" => 5000,
            "histogram" | "index-gather" => INDICES,
            _ => ((1 << 20) / (self.bytes + 4096)).clamp(4, 300),
        }
    }

    /// The unit of its times.
    pub(super) fn unit(self) -> &'static str {
        if matches!(self.operation, "bandwidth" | "bidirectional") { "ns/B" } else { "ns" }
    }

    /// Parts of an operation that its time is given for: bytes of a window, messages of a window, or itself.
    fn parts(self) -> usize {
        match self.operation {
            "bandwidth" => WINDOW * self.bytes,
            "bidirectional" => 2 * WINDOW * self.bytes,
            "rate" => WINDOW,
            _ => 1,
        }
    }

    /// What asks a peer for it.
    fn request(self) -> Request {
        let numbers = format!("{} {}", self.bytes, self.times());
        Request { case: self.name(), operation: self.asked(), numbers }
    }
}

/// What asks a peer for each case.
#[cfg(test)]
pub(crate) fn requests() -> impl Iterator<Item = Request> {
    cases(0).map(MicroCase::request)
}

/// Ours and all peers in turn. PE 0 brings the peers.
fn micro(bench: &mut Bench<'_>, chosen: impl Fn(MicroCase) -> bool) -> Records {
    // What was said: a peer that lacks an operation lacks it in all sizes.
    let mut refused = BTreeSet::new();
    let mut records = in_turn(bench, chosen, |bench, case, ours| {
        let mut records = Vec::new();
        for (peer, library, found) in beside(bench, case, ours) {
            let name = format!("micro {}/{}", case.name(), peer.name());
            let compared = format!("ours against {library}; time for each operation, message or byte");
            match found {
                Ok(samples) => records.push(bench.record_in(case.unit(), &name, &compared, samples)),
                Err(PeerError::Refused { fault, .. }) => {
                    let said = format!("peer {peer}: {}: {fault}", case.operation);
                    if refused.insert(said.clone()) {
                        eprintln!("shmem-perf: {said}");
                    }
                }
                Err(reason) => bench.fail(&name, peer, reason),
            }
        }
        records
    })?;
    // A table for each peer.
    records.sort_by(|a, b| a.compared.cmp(&b.compared));
    Ok(records)
}

/// Some cases, each by a function that is given what does ours: nanoseconds of one operation.
pub(super) fn in_turn(
    bench: &mut Bench<'_>,
    chosen: impl Fn(MicroCase) -> bool,
    mut compare: impl FnMut(&mut Bench<'_>, MicroCase, &mut dyn FnMut() -> f64) -> Vec<Record>,
) -> Records {
    let (world, other) = (bench.world, bench.other());
    let (bytes, word) = (world.alloc(zeroed::<u8>(ROOM))?, world.alloc(value(Atomic::new(0_u64)))?);
    let done = world.alloc(value(0_u64))?;
    // For collectives in direct form twice the largest case, and the halves of tables.
    let objects = (world.alloc(zeroed(2 * ROOM / 8))?, world.alloc(zeroed(2 * ROOM / 8))?);
    let tables = (world.alloc(zeroed(ROOM / 8))?, world.alloc(zeroed(ROOM / 8))?);
    let mut ours = Ours {
        world,
        place: bytes.on(other),
        word: word.on(other),
        objects: (&objects.0, &objects.1),
        tables: (&tables.0, &tables.1),
        given: vec![1; ROOM],
        taken: vec![1; ROOM],
        indices: Vec::new(),
        read: vec![0; INDICES],
        buffers: Buffers::new(world.n_pes()),
    };
    let chosen = |case: &MicroCase| chosen(*case);
    let mut records = Vec::new();
    world.barrier_all();
    if world.my_pe() == 0 {
        for case in cases(0).take(ONE_SIDED).filter(chosen) {
            records.extend(compare(bench, case, &mut || ours.time(case)));
        }
        world.p(done.on(other), 1);
    } else {
        // Absent, as the peers' second processes are, and not asleep in the library: an update would wake it.
        while done.here(world).load() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    for case in cases(TWO_SIDED).filter(chosen) {
        world.barrier_all();
        records.extend(compare(bench, case, &mut || {
            // What the peers do in between is waited for outside of what is measured.
            world.barrier_all();
            ours.time(case)
        }));
    }
    Ok(records)
}

/// The pairs of a case with each peer that runs, in turn: one of ours, and then one of each of them, which is called by name; of
/// those PEs that bring none, only our part is done, and of ours one more sample is taken whatever happens.
pub(super) fn beside(
    bench: &mut Bench<'_>,
    case: MicroCase,
    ours: &mut dyn FnMut() -> f64,
) -> Vec<(Peer, String, std::result::Result<Samples, PeerError>)> {
    let (request, parts) = (case.request(), case.parts() as f64);
    let first = |peer: &mut Running| {
        let checked = peer.check(&request).and_then(|()| peer.sample(&request));
        (peer.peer(), peer.library().to_owned(), checked.map(|_| Samples::new()))
    };
    let mut all: Vec<_> = bench.beside.iter_mut().map(first).collect();
    ours();
    for _ in 0..bench.repetitions {
        let cost = ours() / parts;
        for (peer, (.., found)) in bench.beside.iter_mut().zip(&mut all) {
            let Ok(samples) = found else { continue };
            match peer.sample(&request) {
                Ok(limit) => samples.push(cost, limit / parts),
                Err(error) => *found = Err(error),
            }
        }
    }
    all
}

/// What our benchmarks work on.
struct Ours<'a> {
    world: &'a World,
    /// On the other PE: what is written and read, and what atomic operations work on.
    place: On<'a, [u8]>,
    word: On<'a, Atomic<u64>>,
    /// Of all PEs: what collectives are given and give, and what histograms count in and is read by its indices.
    objects: (&'a SymBox<[f64]>, &'a SymBox<[f64]>),
    tables: (&'a SymBox<[Atomic<u64>]>, &'a SymBox<[u64]>),
    given: Vec<u8>,
    taken: Vec<u8>,
    indices: Vec<u32>,
    read: Vec<u64>,
    buffers: Buffers,
}

impl Ours<'_> {
    /// Nanoseconds of one operation of a case. Of those that both PEs take part in, both call it.
    fn time(&mut self, case: MicroCase) -> f64 {
        let (bytes, times) = (case.bytes, case.times());
        let collective = CollectiveCase { operation: case.asked(), bytes };
        match case.operation {
            "histogram" | "index-gather" => {
                self.indices = random(INDICES, 2 * bytes / size_of::<u64>(), self.world.my_pe() as u64);
                self.visit(case, 4);
                nanoseconds_each(times, || self.visit(case, times))
            }
            _ if case.is_direct() => collective::run_direct(self.world, collective, self.objects, times),
            _ if collective::OPERATIONS.contains(&case.operation) => {
                collective::run(self.world, collective, &mut self.buffers, times)
            }
            _ => {
                // The caches belonged to somebody else.
                self.repeat(case, if times < 4 { 1 } else { 4 });
                if case.operation == "bidirectional" {
                    self.world.barrier_all();
                }
                nanoseconds_each(times, || self.repeat(case, times))
            }
        }
    }

    /// Adds to so many elements of a table that both PEs have a half of, or reads them, and is complete with the other PE.
    fn visit(&mut self, case: MicroCase, times: usize) {
        let Self { world, tables: (counts, table), indices, read, .. } = self;
        let indices = black_box(&indices[..times]);
        let halves = Block::of(2 * case.bytes / size_of::<u64>());
        if case.operation == "histogram" {
            world.add_each(counts.over(world.team(), halves).at(indices), 1);
        } else {
            world.gather(black_box(&mut read[..times]), table.over(world.team(), halves).at(indices));
        }
        world.barrier_all();
    }

    /// So many operations, complete at the end.
    fn repeat(&mut self, case: MicroCase, times: usize) {
        let Self { world, given, taken, .. } = self;
        let (bytes, place, word) = (case.bytes, black_box(self.place), black_box(self.word));
        match case.operation {
            "put" => {
                for _ in 0..times {
                    world.put(place.index(..bytes), black_box(&given[..bytes]));
                    world.quiet();
                }
            }
            "get" => {
                for _ in 0..times {
                    world.get(black_box(&mut taken[..bytes]), place.index(..bytes));
                }
            }
            "fetch-add" => each(times, |value| _ = black_box(world.fetch_add(word, value))),
            "add" => {
                each(times, |value| world.add(word, value));
                world.quiet();
            }
            "swap" => each(times, |value| _ = black_box(world.swap(word, value))),
            "compare-swap" => each(times, |value| _ = black_box(world.compare_swap(word, value, value + 1))),
            "fetch" => each(times, |_| _ = black_box(world.fetch(word))),
            _ => {
                for _ in 0..times {
                    world.scope(|scope| {
                        for message in 0..WINDOW {
                            let at = message * bytes % ROOM;
                            scope.put(place.index(at..at + bytes), black_box(&given[at..at + bytes]));
                        }
                    });
                }
                if case.operation == "bidirectional" {
                    world.barrier_all();
                }
            }
        }
    }
}

#[inline(always)]
fn each(times: usize, operation: impl FnMut(u64)) {
    (0..times as u64).for_each(operation);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_that_programs_know() {
        let header = include_str!("../../../../examples/peers/micro.h");
        assert!(header.contains(&format!("#define WINDOW {WINDOW}\n")));
        assert!(header.contains("#define ROOM ((size_t)4 << 20)") && ROOM == 4 << 20);
        assert!(header.contains("#define INDICES (1 << 16)") && INDICES == 1 << 16);
        for case in cases(0) {
            assert!(header.contains(&format!("\"{}\"", case.asked())), "{case:?}");
            assert!(case.bytes <= ROOM && case.times() > 0, "{case:?}");
        }
        assert_eq!((cases(0).count(), cases(TWO_SIDED).count()), (ONE_SIDED + 45, 45));
        assert_eq!(cases(0).filter(|case| SHORT.contains(&case.bytes)).count(), 51);
    }
}
