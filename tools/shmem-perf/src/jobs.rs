//! Jobs of the tool. The tool starts its own program as PEs, on this host or on two hosts. The two hosts are named by the user, or
//! are network namespaces of this machine (`ci/hosts-up.sh`, which needs root) that a virtual network connects.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use clap::Args;
use shmem::launch::{Bind, HostList, Launch, Outcome, Printed};
use tempfile::TempDir;

#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) pes: usize,
    pub(crate) args: Vec<String>,
    /// Environment variables of the PEs. The tool's own variables that ask for partitions are removed.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) bind: Bind,
    /// The two hosts of the job; `None` for this host.
    pub(crate) hosts: Option<Arc<Hosts>>,
}

impl Asked {
    pub(crate) fn with<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.variables.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    pub(crate) fn heap(self, bytes: usize) -> Self {
        self.with([("SHMEM_SYMMETRIC_SIZE", bytes.to_string())])
    }

    /// Runs the job. Returns the standard output of PE 0 (on two hosts, of all PEs), and the standard error of all PEs.
    pub(crate) fn run(&self) -> Result<[String; 2], Box<dyn Error>> {
        self.run_program(&std::env::current_exe()?)
    }

    pub(crate) fn run_program(&self, program: &Path) -> Result<[String; 2], Box<dyn Error>> {
        let launch = Launch::new(program, self.pes).args(&self.args).bind(self.bind).capture_output();
        let launch = partitions_of_environment().fold(launch, Launch::env_remove);
        // Turns off the library's warning about long waits, because PEs wait while another PE measures.
        let launch = launch.env("SHMEM_WAIT_WARN", "0");
        let launch = self.variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        let outcome = match &self.hosts {
            Some(hosts) => hosts.run(launch, self.pes)?,
            None => launch.run()?,
        };
        let remarks: Vec<u8> = outcome.outputs.iter().flat_map(|printed| printed.err.clone()).collect();
        let remarks = String::from_utf8_lossy(&remarks).into_owned();
        if outcome.code != 0 {
            let report = format!("{remarks}{}", outcome.report);
            let (pes, what, code, report) = (self.pes, self.args.join(" "), outcome.code, report.trim_end());
            return Err(format!("the job of {pes} PEs for `{what}` ended with code {code}\n{report}").into());
        }
        let results = outcome.outputs.first().map_or(&[][..], |printed| &printed.out);
        Ok([String::from_utf8_lossy(results).into_owned(), remarks])
    }
}

/// Returns the names of this process's environment variables that ask for partitions.
pub(crate) fn partitions_of_environment() -> impl Iterator<Item = OsString> {
    let is_of_partitions = |name: &OsStr| {
        [&b"SHMEM_SYMMETRIC_"[..], b"SMA_SYMMETRIC_"].iter().any(|prefix| name.as_bytes().starts_with(prefix))
    };
    std::env::vars_os().map(|(name, _)| name).filter(move |name| is_of_partitions(name))
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Named {
    /// The two hosts for measures between hosts, as `node1,node2`. Both have this program at the same path. Without this option,
    /// two network namespaces of this machine are used, which needs root and iproute2.
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<String>,
    /// The launcher that starts processes on the two hosts, with its options, instead of the first one that `shmrun` finds.
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    launcher: Option<String>,
}

/// The two hosts of a job, each with half of the PEs.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: [String; 2],
    launcher: Option<String>,
    /// Directory of the network namespaces that stand for hosts; `None` for real hosts. Namespaces are removed with this value.
    pretended: Option<TempDir>,
}

impl Named {
    pub(crate) fn find(&self) -> Result<Arc<Hosts>, String> {
        let Some(names) = &self.hosts else { return Hosts::pretended().map(Arc::new) };
        let slots = names.parse::<HostList>().map_err(|error| error.to_string())?.slots();
        let pair: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        match <[String; 2]>::try_from(pair) {
            Ok(names) if slots == 2 && names[0] != names[1] && !names.concat().contains(':') => {
                Ok(Arc::new(Hosts { names, launcher: self.launcher.clone(), pretended: None }))
            }
            _ => Err(format!("`{names}` are not two hosts: name them as `node1,node2`")),
        }
    }
}

impl Hosts {
    fn pretended() -> Result<Self, String> {
        let failed =
            |why: &str| format!("this machine cannot pretend to be two hosts ({}); name two", why.trim());
        let directory = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
        // `mpirun` starts its daemons by the script `hostrsh` instead of ssh, as root, and over the namespaces' network.
        let launcher = format!(
            "mpirun --allow-run-as-root --oversubscribe --mca plm rsh --mca plm_rsh_agent {}/hostrsh --mca oob_tcp_if_include {NETWORK}.0/24",
            directory.path().display()
        );
        let (names, path) = (["h1", "h2"].map(str::to_owned), directory.path().to_owned());
        let hosts = Self { names, launcher: Some(launcher), pretended: Some(directory) };
        let made = script("hosts-up.sh", &["2"], &path)?;
        if made.status.success() { Ok(hosts) } else { Err(failed(&String::from_utf8_lossy(&made.stderr))) }
    }

    pub(crate) fn describe(&self) -> String {
        match self.pretended {
            Some(_) => "two network namespaces of this machine, which meet on a bridge".to_owned(),
            None => self.names.join(" and "),
        }
    }

    /// Runs a job with half of its PEs on each host. The outputs of all PEs are one text.
    fn run(&self, launch: Launch, pes: usize) -> Result<Outcome, Box<dyn Error>> {
        let [one, other] = &self.names;
        let list = format!("{one}:{},{other}:{}", (pes - pes / 2).max(1), (pes / 2).max(1));
        let list: HostList = list.parse().unwrap_or_else(|error| unreachable!("as it was before: {error}"));
        let interface = self.pretended.is_some().then_some("eth0");
        let launch =
            interface.into_iter().fold(launch, |launch, name| launch.env("SHMEM_OFI_INTERFACE", name));
        let mut command = launch.command(Some(&list), self.launcher.as_deref())?;
        if let Some(directory) = &self.pretended {
            // The launcher runs in a namespace where the names of the hosts resolve.
            let mut inside = Command::new(directory.path().join("hostsh"));
            inside.arg("login").arg(command.get_program()).args(command.get_args());
            inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command = inside;
        }
        let output = command.stdin(Stdio::null()).output()?;
        let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
        let printed = Printed { out: output.stdout, err: output.stderr };
        Ok(Outcome { code, failure: None, report: String::new(), outputs: vec![printed] })
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // The script prints its own errors.
        _ = self.pretended.as_ref().map(|directory| script("hosts-down.sh", &[], directory.path()));
    }
}

const NETWORK: &str = "10.77.0";

fn script(name: &str, arguments: &[&str], directory: &Path) -> Result<Output, String> {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci")).join(name);
    let mut command = Command::new("bash");
    command.arg(&script).args(arguments).arg(directory);
    command.envs([("HOSTS_BRIDGE", "shmem-perf"), ("HOSTS_NET", NETWORK)]);
    command.output().map_err(|error| format!("{} cannot be run: {error}", script.display()))
}
