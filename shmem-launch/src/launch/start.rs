//! From what was asked to hosts whose PEs run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;

use rustix::process::Rlimit;
use shmem_core::sync::NodeBarrier;

use super::error::LaunchError;
use super::host::Host;
use super::host_pes::HostPes;
use super::message::{Description, Order};
use super::output::{Outlets, pipes};
use super::remote::{Call, addresses, gather};
use super::run::{Run, Terms};
use super::signals::Signals;
use super::spawn::Before;
use super::{Elsewhere, Launch, Outcome, limits, own_file, random, this_host};
use crate::env::{self, Settings};

/// The agent if none is named. `-x`: no windows.
const AGENT: [&str; 2] = ["ssh", "-x"];

/// What a process on another host is given of the environment.
const PREFIXES: [&str; 2] = ["SHMEM_", "SMA_"];

/// Where each PE is.
struct Placement {
    /// The host of each PE.
    hosts: Vec<u32>,
    /// The other hosts by their numbers.
    names: BTreeMap<u32, String>,
    /// The limit on descriptors that was in force before the PEs of this host asked for more.
    descriptors: Option<Rlimit>,
}

impl Launch {
    /// Starts the job and waits for its end.
    ///
    /// # Errors
    ///
    /// If it could not be started. What happens to a job that runs is its [`Outcome`].
    pub fn run(self) -> Result<Outcome, LaunchError> {
        let placement = Placement::of(&self)?;
        let descriptors = placement.descriptors;
        if let Some(pe) = self.debugger {
            let host = placement.hosts.get(pe).ok_or(LaunchError::NoSuchPe { pe, pes: self.pes })?;
            if let Some(host) = placement.names.get(host) {
                return Err(LaunchError::DebuggerElsewhere { pe, host: host.clone() });
            }
        }
        let number = random().map_err(LaunchError::system("no random number for the job"))?;
        let signals = self.watch_signals.then(Signals::watch).transpose();
        let signals = signals.map_err(LaunchError::system("signals cannot be received"))?;
        let terms = Terms {
            program: self.program.clone(),
            pes: self.pes,
            output: self.output,
            debugged: self.debugger.is_some(),
            time: self.time,
            speaker: self.speaker.clone(),
        };
        let mask = signals.as_ref().map(Signals::before);
        let before = Before { input: true, descriptors, mask };
        let elsewhere = self.elsewhere.clone();
        let description = self.describe(u64::from_le_bytes(number), &placement);
        let outlets = Outlets::new(description.output, &description.pipes);
        let outlets = outlets.map_err(LaunchError::system(
            "no thread can be started that passes output on; raise the limit of this user's processes (ulimit -u) or of data (ulimit -d)",
        ))?;
        let hosts = placement.start(&description, before, &elsewhere, signals.as_ref())?;
        Ok(Run::new(terms, hosts, signals, outlets).finish())
    }

    fn describe(self, number: u64, placement: &Placement) -> Description {
        Description {
            pipes: pipes(self.output, self.pes, placement.names.is_empty()),
            arg0: self.arg0.unwrap_or_else(|| self.program.clone()),
            program: self.program,
            args: self.args,
            environment: self.environment,
            directory: None,
            number,
            hosts: placement.hosts.clone(),
            host: 0,
            pretends: self.hosts.is_some(),
            bind: self.bind,
            output: self.output,
            debugger: self.debugger,
            attach_wait: self.attach_wait,
        }
    }
}

impl Placement {
    fn of(launch: &Launch) -> Result<Self, LaunchError> {
        let pes = launch.pes;
        if pes == 0 {
            return Err(LaunchError::NoPes);
        }
        let Some(list) = &launch.elsewhere.hosts else {
            let descriptors = limits::prepare(pes)?;
            let told = launch.hosts.as_ref().map(|hosts| hosts.hosts(pes)).transpose()?;
            return Ok(Self {
                hosts: told.unwrap_or_else(|| vec![0; pes]),
                names: BTreeMap::new(),
                descriptors,
            });
        };
        if launch.hosts.is_some() {
            return Err(LaunchError::HostsTwice);
        }
        let too_few = LaunchError::TooFewSlots { asked: pes, slots: list.slots() };
        let placed = list.place(pes).ok_or(too_few)?;
        let (this, all) = (this_host(), addresses().unwrap_or_default());
        let own = |address| all.iter().any(|one| one.address == address);
        let is_this = |name: &str| is_this(name, &this, own);
        if let Some(&(_, asked)) = placed.iter().find(|(_, pes)| *pes > NodeBarrier::MAX_PES) {
            return Err(LaunchError::MoreThanANodeTakes { asked });
        }
        let here: usize = placed.iter().filter(|(name, _)| is_this(name)).map(|(_, pes)| pes).sum();
        let descriptors = if here > 0 { limits::prepare(here)? } else { None };
        let hosts = (0..).zip(&placed).flat_map(|(host, (_, pes))| std::iter::repeat_n(host, *pes)).collect();
        let names = (0..).zip(placed).map(|(host, (name, _))| (host, name));
        Ok(Self { hosts, names: names.filter(|(_, name)| !is_this(name)).collect(), descriptors })
    }

    /// Starts the PEs everywhere, once all hosts can be reached.
    fn start(
        self,
        description: &Description,
        before: Before,
        elsewhere: &Elsewhere,
        signals: Option<&Signals>,
    ) -> Result<Vec<Host>, LaunchError> {
        let mut numbers = self.hosts;
        numbers.sort_unstable();
        numbers.dedup();
        let on = |host: u32| Description { host, ..description.clone() };
        let mut remotes = BTreeMap::new();
        let mut theirs = description.clone();
        if !self.names.is_empty() {
            let directory = std::env::current_dir();
            let directory = directory
                .map_err(LaunchError::system("there is no directory for the PEs on other hosts to be in"))?;
            theirs.directory = Some(directory.into());
            theirs.environment = inherited().into_iter().chain(theirs.environment).collect();
            let call = call(self.names.values().cloned().collect(), description, elsewhere, signals)?;
            remotes.extend(self.names.keys().copied().zip(gather(&call)?));
        }
        let this = elsewhere.hosts.is_some().then(this_host);
        let mut hosts = Vec::new();
        for host in &numbers {
            hosts.push(match remotes.remove(host) {
                Some(remote) => Host::there(remote, on(*host).pes()),
                None => Host::here(this.clone(), HostPes::start(on(*host), before)?),
            });
        }
        for (number, host) in numbers.into_iter().zip(&mut hosts) {
            if self.names.contains_key(&number) {
                host.order(&Order::Start(Box::new(Description { host: number, ..theirs.clone() })));
            }
        }
        Ok(hosts)
    }
}

fn call<'a>(
    hosts: Vec<String>,
    description: &Description,
    elsewhere: &'a Elsewhere,
    signals: Option<&'a Signals>,
) -> Result<Call<'a>, LaunchError> {
    let set = description
        .environment
        .iter()
        .filter_map(|(key, value)| Some((key.to_str()?.to_owned(), value.as_ref()?.to_str()?.to_owned())));
    let settings = Settings::from_env(env::process().chain(set))?;
    let shmrun = match &elsewhere.shmrun {
        Some(file) => file.clone(),
        None => own_file()?,
    };
    let agent = match &elsewhere.agent[..] {
        [] => AGENT.map(OsString::from).to_vec(),
        words => words.to_vec(),
    };
    Ok(Call { hosts, agent, shmrun, interfaces: &elsewhere.interfaces, silence: settings.timeout, signals })
}

/// The variables that PEs on other hosts are given beside those that are set for all.
fn inherited() -> Vec<(OsString, Option<OsString>)> {
    let ours =
        |key: &OsString| PREFIXES.iter().any(|prefix| key.as_encoded_bytes().starts_with(prefix.as_bytes()));
    std::env::vars_os().filter(|(key, _)| ours(key)).map(|(key, value)| (key, Some(value))).collect()
}

/// Whether a name or an address means the host called `this`, which has the address `own`.
fn is_this(name: &str, this: &str, own: impl FnOnce(IpAddr) -> bool) -> bool {
    if let Ok(address) = name.parse::<IpAddr>() {
        return address.is_loopback() || own(address);
    }
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    name == "localhost" || name == this || (!name.contains('@') && short(name) == short(this))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_known_by_its_names() {
        let own = |address| address == IpAddr::from([10, 0, 0, 3]);
        for (name, this, expected) in [
            ("localhost", "node1", true),
            ("127.0.0.1", "node1", true),
            ("::1", "node1", true),
            ("10.0.0.3", "node1", true),
            ("10.0.0.4", "10.0.0.3", false),
            ("node1", "node1", true),
            ("node1", "node1.cluster", true),
            ("node1.cluster", "node1", true),
            ("node12", "node1", false),
            ("me@node1", "node1", false),
        ] {
            assert_eq!(is_this(name, this, own), expected, "{name}");
        }
    }
}
