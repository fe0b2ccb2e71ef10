//! `shmrun`: starts a program as several PEs, on this host or on several hosts.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use shmem::launch::{Bind, HostList, HostsAs, Launch, LaunchError};
use shmem_launch::diagnostics::say;
use shmem_launch::env::{self, BIND, Settings};

/// Starts PROGRAM as several PEs, on this host, or by an installed launcher on other hosts.
///
/// On this host, the exit code is that of the first PE that fails, and SIGQUIT (Ctrl-\) shows what every PE waits for. On other
/// hosts, the launcher chooses the exit code and handles SIGQUIT. SIGINT, SIGTERM and SIGHUP end the job.
#[derive(Parser)]
#[command(name = "shmrun", version)]
struct Arguments {
    /// Number of PEs (also `-np`); by default the number of slots of all hosts
    #[arg(short = 'n', long = "npes", value_name = "PES", value_parser = number, allow_negative_numbers = true,
        required_unless_present_any = ["hosts", "hostfile"])]
    pes: Option<usize>,

    /// Hosts on which an installed launcher starts PEs, with the slots of each, as `node1:4,node2:4`; the launcher is the first
    /// of prterun, mpirun, mpiexec and srun that PEs can join
    #[arg(short = 'H', long = "host", value_name = "HOSTS")]
    hosts: Option<HostList>,

    /// File with a line for each host: its name, and its slots as `:4` or ` slots=4`
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    hostfile: Option<PathBuf>,

    /// The launcher that starts PEs, with options of its own, as `srun --partition=short`; without hosts, the launcher chooses
    /// them, for example nodes of an allocation
    #[arg(long, value_name = "COMMAND")]
    launcher: Option<String>,

    /// Print the launcher's command, and start nothing
    #[arg(long)]
    show: bool,

    /// CPUs of each PE: an equal share of the host's CPUs, if there are as many as PEs (default without `SHMEM_BIND`); one
    /// CPU, with consecutive PEs near the same memory; the CPUs of one NUMA node, in turn; or any CPUs
    #[arg(long, value_parser = Bind::NAMES)]
    bind: Option<String>,

    /// Tell PEs that they are on different hosts though they are not, for tests: `2x4` for 2 hosts of 4 PEs, `*x4` for
    /// hosts of 4 PEs, as many as needed, or the host of each PE, as `0,0,1`
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["hosts", "hostfile", "launcher"])]
    hosts_as: Option<HostsAs>,

    /// Write the PE's number before each line of output
    #[arg(long)]
    tag_output: bool,

    /// Set an environment variable for the PEs, or pass on its value from here (can be repeated)
    #[arg(short = 'x', long = "env", value_name = "KEY[=VALUE]", value_parser = variable)]
    variables: Vec<(String, String)>,

    /// End the job after SECONDS, with exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "the number of PEs is a whole number, from 1 up".to_owned())
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        Some(_) => Err("expected KEY=VALUE, or the KEY of a variable that is set".into()),
        None => match std::env::var(text) {
            Ok(value) => Ok((text.into(), value)),
            Err(why) => Err(format!("there is nothing to hand on: {why}; write KEY=VALUE")),
        },
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    ExitCode::from(launch(arguments()).unwrap_or_else(|(code, error)| {
        say(&format!("shmrun: {error}"));
        code
    }))
}

/// Runs the job. Returns its exit code, or an exit code and an error text if the job could not start.
fn launch(arguments: Arguments) -> Result<u8, (u8, String)> {
    let refused = |error: LaunchError| (error.code(), error.to_string());
    if arguments.program.iter().any(|word| word == ":") {
        let why = "`:` begins a second program for launchers, and the PEs of a job run one: their symmetric variables lie at the same \
                   places; start one program that does what the number of its PE says";
        return Err((2, why.into()));
    }
    if let (None, Some(count)) =
        (arguments.pes, arguments.program[0].to_str().filter(|word| number(word).is_ok()))
    {
        return Err((
            2,
            format!(
                "`{count}` would be the program: write -n {count} for so many PEs, or ./{count} for a file"
            ),
        ));
    }
    let hosts = match &arguments.hostfile {
        Some(file) => Some(HostList::read(file).map_err(refused)?),
        None => arguments.hosts,
    };
    let mut variables = arguments.variables;
    // Passed on as a variable, because PEs report how they are bound.
    variables.extend(arguments.bind.map(|bind| (BIND.name.to_owned(), bind)));
    // Parses only the variable of binding, because PEs parse the others.
    let of_binding = env::process().chain(variables.iter().cloned()).filter(|(name, _)| name == BIND.name);
    let settings = Settings::from_env(of_binding).map_err(|error| (2, error.to_string()))?;
    let pes = arguments.pes.or(hosts.as_ref().map(HostList::slots)).unwrap_or_default();
    let mut program = arguments.program.into_iter();
    let mut launch = Launch::new(program.next().unwrap_or_default(), pes)
        .args(program)
        .bind(settings.bind)
        .watch_signals()
        .speaker("shmrun");
    for (key, value) in variables {
        launch = launch.env(key, value);
    }
    if let Some(hosts) = arguments.hosts_as {
        launch = launch.hosts_as(hosts);
    }
    if arguments.tag_output {
        launch = launch.tag_output();
    }
    if let Some(time) = arguments.timeout {
        launch = launch.timeout(time);
    }
    if hosts.is_none() && arguments.launcher.is_none() {
        if arguments.show {
            let what = "--show: PEs on this host are started without a command; name hosts (-H) or a launcher (--launcher)";
            return Err((2, what.into()));
        }
        return launch.run().map(|outcome| outcome.code).map_err(refused);
    }
    let command = launch.command(hosts.as_ref(), arguments.launcher.as_deref());
    let mut command = command.map_err(refused)?;
    if arguments.show {
        println!("{}", line_of(&command));
        return Ok(0);
    }
    // The launcher replaces this process, so it has this process's input, signals and exit code.
    let why = command.exec();
    Err((126, format!("`{}` cannot be run: {why}", command.get_program().display())))
}

/// Returns a command as a line for a shell.
fn line_of(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,@%+".contains(letter);
        let plain = !word.is_empty() && word.chars().all(is_plain);
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let (set, unset): (Vec<_>, Vec<_>) = command.get_envs().partition(|(_, value)| value.is_some());
    let unset = unset.into_iter().flat_map(|(name, _)| ["-u".to_owned(), quoted(name)]);
    let unset: Vec<_> = unset.collect();
    let env = (!unset.is_empty()).then(|| "env".to_owned());
    let set = set
        .into_iter()
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(value.unwrap_or_default())));
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(quoted);
    env.into_iter().chain(unset).chain(set).chain(words).collect::<Vec<_>>().join(" ")
}

/// Parses the command line. As in other launchers, `-np 4` means `-n 4`, unless it comes after the program's name.
fn arguments() -> Arguments {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    Arguments::try_parse_from(&words).unwrap_or_else(|_| {
        words.iter_mut().filter(|word| *word == "-np").take(1).for_each(|word| *word = "-n".into());
        Arguments::parse_from(words)
    })
}
