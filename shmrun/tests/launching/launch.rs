//! Jobs on this host, some of them on pretended hosts.

use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::entry::programs::HANG;
use crate::entry::*;
use shmem::launch::{Failure, Outcome};
use shmem_core::cpu_list;
use shmem_launch::cpus;

fn job(name: &str, pes: usize) -> Outcome {
    launch(name, pes).run().unwrap()
}

/// One host.
const HERE: &str = "*x9";

#[track_caller]
fn ended(hosts: &str, name: &str, pes: usize) -> Outcome {
    let start = Instant::now();
    let outcome = launch(name, pes).hosts_as(hosts.parse().unwrap()).run().unwrap();
    assert_ended_by_itself(start);
    outcome
}

/// `shmrun` with options, running a program of this test.
pub(crate) fn shmrun(options: &[&str], name: &str) -> Command {
    let mut command = bare_shmrun(options);
    command.arg(itself()).args(ENTRY).env(programs::NAME, name);
    command
}

/// This program below a shell.
pub(crate) fn in_a_shell() -> String {
    format!("{} {}; exit $?", itself().display(), ENTRY.join(" "))
}

mod fences {
    use super::*;

    const SHARE: &str = "join; share 300; share 0; share 253; finish";

    #[test]
    fn values_and_descriptors_arrive_whole_and_in_order() {
        for (name, pes, hosts) in [
            ("join; exchange 100; finish", 1, HERE),
            ("join; exchange 100; finish", 2, HERE),
            ("join; exchange 100; finish", 7, HERE),
            ("join; exchange 100; finish", 6, "0,1,1,1,2,2"),
            ("join; exchange 49152; exchange-too-much 49153; finish", 3, HERE),
            ("join; exchange 49152; exchange-too-much 49153; finish", 3, "0,0,1"),
            // PEs of one host share.
            (SHARE, 3, HERE),
            (SHARE, 1, HERE),
            (SHARE, 5, "0,3,0,1,3"),
            (SHARE, 4, "4x1"),
            ("join; limit-soft 400; share 300; finish", 3, HERE),
            ("join; fence; start-and-fork; fence; finish", 2, HERE),
        ] {
            assert_in_order(&ended(hosts, name, pes));
        }
    }

    #[test]
    fn pretended_hosts_talk_within_this_one() {
        for (options, interface) in [
            (&["-n", "2"][..], ""),
            (&["-n", "2", "--hosts-as", "2x1"], "lo"),
            (&["-n", "2", "--hosts-as", "2x1", "--env", "SHMEM_OFI_INTERFACE=eth7"], "eth7"),
            (&["-n", "2", "--hosts-as", "2x1", "--env", "SHMEM_OFI_PROVIDER=shm"], ""),
            (&["-n", "2", "--hosts-as", "2x1", "--env", "SHMEM_OFI_PROVIDER=tcp;ofi_rxm"], "lo"),
        ] {
            let mut command = bare_shmrun(options);
            command.env_remove("SHMEM_OFI_INTERFACE").env_remove("SHMEM_OFI_PROVIDER");
            let output = command.args(["sh", "-c", "echo on $SHMEM_OFI_INTERFACE"]).output().unwrap();
            assert_eq!(text(&output.stdout), format!("on {interface}\n").repeat(2).replace("on \n", "on\n"));
        }
    }

    #[test]
    fn a_low_limit_on_descriptors_that_cannot_be_raised_is_explained() {
        let said = text(&job("join; limit-hard 400; share-too-many 300; finish", 3).outputs[0].err);
        assert!(
            said.contains("share 600 descriptors, but this process may have 400 descriptors open and needs "),
            "{said}"
        );
    }

    #[test]
    fn pes_that_do_different_things_end_the_job() {
        let outcome = job("join; 0: fence; 1: share 0", 2);
        assert_eq!(outcome.code, 1);
        assert!(outcome.report.contains("are they the same program?"), "{}", outcome.report);
    }
}

mod death {
    use super::*;

    #[test]
    fn the_first_that_dies_ends_the_job_with_its_code_and_one_message() {
        let waits = "PEs 0, 2, 3 wait in `barrier` at src/main.rs:88 since ";
        let segfault = "was killed by signal 11 (SIGSEGV)";
        let early = "exited with code 0 before it left the job";
        let away = "exited with code 0 and never joined the job";
        let closed = "closed its connection to the launcher before it left the job";
        let segfaults = "join; record; fence; 1: segfault; sleep";
        let exits = "join; ignore-term; fence; 0: exit 4; fence";
        let ends_late = "join; fence; finish; 0: exit 5; wait; say to my own end";
        for (program, pes, hosts, pe, how, code, others) in [
            ("join; finish; 1: exit 3", 3, HERE, 1, "exited with code 3", 3, ""),
            (segfaults, 4, HERE, 1, segfault, 139, waits),
            (segfaults, 4, "2x2", 1, segfault, 139, waits),
            (
                "join; await-others; 0: exit 0; fence",
                3,
                HERE,
                0,
                early,
                1,
                "PEs 1, 2 wait for the others to start",
            ),
            ("1: exit 0; join; fence", 3, HERE, 1, away, 1, ""),
            ("1: exit 0; join; fence", 2, "2x1", 1, away, 1, ""),
            ("join; fence; 1: become-sleep; fence", 2, HERE, 1, closed, 1, ""),
            (
                "join; record; fence; 0: die; sleep",
                2,
                HERE,
                0,
                "was killed by signal 9 (SIGKILL)",
                137,
                " has left ",
            ),
            // A PE that ignores SIGTERM is killed.
            (exits, 2, HERE, 0, "exited with code 4", 4, ""),
            (exits, 3, "0,1,1", 0, "exited with code 4", 4, ""),
            // After all have left, an exit code counts, but ends no other PE.
            (ends_late, 3, HERE, 0, "exited with code 5", 5, ""),
            (ends_late, 3, "0,1,1", 0, "exited with code 5", 5, ""),
        ] {
            let outcome = ended(hosts, program, pes);
            let report = &outcome.report;
            assert_eq!((died(&outcome), outcome.code), ((pe, how.to_owned()), code), "{program}");
            assert!(report.contains(&format!(") {how}")) && report.contains(others), "{program}: {report}");
            assert_eq!(report.matches(" (pid ").count(), 1, "{program}: {report}");
            for other in outcome.outputs.iter().skip(1).filter(|_| program == ends_late) {
                assert_eq!(said(other), ["to my own end"]);
            }
        }
    }

    #[test]
    fn a_panic_is_called_a_panic_and_all_that_panic_are_told_once() {
        let outcome = job("join; fence; panic", 4);
        assert_eq!(outcome.code, 101);
        assert_eq!(died(&outcome).1, "panicked (exit code 101)");
        assert!(text(&outcome.outputs[2].err).contains("PE 2 has had enough"));
        let report = &outcome.report;
        // Which PE is the first is random; others that have ended are in one clause.
        assert_eq!(report.matches(" (pid ").count(), 1, "{report}");
        assert!((1..=2).contains(&report.matches("panicked (exit code 101)").count()), "{report}");
    }

    #[test]
    fn abort_prints_its_message_once_and_sets_the_code() {
        for (program, hosts, who) in [
            ("join; record; 2: say before; 2: abort the grid has 3 rows for 4 PEs; fence", HERE, 2..3),
            ("join; record; 2: say before; 2: abort the grid has 3 rows for 4 PEs; fence", "0,1,2,2", 2..3),
            ("join; fence; say before; abort the grid has 3 rows for 4 PEs", HERE, 0..4),
        ] {
            let outcome = ended(hosts, program, 4);
            assert_eq!(outcome.code, 7);
            let Some(Failure::Aborted { pe, code: 7, message }) = &outcome.failure else {
                panic!("{outcome:?}")
            };
            assert_eq!((who.contains(pe), &**message), (true, "the grid has 3 rows for 4 PEs"));
            let end = ") ended the job with code 7: the grid has 3 rows for 4 PEs\n";
            assert!(outcome.report.ends_with(end) && outcome.report.lines().count() == 1, "{outcome:?}");
            assert_eq!(said(&outcome.outputs[*pe]), ["before"]);
        }
    }

    #[test]
    fn abort_is_told_by_the_pe_if_the_launcher_does_not_hear_it() {
        let outcome = job("join; deafen; abort nobody hears", 1);
        assert_eq!((outcome.code, died(&outcome).1), (7, "exited with code 7".into()));
        let said = text(&outcome.outputs[0].err);
        assert!(said.ends_with("PE 0 ended the job with code 7: nobody hears\n"), "{said}");
    }

    #[test]
    fn time_ends_a_job_that_hangs() {
        // Long enough for PEs to wait, on an idle machine.
        one_of(5, |attempt| {
            let time = Duration::from_millis(700 << attempt);
            let outcome = launch(HANG, 2).timeout(time).run().unwrap();
            assert_eq!((outcome.code, &outcome.failure), (124, &Some(Failure::TimedOut)));
            let report = outcome.report;
            assert!(report.starts_with(&format!("the job has run for the {time:?}")), "{report}");
            report.contains("PEs 0, 1 wait in `barrier` at src/main.rs:88").then_some(()).ok_or(report)
        });
    }
}

mod strangers {
    use super::*;

    /// A descriptor that is no launcher's is left open, because its owner closes it.
    #[test]
    fn variables_without_a_launcher_are_an_error_and_a_socket_of_somebody_else_stays_with_its_owner() {
        // The other end answers, but is no launcher.
        let (ours, theirs) = programs::pair();
        rustix::io::write(&ours, b"junk").unwrap();
        for (program, socket, pe, error) in [
            ("join", "77", "0", "SHMRUN_SOCKET=77 is set, but descriptor 77 is not this process's"),
            ("join", "1", "0", "SHMRUN_SOCKET=1: that is no socket of a launcher"),
            ("join", "x", "0", "SHMRUN_SOCKET=`x` is nothing that shmrun sets"),
            ("join", "77", "2", "SHMRUN_PE=2, but SHMRUN_NPES=2"),
            ("find-no-launcher", "own", "0", "socket to shmrun: this process has made it itself"),
            (
                "find-no-launcher",
                &theirs.as_raw_fd().to_string(),
                "0",
                "whoever holds the other end answers what is no greeting",
            ),
        ] {
            let mut command = Command::new(itself());
            command.args(ENTRY).env(programs::NAME, program).stdin(Stdio::null());
            command.env("SHMRUN_SOCKET", socket).env("SHMRUN_JOB", "1");
            let output = command.env("SHMRUN_PE", pe).env("SHMRUN_NPES", "2").output().unwrap();
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(99) && said.contains(error), "{said}");
        }
    }

    #[test]
    fn copies_of_a_program_that_never_join_are_remarked_upon() {
        let output = bare_shmrun(&["-n", "3", "true"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(
            text(&output.stderr),
            "shmrun: 3 copies of `true` ran, and none of them joined the job: each was alone\n"
        );
        let output = bare_shmrun(&["-n", "3", "sh", "-c", "exit 9"]).output().unwrap();
        assert_eq!(output.status.code(), Some(9));
    }
}

mod command_line {
    use super::*;

    fn fails(arguments: &[&str], code: i32, message: &str) {
        let output = bare_shmrun(arguments).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(message), "{error}");
        assert_eq!(launcher_lines(&output).len() + error.matches("error: ").count(), 1, "{error}");
    }

    #[test]
    fn bad_input_gets_one_message_and_the_code_of_shells() {
        fails(&["-n", "0", "true"], 2, "shmrun: 0 PEs were asked for; a job has at least one");
        fails(&["-n", "99999999999", "true"], 2, "99999999999 PEs were asked for; ");
        fails(&["-n", "2", "tru"], 127, "shmrun: there is no program `tru`\n");
        fails(&["-n", "2", ""], 127, "shmrun: there is no program ``\n");
        fails(&["-n", "2", "Cargo.toml"], 127, "in this directory: did you mean `./Cargo.toml`?\n");
        fails(&["-n", "2", "./Cargo.toml"], 126, "`./Cargo.toml` cannot be run: Permission denied");
        fails(&["-n", "2", "/"], 126, "`/` cannot be run: Permission denied");
        fails(&["-n", "-1", "true"], 2, "error: invalid value '-1' for '--npes <PES>': the number of PEs is");
        fails(&["-np", "x", "true"], 2, "error: invalid value 'x' for '--npes <PES>': the number of PEs is");
        fails(&["--np", "4", "true"], 2, "error: unexpected argument '--np' found");
        fails(&["-n", "4", "--bidn", "core", "true"], 2, "a similar argument exists: '--bind'");
        fails(&["-n", "1", "true", ":", "-np", "1", "true"], 2, "shmrun: `:` begins a second program");
        fails(&["-H", "a:2", "--hosts-as", "2x1", "true"], 2, "cannot be used with");
        fails(&["true"], 2, "error: the following required arguments were not provided:\n  --npes <PES>");
        fails(&["-n", "2"], 2, "error: the following required arguments were not provided:\n  <PROGRAM>");
        fails(&["-n", "2", "--env", "=x", "true"], 2, "expected KEY=VALUE");
        fails(&["-n", "2", "-x", "NOT_SET", "true"], 2, "nothing to hand on: environment variable not found");
        fails(&["-n", "2", "--bind", "cores", "true"], 2, "[possible values: share, core, numa, none]");
        fails(&["-n", "2", "--env", "SHMEM_BIND=", "true"], 2, "SHMEM_BIND=: not one of share, core, numa,");
        fails(&["-n", "2", "--timeout", "-1", "true"], 2, "error: ");
        let places = "shmrun: the pattern of hosts places 4 PEs, and the job has 3; start 4, or";
        fails(&["-n", "3", "--hosts-as", "2x2", "true"], 2, places);
    }

    #[test]
    fn the_launchers_need_of_descriptors_does_not_change_what_pes_may_have() {
        let limit = |soft| {
            let script = format!("ulimit -Sn {soft}; exec \"$0\" -n 3 sh -c 'ulimit -Sn; ulimit -Hn'");
            let output = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_shmrun")]).output();
            text(&output.unwrap().stdout)
        };
        let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        let hard = hard.map_or("unlimited".into(), |hard| hard.to_string());
        for soft in [70, 200] {
            let out = limit(soft);
            let count = |limit: &str| out.lines().filter(|&line| line == limit).count();
            assert_eq!((count(&soft.to_string()), count(&hard)), (3, 3), "{out}");
        }
    }

    #[test]
    fn oshrun_takes_a_shell_alone() {
        let folder = tempfile::tempdir().unwrap();
        let installed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shmem-c/install/oshrun");
        let oshrun = folder.path().join("oshrun");
        std::fs::copy(installed, &oshrun).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_shmrun"), folder.path().join("shmrun")).unwrap();
        let mut command = Command::new("./oshrun");
        command.current_dir(folder.path()).env("PATH", "/no/such").stdin(Stdio::null());
        let options = ["-np", "1", "-wdir", "/", "--env", "A=it's", "/bin/sh", "-c", "echo $A"];
        let output = command.args(options).output().unwrap();
        assert_eq!(text(&output.stdout), "it's\n", "{output:?}");
    }

    #[test]
    fn the_number_of_pes_may_be_written_as_for_other_launchers_and_arguments_are_the_programs() {
        for (arguments, printed) in [
            (&["-np", "2", "echo", "-np", "3"][..], "-np 3\n-np 3\n"),
            (&["--bind", "none", "-np", "2", "echo", "-np", "3"], "-np 3\n-np 3\n"),
            (&["--tag-output", "-np", "1", "echo", "-np", "3"], "[0] -np 3\n"),
            (&["--env", "A=b=c", "-np", "1", "sh", "-c", "echo $A"], "b=c\n"),
            (&["-n", "1", "--", "echo", "-np", "3"], "-np 3\n"),
            (&["-n1", "echo", "-np"], "-np\n"),
            (&["-n", "1", "echo", "-n", "4", "--bind"], "4 --bind"),
        ] {
            let output = bare_shmrun(arguments).output().unwrap();
            assert_eq!(
                (text(&output.stdout).as_str(), output.status.code()),
                (printed, Some(0)),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn input_goes_to_the_first_pe_only() {
        let mut command = bare_shmrun(&["-n", "3", "sh", "-c", "echo $SHMRUN_PE:$(cat)"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"words").unwrap();
        let said = text(&child.wait_with_output().unwrap().stdout);
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0:words", "1:", "2:"]);
    }

    /// Sets of CPUs: `bind` of shmem-launch. Systems without binding: `ci/containers.sh`.
    #[test]
    fn pes_share_out_the_cpus_unless_they_outnumber_them() {
        const CPUS: &str = "connect; cpus; meet; finish";
        let allowed = cpus::allowed().unwrap();
        let of = |command: &mut Command| {
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let out = text(&output.stdout);
            let said = out.lines().filter_map(|line| line.split_once("> "));
            let mut each: Vec<_> = said.map(|(_, cpus)| cpu_list::parse(cpus).unwrap()).collect();
            each.sort();
            (each, text(&output.stderr))
        };
        let by_shmrun = |options: &[&str], pes: usize| {
            of(&mut shmrun(&[options, &["-n", &pes.to_string()]].concat(), CPUS))
        };
        let by_itself = |bind: &str, pes: usize| {
            let mut command = Command::new(itself());
            let variables = [(programs::NAME, CPUS), ("SHMEM_NPES", &pes.to_string()), ("SHMEM_BIND", bind)];
            of(command.args(ENTRY).envs(variables)).0
        };
        // A control group may have a smaller quota than CPUs.
        let cores = std::thread::available_parallelism().unwrap().get();
        for pes in [cores, cores.div_ceil(2)].into_iter().filter(|pes| *pes > 1) {
            let apart = by_shmrun(&["--hosts-as", "*x1"], pes).0;
            for each in [by_shmrun(&[], pes).0, apart, by_itself("share", pes)] {
                assert_eq!(each.len(), pes);
                let mut all = each.concat();
                all.sort_unstable();
                assert_eq!(all, allowed, "each CPU is one PE's: {each:?}");
            }
        }
        // One CPU has two PEs.
        for hosts in [&["--bind", "core"][..], &["--bind", "core", "--hosts-as", "*x1"]] {
            let (each, said) = by_shmrun(hosts, allowed.len() + 1);
            let mut used = each.concat();
            assert_eq!((used.len(), each.len()), (allowed.len() + 1, allowed.len() + 1), "{each:?}");
            used.dedup();
            assert_eq!((used, said.matches("some CPUs run several PEs").count()), (allowed.clone(), 1));
        }
        by_shmrun(&["--bind", "numa"], 2);
        let unbound = |pes| vec![allowed.clone(); pes];
        assert_eq!(by_shmrun(&[], cores + 1).0, unbound(cores + 1));
        assert_eq!(by_shmrun(&["--bind", "none"], 2).0, unbound(2));
        assert_eq!(by_shmrun(&["--env", "SHMEM_BIND=none"], 2).0, unbound(2));
        assert_eq!(by_itself("none", 2), unbound(2));
    }

    #[test]
    fn a_program_launches_itself() {
        let mut command = Command::new(itself());
        command.args(ENTRY).env(programs::NAME, "connect; about; meet; finish").env("SHMEM_NPES", "3");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let out = text(&output.stdout);
        let mut lines: Vec<&str> = out.lines().filter_map(|line| Some(line.split_once("> ")?.1)).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["shmrun 0 of 3", "shmrun 1 of 3", "shmrun 2 of 3"]);

        let failed = command.env(programs::NAME, "connect; about; meet; abort enough").output().unwrap();
        let said = text(&failed.stderr);
        assert!(
            said.starts_with("shmem: PE ") && said.ends_with(" ended the job with code 7: enough\n"),
            "{said}"
        );
        command.env(programs::NAME, "connect; about; exchange 100; finish");

        let alone = command.env("SHMEM_NPES", "1").output().unwrap();
        assert!(text(&alone.stdout).contains("singleton 0 of 1"), "{alone:?}");
        let none = command.env("SHMEM_NPES", "0").output().unwrap();
        assert!(text(&none.stderr).contains("SHMEM_NPES=0: not a whole number from 1 up"), "{none:?}");
    }
}
