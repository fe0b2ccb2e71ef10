//! Checked mode reports each kind of mistake, with the lines of both calls. (`ci/check.sh` tests that it finds nothing in the
//! programs of `ordered`.)

use std::path::Path;
use std::time::Duration;

use shmem::SignalOp;
use shmem::launch::Outcome;
use shmem::prelude::*;
use shmem::thread::Private;

use crate::scenario;

#[symmetric]
static DATA: [u64; 64];
#[symmetric]
static FLAG: Signal;

/// A program for PE `me` of three PEs, with one mistake or none, and parts of the expected report. `<remark>` stands for the source
/// line that ends with that remark.
struct Program {
    run: fn(&World, usize),
    reported: &'static [&'static str],
}

macro_rules! programs {
    ($(|$world:ident, $me:ident| $run:expr => $reported:expr;)*) => {
        const PROGRAMS: &[Program] = &[$(Program { run: |$world, $me| $run, reported: &$reported }),*];
    };
}

programs! {
    // Accesses of two PEs without an order between them.
    |world, me| match me {
        0 => world.p(DATA.on(one(world)).index(5), 1), // race: first
        2 => {
            later();
            world.put(DATA.on(one(world)).index(4..6), &[2; 2]); // race: second
        }
        _ => {}
    } => ["PE 0 in `p` at <race: first>", "PE 2 in `put` at <race: second>", "nothing orders them", "of PE 1"];
    |world, me| match me {
        0 => world.p(DATA.on(one(world)).index(5), 1), // store: first a put
        1 => {
            later();
            DATA.here(world).index(5).store(2); // store: then this
        }
        _ => {}
    } => ["PE 0 in `p` at <store: first a put>", "PE 1 in `here store` at <store: then this>", "nothing orders them", "of PE 1"];
    |world, me| {
        if me == 0 {
            world.p(DATA.on(one(world)).index(5), 1); // sync: put
        }
        world.sync_all();
        if me == 1 {
            DATA.here(world).index(5).load(); // sync: read
        }
    } => ["PE 0 in `p` at <sync: put>", "PE 1 in `here load` at <sync: read>", "nothing orders them", "of PE 1"];
    // No mistake: buffers are used after a quiet. (Adjacent columns, and words that order accesses: `ci/check.sh`.)
    |world, me| if me == 0 {
        world.put_from(DATA.on(one(world)).index(..8), DATA.here(world).index(8..16));
        world.get_into(DATA.here(world).index(16..24), DATA.on(one(world)).index(16..24));
        world.quiet();
        DATA.here(world).index(9).store(DATA.here(world).index(17).load());
    } => [];
    // No mistake: a fence orders a flag, or added signals, after the data.
    |world, me| match me {
        0 => {
            world.put(DATA.on(one(world)).index(..8), &[1; 8]);
            world.fence();
            world.signal_set(FLAG.on(one(world)), 1);
        }
        1 => {
            FLAG.wait_until(world, eq(1));
            DATA.here(world).index(3).load();
        }
        _ => {}
    } => [];
    |world, me| match me {
        0 => for slot in 0..4 {
            let place = DATA.on(one(world)).index(8 * slot..8 * slot + 8);
            world.put_signal(place, &[1; 8], FLAG.on(one(world)), SignalOp::Add(1));
            world.fence();
        },
        1 => for slot in 0..4 {
            FLAG.wait_until(world, ge(slot as u64 + 1));
            DATA.here(world).index(8 * slot).load();
        },
        _ => {}
    } => [];
    // A flag that may overtake its data.
    |world, me| match me {
        0 => {
            world.put(DATA.on(one(world)).index(..8), &[1; 8]); // early: put
            world.signal_set(FLAG.on(one(world)), 1); // early: flag
        }
        1 => {
            FLAG.wait_until(world, eq(1)); // early: wait
            DATA.here(world).index(3).load(); // early: read
        }
        _ => {}
    } => [
        "PE 0 in `put` at <early: put>", "PE 1 in `here load` at <early: read>", "`wait_until` at <early: wait>", "DATA",
        "`signal_set` at <early: flag>", "call fence() between",
    ];
    |world, me| match me {
        0 => {
            let ctx = world.create_ctx::<Private>().unwrap();
            world.put(DATA.on(one(world)).index(..8), &[1; 8]); // context: put
            ctx.bind(world).signal_set(FLAG.on(one(world)), 1); // context: flag
        }
        1 => {
            FLAG.wait_until(world, eq(1)); // context: wait
            DATA.here(world).index(3).load(); // context: read
        }
        _ => {}
    } => [
        "PE 0 in `put` at <context: put>", "PE 1 in `here load` at <context: read>", "`wait_until` at <context: wait>", "DATA",
        "`signal_set` at <context: flag>",
    ];
    // A signal orders its own data only.
    |world, me| match me {
        0 => for slot in 0..4 {
            let place = DATA.on(one(world)).index(8 * slot..8 * slot + 8);
            world.put_signal(place, &[1; 8], FLAG.on(one(world)), SignalOp::Add(1)); // ring: put
        },
        1 => {
            later();
            for slot in 0..4 {
                FLAG.wait_until(world, ge(slot as u64 + 1)); // ring: wait
                DATA.here(world).index(8 * slot).load(); // ring: read
            }
        }
        _ => {}
    } => [
        "PE 0 in `put_signal` at <ring: put>", "PE 1 in `here load` at <ring: read>", "`wait_until` at <ring: wait>", "DATA",
        "a signal orders its own data and the puts before the last fence",
    ];
    // Buffers that are used while a transfer is in flight.
    |world, me| if me == 0 {
        world.put_from(DATA.on(one(world)).index(..8), DATA.here(world).index(8..16)); // reuse: source
        DATA.here(world).index(9).store(1); // reuse: store
    } => ["PE 0 in `here store` at <reuse: store> writes a buffer", "PE 0 in `put_nbi` at <reuse: source> may still read"];
    |world, me| if me == 0 {
        world.get_into(DATA.here(world).index(..8), DATA.on(one(world)).index(..8)); // reuse: destination
        DATA.here(world).index(1).load(); // reuse: load
    } => ["PE 0 in `here load` at <reuse: load> reads a buffer", "PE 0 in `get_nbi` at <reuse: destination> may still write"];
}

fn one(world: &World) -> Pe {
    world.pe(1).unwrap()
}

/// Environment variable with the path of a directory. PE 0 creates a file there at the end of its part of a program.
const DONE: &str = "CHECK_DONE";

fn done(program: usize) -> std::path::PathBuf {
    Path::new(&std::env::var_os(DONE).unwrap()).join(program.to_string())
}

thread_local!(static NOW: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

/// Waits until PE 0 has done its part. The library does not see this wait.
fn later() {
    while !done(NOW.get()).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn scenario() {
    if scenario::named().is_none() {
        return;
    }
    let world: World = shmem::init().unwrap();
    let me = world.my_pe();
    for (number, program) in PROGRAMS.iter().enumerate() {
        NOW.set(number);
        (program.run)(&world, me);
        if me == 0 {
            std::fs::write(done(number), "").unwrap();
        }
        world.barrier_all();
        world.signal_set(FLAG.on(world.me()), 0);
        world.barrier_all();
    }
}

/// Runs a job of three PEs. Returns its outcome, and the lines that report mistakes.
fn job(scenario: &str, choice: &str) -> (Outcome, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let job = scenario::job("check", scenario, 3).env("SHMEM_CHECK", choice);
    let outcome = job.env(DONE, directory.path().to_str().unwrap()).run().unwrap();
    let said = scenario::said(&outcome);
    let reports = said.lines().filter(|line| line.contains("shmem: check: ") && !line.contains("warning"));
    let reports = reports.map(str::to_owned).collect();
    (outcome, reports)
}

/// Replaces each `<remark>` by the file and line that ends with this remark.
fn placed(text: &str) -> String {
    let Some((head, rest)) = text.split_once('<') else { return text.to_owned() };
    let (remark, tail) = rest.split_once('>').unwrap();
    let ending = format!("// {remark}");
    let mut found = (1..).zip(include_str!("check.rs").lines()).filter(|(_, line)| line.ends_with(&ending));
    let (Some((line, _)), None) = (found.next(), found.next()) else { panic!("{remark}") };
    format!("{head}{}:{line}{tail}", file!())
}

#[test]
fn each_mistake_is_reported_once_with_its_lines() {
    let (outcome, reports) = job("mistakes", "1");
    let mistakes: Vec<_> = PROGRAMS.iter().filter(|program| !program.reported.is_empty()).collect();
    for Program { reported, .. } in &mistakes {
        let parts: Vec<String> = reported.iter().map(|part| placed(part)).collect();
        let is_of = |report: &&String| parts.iter().all(|part| report.contains(part));
        assert_eq!(reports.iter().filter(is_of).count(), 1, "{parts:#?} {reports:#?}");
    }
    let found = format!("SHMEM_CHECK found {} mistakes, reported above", mistakes.len());
    let is_told = reports.len() == mistakes.len() && outcome.report.contains(&found);
    assert!(is_told && outcome.code == 1, "a mistake is an error: {reports:#?}{}", outcome.report);
}

#[test]
fn the_first_mistake_ends_the_job_if_that_is_asked_for() {
    let (outcome, reports) = job("mistakes", "abort");
    assert_eq!((outcome.code, reports.len()), (1, 0), "{}", outcome.report);
    let parts = ["PE 2", "check: ", "<race: first>", "<race: second>"].map(placed);
    scenario::assert_says(&outcome.report, &parts.each_ref().map(|part| &**part));
}
