//! The usual micro-benchmarks between two PEs of a node, as the OSU benchmarks define them (`examples/peers/micro.h`), beside
//! [peers](crate::peers); and routines of the C library. Sources are private memory. The benchmark `put` completes puts one by one;
//! bandwidths complete whole windows (OSU's word for batches).

use super::indexed::random;
use super::*;
use crate::operation::{Data, is_collective};

pub(crate) const MICRO: Measure = Measure {
    name: "micro",
    run: Some(|runner| {
        let (collectives, beside) = (runner.is("collectives"), runner.words("beside"));
        let names = sizes("micro", "both").map(|(name, _)| name).filter(|name| is_collective(name));
        let names: Vec<_> = names.filter(|name| *name != "barrier").collect();
        let operations = if collectives { names.join("|") } else { "*".to_owned() };
        let sizes = if runner.asked.quick { "0|8|4096|65536|1048576" } else { "*" };
        let chosen = |peer: &Peer| beside.is_empty() || beside.iter().any(|name| name == peer.name);
        let peers: Vec<_> = Peer::MICRO.into_iter().filter(chosen).collect();
        let Some(programs) = runner.programs(&peers)? else { return Ok(()) };
        let only = vec![format!("micro {operations}/{sizes}/*")];
        let given = PeArguments { only, ..PeArguments::beside(&programs) };
        runner.repeat(&runner.job("micro", 2, given).heap(48 << 20))
    }),
    tasks: &[("micro", Task::Near(|world, bench| in_turn(world, bench, false)))],
    possible: || {
        let programs = Programs::build(&[Peer::FLOOR]).map_err(|why| why.to_string())?;
        programs.missing.first().map_or(Ok(()), |missing| Err(missing.clone()))
    },
};

pub(crate) const C: Measure = Measure {
    name: "c",
    run: Some(|runner| {
        let all = [Peer::LIBRARY, Peer::ROUTINES, Peer::WAKING, Peer::HELLO, Peer::OSHMEM_ROUTINES];
        let Some(programs) = runner.programs(&all)? else { return Ok(()) };
        runner.repeat(&runner.job("c", 2, PeArguments::beside(&programs)).heap(48 << 20))?;
        wakes(runner, &programs)?;
        starts(runner, &programs)
    }),
    tasks: &[("c", Task::Near(c))],
    ..Measure::PLAIN
};

/// Puts of a window (OSU's word for a batch), all within [`ROOM`] bytes. A sample of a histogram or a gather accesses [`INDICES`]
/// elements.
const WINDOW: usize = 64;
const ROOM: usize = 4 << 20;
const INDICES: usize = 1 << 16;

/// Returns a benchmark, with as many repetitions as take some hundred microseconds. The largest sizes take longer.
fn benchmark(name: &'static str, bytes: usize) -> Operation {
    let (in_flight, rounds) = match name {
        "put" | "get" => (1, ((1 << 21) / bytes).clamp(2, 5000)),
        "bandwidth" | "rate" | "bidirectional" => (WINDOW, ((1 << 22) / (WINDOW * bytes)).clamp(1, 200)),
        "add" => (5000, 1),
        "fetch-add" | "swap" | "compare-swap" | "fetch" => (1, 5000),
        "histogram" | "index-gather" => (1, INDICES),
        _ => (1, ((1 << 20) / (bytes + 4096)).clamp(4, 300)),
    };
    Operation { name, bytes, in_flight, rounds }
}

/// Returns the repetitions in a sample, as requests to peers contain them.
fn times(of: Operation) -> usize {
    if of.name == "add" { of.in_flight } else { of.rounds }
}

/// Compares all benchmarks with each peer of PE 0; if `is_in_c`, compares our C library with the same benchmarks in Rust.
fn in_turn(world: &World, bench: &Bench<'_>, is_in_c: bool) -> Done {
    let (bytes, word) = (world.alloc(zeroed::<u8>(ROOM))?, world.alloc(value(Atomic::new(0_u64)))?);
    let mut ours = Ours {
        world,
        place: bytes.on(other(world)),
        word: word.on(other(world)),
        tables: &(world.alloc(zeroed(ROOM / 8))?, world.alloc(zeroed(ROOM / 8))?),
        own: vec![1; ROOM],
        indices: Vec::new(),
        read: vec![0; INDICES],
        // Collectives of two PEs on symmetric objects need objects of twice the largest size.
        data: Data::new(world, 2 * ROOM)?,
    };
    let name = |Operation { name, bytes, .. }: Operation, peer: Peer| match is_in_c {
        true => format!("c {name}/{bytes}/rust"),
        false => format!("micro {name}/{bytes}/{peer}"),
    };
    // Every PE must choose the same benchmarks, although only PE 0 has peers.
    let is_wanted = |of: &Operation| {
        let is_shared = !of.is_direct() && !matches!(of.name, "histogram" | "index-gather");
        let mut peers = Peer::ANSWERING.into_iter().flatten();
        (is_shared || !is_in_c) && peers.any(|peer| bench.wants(&name(*of, *peer)))
    };
    let all = |kind| each_size("micro", kind).map(|(name, bytes)| benchmark(name, bytes)).filter(is_wanted);
    let compare = |of: Operation, ours: &mut dyn FnMut() -> f64| {
        for (peer, found) in beside(bench, of, ours, is_in_c) {
            match found {
                // Names no size, so that the text is the same for all sizes and the runner prints it once.
                Err(PeerError::Refused { fault, .. }) => {
                    eprintln!("shmem-perf: peer {}: {}: {fault}", peer.peer, of.name);
                }
                found => _ = bench.keep(&name(of, peer.peer), &peer, found),
            }
        }
    };
    // The other PE sleeps outside of the library, as the peers' second processes do, because stores to its memory would wake it.
    alone(world, || all("alone").for_each(|of| compare(of, &mut || ours.time(of))))?;
    for of in all("both") {
        world.barrier_all();
        compare(of, &mut || {
            // PE 0 is late, because it has measured peers. This barrier waits for it outside of the measured time.
            world.barrier_all();
            ours.time(of)
        });
    }
    Ok(())
}

/// Returns samples of a benchmark beside each running peer: one of ours and one of each peer in turn. PEs without peers run our
/// part only.
fn beside(
    bench: &Bench<'_>,
    of: Operation,
    ours: &mut dyn FnMut() -> f64,
    turned: bool,
) -> Vec<(Rc<Running>, std::result::Result<Samples, PeerError>)> {
    // The rate of puts is the peers' bandwidth benchmark with short messages.
    let operation = if of.name == "rate" { "bandwidth" } else { of.kind() };
    let numbers = format!("{} {}", of.bytes, times(of));
    let request = PeerRequest { case: format!("{}/{}", of.name, of.bytes), operation, numbers };
    // A time is that of a byte in a window, of a put in a window, or of an operation.
    let parts = match of.name {
        "bandwidth" => WINDOW * of.bytes,
        "bidirectional" => 2 * WINDOW * of.bytes,
        "rate" => WINDOW,
        _ => 1,
    } as f64;
    let first = |peer: Rc<Running>| {
        let checked = peer.check(&request).and_then(|()| peer.sample(&request));
        (peer, checked.map(|_| Samples::default()))
    };
    let mut all: Vec<_> = bench.beside().into_iter().map(first).collect();
    ours();
    for _ in 0..bench.repetitions {
        let ours = ours() / parts;
        for (peer, found) in &mut all {
            let Ok(samples) = found else { continue };
            match peer.sample(&request).map(|theirs| theirs / parts) {
                Ok(theirs) => samples.0.push(if turned { (theirs, ours) } else { (ours, theirs) }),
                Err(error) => *found = Err(error),
            }
        }
    }
    all
}

struct Ours<'a> {
    world: &'a World,
    /// The other PE's bytes, for transfers.
    place: On<'a, [u8]>,
    word: On<'a, Atomic<u64>>,
    /// Tables for histograms and for gathers. Half of each table's elements belong to each PE.
    tables: &'a (SymBox<[Atomic<u64>]>, SymBox<[u64]>),
    own: Vec<u8>,
    indices: Vec<u32>,
    read: Vec<u64>,
    data: Data,
}

impl Ours<'_> {
    /// Returns the nanoseconds of an operation. In benchmarks where both PEs take part, both call it.
    fn time(&mut self, of: Operation) -> f64 {
        if is_collective(of.name) {
            return of.together(self.world, &mut self.data);
        }
        if matches!(of.name, "histogram" | "index-gather") {
            self.indices = random(INDICES, 2 * of.bytes / size_of::<u64>(), self.world.my_pe() as u64);
        }
        // Loads the caches again, because a peer has used them since the last sample.
        self.repeat(of, if times(of) < 4 { 1 } else { 4 });
        if of.name == "bidirectional" {
            self.world.barrier_all();
        }
        nanoseconds_each(times(of), || self.repeat(of, times(of)))
    }

    /// Performs `times` operations, and completes them. In a histogram or a gather, an operation accesses one element.
    fn repeat(&mut self, of: Operation, times: usize) {
        let Self { world, place, word, tables: (counts, table), own, indices, read, .. } = self;
        let halves = || Block::of(2 * of.bytes / size_of::<u64>());
        match of.name {
            "histogram" => {
                world.add_each(counts.over(world.team(), halves()).at(black_box(&indices[..times])), 1);
            }
            "index-gather" => {
                let elements = table.over(world.team(), halves());
                world.gather(black_box(&mut read[..times]), elements.at(black_box(&indices[..times])));
            }
            "add" => Operation { in_flight: times, ..of }.through(*world, (*place, ROOM), *word, own),
            _ => Operation { rounds: times, ..of }.through(*world, (*place, ROOM), *word, own),
        }
        if matches!(of.name, "bidirectional" | "histogram" | "index-gather") {
            world.barrier_all();
        }
    }
}

fn request(operation: &'static str, number: usize, times: usize) -> PeerRequest {
    PeerRequest { case: format!("{operation}/{number}"), operation, numbers: format!("{number} {times}") }
}

fn wakes(runner: &mut Runner, programs: &Programs) -> Done {
    let Some(waking) = Running::start(Peer::WAKING, programs.directory())? else { return Ok(()) };
    let processes = Peer::WAKING.processes(cpus::allowed()?.len());
    for (name, ours, kernel, times) in
        [("c wake/futex", "wake", "futex", 50), ("c wake-plain/futex", "wake-plain", "futex-plain", 8)]
    {
        let [ours, kernel] = [ours, kernel].map(|operation| request(operation, processes, times));
        let samples = waking.beside(&ours, &waking, &kernel, runner.asked.repetitions)?;
        let microseconds = samples.0.iter().map(|(ours, kernel)| (ours / 1e3, kernel / 1e3));
        runner.taken(processes, name, microseconds.collect())?;
    }
    Ok(())
}

fn starts(runner: &mut Runner, programs: &Programs) -> Done {
    const PES: usize = 4;
    let Some(c) = Programs::of(Peer::HELLO, programs.directory()) else { return Ok(()) };
    let rust = built("hello", &["-p", "shmem-examples", "--bin", "hello"])?;
    let job = Asked { pes: PES, ..Asked::default() };
    let start = |program: &Path| {
        let (milliseconds, ended) = milliseconds(|| job.run_program(program));
        ended.map(|_| milliseconds)
    };
    let pair = || Ok::<_, Box<dyn Error>>((start(&c)?, start(&rust)?));
    // The first pair does not count, because its programs are read from disk.
    pair()?;
    runner.taken(PES, format!("c start/{PES}/rust"), Samples::tried(runner.asked.repetitions, pair)?)
}

/// Measures programs in C beside PE 0: single routines of our C library and of OpenSHMEM, and micro-benchmarks.
fn c(world: &mut World, bench: &Bench<'_>) -> Done {
    let (ours, theirs) = (bench.take(Peer::ROUTINES), bench.take(Peer::OSHMEM_ROUTINES));
    if let Some(ours) = ours {
        routines(bench, &ours, theirs.as_deref());
    }
    in_turn(world, bench, true)
}

/// Compares single routines of our C library with OpenSHMEM's, and puts to a global variable with puts to the heap.
fn routines(bench: &Bench<'_>, ours: &Running, theirs: Option<&Running>) {
    for (routine, number) in each_size("c", "routines") {
        let Some(theirs) = theirs else { break };
        let asked = request(routine, number, if routine == "iput" { 30 } else { 20_000 });
        let found = ours.beside(&asked, theirs, &asked, bench.repetitions);
        bench.keep(&format!("c {routine}/{number}/oshmem"), theirs, found);
    }
    let [global, heap] = ["put8-global", "put8"].map(|routine| request(routine, 8, 20_000));
    match ours.beside(&global, ours, &heap, bench.repetitions) {
        Ok(samples) => bench.add("c put8-global/heap", samples),
        Err(reason) => eprintln!("shmem-perf: c put8-global/heap: {reason}"),
    }
}
