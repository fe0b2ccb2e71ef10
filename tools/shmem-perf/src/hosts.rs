//! Two hosts for a job: those that are named, or two that this machine pretends to be (`ci/hosts-up.sh` of the sources, which
//! takes root). What pretended hosts have in common, processor, memory and kernel, makes their network no faster and no slower
//! than two interfaces of one kernel are.
//!
//! A program that starts jobs on hosts is started on the other ones, too, with the argument
//! [`DEPUTY`](shmem::launch::DEPUTY), and calls [`deputy`](shmem::launch::deputy) then.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use shmem::launch::{HostList, Launch, LaunchError, Outcome};
use tempfile::TempDir;

/// Which hosts.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Named {
    /// Two hosts for what is measured between hosts, as `node1,node2`; this program lies at the same place there.
    /// Not given: two that this machine pretends to be, which takes root and iproute2.
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<String>,
    /// Command that reaches another host, instead of ssh: it gets the name of the host and a line for the shell there.
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    agent: Option<String>,
}

/// Hosts on which jobs of this program run, as many PEs on the one as on the other.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: [String; 2],
    /// A program that is run with a host's name and a line for the shell there; without words: `ssh`.
    agent: Vec<String>,
    /// Where pretended ones are kept: they end with it.
    pretended: Option<TempDir>,
}

impl Named {
    /// These, or two that this machine pretends to be; says why there are none.
    pub(crate) fn find(&self) -> Result<Arc<Hosts>, String> {
        let Some(names) = &self.hosts else { return Hosts::pretended().map(Arc::new) };
        let slots = names.parse::<HostList>().map_err(|error| error.to_string())?.slots();
        let agent = self.agent.iter().flat_map(|agent| agent.split_whitespace());
        let pair: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        match <[String; 2]>::try_from(pair) {
            Ok(names) if slots == 2 && names[0] != names[1] => {
                Ok(Arc::new(Hosts { names, agent: agent.map(str::to_owned).collect(), pretended: None }))
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
        let (names, agent) = (["h1", "h2"], directory.path().join("hostrsh").display().to_string());
        let hosts = Self { names: names.map(str::to_owned), agent: vec![agent], pretended: Some(directory) };
        let made = hosts.script("hosts-up.sh", &["2"])?;
        if made.status.success() { Ok(hosts) } else { Err(failed(&String::from_utf8_lossy(&made.stderr))) }
    }

    /// Runs a script of the sources for the pretended hosts, which meet on a bridge.
    fn script(&self, name: &str, arguments: &[&str]) -> Result<std::process::Output, String> {
        let directory = self.pretended.as_ref().map_or(Path::new(""), |directory| directory.path());
        let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci")).join(name);
        let mut command = Command::new("bash");
        command.arg(&script).args(arguments).arg(directory).env("HOSTS_BRIDGE", "shmem-perf");
        command.output().map_err(|error| format!("{} cannot be run: {error}", script.display()))
    }

    /// What they are, in words.
    pub(crate) fn describe(&self) -> String {
        match self.pretended {
            Some(_) => "two network namespaces of this machine, which meet on a bridge".to_owned(),
            None => self.names.join(" and "),
        }
    }

    /// Runs a job on them: the first half of its PEs on the first one.
    pub(crate) fn run(&self, launch: Launch, pes: usize) -> Result<Outcome, LaunchError> {
        let [one, other] = &self.names;
        let list = format!("[{one}]:{},[{other}]:{}", (pes - pes / 2).max(1), (pes / 2).max(1));
        let list: HostList = list.parse().unwrap_or_else(|error| unreachable!("as it was before: {error}"));
        let launch = launch.hosts(list).agent(&self.agent);
        let interface = self.pretended.is_some().then_some(("SHMEM_OFI_INTERFACE", "eth0"));
        interface.into_iter().fold(launch, |launch, (name, value)| launch.env(name, value)).run()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if self.pretended.is_some() {
            // What cannot be ended has said why.
            _ = self.script("hosts-down.sh", &[]);
        }
    }
}
