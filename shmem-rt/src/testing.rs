//! Tests on several PEs: `#[shmem::test]`.
//!
//! A test launches copies of the test binary, each of which runs this one test as a PE. With `SHMEM_TRANSPORT=loopback`, it
//! launches one copy, whose threads are the PEs. `SHMRUN_HOSTS_AS` distributes the PEs of tests over pretended hosts ([`HostsAs`]),
//! unless the test itself sets it. Hosts communicate over libfabric; without libfabric, such tests print that they are skipped.
//! `SHMRUN_LAUNCHER` is the command of another launcher for the copies, in which `{pes}` stands for the number of PEs.
//!
//! `#[should_panic]` is evaluated in the process that launches the PEs, because the test harness in a PE would count the PE's panic
//! as success.

use std::borrow::Cow;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use shmem_core::libfabric::Library;
use shmem_launch::env::{EnvError, LIBFABRIC, NPES, Settings, TEST_TIMEOUT, TRANSPORT, WAIT_WARN};
use shmem_launch::launch::{self, Failure, HOSTS_AS, HostsAs, Launch, Printed};

use crate::deadlock_report::declare_bystanders;
use crate::entry::{Outcome, run_pes};
use crate::loopback;
use crate::thread::ThreadLevel;
use crate::world::World;

const TEST: &str = "SHMRUN_TEST";

const LAUNCHER: &str = "SHMRUN_LAUNCHER";

/// Time that a process has after the test's limit to end itself, before its launcher kills it.
const GRACE: Duration = Duration::from_secs(10);

const PANICKED: u8 = 101;

/// Runs a test, as the expansion of `#[shmem::test]`. With `panics`, a PE must panic with a text that contains `panics`.
///
/// # Panics
///
/// If a PE fails, the expected panic is missing, or the test exceeds its time limit. The panic's text contains the
/// output of the PEs, and where they waited at the time limit.
#[track_caller]
pub fn test<L: ThreadLevel, R: Outcome>(
    name: &str,
    pes: usize,
    timeout: Option<Duration>,
    environment: &[(&str, &str)],
    panics: Option<&str>,
    body: fn(&mut World<L>) -> R,
) {
    let limit = limit(timeout, environment).unwrap_or_else(|error| panic!("{name} cannot run: {error}"));
    if std::env::var(TEST).is_ok_and(|running| running == name) {
        return as_pe(limit, body);
    }
    if let Some(why) = skipped(environment) {
        println!("skipped: {why}");
        return;
    }
    let path = name.split_once("::").map_or(name, |(_, path)| path);
    let outcome = match job(name, path, pes, limit, environment) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{name} could not be started: {error}"),
    };
    let printed = printed(&outcome, path);
    if let (Some(Failure::TimedOut), Some(limit)) = (&outcome.failure, limit) {
        panic!(
            "{name} has run for {limit:?}, its limit (`timeout = ..` of the test, or {}), and was ended: {}{printed}",
            TEST_TIMEOUT.name, outcome.report
        );
    }
    assert!(
        outcome.code != 0 || outcome.outputs.iter().any(|output| text(&output.out).contains("1 passed")),
        "{name} did not run in the test binary:\n{printed}"
    );
    match panics {
        None => {
            assert!(outcome.code == 0, "failed with code {}: {}{printed}", outcome.code, outcome.report);
        }
        Some(_) if outcome.code == 0 => panic!("no PE panicked, and one should have\n{printed}"),
        Some(expected) => {
            // With another launcher, the exit code is not checked, because it may be the code of another PE.
            let panicked = outcome.code == PANICKED || std::env::var_os(LAUNCHER).is_some();
            let as_expected =
                || outcome.outputs.iter().any(|output| panicked_with(&text(&output.err), expected));
            assert!(
                panicked && as_expected(),
                "no PE panicked with `{expected}`, but: {}{printed}",
                outcome.report
            );
        }
    }
}

/// Returns the time limit of a test: `own`, or the limit from the environment. `SHMEM_TEST_TIMEOUT=0` means no limit, even if `own`
/// has one.
fn limit(own: Option<Duration>, environment: &[(&str, &str)]) -> Result<Option<Duration>, EnvError> {
    // Only this variable is read, because a test may set other variables to invalid values on purpose.
    let name = TEST_TIMEOUT.name;
    let default =
        Settings::from_env(said(name, environment).map(|value| (name.to_owned(), value)))?.test_timeout;
    Ok(default.map(|default| own.unwrap_or(default)))
}

fn job(
    name: &str,
    path: &str,
    pes: usize,
    limit: Option<Duration>,
    environment: &[(&str, &str)],
) -> Result<launch::Outcome, Box<dyn std::error::Error>> {
    let said = |name: &str| said(name, environment);
    let threads = said(TRANSPORT.name).is_some_and(|choice| choice.eq_ignore_ascii_case("loopback"));
    let processes = if threads { 1 } else { pes };
    // `--include-ignored`, because the harness that started this test has already decided that the test runs.
    let arguments = ["--exact", path, "--nocapture", "--test-threads=1", "--include-ignored"];
    if let Ok(launcher) = std::env::var(LAUNCHER) {
        let words = launcher.split_whitespace().map(|word| word.replace("{pes}", &pes.to_string()));
        return launched(words.collect(), &arguments, name, limit, environment);
    }
    let mut job =
        Launch::new(std::env::current_exe()?, processes).args(arguments).env(TEST, name).capture_output();
    if let Some(limit) = limit {
        job = job.timeout(if threads { limit.saturating_add(GRACE) } else { limit });
    }
    job = if threads { job.env(NPES.name, pes.to_string()) } else { job.env_remove(NPES.name) };
    for (key, value) in environment {
        job = job.env(key, value);
    }
    if let Some(pattern) = said(HOSTS_AS).filter(|_| !threads) {
        job = job.hosts_as(pattern.parse::<HostsAs>()?);
    }
    let mut outcome = job.run()?;
    if threads && outcome.code == loopback::TIMED_OUT {
        outcome.failure = Some(Failure::TimedOut);
    }
    Ok(outcome)
}

fn said(name: &str, environment: &[(&str, &str)]) -> Option<String> {
    let own = environment.iter().find(|(key, _)| *key == name);
    own.map(|(_, value)| (*value).to_owned()).or_else(|| std::env::var(name).ok())
}

/// Runs a job by another launcher. Its output is one text for all PEs. PEs warn about long waits before the time limit,
/// so that the output says where they wait. The command `timeout` of coreutils ends the launcher, which ends its PEs.
fn launched(
    mut words: Vec<String>,
    arguments: &[&str],
    name: &str,
    limit: Option<Duration>,
    environment: &[(&str, &str)],
) -> Result<launch::Outcome, Box<dyn std::error::Error>> {
    if words.is_empty() {
        return Err("SHMRUN_LAUNCHER has no command".into());
    }
    if let Some(limit) = limit {
        let timeout =
            ["timeout", "--kill-after", &GRACE.as_secs().to_string(), &limit.as_secs_f64().to_string()];
        words.splice(..0, timeout.map(str::to_owned));
    }
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .arg(std::env::current_exe()?)
        .args(arguments)
        .env(TEST, name)
        .stdin(Stdio::null());
    if let Some(limit) = limit {
        command.env(WAIT_WARN.name, (limit / 2).min(Duration::from_secs(5)).as_secs_f64().to_string());
    }
    let begun = Instant::now();
    let Output { status, stdout, stderr } = command.envs(environment.iter().copied()).output()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
    let is_over = code != 0 && limit.is_some_and(|limit| begun.elapsed() >= limit);
    let (failure, outputs) =
        (is_over.then_some(Failure::TimedOut), vec![Printed { out: stdout, err: stderr }]);
    Ok(launch::Outcome { code, failure, report: String::new(), outputs })
}

/// Returns why a test must be skipped: its PEs need libfabric, but loading it fails. `None` if it can run.
fn skipped(environment: &[(&str, &str)]) -> Option<String> {
    let transport = said(TRANSPORT.name, environment).unwrap_or_default().to_ascii_lowercase();
    let apart = said(HOSTS_AS, environment).is_some();
    let over_it = transport == "ofi" || apart && matches!(transport.as_str(), "" | "auto");
    // A library that only the test names is loaded by its PEs alone.
    if !over_it || environment.iter().any(|(name, _)| *name == LIBFABRIC.name) {
        return None;
    }
    let library = std::env::var(LIBFABRIC.name).ok().filter(|name| !name.is_empty());
    // SAFETY: the environment that names libfabric is trusted, as for every library that a process loads.
    unsafe { Library::load(library.as_deref()) }.err().map(|error| error.to_string())
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn printed(outcome: &launch::Outcome, path: &str) -> String {
    let mut lines = String::new();
    for (pe, output) in outcome.outputs.iter().enumerate() {
        let (out, err) = (text(&output.out), text(&output.err));
        for line in own(&out, path).lines().chain(err.trim_start_matches('\n').lines()) {
            lines.push_str(&format!("[{pe}] {line}\n"));
        }
    }
    lines
}

/// Returns the output of a PE, without the output of the test harness around it.
fn own<'o>(out: &'o str, path: &str) -> &'o str {
    let own = out.strip_prefix(&format!("\nrunning 1 test\ntest {path} ... ")).unwrap_or(out);
    let ends = ["ok\n\ntest result: ", "FAILED\n\nfailures:\n"].iter();
    let end = ends.filter_map(|end| own.rfind(end)).max();
    &own[..end.unwrap_or(own.len())]
}

fn panicked_with(err: &str, expected: &str) -> bool {
    // The format is `thread 'name' (1) panicked at src/main.rs:1:1:`, and then the lines of the panic's text.
    err.split(" panicked at ")
        .skip(1)
        .any(|panic| panic.split_once('\n').is_some_and(|(_, message)| message.contains(expected)))
}

/// Runs the test in a process that was launched as a PE. An error of the body ends the job.
fn as_pe<L: ThreadLevel, R: Outcome>(limit: Option<Duration>, body: fn(&mut World<L>) -> R) {
    // The harness's main thread only waits for this thread, so deadlock detection may ignore it.
    declare_bystanders(0);
    let ended = run_pes(limit, |world| {
        if let Some(error) = body(world).error() {
            world.job().abort(1, &error);
        }
    });
    match ended {
        Ok(code) => assert!(code == 0, "the job of the test has ended with code {code}"),
        Err(error) => panic!("{error}"),
    }
}
