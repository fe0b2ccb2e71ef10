//! Output of PEs.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};

use crate::asleep::Thread;
use crate::entry::*;
use crate::launch::shmrun;

const HALVES: &str = "connect; print-halves; finish";

/// The lines that PEs have printed in two halves.
fn halves(bytes: &[u8]) -> Vec<String> {
    // The test harness may have begun the line.
    let mut lines: Vec<String> =
        text(bytes).lines().filter_map(|line| Some(line[line.find("first of ")?..].to_owned())).collect();
    lines.sort();
    lines
}

fn assert_whole(output: &Output, name: &str) {
    assert!(output.status.success(), "{output:?}");
    let whole = [0, 1].map(|pe| format!("first of {pe}, second of {pe} as {name}"));
    assert_eq!((halves(&output.stdout), halves(&output.stderr)), (whole.to_vec(), whole.to_vec()));
}

#[test]
fn lines_of_pes_are_not_torn() {
    let name = itself().display().to_string();
    for options in [&["-n", "2"][..], &["-n", "2", "--hosts-as", "2x1"]] {
        assert_whole(&shmrun(options, HALVES).output().unwrap(), &name);
    }
}

/// Started by a link.
#[test]
fn a_program_that_launches_itself_keeps_its_lines_and_its_name() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(itself(), folder.path().join("link")).unwrap();
    let mut command = Command::new("./link");
    command.current_dir(folder.path()).args(ENTRY).env(programs::NAME, HALVES).env("SHMEM_NPES", "2");
    assert_whole(&command.output().unwrap(), "./link");
}

#[test]
fn a_reader_that_goes_ends_a_program_in_c_with_a_message() {
    let mut command = Command::new(itself());
    command.args(ENTRY).env(programs::NAME, "as-in-c; connect; print").env("SHMEM_NPES", "2");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("> ")), "a PE prints");
    drop(lines);
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(
        output.status.code() == Some(141) && said.contains("was killed by signal 13 (SIGPIPE)"),
        "{output:?}"
    );
}

/// Runs a script as PE 0 of 2, beside one that does nothing.
fn first_of_two(options: &[&str], script: &str) -> Command {
    let mut command = bare_shmrun(&["-n", "2"]);
    command.args(options).args(["sh", "-c", &format!("[ $SHMRUN_PE = 1 ] && exit; {script}")]);
    command
}

#[test]
fn what_is_no_text_is_kept_as_it_is() {
    let script = "head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf end";
    let output = first_of_two(&[], script).output().unwrap();
    let (zeros, end) = output.stdout.split_at(3_000_000);
    assert!(zeros.iter().all(|byte| *byte == 0xff) && end == b"end");
}

#[test]
fn streams_that_go_to_one_file_keep_their_order() {
    let script = "for i in $(seq 300); do echo $i; echo $i again >&2; done; printf 'last words'; kill -9 $$";
    let model: String = (1..=300).map(|i| format!("{i}\n{i} again\n")).collect();
    let mut file = tempfile::tempfile().unwrap();
    let mut command = first_of_two(&[], script);
    command.stdout(file.try_clone().unwrap()).stderr(file.try_clone().unwrap());
    assert_eq!(command.status().unwrap().code(), Some(137));
    std::io::Seek::rewind(&mut file).unwrap();
    let mut said = String::new();
    file.read_to_string(&mut said).unwrap();
    let end = said.strip_prefix(&model).unwrap_or_else(|| panic!("{said}"));
    assert!(end.starts_with("last wordsshmrun: PE 0 (pid "), "{end}");
}

/// Starts a job that prints more than a pipe takes, and does not read it.
fn unread(mut command: Command) -> (Child, ChildStdout) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    // Each page of the pipe is more than half full when no more fits.
    while rustix::io::ioctl_fionread(&out).unwrap() < 32 << 10 {
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, out)
}

#[test]
fn a_reader_that_pauses_holds_up_nothing_but_output() {
    let (mut child, mut out) = unread(first_of_two(&[], "echo $$ >&2; exec seq 400000"));
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let pid: u64 = said.next().unwrap().parse().unwrap();
    Thread(pid << 32 | pid).wait_until_asleep();
    signal(&child, Signal::QUIT);
    assert_eq!(said.next().unwrap(), "shmrun: the PEs now:");
    let mut printed = String::new();
    out.read_to_string(&mut printed).unwrap();
    assert!(printed.lines().eq((1..=400_000).map(|i| i.to_string())), "{} bytes", printed.len());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_job_whose_output_nobody_reads_can_be_ended() {
    let (mut child, _out) = unread(first_of_two(&[], "yes"));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// The PEs have ended before a signal to the launcher or its timeout, because all output fits into pipes and queues.
#[test]
fn output_that_is_cut_short_is_no_success() {
    for (options, code) in [(&[][..], 143), (&["--timeout", "2"], 124)] {
        let (mut child, _out) = unread(first_of_two(options, "echo $$ >&2; exec seq 15000"));
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let pid = Pid::from_raw(said.next().unwrap().parse().unwrap()).unwrap();
        while options.is_empty() && rustix::process::test_kill_process(pid).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if options.is_empty() {
            signal(&child, Signal::TERM);
        }
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn output_that_finds_no_room_is_told() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for (options, out, why) in [
        (&[][..], full(), "No space left on device"),
        (&["--tag-output"], full(), "No space left on device"),
        (&[], tempfile::tempfile().unwrap(), "File too large"),
    ] {
        let mut command = limited(first_of_two(options, "echo something"), Resource::Fsize, 0);
        let output = command.stdout(out).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let lines = launcher_lines(&output);
        let what = format!("shmrun: what the PEs print cannot be written to standard output: {why}");
        assert!(lines.len() == 1 && lines[0].starts_with(&what), "{lines:?}");
    }
}

/// The same command with a limit.
fn limited(mut command: Command, resource: Resource, most: u64) -> Command {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    // SAFETY: the closure makes a system call, and nothing else.
    unsafe { command.pre_exec(move || Ok(setrlimit(resource, limit)?)) };
    command
}

/// Without memory for the stack of a thread.
#[test]
fn output_that_nothing_can_write_is_told_before_there_is_any() {
    let mut command = limited(first_of_two(&[], "echo something"), Resource::Data, 2 << 20);
    let output = command.env_remove("RUST_MIN_STACK").output().unwrap();
    let said = "shmrun: no thread can be started that passes output on; raise the limit of this user's processes (ulimit -u) or of data \
                (ulimit -d): Resource temporarily unavailable (os error 11)\n";
    assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(2), said), "{output:?}");
}
