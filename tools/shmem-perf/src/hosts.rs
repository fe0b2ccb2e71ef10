//! Hosts for a job: two that are named, two that this machine pretends to be, or this one for several.
//!
//! A pretended host is a network namespace: what is in it has a network of its own, and reaches the other one through
//! a pair of virtual interfaces, as through a cable. Nothing is seen of it in the machine's own network. The
//! namespaces are held by two processes that end when this one does, however it ends, and with them all is gone.
//! A job is started from inside the first one, by a thread that goes there, and reaches the second one by an agent
//! that does. What the hosts have in common (processor, memory, kernel) makes their network no faster and no slower
//! than two interfaces of one kernel are.
//!
//! A program that starts jobs on hosts is started on the other ones, too, with the argument
//! [`DEPUTY`](shmem::launch::DEPUTY), and calls [`deputy`](shmem::launch::deputy) then.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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

/// What holds a namespace: it makes the interface of the host ready when it is told to, and ends with its input. An
/// interface that has come up reaches nobody for some milliseconds, and providers do not offer it.
const HOLDER: &str = r#"
    echo here && read -r _ && ip link set lo up && ip addr add "$0" dev "$1" && ip link set "$1" up || exit
    tries=0
    until ip link show "$1" | grep -q "state UP"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "$1 does not come up" >&2; exit 1; }
        sleep 0.01
    done
    echo ready
    exec cat"#;

/// What enters a namespace, as an agent: its arguments are a name that does not matter, and a line for a shell.
const AGENT: &str = r#"exec nsenter --target "$0" --net -- sh -c "$2""#;

/// Hosts on which jobs of this program run, as many PEs on the one as on the other.
#[derive(Debug)]
pub(crate) struct Hosts {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Named { names: [String; 2], agent: Vec<String> },
    Pretended([Holder; 2]),
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
        let words = |agent: &String| agent.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let make = || {
            let hosts = match &self.named.hosts {
                Some(names) => Hosts::named(names, &self.named.agent.as_ref().map(words).unwrap_or_default()),
                None => Hosts::pretended(),
            };
            hosts.map(Arc::new).map_err(|error| error.to_string())
        };
        match self.hosts.get_or_init(make) {
            Ok(hosts) => Some(Arc::clone(hosts)),
            Err(why) => {
                runner.remark(&format!("not measured between two hosts: {why}"));
                None
            }
        }
    }
}

impl Hosts {
    /// Two hosts that are reached by an agent, a program that is run with a host's name and a line for the shell
    /// there; without words: `ssh`. One of them may be this one.
    pub(crate) fn named(names: &str, agent: &[String]) -> Result<Self, HostsError> {
        let not_two = || HostsError::NotTwo(names.to_owned());
        let pair: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        let pair: [String; 2] = pair.try_into().map_err(|_| not_two())?;
        if names.parse::<HostList>()?.slots() != 2 || pair[0] == pair[1] {
            return Err(not_two());
        }
        Ok(Self { kind: Kind::Named { names: pair, agent: agent.to_owned() } })
    }

    /// Two hosts that this machine pretends to be.
    pub(crate) fn pretended() -> Result<Self, HostsError> {
        let mut holders =
            [Holder::start(&format!("{NETWORK}.1/24"))?, Holder::start(&format!("{NETWORK}.2/24"))?];
        let [one, other] = holders.each_ref().map(|holder| holder.child.id().to_string());
        let cable = ["link", "add", INTERFACE, "netns", &one, "type", "veth", "peer", "name", INTERFACE];
        done(Command::new("ip").args(cable).args(["netns", &other]))?;
        holders.iter_mut().for_each(Holder::connect);
        holders.iter_mut().try_for_each(Holder::connected)?;
        Ok(Self { kind: Kind::Pretended(holders) })
    }

    /// What they are, in words.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Named { names: [one, other], .. } => format!("{one} and {other}"),
            Kind::Pretended(_) => {
                "two network namespaces of this machine, joined by a pair of virtual interfaces".to_owned()
            }
        }
    }

    /// Runs a job on them: the first half of its PEs on the first one.
    pub(super) fn run(&self, launch: Launch, pes: usize) -> Result<Outcome, JobError> {
        match &self.kind {
            Kind::Named { names: [one, other], agent } => {
                Ok(launch.hosts(list(one, other, pes)).agent(agent).run()?)
            }
            Kind::Pretended([first, second]) => {
                let words = ["sh", "-c", AGENT, &second.child.id().to_string()].map(str::to_owned);
                let launch = launch.hosts(list("localhost", "second", pes)).agent(words);
                let launch = launch.env("SHMEM_OFI_INTERFACE", INTERFACE);
                Ok(first.inside(|| launch.run()).map_err(JobError::Host)??)
            }
        }
    }
}

/// Half of the PEs each.
fn list(one: &str, other: &str, pes: usize) -> HostList {
    let half = (pes / 2).max(1);
    let text = format!("[{one}]:{},[{other}]:{half}", (pes - pes / 2).max(1));
    text.parse().unwrap_or_else(|error| unreachable!("both were parsed before: {error}"))
}

/// The process that holds the namespace of a pretended host.
#[derive(Debug)]
struct Holder {
    child: Child,
    /// It ends when this is closed: the kernel does that if nobody else does.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    namespace: OwnedFd,
}

impl Holder {
    /// Makes the namespace of a host with an address, which has no interface yet.
    fn start(address: &str) -> Result<Self, HostsError> {
        let failed = |error: io::Error| HostsError::Pretended(format!("unshare: {error}"));
        let mut child = Command::new("unshare")
            .args(["--net", "sh", "-c", HOLDER, address, INTERFACE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut output = BufReader::new(output.unwrap_or_else(|| unreachable!("it has a pipe")));
        if let Some(why) = unheard(&mut child, &mut output, "here") {
            return Err(HostsError::Pretended(why));
        }
        let namespace = File::open(format!("/proc/{}/ns/net", child.id())).map_err(failed)?.into();
        Ok(Self { child, input, output, namespace })
    }

    /// Lets the interface be made ready.
    fn connect(&mut self) {
        // Whether it has ended is seen by what it says.
        _ = self.input.as_mut().map(|input| input.write_all(b"\n"));
    }

    /// Waits until it is.
    fn connected(&mut self) -> Result<(), HostsError> {
        unheard(&mut self.child, &mut self.output, "ready")
            .map_or(Ok(()), |why| Err(HostsError::Pretended(why)))
    }

    /// Does something inside the namespace, and starts processes there.
    fn inside<R: Send>(&self, body: impl FnOnce() -> R + Send) -> io::Result<R> {
        std::thread::scope(|scope| {
            // A thread of its own: it alone moves.
            let thread = scope.spawn(|| {
                move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
                Ok(body())
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.input.take());
        // What cannot be waited for has ended.
        _ = self.child.wait();
    }
}

/// What a process says instead of a word; nothing if it is that word.
fn unheard(child: &mut Child, output: &mut BufReader<ChildStdout>, word: &str) -> Option<String> {
    let mut line = String::new();
    // An output that cannot be read says nothing.
    _ = output.read_line(&mut line);
    if line.trim() == word {
        return None;
    }
    let mut why = String::new();
    _ = child.stderr.as_mut().map(|errors| errors.read_to_string(&mut why));
    _ = child.wait();
    Some(why.trim().to_owned())
}

/// Runs a program that must succeed.
fn done(command: &mut Command) -> Result<(), HostsError> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| HostsError::Pretended(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(HostsError::Pretended(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;

    use super::*;

    #[test]
    fn two_hosts_are_named_and_no_other_number() {
        assert_eq!(Hosts::named("a, me@b", &[]).unwrap().describe(), "a and me@b");
        for text in ["a", "a,a", "a,b,c", "a:2", "a:1,b:2"] {
            assert!(matches!(Hosts::named(text, &[]), Err(HostsError::NotTwo(_))), "{text}");
        }
        assert!(matches!(Hosts::named("a,-b", &[]), Err(HostsError::Names(_))));
    }

    /// Needs the right to make namespaces.
    #[test]
    fn pretended_hosts_reach_each_other_and_leave_nothing() {
        let hosts = match Hosts::pretended() {
            Ok(hosts) => hosts,
            Err(why) => return println!("skipped: {why}"),
        };
        let Kind::Pretended([first, second]) = &hosts.kind else { unreachable!("they have no names") };
        let listener = second.inside(|| TcpListener::bind((format!("{NETWORK}.2"), 0))).unwrap().unwrap();
        let port = listener.local_addr().unwrap().port();
        let reached = first.inside(|| TcpStream::connect((format!("{NETWORK}.2"), port)));
        assert!(reached.unwrap().is_ok());
        assert!(
            TcpStream::connect((format!("{NETWORK}.2"), port)).is_err(),
            "this machine does not see them"
        );
        let processes = [first, second].map(|holder| format!("/proc/{}", holder.child.id()));
        drop(hosts);
        assert!(processes.iter().all(|process| !Path::new(process).exists()));
    }
}
