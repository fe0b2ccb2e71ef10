//! Two hosts for a job: those that are named, or two that this machine pretends to be (`ci/hosts-up.sh` of the sources, which
//! takes root). What pretended hosts have in common, processor, memory and kernel, makes their network no faster and no slower
//! than two interfaces of one kernel are.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use shmem::launch::{HostList, Launch, Outcome, Printed};
use tempfile::TempDir;

const NETWORK: &str = "10.77.0";

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Named {
    /// Two hosts for what is measured between hosts, as `node1,node2`; this program lies at the same place there.
    /// Not given: two that this machine pretends to be, which takes root and iproute2.
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<String>,
    /// The launcher that starts processes on them, with options of its own, instead of the first that `shmrun` would find.
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    launcher: Option<String>,
}

/// Hosts on which jobs of this program run, as many PEs on the one as on the other.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: [String; 2],
    launcher: Option<String>,
    /// Where pretended ones are kept: they end with it.
    pretended: Option<TempDir>,
}

impl Named {
    /// These, or two that this machine pretends to be; says why there are none.
    pub(crate) fn find(&self) -> Result<Arc<Hosts>, String> {
        let Some(names) = &self.hosts else { return Hosts::pretended().map(Arc::new) };
        let slots = names.parse::<HostList>().map_err(|error| error.to_string())?.slots();
        let pair: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        match <[String; 2]>::try_from(pair) {
            Ok(names) if slots == 2 && names[0] != names[1] => {
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
        // Its daemons are started without ssh, as root, and find the way back by that network alone.
        let launcher = format!(
            "mpirun --allow-run-as-root --oversubscribe --mca plm rsh --mca plm_rsh_agent {}/hostrsh --mca oob_tcp_if_include {NETWORK}.0/24",
            directory.path().display()
        );
        let names = ["h1", "h2"].map(str::to_owned);
        let hosts = Self { names, launcher: Some(launcher), pretended: Some(directory) };
        let made = hosts.script("hosts-up.sh", &["2"])?;
        if made.status.success() { Ok(hosts) } else { Err(failed(&String::from_utf8_lossy(&made.stderr))) }
    }

    /// Runs a script of the sources for the pretended hosts, which meet on a bridge.
    fn script(&self, name: &str, arguments: &[&str]) -> Result<std::process::Output, String> {
        let directory = self.pretended.as_ref().map_or(Path::new(""), |directory| directory.path());
        let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci")).join(name);
        let mut command = Command::new("bash");
        command.arg(&script).args(arguments).arg(directory).env("HOSTS_BRIDGE", "shmem-perf");
        command.env("HOSTS_NET", NETWORK);
        command.output().map_err(|error| format!("{} cannot be run: {error}", script.display()))
    }

    pub(crate) fn describe(&self) -> String {
        match self.pretended {
            Some(_) => "two network namespaces of this machine, which meet on a bridge".to_owned(),
            None => self.names.join(" and "),
        }
    }

    /// Runs a job on them: the first half of its PEs on the first one. What all of them print is one text.
    pub(crate) fn run(&self, launch: Launch, pes: usize) -> Result<Outcome, Box<dyn Error>> {
        let [one, other] = &self.names;
        let list = format!("[{one}]:{},[{other}]:{}", (pes - pes / 2).max(1), (pes / 2).max(1));
        let list: HostList = list.parse().unwrap_or_else(|error| unreachable!("as it was before: {error}"));
        let interface = self.pretended.is_some().then_some("eth0");
        let launch =
            interface.into_iter().fold(launch, |launch, name| launch.env("SHMEM_OFI_INTERFACE", name));
        let mut command = launch.command(Some(&list), self.launcher.as_deref())?;
        if let Some(directory) = &self.pretended {
            // Where the names of the hosts are known.
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
        if self.pretended.is_some() {
            // What cannot be ended has said why.
            _ = self.script("hosts-down.sh", &[]);
        }
    }
}
