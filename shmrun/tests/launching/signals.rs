//! Signals to the launcher and to PEs.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::entry::programs::HANG;
use crate::entry::*;
use crate::launch::{in_a_shell, shmrun};

fn below_a_wrapper(name: &str) -> Command {
    let mut command = bare_shmrun(&["-n", "2", "sh", "-c", &in_a_shell()]);
    command.env(programs::NAME, name);
    command
}

#[test]
fn nothing_is_left_when_the_launcher_is_killed() {
    let stranger = bare_shmrun(&["-n", "2", "sh", "-c", "echo \"pid> $$\"; exec sleep 1000"]);
    for command in [shmrun(&["-n", "2"], HANG), below_a_wrapper(HANG), stranger] {
        let (mut child, pids) = started(command, 2);
        signal(&child, Signal::KILL);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_gone(&pids);
    }
}

#[test]
fn nothing_is_left_when_a_wrapper_has_gone_before() {
    // The inner shell is killed by the PE, the outer one goes on.
    let inner = format!("{} {} & wait", itself().display(), ENTRY.join(" "));
    let outer = format!("sh -c '{inner}'; while :; do sleep 0.05; done");
    let mut command = bare_shmrun(&["-n", "1", "sh", "-c", &outer]);
    command.env(programs::NAME, "join; kill-parent; pid; sleep");
    let (mut child, pids) = started(command, 1);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    assert_gone(&pids);
}

/// With one message about the PEs. No process is left.
#[test]
fn signals_to_the_launcher_end_the_job() {
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let apart = shmrun(&["-n", "2", "--hosts-as", "2x1"], HANG);
        for command in [shmrun(&["-n", "2"], HANG), apart, below_a_wrapper(HANG)] {
            let (child, pids) = started(command, 2);
            let start = Instant::now();
            signal(&child, number);
            let output = child.wait_with_output().unwrap();
            assert_ended_by_itself(start);
            assert_eq!(output.status.code(), Some(code), "{output:?}");
            let lines = launcher_lines(&output);
            assert_eq!(lines.len(), 1, "{lines:?}");
            let did = "PEs 0, 1 wait in `barrier` at src/main.rs:88";
            assert!(lines[0].starts_with("shmrun: ended by signal ") && lines[0].contains(did), "{lines:?}");
            assert_gone(&pids);
        }
    }
}

#[test]
fn pes_can_heed_signals_before_they_are_killed() {
    let script = "trap 'echo saved; exit 0' TERM; echo \"pid> $$\"; while :; do sleep 0.05; done";
    let mut command = bare_shmrun(&["-n", "1", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(out.next().unwrap().starts_with("pid> "));
    signal(&child, Signal::TERM);
    assert_eq!(out.next().as_deref(), Some("saved"));
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// PEs have the dispositions of the launcher's caller, except SIGQUIT, which the launcher answers.
#[test]
fn what_signals_do_is_the_launchers_affair_and_for_the_pes_as_before() {
    let (default, ignored) = (libc::SIG_DFL, libc::SIG_IGN);
    for given in [(libc::SIGCHLD, default), (libc::SIGCHLD, ignored), (libc::SIGXFSZ, ignored)] {
        let masks = |mut command: Command| -> Vec<u64> {
            let begin = move || {
                // SAFETY: allowed between `fork` and `exec`; no handler is installed.
                unsafe { libc::signal(given.0, given.1) };
                // SAFETY: the death of a launcher that hangs.
                unsafe { libc::alarm(60) };
                Ok(())
            };
            with_default_signals(&mut command);
            // SAFETY: the closure makes system calls only.
            unsafe { command.pre_exec(begin) };
            let output = command.args(["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            // Signals above 31 are the C library's.
            let mask = |line: &str| u64::from_str_radix(&line[8..], 16).unwrap() & 0x7fff_ffff;
            text(&output.stdout).lines().map(mask).collect()
        };
        let (plain, launched) = (masks(Command::new("env")), masks(bare_shmrun(&["-n", "1"])));
        assert_eq!(launched, [plain[0], plain[1] | 1 << (libc::SIGQUIT - 1)], "{given:?}");
    }
}

#[test]
fn a_second_signal_does_not_wait() {
    one_of(5, |_| {
        let (child, pids) = started(shmrun(&["-n", "2"], "ignore-term; join; record; fence; pid; sleep"), 2);
        signal(&child, Signal::TERM);
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        signal(&child, Signal::TERM);
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
        let took = start.elapsed();
        assert_gone(&pids);
        if took < Duration::from_secs(1) { Ok(()) } else { Err(format!("it took {took:?}")) }
    });
}

/// The answer to SIGQUIT, `lines` long, after PEs got a signal. The job goes on.
fn asked(command: Command, joined: usize, before: Signal, lines: usize) -> Vec<String> {
    let (mut child, pids) = started(command, joined);
    for &pid in &pids {
        kill_process(Pid::from_raw(pid).unwrap(), before).unwrap();
        let is_stopped = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ");
        while before == Signal::STOP && !is_stopped() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    signal(&child, Signal::QUIT);
    let error = BufReader::new(child.stderr.take().unwrap());
    let answer = error.lines().map(Result::unwrap).skip_while(|line| !line.contains("the PEs now"));
    let answer = answer.take(lines + 1).collect();
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_gone(&pids);
    answer
}

#[test]
fn sigquit_asks_and_the_job_goes_on() {
    // A key of the terminal sends it to PEs as well.
    let answer = asked(shmrun(&["-n", "3"], HANG), 3, Signal::QUIT, 1);
    assert_eq!(answer[0], "shmrun: the PEs now:");
    assert!(answer[1].starts_with("  PEs 0-2 wait in `barrier` at src/main.rs:88 since "), "{answer:?}");
    let answer = asked(shmrun(&["-n", "3"], "2: sleep; join; fence-aside"), 2, Signal::QUIT, 2);
    assert_eq!(answer[1..], ["  PEs 0, 1 wait for the others to start", "  PE 2 has not joined the job"]);
    let answer = asked(shmrun(&["-n", "2"], HANG), 2, Signal::STOP, 1);
    assert_eq!(answer[1], "  PEs 0, 1 are stopped by a signal (SIGCONT lets them go on)");
}

#[test]
fn a_pe_waits_for_a_debugger_when_asked() {
    let mut command = shmrun(&["-n", "1"], "join; attach; finish");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut error = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("waits for a debugger") {
        line.clear();
        assert_ne!(error.read_line(&mut line).unwrap(), 0);
    }
    let pid = line.split("pid ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(line.starts_with(&format!("PE 0: pid {pid} waits for a debugger: `gdb -p {pid}`")), "{line}");
    assert!(child.try_wait().unwrap().is_none());
    match trace(pid.parse().unwrap()) {
        Ok(()) => assert_eq!(child.wait().unwrap().code(), Some(0)),
        Err(why) => {
            println!("skipped: no process may be traced here: {why}");
            signal(&child, Signal::TERM);
            child.wait().unwrap();
        }
    }
}

/// Attaches to a process as a debugger does, and lets it go on to its end.
fn trace(pid: i32) -> std::io::Result<()> {
    // SAFETY: this request reads and writes no memory of either process.
    let result = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, 0usize) };
    if result != 0 {
        let error = std::io::Error::last_os_error();
        // Containers and hardened systems forbid it.
        assert!(matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)), "{error}");
        return Err(error);
    }
    // The tracer is the first to be notified of its end.
    rustix::process::waitpid(Pid::from_raw(pid), rustix::process::WaitOptions::empty()).unwrap();
    Ok(())
}
