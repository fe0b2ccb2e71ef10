//! Jobs on other hosts: the launcher that `shmrun` finds, and its command. Launchers are stubs that print the versions of real ones;
//! `ci/hosts.sh` runs jobs by real ones.

use std::process::Command;

use crate::entry::*;

const OPEN_MPI_4: &str = "mpirun (Open MPI) 4.1.4";
const OPEN_MPI_5: &str = "mpirun (Open MPI) 5.0.7";
const PRRTE: &str = "prterun (PRRTE) 3.0.9";
const HYDRA: &str = "HYDRA build details:";
const SLURM: &str = "MPI plugin types are... pmix none";

/// `it's`, quoted for a shell.
const ITS: &str = r"'it'\''s'";

/// A directory with launchers, which is all of `PATH`.
struct Installed(tempfile::TempDir);

impl Installed {
    /// Stubs of these names that print this as their version, and otherwise their arguments and a line of input, and exit with 7.
    fn new(launchers: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, said) in launchers {
            let file = directory.path().join(name);
            let script = "echo \"$OTHER $*\"; read -r line && echo \"$line\"; exit 7";
            let text = format!(
                "#!/bin/sh\ncase $1 in --version | --mpi=list) echo '{said}'; exit ;; esac\n{script}\n"
            );
            // Another process writes the file: children of other tests could inherit a descriptor of this process, and a file that is
            // open for writing cannot be run.
            let write = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
            let written = Command::new("sh").args(["-c", write, "sh"]).arg(&file).arg(text).status();
            assert!(written.unwrap().success());
        }
        Self(directory)
    }

    /// `shmrun` with these options, in which `~` is a blank.
    fn shmrun(&self, options: &str) -> Command {
        let mut command = bare_shmrun(&[]);
        command.args(options.split_whitespace().map(|word| word.replace('~', " ")));
        let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SHMEM_"));
        ours.for_each(|(name, _)| _ = command.env_remove(name));
        command.env_remove("FI_OFI_RXM_MSG_RX_SIZE").env("PATH", self.0.path()).args(["prog", "it's", "-n"]);
        command
    }

    fn shown(&self, options: &str, environment: &[(&str, &str)]) -> String {
        let output =
            self.shmrun(&format!("--show {options}")).envs(environment.iter().copied()).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{options:?}");
        text(&output.stdout)
    }

    /// The message of a job that is not started.
    fn refusal(&self, options: &str, code: i32) -> String {
        let output = self.shmrun(options).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(code), 1), "{output:?}");
        said.strip_prefix("shmrun: ").unwrap().trim_end().to_owned()
    }
}

#[test]
fn what_is_asked_for_is_translated() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "# two\na slots=2\nb 2\n").unwrap();
    let file = file.path().to_str().unwrap();
    const EVEN: &str = "-np 8 --host a:4,b:4 --map-by slot";
    let from_file = format!("--hostfile {file} -n 3");
    for (name, said, options, expected) in [
        ("mpirun", OPEN_MPI_4, "-H a:4,b:4", EVEN),
        ("mpiexec", OPEN_MPI_5, "-H a:4,b:4", EVEN),
        ("prterun", PRRTE, "-H a:4,b:4", EVEN),
        (
            "mpirun",
            OPEN_MPI_4,
            "-H a,b:4 -np 3 --tag-output",
            "-np 3 --host a:1,b:2 --map-by slot --tag-output",
        ),
        ("mpirun", OPEN_MPI_5, "-H a:1 --tag-output", "-np 1 --host a:1 --map-by slot --output tag"),
        ("prterun", PRRTE, &from_file, "-np 3 --host a:2,b:1 --map-by slot"),
        ("mpirun", OPEN_MPI_4, "--launcher mpirun~--mca~plm~rsh -n 4", "--mca plm rsh -np 4"),
        (
            "mpiexec",
            HYDRA,
            "-H a:2,b --bind core --tag-output",
            "-n 3 -hosts a:2,b:1 -bind-to core -prepend-rank",
        ),
        ("mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021.8", "-H a:2", "-n 2 -hosts a:2"),
        ("srun", "pmi2", "-n 2 --launcher srun", "--mpi=pmi2 --kill-on-bad-exit --ntasks=2"),
        ("srun", SLURM, "-H a:2,b", "{} --ntasks=3 --distribution=arbitrary --nodelist=a,a,b"),
        ("srun", SLURM, "--launcher srun~-pshort -n 4 --tag-output", "-pshort {} --ntasks=4 --label"),
        ("mpirun", OPEN_MPI_4, "-H a:2 --bind core", "-np 2 --host a:2 --map-by slot --bind-to core"),
        ("mpirun", OPEN_MPI_4, "-H a:2 --bind numa", "-np 2 --host a:2 --map-by slot --bind-to numa"),
        ("mpirun", OPEN_MPI_4, "-H a:2 --bind none", "-np 2 --host a:2 --map-by slot --bind-to none"),
        // The launcher's own binding.
        ("mpirun", OPEN_MPI_4, "-H a:2 --bind share", "-np 2 --host a:2 --map-by slot"),
        ("srun", SLURM, "--launcher srun -n 2 --bind core", "{} --ntasks=2 --cpu-bind=cores"),
        ("srun", SLURM, "--launcher srun -n 2 --bind numa", "{} --ntasks=2 --cpu-bind=ldoms"),
        ("srun", SLURM, "--launcher srun -n 2 --bind none", "{} --ntasks=2 --cpu-bind=none"),
        ("srun", SLURM, "--launcher srun -n 2 --bind share", "{} --ntasks=2"),
    ] {
        let expected = expected.replace("{}", "--mpi=pmix --kill-on-bad-exit");
        let takes_all = name == "srun" || expected.contains(" -hosts ");
        let bind = options.split_once("--bind ").map(|(_, words)| words.split(' ').next().unwrap());
        let bound = bind.map_or(String::new(), |bind| format!(" SHMEM_BIND={bind}"));
        let handed_on = if takes_all {
            String::new()
        } else {
            format!(" -x FI_OFI_RXM_MSG_RX_SIZE{}", bind.map_or("", |_| " -x SHMEM_BIND"))
        };
        let expected =
            format!("FI_OFI_RXM_MSG_RX_SIZE=128{bound} {name} {expected}{handed_on} prog {ITS} -n\n");
        assert_eq!(Installed::new(&[(name, said)]).shown(options, &[]), expected);
    }
}

#[test]
fn variables_and_time_are_handed_on() {
    let environment =
        [("SHMEM_STATS", "1"), ("SMA_DEBUG", "0"), ("OTHER", "x y"), ("FI_OFI_RXM_MSG_RX_SIZE", "9")];
    let options = "-H a --env A=b~c -x OTHER -x MORE=2 --timeout 2.5";
    let variables = "A='b c' FI_OFI_RXM_MSG_RX_SIZE=9 MORE=2 OTHER='x y' SHMEM_STATS=1 SMA_DEBUG=0";
    let limit = "timeout --foreground --kill-after=10 2.5";
    for (name, said, asked) in [
        (
            "mpirun",
            OPEN_MPI_4,
            "-np 1 --host a:1 --map-by slot -x A -x FI_OFI_RXM_MSG_RX_SIZE -x MORE -x OTHER -x SHMEM_STATS -x SMA_DEBUG",
        ),
        ("srun", SLURM, "--mpi=pmix --kill-on-bad-exit --ntasks=1 --distribution=arbitrary --nodelist=a"),
    ] {
        let shown = Installed::new(&[(name, said)]).shown(options, &environment);
        assert_eq!(shown, format!("{variables} {limit} {name} {asked} prog {ITS} -n\n"));
    }
}

/// Variables of the outer job are removed, and settings of the user stay.
#[test]
fn what_an_outer_job_has_said_is_taken_away() {
    let outer = [("PMI_FD", "7"), ("PMIX_RANK", "1"), ("SHMRUN_PE", "2"), ("PMIX_MCA_gds", "hash")];
    let shown = Installed::new(&[("srun", SLURM)]).shown("-H a", &outer);
    assert!(
        shown.starts_with("env -u PMIX_RANK -u PMI_FD -u SHMRUN_PE FI_OFI_RXM_MSG_RX_SIZE=128 srun "),
        "{shown}"
    );
}

#[test]
fn the_first_that_pes_can_join_is_taken() {
    for (launchers, chosen) in [
        (
            &[("srun", SLURM), ("mpiexec", OPEN_MPI_4), ("mpirun", OPEN_MPI_4), ("prterun", PRRTE)][..],
            "prterun",
        ),
        (&[("srun", SLURM), ("mpiexec", OPEN_MPI_4), ("mpirun", OPEN_MPI_4)], "mpirun"),
        (&[("srun", SLURM), ("mpiexec", HYDRA), ("mpirun", "a stranger")], "mpiexec"),
        (&[("srun", SLURM), ("mpiexec", "a stranger"), ("mpirun", "a stranger")], "srun"),
    ] {
        let shown = Installed::new(launchers).shown("-H a:2", &[]);
        assert!(shown.contains(&format!(" {chosen} ")), "{shown}");
    }
}

#[test]
fn what_cannot_be_is_one_message() {
    let nothing = "there is no `prterun`; there is no `mpirun`; there is no `mpiexec`; there is no `srun`; install Open MPI";
    let stranger =
        "`mpirun` says of neither that it speaks it, and PEs join by PMIx or PMI-1 (it says `a stranger`); ";
    let none = "`srun` --mpi=list names no plugin for either, and PEs join by PMIx or PMI-1 (it says `cray_shasta`); ";
    let open_mpi = &[("mpirun", OPEN_MPI_4)][..];
    for (launchers, options, code, why) in [
        (&[][..], "-H a", 127, nothing),
        (&[("mpirun", "a stranger")], "-H a", 127, stranger),
        (
            &[("mpirun", "mpirun (Open MPI) 1.10.7")],
            "-H a",
            127,
            "is that of Open MPI 1, and PEs join by PMIx or ",
        ),
        (&[("srun", "cray_shasta")], "--launcher srun -n 2", 127, none),
        (open_mpi, "-H a --launcher mpirn", 127, "there is no `mpirn`; "),
        (open_mpi, "-H a 4", 2, "`4` would be the program: write -n 4 for so many PEs"),
        (open_mpi, "-H a:2,b -n 4", 2, "4 PEs were asked for, and the hosts take 3 together"),
        (open_mpi, "-H a:2 -n 0", 2, "0 PEs were asked for"),
        (open_mpi, "-n 2 --show", 2, "--show: PEs on this host are started without a command"),
    ] {
        let said = Installed::new(launchers).refusal(options, code);
        assert!(said.contains(why), "{said}");
        let remedy = if options.contains("--launcher") {
            "it may be left out"
        } else {
            "install Open MPI from version 4"
        };
        assert_eq!(said.contains(remedy), code == 127, "{said}");
    }
}

/// Input, output and exit code are the launcher's.
#[test]
fn the_launcher_takes_the_place_of_shmrun() {
    use std::io::Write as _;
    let installed = Installed::new(&[("mpirun", OPEN_MPI_4)]);
    let mut shmrun = installed.shmrun("-H a:2 -x OTHER=1");
    let piped = std::process::Stdio::piped;
    let mut child = shmrun.stdin(piped()).stdout(piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"words\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let asked = "1 -np 2 --host a:2 --map-by slot -x FI_OFI_RXM_MSG_RX_SIZE -x OTHER prog it's -n";
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(7), format!("{asked}\nwords\n")));
}
