//! The trace of a job: a file for Chrome and Perfetto with a line for each call; and the table of all PEs' calls at its end.

use std::path::Path;

use serde_json::Value;
use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Multiple;

use crate::scenario::{self, said_by, succeeds};

#[symmetric]
static FIELD: [u64; 64];
#[symmetric]
static SIGNAL: Signal;

/// Number of calls of `p` by PE 0, more than a buffer of events has. Each PE makes one call more than the PE before.
const MANY: usize = 20_000;

#[test]
fn scenario() {
    let Some(scenario) = scenario::named() else { return };
    let world = shmem::init::<Multiple>().unwrap();
    let (_, east) = world.ring_neighbours();
    world.put(FIELD.on(east).index(0..8), &[1; 8]);
    world.signal_set(SIGNAL.on(east), 1);
    SIGNAL.wait_until(&world, eq(1));
    if scenario == "aborted" {
        world.barrier_all();
        world.global_exit(7);
    }
    (0..MANY + world.my_pe()).for_each(|value| world.p(FIELD.on(east).index(1), value as u64));
    std::thread::scope(|scope| {
        let context = world.create_ctx::<Multiple>().unwrap();
        let world = &world;
        scope.spawn(move || context.bind(world).iput(FIELD.on(east).index(..), &[2; 8], 8, 1, 8));
    });
}

fn job(scenario: &str, pes: usize, trace: &Path) -> Launch {
    scenario::job("trace", scenario, pes).env("SHMEM_TRACE", trace.display().to_string())
}

/// Returns the events in a trace file. The file of an aborted job lacks the end of the JSON list.
fn events(path: &Path, is_whole: bool) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let text = if is_whole { text } else { format!("{}]", text.trim_end().trim_end_matches(',')) };
    match serde_json::from_str(&text) {
        Ok(Value::Array(events)) => events,
        other => panic!("{} is no list of events: {other:?}", path.display()),
    }
}

#[test]
fn every_call_is_an_event_with_its_line_and_counted_in_the_table_of_all_pes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let outcome = succeeds(job("whole", 3, &path).env("SHMEM_STATS", "1"));
    let events = events(&path, true);
    for pe in 0..3_u64 {
        let all = |name: &str| {
            events.iter().filter(|event| event["pid"] == pe && event["name"] == name).collect::<Vec<_>>()
        };
        assert_eq!(all("p").len(), MANY + pe as usize, "lines of PEs are not mixed");
        let of = |name: &str| {
            let found = all(name);
            assert_eq!(found.len(), 1, "{name} of PE {pe}: {found:?}");
            found[0]
        };
        assert_eq!(of("process_name")["args"]["name"], format!("PE {pe}"));
        let put = of("put");
        assert_eq!((&put["ph"], &put["cat"]), (&"X".into(), &"put".into()));
        assert_eq!((&put["args"]["pe"], &put["args"]["bytes"]), (&((pe + 1) % 3).into(), &64.into()));
        assert!(put["args"]["at"].as_str().unwrap().contains("tests/jobs/trace.rs:"), "{put}");
        let (signal, wait, iput) = (of("signal_set"), of("wait_until"), of("iput"));
        let ends = |event: &Value| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap();
        assert!(ends(put) <= signal["ts"].as_f64().unwrap() && ends(signal) <= wait["ts"].as_f64().unwrap());
        assert_ne!(put["tid"], iput["tid"], "another thread");
        assert!(put["args"].get("context").is_none() && iput["args"]["context"] == 1);
        assert!(iput["args"]["plan"].as_str().is_some_and(|plan| plan.contains("8 x 8 bytes")), "{iput}");
        // PEs use the same clock, so the signal is set before its wait ends.
        let west = (pe + 2) % 3;
        let set = events.iter().find(|event| event["pid"] == west && event["name"] == "signal_set").unwrap();
        assert!(set["ts"].as_f64().unwrap() <= ends(wait));
    }
    let said = said_by(&outcome, 0);
    for (name, numbers) in [("p ", [3 * MANY + 3, MANY, MANY + 2]), ("iput ", [3, 1, 1])] {
        let row = said.lines().find_map(|line| line.trim_start().strip_prefix(name));
        let row = row.unwrap_or_else(|| panic!("no row of {name} in:\n{said}"));
        let row: Vec<&str> = row.split_whitespace().take(3).collect();
        assert_eq!(
            row,
            numbers.map(|n| n.to_string()),
            "calls of all, the least and the most of one PE: {said}"
        );
    }
    assert!((1..3).all(|pe| !said_by(&outcome, pe).contains("statistics")), "PE 0 speaks for all");
}

#[test]
fn a_file_for_each_pe_of_an_aborted_job_and_one_that_cannot_be() {
    let directory = tempfile::tempdir().unwrap();
    succeeds(job("whole", 2, &directory.path().join("trace.%p.json")));
    for pe in 0..2_u64 {
        let events = events(&directory.path().join(format!("trace.{pe}.json")), true);
        assert!(events.len() > MANY && events.iter().all(|event| event["pid"] == pe), "PE {pe}");
    }
    let path = directory.path().join("trace.json");
    let outcome = job("aborted", 2, &path).run().unwrap();
    assert_eq!(outcome.code, 7, "{}", outcome.report);
    assert!(events(&path, false).iter().any(|event| event["name"] == "barrier"), "what was written is left");
    let outcome = job("aborted", 2, Path::new("/proc/no/such/file")).run().unwrap();
    let is_said = outcome.report.contains("SHMEM_TRACE=/proc/no/such/file: ");
    assert!(outcome.code != 0 && is_said, "{}", outcome.report);
}
