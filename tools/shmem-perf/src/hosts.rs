//! Hosts for a job: two that are named, two that this machine pretends to be, or this one for several.
//!
//! A pretended host is a network namespace: what is in it has a network of its own, and reaches the other one through
//! a pair of virtual interfaces, as through a cable. Nothing is seen of it in the machine's own network. The
//! namespaces are held by a process that ends when this one does, however it ends, and with it all is gone.
//! A job is started from inside the first one, by a thread that goes there, and reaches the second one by an agent
//! that does. What the hosts have in common (processor, memory, kernel) makes their network no faster and no slower
//! than two interfaces of one kernel are.
//!
//! A program that starts jobs on hosts is started on the other ones, too, with the argument
//! [`DEPUTY`](shmem::launch::DEPUTY), and calls [`deputy`](shmem::launch::deputy) then.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use clap::Args;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use shmem::launch::{HostList, HostListError, Launch, Outcome};

use crate::jobs::JobError;
use crate::runner::Runner;

/// The network of pretended hosts. It is theirs alone, so it meets no other one.
const NETWORK: &str = "10.77.0";

/// The interface by which they reach each other.
const INTERFACE: &str = "eth0";

/// What holds both namespaces, its own and that of a process which it names: it ends with its input, as that does. An
/// interface that has come up reaches nobody for some milliseconds, and providers do not offer it.
const HOLDER: &str = r#"
    set -e
    exec 3<&0
    unshare --net cat <&3 >&2 &
    until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
    ip link add "$0" type veth peer name "$0" netns $!
    up='ip link set lo up; ip addr add "$1" dev "$0"; ip link set "$0" up'
    sh -ec "$up" "$0" "$1.1/24"
    nsenter --target $! --net sh -ec "$up" "$0" "$1.2/24"
    tries=0
    until ip link show "$0" | grep -q "state UP"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "$0 does not come up" >&2; exit 1; }
        sleep 0.01
    done
    echo $!
    cat
    wait"#;

/// What enters a namespace, as an agent: its arguments are a name that does not matter, and a line for a shell.
const AGENT: &str = r#"exec nsenter --target "$0" --net -- sh -c "$2""#;

/// Hosts on which jobs of this program run, as many PEs on the one as on the other.
#[derive(Debug)]
pub(crate) enum Hosts {
    Named { names: [String; 2], agent: Vec<String> },
    Pretended(Pretended),
}

/// Two namespaces, that of the process which holds both, and that of another one.
#[derive(Debug)]
pub(crate) struct Pretended {
    /// It ends when its input is closed: the kernel does that if nobody else does.
    holder: Child,
    first: OwnedFd,
    second: String,
}

/// Why there are no two hosts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostsError {
    #[error(transparent)]
    Names(#[from] HostListError),
    #[error("`{0}` are not two hosts: name them as `node1,node2`")]
    NotTwo(String),
    #[error(
        "this machine cannot pretend to be two hosts ({0}): that takes the right to make network namespaces, which \
         root has, and the program `ip` (Debian: iproute2); or name two hosts"
    )]
    Pretended(String),
}

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

/// The hosts, made when somebody first asks for them.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    named: Named,
    hosts: OnceCell<Result<Arc<Hosts>, String>>,
}

impl Elsewhere {
    pub(crate) fn new(named: Named) -> Self {
        Self { named, hosts: OnceCell::new() }
    }

    /// The hosts; says why if there are none.
    pub(crate) fn hosts(&self, runner: &mut Runner) -> Option<Arc<Hosts>> {
        let make = || {
            let agent = self.named.agent.iter().flat_map(|agent| agent.split_whitespace());
            let hosts = match &self.named.hosts {
                Some(names) => Hosts::named(names, agent.map(str::to_owned).collect()),
                None => Hosts::pretended(),
            };
            hosts.map(Arc::new).map_err(|error| error.to_string())
        };
        let hosts = self.hosts.get_or_init(make);
        hosts
            .as_ref()
            .map_err(|why| runner.remark(&format!("not measured between two hosts: {why}")))
            .ok()
            .cloned()
    }
}

impl Hosts {
    /// Two hosts that are reached by an agent, a program that is run with a host's name and a line for the shell
    /// there; without words: `ssh`. One of them may be this one.
    pub(crate) fn named(names: &str, agent: Vec<String>) -> Result<Self, HostsError> {
        let not_two = || HostsError::NotTwo(names.to_owned());
        let pair: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        let pair: [String; 2] = pair.try_into().map_err(|_| not_two())?;
        if names.parse::<HostList>()?.slots() != 2 || pair[0] == pair[1] {
            return Err(not_two());
        }
        Ok(Self::Named { names: pair, agent })
    }

    /// Two hosts that this machine pretends to be.
    pub(crate) fn pretended() -> Result<Self, HostsError> {
        let failed = |error: io::Error| HostsError::Pretended(format!("unshare: {error}"));
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", HOLDER, INTERFACE, NETWORK])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut second = String::new();
        // An output that cannot be read says nothing.
        if let Some(output) = &mut holder.stdout {
            _ = BufReader::new(output).read_line(&mut second);
        }
        if second.is_empty() {
            drop(holder.stdin.take());
            let mut why = String::new();
            _ = holder.stderr.as_mut().map(|errors| errors.read_to_string(&mut why));
            _ = holder.wait();
            return Err(HostsError::Pretended(why.trim().to_owned()));
        }
        let first = File::open(format!("/proc/{}/ns/net", holder.id())).map_err(failed)?.into();
        Ok(Self::Pretended(Pretended { holder, first, second: second.trim().to_owned() }))
    }

    /// What they are, in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Named { names: [one, other], .. } => format!("{one} and {other}"),
            Self::Pretended(_) => {
                "two network namespaces of this machine, joined by a pair of virtual interfaces".to_owned()
            }
        }
    }

    /// Runs a job on them: the first half of its PEs on the first one.
    pub(crate) fn run(&self, launch: Launch, pes: usize) -> Result<Outcome, JobError> {
        let list = |one: &str, other: &str| -> HostList {
            let half = (pes / 2).max(1);
            let text = format!("[{one}]:{},[{other}]:{half}", (pes - pes / 2).max(1));
            text.parse().unwrap_or_else(|error| unreachable!("both were parsed before: {error}"))
        };
        match self {
            Self::Named { names: [one, other], agent } => {
                Ok(launch.hosts(list(one, other)).agent(agent).run()?)
            }
            Self::Pretended(Pretended { first, second, .. }) => {
                let words = ["sh", "-c", AGENT, second].map(str::to_owned);
                let launch = launch.hosts(list("localhost", "second")).agent(words);
                let launch = launch.env("SHMEM_OFI_INTERFACE", INTERFACE);
                Ok(inside(first, || launch.run()).map_err(JobError::Host)??)
            }
        }
    }
}

impl Drop for Pretended {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        // What cannot be waited for has ended.
        _ = self.holder.wait();
    }
}

/// Does something inside a namespace, and starts processes there.
fn inside<R: Send>(namespace: &OwnedFd, body: impl FnOnce() -> R + Send) -> io::Result<R> {
    std::thread::scope(|scope| {
        // A thread of its own: it alone moves.
        let thread = scope.spawn(|| {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(body())
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;

    use super::*;

    #[test]
    fn two_hosts_are_named_and_no_other_number() {
        assert_eq!(Hosts::named("a, me@b", Vec::new()).unwrap().describe(), "a and me@b");
        for text in ["a", "a,a", "a,b,c", "a:2", "a:1,b:2"] {
            assert!(matches!(Hosts::named(text, Vec::new()), Err(HostsError::NotTwo(_))), "{text}");
        }
        assert!(matches!(Hosts::named("a,-b", Vec::new()), Err(HostsError::Names(_))));
    }

    /// Needs the right to make namespaces.
    #[test]
    fn pretended_hosts_reach_each_other_and_leave_nothing() {
        let hosts = match Hosts::pretended() {
            Ok(hosts) => hosts,
            Err(why) => return println!("skipped: {why}"),
        };
        let Hosts::Pretended(Pretended { holder, first, second }) = &hosts else {
            unreachable!("they have no names")
        };
        let process = |id: &str| format!("/proc/{id}");
        let processes = [process(&holder.id().to_string()), process(second)];
        let other = OwnedFd::from(File::open(format!("{}/ns/net", processes[1])).unwrap());
        let place = (format!("{NETWORK}.2"), 0);
        let listener = inside(&other, || TcpListener::bind(place)).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        assert!(inside(first, || TcpStream::connect(address)).unwrap().is_ok());
        assert!(TcpStream::connect(address).is_err(), "this machine does not see them");
        drop(hosts);
        assert!(processes.iter().all(|process| !Path::new(process).exists()));
    }
}
