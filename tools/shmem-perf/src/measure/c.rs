//! What the routines of the C library cost.

use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "c",
    run: Some(|runner| {
        let all = [Peer::LIBRARY, Peer::ROUTINES, Peer::WAKING, Peer::HELLO, Peer::OSHMEM_ROUTINES];
        let Some(programs) = runner.programs(&all, PATIENCE)? else { return Ok(()) };
        runner.repeat(&runner.job("c", 2, Given::beside(&programs)).heap(48 << 20))?;
        wakes(runner, &programs)?;
        starts(runner, &programs)
    }),
    tasks: &[("c", Task::Near(c))],
    ..Measure::PLAIN
};

fn request(operation: &'static str, number: usize, times: usize) -> Request {
    Request { case: format!("{operation}/{number}"), operation, numbers: format!("{number} {times}") }
}

fn wakes(runner: &mut Runner, programs: &Programs) -> Done {
    let Some(waking) = Running::start(Peer::WAKING, programs.directory())? else { return Ok(()) };
    let processes = Peer::WAKING.processes(allowed_cores()?.len());
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
    // What they are read from is in memory then.
    pair()?;
    runner.taken(PES, format!("c start/{PES}/rust"), Samples::tried(runner.asked.repetitions, pair)?)
}

/// PE 0 brings the programs in C: those of single routines of both libraries, and the micro-benchmarks.
fn c(world: &mut World, bench: &Bench<'_>) -> Done {
    let (ours, theirs) = (bench.take(Peer::ROUTINES), bench.take(Peer::OSHMEM_ROUTINES));
    if let Some(ours) = ours {
        routines(bench, &ours, theirs.as_deref());
    }
    micro::in_turn(world, bench, true)
}

/// Single routines: of both libraries, and to a global beside the heap.
fn routines(bench: &Bench<'_>, ours: &Running, theirs: Option<&Running>) {
    let of = |(routine, numbers): (_, Vec<_>)| numbers.into_iter().map(move |number| (routine, number));
    for (routine, number) in sizes("c", "routines").flat_map(of) {
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
