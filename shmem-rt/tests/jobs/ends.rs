//! How a process joins and leaves its job, and what is printed when `main` panics or returns an error.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{ErrorKind, init, initialized};

use crate::scenario::{self, SCENARIO};

mod program {
    use std::error::Error;

    use shmem::prelude::*;

    pub(super) const NO_PE: u32 = line!() + 6;

    #[shmem::main]
    pub(super) fn main(world: &mut World) -> std::result::Result<(), Box<dyn Error>> {
        match super::scenario::named().as_deref().unwrap_or_default() {
            "panic" => panic!("first line of {}\nsecond line", world.my_pe()),
            "no pe" if world.my_pe() == 1 => drop(world.pe(9)?), // `NO_PE` is this line
            "no number" if world.my_pe() == 1 => drop("x".parse::<i32>()?),
            exit @ ("exit 0" | "exit 3") if world.my_pe() == 1 => std::process::exit(exit[5..].parse()?),
            _ => world.barrier_all(),
        }
        Ok(())
    }
}

#[test]
fn scenario() {
    let Some(scenario) = scenario::named() else { return };
    if std::env::var_os("ENDS_HOOK").is_some() {
        std::panic::set_hook(Box::new(|info| eprintln!("in its own words: {info}")));
    }
    if program::main() != std::process::ExitCode::SUCCESS {
        eprintln!("{scenario} was refused");
    }
    if scenario == "exit behind" {
        std::process::exit(3);
    }
}

/// Runs a job whose launcher is a copy of this program. Returns each write to its standard error.
fn pieces(scenario: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ends::scenario", "--nocapture", "-q"]).env("SHMEM_NPES", "4");
    command.env(SCENARIO, scenario).env_remove("SHMEM_TRANSPORT").env("RUST_BACKTRACE", "0");
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr::<OwnedFd>(theirs);
    let mut child = command.spawn().unwrap();
    // Closes this process's copy of the pipe's write end, so that reading ends with the job.
    drop(command);
    let mut pieces = Vec::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        match rustix::io::read(&ours, &mut bytes[..]).unwrap() {
            0 => break,
            count => pieces.push(String::from_utf8_lossy(&bytes[..count]).into_owned()),
        }
    }
    child.wait().unwrap();
    pieces
}

const NOTE: &str = "note: with `RUST_BACKTRACE=1` it says how it came there\n";

#[test]
fn a_panic_is_one_piece_and_names_its_pe() {
    let all = pieces("panic", &[]);
    // The first panic may end the job before the last PE panics.
    let panics: Vec<&String> = all.iter().filter(|piece| piece.contains("panicked at")).collect();
    assert!((1..=4).contains(&panics.len()), "{all:?}");
    for panic in panics {
        let (head, rest) = panic.split_once(":\nfirst line of ").unwrap();
        let pe = rest.lines().next().unwrap();
        assert!(head.starts_with(&format!("shmem: PE {pe}: thread '")), "{panic}");
        assert!(head.contains("panicked at shmem-rt/tests/jobs/ends.rs:"), "{panic}");
        assert_eq!(rest, format!("{pe}\nsecond line\n{NOTE}"));
    }
    // The backtrace is part of the same write.
    let all = pieces("panic", &[("RUST_BACKTRACE", "1")]);
    let mut frames = all.iter().filter_map(|piece| piece.split_once("second line\nstack backtrace:\n"));
    let Some((_, one)) = frames.next() else { panic!("{all:?}") };
    assert!(one.contains("program") && !one.contains("short_backtrace"), "{one}");
    assert!(!all.iter().any(|piece| piece.contains(NOTE)), "{all:?}");
    // A panic hook of the program is kept.
    let all = pieces("panic", &[("ENDS_HOOK", "1")]);
    assert!(all.iter().any(|piece| piece.contains("in its own words")), "{all:?}");
    assert!(!all.iter().any(|piece| piece.contains(": thread '")), "{all:?}");
}

#[test]
fn an_error_of_main_and_one_of_the_environment_are_said_once() {
    let no_pe = format!("ends.rs:{}: there is no PE 9: the job has 3", program::NO_PE);
    let returned =
        ["PE 1 (pid ", ") ended the job with code 1: `main` (shmem-rt/tests/jobs/ends.rs:", ") returned: "];
    for (scenario, transport, code, parts) in [
        ("no pe", "", 1, [&returned[..], &[&format!("returned: shmem-rt/tests/jobs/{no_pe}")]].concat()),
        ("no number", "", 1, [&returned[..], &["returned: invalid digit found in string"]].concat()),
        ("nothing", "smoke-signals", 2, vec!["SHMEM_TRANSPORT=smoke-signals: not one of"]),
        (
            "nothing",
            "loopback",
            2,
            vec![
                "the PEs are threads of one process, and shmrun has started 3 (SHMRUN_NPES=3)",
                "; for a program that one of these processes starts, unset SHMRUN_NPES\n",
            ],
        ),
    ] {
        let job = scenario::job("ends", scenario, 3);
        let job = if transport.is_empty() { job } else { job.env("SHMEM_TRANSPORT", transport) };
        let outcome = job.run().unwrap();
        assert_eq!(outcome.code, code, "{outcome:?}");
        for part in &parts {
            assert_eq!(outcome.report.matches(part).count(), 1, "`{part}` in {}", outcome.report);
        }
        let said = scenario::said(&outcome);
        assert!(transport.is_empty() || !said.contains(transport), "the launcher says it: {said}");
    }
}

/// Over loopback, PEs are threads of one process, so that the first exit ends all of them.
#[test]
fn who_exits_over_loopback_before_its_job_is_over_is_told() {
    for (scenario, code, told) in
        [("exit 0", 1, 1), ("exit 3", 3, 1), ("exit behind", 3, 0), ("nothing", 0, 0)]
    {
        let job =
            scenario::job("ends", scenario, 1).env("SHMEM_TRANSPORT", "loopback").env("SHMEM_NPES", "3");
        let outcome = job.run().unwrap();
        let said = scenario::said(&outcome);
        let exited = format!(
            "shmem: PE 1 exited with code {}",
            scenario.trim_start_matches(|c: char| !c.is_numeric())
        );
        let counts = [exited.as_str(), "had left the job\n  PE"].map(|part| said.matches(part).count());
        assert_eq!((outcome.code, counts), (code, [told; 2]), "{scenario}: {said}{}", outcome.report);
        assert!(!said.contains("PE 1 runs"), "it is no other: {said}");
    }
}

/// An error has the location of the program's call, which `unwrap` prints.
#[shmem::test(pes = 2)]
fn an_error_knows_its_call(world: &mut World) {
    fn known<T>(failed: Result<T>, line: u32, said: &str) {
        let error = failed.err().expect("an error");
        let call = error.location().unwrap_or_else(|| panic!("no call: {error}"));
        assert_eq!((call.file(), call.line()), ("shmem-rt/tests/jobs/ends.rs", line), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(format!("{error:?}"), error.to_string());
    }
    let config = TeamConfig::default();
    known(world.alloc(zeroed::<u64>(1 << 40)), line!(), "no room for 8T");
    known(world.channel::<u64>(1 << 30), line!(), "no room for");
    known(world.partition(99), line!(), "there is no partition 99");
    known(world.grid([3, 5]), line!(), "a grid of 3 x 5 PEs");
    known(world.array([0]).zeroed::<u8>(), line!(), "");
    known(world.team().split_strided(world, 0, 1, 9, &config), line!(), "no team can have 9 members");
    known(world.create_partition("SIZE=1M:KIND=F"), line!(), "POLICY");
}

#[test]
fn a_program_that_a_pe_starts_is_a_job_of_its_own() {
    let child = ["-c", "env -u SHMRUN_NPES SHMEM_NPES=2 \"$0\" \"$@\""];
    let job = scenario::below(Launch::new("sh", 2).args(child), "ends", "nothing");
    let outcome = scenario::succeeds(job.env("SHMEM_TRANSPORT", "loopback"));
    assert!(!scenario::said(&outcome).contains("was refused"), "{outcome:?}");
}

/// The only test whose own process has a world, because a process has at most one in its life.
#[test]
fn a_process_is_in_its_job_as_long_as_it_has_its_world() {
    assert!(!initialized());
    let world = init::<Single>().unwrap();
    assert!(initialized());
    assert!(matches!(init::<Single>().unwrap_err().kind(), ErrorKind::SecondWorld));
    assert!(initialized(), "who asks for a second one keeps the first");
    let body: fn(&mut World) = |_| unreachable!("a second world");
    assert_eq!(shmem::__private::main(body), std::process::ExitCode::from(2));
    world.barrier_all();
    drop(world);
    assert!(!initialized());
    assert!(matches!(init::<Single>().unwrap_err().kind(), ErrorKind::SecondWorld));
}
