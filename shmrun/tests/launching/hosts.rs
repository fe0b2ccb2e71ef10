//! Jobs on several hosts: `shmrun -H`. The hosts are all this one, by other names; the agent runs the
//! command in a shell, with nothing of the environment, as a shell on another host would have it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::entry::*;
use crate::launch::signals;
use proptest::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use shmem::launch::{Failure, Launch, LaunchError};

/// An agent for hosts that are this one.
const AGENT: [&str; 6] = ["env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", "exec sh -c \"$1\""];

/// `shmrun` of this build.
const SHMRUN: &str = env!("CARGO_BIN_EXE_shmrun");

pub(crate) fn launch_on(hosts: &str, name: &str, pes: usize) -> Launch {
    launch(name, pes).hosts(hosts.parse().unwrap()).agent(AGENT).shmrun(SHMRUN)
}

/// `shmrun` that runs a program on hosts, through an agent in a file.
fn shmrun_on(hosts: &str, agent: &Path, options: &[&str], name: &str) -> Command {
    let mut command = bare_shmrun(&["-H", hosts, "--agent", agent.to_str().unwrap()]);
    command.args(options).args(["--env", &format!("{}={name}", programs::NAME)]);
    command.arg(itself()).args(ENTRY);
    command
}

/// A directory with agents, and what they leave there.
struct Agents(tempfile::TempDir);

impl Agents {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// An agent that runs a script; `$1` is the host, `$2` what the shell there is to run.
    fn agent(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.0.path().join("agent");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    /// One that leaves behind which process the launcher on each host is.
    fn plain(&self) -> PathBuf {
        self.agent(&format!("echo $$ > {}/$1; exec sh -c \"$2\"", self.0.path().display()))
    }

    fn process(&self, host: &str) -> Pid {
        let text = self.wait_for(host);
        Pid::from_raw(text.trim().parse().unwrap()).unwrap()
    }

    /// What stands in a file, once a line is there.
    fn wait_for(&self, file: &str) -> String {
        let start = Instant::now();
        loop {
            match std::fs::read_to_string(self.0.path().join(file)) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{file} was not written");
        }
    }
}

mod meeting {
    use super::*;

    #[test]
    fn pes_learn_who_is_on_their_host() {
        let outcome = launch_on("a:2,localhost:1,b:4", "hosts", 6).run().unwrap();
        assert_in_order(&outcome);
        for printed in &outcome.outputs {
            assert_eq!(said(printed), ["[0, 0, 1, 2, 2, 2]"]);
        }
    }

    #[test]
    fn hosts_stand_in_a_file_and_fewer_pes_fill_the_first() {
        let agents = Agents::new();
        let file = agents.0.path().join("hosts");
        std::fs::write(&file, "# two\na slots=2\nb 2\n").unwrap();
        let agent = agents.plain();
        let variable = format!("{}=hosts", programs::NAME);
        for (options, expected) in [(vec![], "[0, 0, 1, 1]"), (vec!["-n", "3"], "[0, 0, 1]")] {
            let mut command = bare_shmrun(&["--hostfile", file.to_str().unwrap()]);
            command.args(["--agent", agent.to_str().unwrap(), "--env", &variable]).args(options);
            let output = command.arg(itself()).args(ENTRY).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let pes = text(&output.stdout).matches(&format!("> {expected}")).count();
            assert_eq!(pes, expected.matches(char::is_numeric).count(), "{output:?}");
        }
    }

    #[test]
    fn pes_have_the_directory_and_the_chosen_variables_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let agents = Agents::new();
        let clean = agents.agent("exec env -i sh -c \"$2\"");
        let mut command =
            shmrun_on("a:1", &clean, &["--env", "LAUNCH_TEST_CHOSEN=two words"], "surroundings");
        command.env("SHMEM_DEBUG", "0").env("LAUNCH_TEST_NOT_CHOSEN", "1").current_dir(directory.path());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let printed = shmem::launch::Printed { out: output.stdout, err: Vec::new() };
        let directory = directory.path().canonicalize().unwrap().display().to_string();
        assert_eq!(
            said(&printed),
            [
                "SHMEM_DEBUG=Some(\"0\")",
                "LAUNCH_TEST_CHOSEN=Some(\"two words\")",
                "LAUNCH_TEST_NOT_CHOSEN=None",
                "HOME=None",
                &directory
            ]
        );
    }

    #[test]
    fn output_comes_whole_and_with_its_pe() {
        let agents = Agents::new();
        let agent = agents.plain();
        let script = "for i in $(seq 2000); do echo \"line $i of $SHMRUN_PE\"; done; printf end";
        let mut command = bare_shmrun(&["-H", "a:2,localhost,b:1", "--agent", agent.to_str().unwrap()]);
        let output = command.args(["--tag-output", "sh", "-c", script]).output().unwrap();
        let out = text(&output.stdout);
        for pe in 0..4 {
            let mut expected: Vec<String> = (1..=2000).map(|i| format!("[{pe}] line {i} of {pe}")).collect();
            expected.push(format!("[{pe}] end"));
            let tag = format!("[{pe}] ");
            let lines: Vec<&str> = out.lines().filter(|line| line.starts_with(&tag)).collect();
            assert_eq!(lines, expected);
        }
        assert_eq!(out.lines().count(), 4 * 2001, "nothing else");
    }

    #[test]
    fn a_reader_that_pauses_holds_up_nothing_but_output() {
        let agents = Agents::new();
        let agent = agents.plain();
        let command = bare_shmrun(&["-H", "a:1,localhost", "--agent", agent.to_str().unwrap()]);
        crate::output::assert_goes_on_unread(command, false);
    }
}

mod loss {
    use super::*;

    /// A job on two hosts that hangs, with the processes of its PEs.
    fn hanging(agents: &Agents) -> (Child, Vec<i32>) {
        started(shmrun_on("a:2,b:2", &agents.plain(), &[], "hang"), 4)
    }

    #[test]
    fn a_host_that_is_lost_ends_the_job_with_one_message_and_nothing_is_left() {
        let agents = Agents::new();
        let (child, pids) = hanging(&agents);
        let start = Instant::now();
        kill_process(agents.process("b"), Signal::KILL).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_ended_by_itself(start);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let lines = launcher_lines(&output);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("shmrun: host b is lost: "), "{lines:?}");
        let err = text(&output.stderr);
        assert!(err.contains("PEs 0, 1 wait in `barrier` at src/main.rs:88"), "{err}");
        assert!(err.contains("PEs 2, 3 are out of reach"), "{err}");
        assert_gone(&pids);
    }

    #[test]
    fn nothing_is_left_on_any_host_when_the_launcher_is_killed() {
        let agents = Agents::new();
        let (mut child, pids) = hanging(&agents);
        signal(&child, Signal::KILL);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_gone(&pids);
        assert_gone(&["a", "b"].map(|host| agents.process(host).as_raw_nonzero().get()));
    }

    #[test]
    fn signals_to_the_launcher_reach_every_host() {
        for signal in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let agents = Agents::new();
            let command = shmrun_on("a:2,b:2", &agents.plain(), &[], "hang");
            signals::ends(command, 4, signal, "PEs 0-3 wait in `barrier` at src/main.rs:88");
        }
    }

    #[test]
    fn sigquit_asks_all_hosts_and_the_job_goes_on() {
        let agents = Agents::new();
        let answer = signals::asked(shmrun_on("a:2,b:2", &agents.plain(), &[], "hang"), 4, 1);
        assert_eq!(answer[0], "shmrun: the PEs now:");
        assert!(answer[1].starts_with("  PEs 0-3 wait in `barrier` at src/main.rs:88"), "{answer:?}");
    }
}

mod start {
    use super::*;

    fn error(job: Launch) -> LaunchError {
        let start = Instant::now();
        let error = job.run().unwrap_err();
        assert_ended_by_itself(start);
        assert_eq!(format!("{error:?}"), error.to_string());
        error
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_named_and_no_pe_is_started() {
        let job =
            launch_on("a:1,b:1", "hang", 2).agent(["sh", "-c", "[ $0 = b ] && exit 255; exec sh -c \"$1\""]);
        let text = error(job).to_string();
        assert!(text.starts_with("host b: `sh -c "), "{text}");
        assert!(text.ends_with("ended (exit status: 255) before `shmrun` there had connected"), "{text}");

        let job = launch_on("a:1", "hang", 1).agent(["no-such-agent"]);
        let text = error(job).to_string();
        assert!(text.starts_with("host a: the agent `no-such-agent` could not be started"), "{text}");
    }

    #[test]
    fn a_program_that_is_missing_there_gets_one_message_and_the_code_of_shells() {
        let start = Instant::now();
        let job = Launch::new("no-such-program", 4).hosts("a:2,b:2".parse().unwrap()).agent(AGENT);
        let outcome = job.shmrun(SHMRUN).capture_output().run().unwrap();
        assert_ended_by_itself(start);
        assert_eq!(outcome.code, 127);
        assert_eq!(outcome.report.matches("there is no program `no-such-program`").count(), 1, "{outcome:?}");
        assert!(matches!(outcome.failure, Some(Failure::Host { .. })), "{outcome:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_is_started() {
        let nowhere = "nosuch0".parse().unwrap();
        for (job, why) in [
            (launch_on("a:2,b:1", "hang", 4), "4 PEs were asked for, and the hosts take 3 together"),
            (launch_on("a:2", "hang", 2).gdb(1), "the debugger was asked for PE 1, which is on host a"),
            (launch_on("a:2", "hang", 2).interfaces([nowhere]), "asked for (nosuch0); it has lo 127.0.0.1"),
            (launch_on("a:70000", "hang", 70000), "a node takes at most 65535"),
        ] {
            let text = error(job).to_string();
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_signal_ends_the_launcher_while_it_waits_for_hosts() {
        let agents = Agents::new();
        let never = agents.agent(&format!("echo $$ > {}/$1; exec sleep 1000", agents.0.path().display()));
        let child = shmrun_on("a:1", &never, &[], "hang").stderr(Stdio::piped()).spawn().unwrap();
        let agent = agents.process("a");
        let start = Instant::now();
        signal(&child, Signal::TERM);
        let output = child.wait_with_output().unwrap();
        assert_ended_by_itself(start);
        assert_eq!(output.status.code(), Some(143), "{output:?}");
        assert_gone(&[agent.as_raw_nonzero().get()]);
    }
}

/// Whoever connects and is none of the job's launchers.
mod strangers {
    use super::*;

    /// A launcher that waits for one host, whose agent is held up until `held` is dropped.
    struct Waiting {
        agents: Agents,
        child: Child,
        /// Where the launcher listens.
        address: SocketAddr,
        letter: String,
    }

    impl Waiting {
        fn new() -> Self {
            let agents = Agents::new();
            let d = agents.0.path().display();
            let script = format!(
                "read -r letter; echo \"$letter\" > {d}/letter; while ! [ -e {d}/go ]; do sleep 0.02; done\necho \"$letter\" | sh -c \"$2\""
            );
            let agent = agents.agent(&script);
            let mut command = shmrun_on("a:1,localhost:1", &agent, &["--interface", "127.0.0.1"], "exchange");
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let letter = agents.wait_for("letter");
            let address = letter.split_whitespace().next_back().unwrap().parse().unwrap();
            Self { agents, child, address, letter }
        }

        fn connect(&self) -> TcpStream {
            let stream = TcpStream::connect(self.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream
        }

        /// Lets the real one come: the job runs as if nothing had happened.
        fn finish(self) {
            std::fs::write(self.agents.0.path().join("go"), "").unwrap();
            let output = self.child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert_eq!(launcher_lines(&output), Vec::<String>::new());
            assert!(TcpStream::connect(self.address).is_err(), "nobody listens any more");
        }
    }

    /// What is heard on a connection until it is closed.
    fn heard(mut stream: TcpStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        // That it was reset is an end, too.
        if let Err(error) = stream.read_to_end(&mut bytes) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it is not closed: {error}");
        }
        bytes
    }

    #[test]
    fn rubbish_is_let_go_without_a_word() {
        let waiting = Waiting::new();
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(100));
        let cases = prop::collection::vec(any::<u8>(), 76..300);
        let result = runner.run(&cases, |bytes| {
            let mut stream = waiting.connect();
            // It may be let go before it has said all.
            let _ = stream.write_all(&bytes);
            prop_assert!(heard(stream).len() <= 32, "a random number and nothing else");
            Ok(())
        });
        result.unwrap();
        waiting.finish();
    }

    #[test]
    fn a_flood_of_silent_connections_keeps_nobody_out() {
        one_of(5, |_| {
            let waiting = Waiting::new();
            let start = Instant::now();
            let held: Vec<TcpStream> = (0..500).map(|_| waiting.connect()).collect();
            // The oldest are let go for newer ones, and before their time is over.
            assert!(heard(held[0].try_clone().unwrap()).len() <= 32);
            let took = start.elapsed();
            waiting.finish();
            drop(held);
            if took < Duration::from_secs(4) { Ok(()) } else { Err(format!("it took {took:?}")) }
        });
    }

    #[test]
    fn who_stays_silent_is_let_go_after_a_while() {
        let waiting = Waiting::new();
        assert_eq!(heard(waiting.connect()).len(), 32);
        waiting.finish();
    }

    /// Whoever stands between the two and repeats what one of them has said is found out.
    #[test]
    fn what_was_overheard_is_worth_nothing() {
        let waiting = Waiting::new();
        let middle = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let letter =
            waiting.letter.replace(&waiting.address.to_string(), &middle.local_addr().unwrap().to_string());
        let mut deputy = Command::new(SHMRUN)
            .arg(shmem::launch::DEPUTY)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        deputy.stdin.take().unwrap().write_all(letter.as_bytes()).unwrap();
        let mut challenge = [0; 32];
        waiting.connect().read_exact(&mut challenge).unwrap();
        let mut overheard = [0; 76];
        // It tries several times.
        for stream in middle.incoming().take(3) {
            let mut stream = stream.unwrap();
            stream.write_all(&challenge).unwrap();
            stream.read_exact(&mut overheard).unwrap();
            stream.write_all(&[0; 32]).unwrap();
        }
        let output = deputy.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let err = text(&output.stderr);
        assert!(err.contains("whoever listens there is not the launcher of this job"), "{err}");

        let mut stream = waiting.connect();
        stream.write_all(&overheard).unwrap();
        assert_eq!(heard(stream).len(), 32, "that was for another challenge");
        waiting.finish();
    }

    #[test]
    fn the_secret_stands_in_no_arguments_and_in_no_environment() {
        let waiting = Waiting::new();
        let secret = waiting.letter.split(' ').nth(1).unwrap().to_owned();
        assert_eq!(secret.len(), 64);
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            for file in ["cmdline", "environ"] {
                let bytes = std::fs::read(process.path().join(file)).unwrap_or_default();
                assert!(!text(&bytes).contains(&secret), "{}", text(&bytes));
            }
        }
        waiting.finish();
    }

    #[test]
    fn a_letter_from_nobody_is_refused() {
        let mut deputy = Command::new(SHMRUN);
        let output = deputy.arg(shmem::launch::DEPUTY).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("standard input is not from shmrun"), "{output:?}");
    }
}
