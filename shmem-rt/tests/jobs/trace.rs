//! The trace of a job: a file that Chrome and Perfetto load, with a line for every call; and the table at its end of what all
//! PEs did together.

use std::path::{Path, PathBuf};

use serde_json::Value;
use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Multiple;

use crate::scenario::{self, said_by, succeeds};

#[symmetric]
static FIELD: [u64; 64];
#[symmetric]
static SIGNAL: Signal;

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    let Some(scenario) = scenario::named() else { return };
    let world = shmem::init::<Multiple>().unwrap();
    let (_, east) = world.ring_neighbours();
    if scenario == "statistics" {
        (0..=world.my_pe()).for_each(|_| world.p(FIELD.on(east).index(0), 1));
        world.quiet_pe(east);
    }
    world.put(FIELD.on(east).index(0..8), &[1; 8]);
    world.signal_set(SIGNAL.on(east), 1);
    SIGNAL.wait_until(&world, eq(1));
    if scenario == "aborted" {
        world.barrier_all();
        world.global_exit(7);
    }
    if scenario == "many" {
        for value in 0..20_000 {
            world.p(FIELD.on(east).index(1), value);
        }
    }
    std::thread::scope(|scope| {
        let context = world.create_ctx::<Multiple>().unwrap();
        let world = &world;
        scope.spawn(move || context.bind(world).iput(FIELD.on(east).index(..), &[2; 8], 8, 1, 8));
    });
}

fn job(scenario: &str, pes: usize, trace: &Path) -> Launch {
    scenario::job("trace", scenario, pes).env("SHMEM_TRACE", trace.display().to_string())
}

/// The events of a file, with what an aborted job leaves out put in.
fn events(path: &Path, is_whole: bool) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let text = if is_whole { text } else { format!("{}]", text.trim_end().trim_end_matches(',')) };
    match serde_json::from_str(&text) {
        Ok(Value::Array(events)) => events,
        other => panic!("{} is no list of events: {other:?}", path.display()),
    }
}

fn directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    (directory, path)
}

#[test]
fn every_call_is_an_event_with_its_line() {
    let (_directory, path) = directory();
    succeeds(job("plain", 3, &path));
    let events = events(&path, true);
    for pe in 0..3_u64 {
        let of = |name: &str| {
            let found: Vec<_> =
                events.iter().filter(|event| event["pid"] == pe && event["name"] == name).collect();
            assert_eq!(found.len(), 1, "{name} of PE {pe}: {found:?}");
            found[0]
        };
        assert_eq!(of("process_name")["args"]["name"], format!("PE {pe}"));
        let put = of("put");
        assert_eq!((&put["ph"], &put["cat"]), (&"X".into(), &"put".into()));
        assert_eq!((&put["args"]["pe"], &put["args"]["bytes"]), (&((pe + 1) % 3).into(), &64.into()));
        let at = put["args"]["at"].as_str().unwrap();
        assert!(at.contains("tests/jobs/trace.rs:"), "{at}");
        let (signal, wait, iput) = (of("signal_set"), of("wait_until"), of("iput"));
        let ends = |event: &Value| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap();
        assert!(ends(put) <= signal["ts"].as_f64().unwrap() && ends(signal) <= wait["ts"].as_f64().unwrap());
        assert_ne!(put["tid"], iput["tid"], "another thread");
        assert!(put["args"].get("context").is_none() && iput["args"]["context"] == 1);
        assert!(iput["args"]["plan"].as_str().is_some_and(|plan| plan.contains("8 x 8 bytes")), "{iput}");
        // What a PE waits for was set before: the clock is one for all.
        let west = (pe + 2) % 3;
        let set = events.iter().find(|event| event["pid"] == west && event["name"] == "signal_set").unwrap();
        assert!(set["ts"].as_f64().unwrap() <= ends(wait));
    }
}

#[test]
fn lines_of_many_pes_are_not_mixed_and_an_aborted_job_leaves_what_it_wrote() {
    let (_directory, path) = directory();
    succeeds(job("many", 3, &path));
    let puts = events(&path, true).iter().filter(|event| event["name"] == "p").count();
    assert_eq!(puts, 3 * 20_000);
    let (_directory, path) = directory();
    let outcome = job("aborted", 2, &path).run().unwrap();
    assert_eq!(outcome.code, 7, "{}", outcome.report);
    assert!(events(&path, false).iter().any(|event| event["name"] == "barrier"));
}

#[test]
fn a_file_for_each_pe_and_a_file_that_cannot_be() {
    let (directory, _) = directory();
    let path = directory.path().join("trace.%p.json");
    succeeds(job("plain", 2, &path));
    for pe in 0..2_u64 {
        let events = events(&directory.path().join(format!("trace.{pe}.json")), true);
        assert!(events.len() > 4 && events.iter().all(|event| event["pid"] == pe), "{events:?}");
    }
    let outcome = job("plain", 2, Path::new("/proc/no/such/file")).run().unwrap();
    assert_ne!(outcome.code, 0);
    assert!(outcome.report.contains("SHMEM_TRACE=/proc/no/such/file: "), "{}", outcome.report);
}

#[test]
fn the_end_of_a_job_shows_all_pes_together() {
    let outcome = succeeds(scenario::job("trace", "statistics", 3).env("SHMEM_STATS", "1"));
    let said = said_by(&outcome, 0);
    let row = |name: &str| {
        let line = said.lines().find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no row of {name} in:\n{said}"));
        line[name.len() + 2..].split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("p "), ["6", "1", "3"], "calls of all, the least and the most of one PE");
    assert_eq!(row("quiet_pe "), ["3", "1", "1"]);
    assert!(said.contains("strided transfers: "), "{said}");
    assert!((1..3).all(|pe| !said_by(&outcome, pe).contains("statistics")), "PE 0 speaks for all");
}
