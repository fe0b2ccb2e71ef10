//! The usual micro-benchmarks between two PEs of a node, by the definitions of the OSU benchmarks, ours beside
//! those of [peers](crate::peers): latency, bandwidth, message rate, atomic operations and collectives.
//!
//! All do the same work: what is sent is the PE's own memory, a put is complete at its destination before the
//! next one begins (`quiet`), and messages of a window are completed together. A peer's program says in
//! `examples/peers/micro.h` what it does. The lowest of the peers is no library: C over `mmap`,
//! whose `quiet` is a full fence as ours is.

use std::collections::BTreeSet;

use super::collective::{self, Collective, Data};
use super::indexed::random;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "micro",
    about: "The usual micro-benchmarks between two PEs, by the definitions of the OSU benchmarks: in turn with C over `mmap`, and \
            with Open MPI's OpenSHMEM and MPI and the Rust crate lamellar where they are installed",
    options: &[
        "collectives | Collectives only, in all sizes",
        "beside floor,oshmem-micro,mpi-micro,lamellar | Beside these only; floor is C over `mmap`. Of lamellar a first \
         run builds some two hundred packages",
    ],
    run: Some(|runner| {
        let (collectives, beside) = (runner.is("collectives"), runner.words("beside"));
        let only = match (runner.quick, collectives) {
            (true, _) => "micro */0|8|4096|65536|1048576/*",
            (_, true) => {
                "micro broadcast|sum|fcollect|alltoall|broadcast-direct|sum-direct|fcollect-direct|alltoall-direct/**"
            }
            _ => "micro **",
        };
        let chosen = |peer: &Peer| beside.is_empty() || beside.iter().any(|name| name == peer.name);
        let peers: Vec<_> = Peer::MICRO.into_iter().filter(chosen).collect();
        let patience = if runner.quick || collectives { BRIEF } else { PATIENCE };
        let Some(programs) = runner.programs(&peers, patience)? else { return Ok(()) };
        let given = Given { only: vec![only.to_owned()], ..Given::beside(&programs) };
        runner.repeat(&runner.job("micro", 2, given).heap(48 << 20))
    }),
    usual: false,
    tasks: &[(
        "micro",
        Task::Near(|bench| {
            in_turn(bench, |_| true, |case, peer| format!("micro {}/{peer}", case.name()), false)
        }),
    )],
    rows: &[
        // The floor copies once what is private to the program, which needs two copies here, side by side; libraries are held
        // to what is symmetric, as theirs is, and to little, which is one meeting.
        "micro ** | operation/bytes/peer | the other usual micro-benchmarks of two PEs; rate: time for each message; `-direct`: \
         collectives on symmetric objects, beside the same of the peers | the same by C over `mmap`, OpenSHMEM, MPI and \
         lamellar | broadcast/4096/floor 1.5; broadcast/65536/floor 1.4; broadcast/1048576/floor 1.3; sum/4096/floor 1.7; \
         sum/65536|1048576/floor 1.5; alltoall|fcollect/4096|65536|1048576/floor 1.6; sum-direct/65536../floor 1; \
         broadcast-direct|alltoall-direct|fcollect-direct/65536../floor 1.1; \
         broadcast-direct|sum-direct|alltoall-direct|fcollect-direct/*/oshmem-micro|mpi-micro 1; \
         barrier|broadcast|sum|fcollect|alltoall/..8/oshmem-micro 1",
        "micro bandwidth|bidirectional/** | operation/bytes/peer | 64 puts at once and their quiet, by one PE or by both; time \
         for each byte | the same by C over `mmap`, OpenSHMEM, MPI and lamellar | | ns/B",
    ],
    possible: || {
        let programs = Programs::build(&[Peer::FLOOR], BRIEF).map_err(|why| why.to_string())?;
        programs.missing.first().map_or(Ok(()), |missing| Err(missing.clone()))
    },
    // Private ones of many bytes, and symmetric ones of more; little is one meeting. Of a broadcast both PEs copy at the same
    // time where the floor has one copy: on cores that are two threads of one they take that from each other.
    guards: &[(
        "micro --collectives --beside floor --jobs 1",
        &[
            "micro {broadcast,sum,fcollect,alltoall}/8/floor | 2 | 5",
            "micro broadcast/{4096,65536,1048576}/floor | 2 | goal x2",
            "micro {sum,fcollect,alltoall}/{4096,65536,1048576}/floor | 2 | goal x1.5",
            "micro {broadcast,sum,fcollect,alltoall}-direct/{65536,1048576,4194304}/floor | 2 | goal x1.5",
        ],
    )],
};

/// How long a peer may take to be built where time is short: long enough for C, and for what was built before.
const BRIEF: Duration = Duration::from_secs(8);

/// Messages that are under way at once where bandwidths and rates are measured.
const WINDOW: usize = 64;

/// Bytes that are written to and read: messages of a window follow each other, and begin anew behind these.
const ROOM: usize = 4 << 20;

/// Elements of a table that are added to or read in a sample.
const INDICES: usize = 1 << 16;

const LATENCIES: &[usize] = &[8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];
const WINDOWS: &[usize] = &[64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20];
const OF_SLICES: &[usize] = &[8, 4 << 10, 64 << 10, 1 << 20];
const OF_OBJECTS: &[usize] = &[8, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Operations and their sizes: bytes of messages; of a collective those that one PE contributes, of an alltoall those for each
/// PE, of a table those of one PE. Of the first ones the other PE does nothing.
const ONE_SIDED: [(&str, &[usize]); 9] = [
    // A put and its quiet (`osu_oshm_put`); a get; a window of non-blocking puts and their quiet, by the byte; of the smallest
    // ones, by the message; atomic operations on a word of the other PE (`osu_oshm_atomics`).
    ("put", LATENCIES),
    ("get", LATENCIES),
    ("bandwidth", WINDOWS),
    ("rate", &[8]),
    ("fetch-add", &[8]),
    ("add", &[8]),
    ("swap", &[8]),
    ("compare-swap", &[8]),
    ("fetch", &[8]),
];
const TWO_SIDED: [(&str, &[usize]); 12] = [
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

/// A benchmark of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MicroCase {
    pub(crate) operation: &'static str,
    pub(crate) bytes: usize,
}

/// All cases of some operations.
fn cases(of: &[(&'static str, &'static [usize])]) -> impl Iterator<Item = MicroCase> {
    let of_sizes = |&(operation, sizes): &(&'static str, &'static [usize])| {
        sizes.iter().map(move |&bytes| MicroCase { operation, bytes })
    };
    of.iter().flat_map(of_sizes)
}

impl MicroCase {
    /// The name of the case: `put/8`.
    pub(crate) fn name(self) -> String {
        format!("{}/{}", self.operation, self.bytes)
    }

    /// The collective that it is, if it is one.
    fn collective(self) -> Option<Collective> {
        let Self { operation, bytes } = self;
        collective::OPERATIONS.contains(&operation).then_some(Collective { operation, bytes })
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

/// Some cases with each peer that runs beside PE 0, by the name that a case has with a peer; `turned`: what the peers need is
/// held against ours.
pub(crate) fn in_turn(
    bench: &mut Bench<'_>,
    chosen: impl Fn(MicroCase) -> bool,
    name: impl Fn(MicroCase, Peer) -> String,
    turned: bool,
) -> Done {
    let (world, other) = (bench.world, bench.other());
    let (bytes, word) = (world.alloc(zeroed::<u8>(ROOM))?, world.alloc(value(Atomic::new(0_u64)))?);
    // For collectives in direct form twice the largest case, and the halves of tables.
    let tables = (world.alloc(zeroed(ROOM / 8))?, world.alloc(zeroed(ROOM / 8))?);
    let mut ours = Ours {
        world,
        place: bytes.on(other),
        word: word.on(other),
        tables: (&tables.0, &tables.1),
        own: vec![1; ROOM],
        indices: Vec::new(),
        read: vec![0; INDICES],
        data: Data::new(world, 2 * ROOM)?,
    };
    // What was said: a peer that lacks an operation lacks it in all sizes.
    let mut refused = BTreeSet::new();
    // As all PEs choose them, whatever runs beside which of them.
    let given = bench.given;
    let is_wanted = |case: MicroCase| {
        let mut names = Peer::ANSWERING.into_iter().flatten().map(|peer| name(case, *peer));
        chosen(case) && names.any(|name| given.wants(&name))
    };
    let mut compare = |bench: &mut Bench<'_>, case: MicroCase, ours: &mut dyn FnMut() -> f64| {
        for (peer, library, found) in beside(bench, case, ours, turned) {
            if let Err(PeerError::Refused { fault, .. }) = found {
                let said = format!("peer {peer}: {}: {fault}", case.operation);
                if refused.insert(said.clone()) {
                    eprintln!("shmem-perf: {said}");
                }
                continue;
            }
            bench.keep(&name(case, peer), (peer, &library), found);
        }
    };
    let all = |of: &'static [_]| cases(of).filter(|case| is_wanted(*case));
    // Absent, as the peers' second processes are, and not asleep in the library: an update would wake it.
    absent(world, || all(&ONE_SIDED).for_each(|case| compare(bench, case, &mut || ours.time(case))))?;
    for case in all(&TWO_SIDED) {
        world.barrier_all();
        compare(bench, case, &mut || {
            // What the peers do in between is waited for outside of what is measured.
            world.barrier_all();
            ours.time(case)
        });
    }
    Ok(())
}

/// The pairs of a case with each peer that runs, in turn: one of ours, and then one of each of them, which is called by name; of
/// those PEs that bring none, only our part is done, and of ours one more sample is taken whatever happens.
fn beside(
    bench: &mut Bench<'_>,
    case: MicroCase,
    ours: &mut dyn FnMut() -> f64,
    turned: bool,
) -> Vec<(Peer, String, std::result::Result<Samples, PeerError>)> {
    let (request, parts) = (case.request(), case.parts() as f64);
    let mut all = Vec::new();
    for peer in &mut bench.beside {
        let checked = peer.check(&request).and_then(|()| peer.sample(&request));
        all.push((peer.peer, peer.library.clone(), checked.map(|_| Samples::default())));
    }
    ours();
    for _ in 0..bench.repetitions {
        let ours = ours() / parts;
        for (peer, (.., found)) in bench.beside.iter_mut().zip(&mut all) {
            let Ok(samples) = found else { continue };
            match peer.sample(&request).map(|theirs| theirs / parts) {
                Ok(theirs) => samples.0.push(if turned { (theirs, ours) } else { (ours, theirs) }),
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
    /// Of all PEs: what histograms count in, and what is read by its indices.
    tables: (&'a SymBox<[Atomic<u64>]>, &'a SymBox<[u64]>),
    own: Vec<u8>,
    indices: Vec<u32>,
    read: Vec<u64>,
    data: Data,
}

impl Ours<'_> {
    /// Nanoseconds of one operation of a case. Of those that both PEs take part in, both call it.
    fn time(&mut self, case: MicroCase) -> f64 {
        let times = case.times();
        if let Some(collective) = case.collective() {
            return collective.run(self.world, &mut self.data, times);
        }
        if matches!(case.operation, "histogram" | "index-gather") {
            self.indices = random(INDICES, 2 * case.bytes / size_of::<u64>(), self.world.my_pe() as u64);
            self.visit(case, 4);
            return nanoseconds_each(times, || self.visit(case, times));
        }
        // The caches belonged to somebody else.
        self.repeat(case, if times < 4 { 1 } else { 4 });
        if case.operation == "bidirectional" {
            self.world.barrier_all();
        }
        nanoseconds_each(times, || self.repeat(case, times))
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
        let (in_flight, rounds) = match case.asked() {
            "bandwidth" | "bidirectional" => (WINDOW, times),
            "add" => (times, 1),
            _ => (1, times),
        };
        let operation = Operation { name: case.asked(), bytes: case.bytes, in_flight, rounds };
        operation.through(self.world, (self.place, ROOM), self.word, &mut self.own);
        if case.operation == "bidirectional" {
            self.world.barrier_all();
        }
    }
}
