//! Bringing the launchers on other hosts together: agents are started, and whoever connects proves that
//! it is one of those that they were to start.

use std::ffi::OsString;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::agent::Agent;
use super::greeting::{ANSWER, CHALLENGE, Secret, Session};
use super::interface::{Interface, addresses, choose};
use super::letter::Letter;
use super::link::Link;
use super::{LOOK, Remote};
use crate::launch::error::LaunchError;
use crate::launch::random;
use crate::launch::signals::Signals;
use crate::launch::timespec;

/// How long hosts may take to connect.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a connection may take to prove what it is.
const PROVE: Duration = Duration::from_secs(5);

/// Most connections that have not proved anything. One more, and the oldest is dropped: who keeps many open
/// must not keep others out.
const MOST_PENDING: usize = 64;

/// Connections accepted at a turn.
const AT_A_TURN: usize = 16;

/// Which hosts are to come, and how.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) hosts: Vec<String>,
    /// The agent and its options.
    pub(crate) agent: Vec<OsString>,
    /// The launcher, on each host.
    pub(crate) shmrun: PathBuf,
    pub(crate) interfaces: &'a [Interface],
    pub(crate) silence: Option<Duration>,
    pub(crate) signals: Option<&'a Signals>,
}

/// A connection that has proved nothing.
#[derive(Debug)]
struct Pending {
    stream: TcpStream,
    challenge: [u8; CHALLENGE],
    answer: Vec<u8>,
    since: Instant,
}

/// What has become of one.
enum Outcome {
    Waits,
    Refused,
    Proved(u32, Session),
}

/// Starts an agent for each host, and waits until all have connected.
///
/// # Errors
///
/// If one does not come. Those that have are let go then.
pub(crate) fn gather(call: &Call<'_>) -> Result<Vec<Remote>, LaunchError> {
    let listeners = listen(call.interfaces)?;
    let addresses: Vec<SocketAddr> = listeners.iter().map(|(_, address)| *address).collect();
    let secret = Secret::throw().map_err(LaunchError::system("no random number for the job"))?;
    let mut agents = Vec::new();
    for (host, name) in (0..).zip(&call.hosts) {
        let letter = Letter {
            secret: secret.clone(),
            host,
            silence: call.silence.map(longer),
            addresses: addresses.clone(),
        };
        let agent = Agent::start(&call.agent, name, &call.shmrun, &letter.text());
        agents.push(agent.map_err(|source| {
            let agent = call.agent.first().cloned().unwrap_or_default();
            LaunchError::Agent { agent, host: name.clone(), source }
        })?);
    }
    let mut links: Vec<Option<Link>> = call.hosts.iter().map(|_| None).collect();
    let mut pending: Vec<Pending> = Vec::new();
    let until = Instant::now() + PATIENCE;
    while links.iter().any(Option::is_none) {
        wait(&listeners, &pending, &agents, call.signals, until);
        if let Some(signal) = call.signals.and_then(Signals::next).filter(|s| s.number != libc::SIGQUIT) {
            return Err(LaunchError::Interrupted { signal: signal.number });
        }
        listeners.iter().for_each(|(listener, _)| accept(listener, &mut pending));
        for mut one in std::mem::take(&mut pending) {
            match one.go_on(&secret) {
                Outcome::Waits => pending.push(one),
                Outcome::Refused => {}
                Outcome::Proved(host, session) => {
                    // A second one for a host is none of ours, though it knows the secret.
                    if let Some(slot @ None) = links.get_mut(host as usize) {
                        *slot = Link::new(one.stream, session, call.silence).ok();
                    }
                }
            }
        }
        for ((name, agent), link) in call.hosts.iter().zip(&mut agents).zip(&links) {
            let what = match agent.end() {
                Some(end) if link.is_none() => format!("{end} before `shmrun` there had connected"),
                Some(end) => end,
                None if link.is_none() && Instant::now() >= until => late(&addresses),
                None => continue,
            };
            return Err(LaunchError::Host { host: name.clone(), what });
        }
    }
    let hosts = call.hosts.iter().zip(agents).zip(links);
    let remotes =
        hosts.filter_map(|((name, agent), link)| Some(Remote { name: name.clone(), link: link?, agent }));
    Ok(remotes.collect())
}

/// After how much silence a launcher on another host gives up: after this one, which says whose host is lost. Were
/// the other one to end its PEs before, their peers would be heard first, and they can only complain of the network.
fn longer(silence: Duration) -> Duration {
    silence + silence / 2 + Duration::from_secs(1)
}

fn late(addresses: &[SocketAddr]) -> String {
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!(
        "`shmrun` there has connected to none of {} within {} s; --interface chooses others",
        addresses.join(", "),
        PATIENCE.as_secs()
    )
}

/// A listener for each address that may be reached.
fn listen(wishes: &[Interface]) -> Result<Vec<(TcpListener, SocketAddr)>, LaunchError> {
    let all = addresses().map_err(LaunchError::system("the addresses of this host are not known"))?;
    let bind = |address| -> std::io::Result<_> {
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    let listeners: Vec<_> = choose(&all, wishes).into_iter().filter_map(|a| bind(a).ok()).collect();
    if listeners.is_empty() {
        let wishes: Vec<String> = wishes.iter().map(ToString::to_string).collect();
        let had = all.iter().map(|address| format!("{} {}", address.interface, address.address));
        return Err(LaunchError::NoInterface {
            asked: wishes.join(","),
            had: had.collect::<Vec<_>>().join(", "),
        });
    }
    Ok(listeners)
}

fn wait(
    listeners: &[(TcpListener, SocketAddr)],
    pending: &[Pending],
    agents: &[Agent],
    signals: Option<&Signals>,
    until: Instant,
) {
    let mut list: Vec<PollFd<'_>> =
        listeners.iter().map(|(listener, _)| PollFd::new(listener, PollFlags::IN)).collect();
    list.extend(pending.iter().map(|one| PollFd::new(&one.stream, PollFlags::IN)));
    list.extend(agents.iter().filter_map(Agent::poll_fd));
    list.extend(signals.map(|signals| PollFd::new(signals, PollFlags::IN)));
    let now = Instant::now();
    let must_look = agents.iter().any(|agent| agent.poll_fd().is_none());
    let next =
        pending.iter().map(|one| one.since + PROVE).chain([until]).chain(must_look.then_some(now + LOOK));
    let left = timespec(next.min().unwrap_or(until).saturating_duration_since(now));
    if poll(&mut list, Some(&left)).is_err() {
        std::thread::sleep(LOOK);
    }
}

fn accept(listener: &TcpListener, pending: &mut Vec<Pending>) {
    for _ in 0..AT_A_TURN {
        match listener.accept() {
            Ok((stream, _)) => {
                let Some(one) = Pending::new(stream) else { continue };
                if pending.len() == MOST_PENDING {
                    pending.remove(0);
                }
                pending.push(one);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => {
                // Not to turn round and round where there are no descriptors left.
                std::thread::sleep(LOOK);
                return;
            }
        }
    }
}

impl Pending {
    fn new(mut stream: TcpStream) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        let challenge = random().ok()?;
        // A new connection has room for so much.
        stream.write_all(&challenge).ok()?;
        Some(Self { stream, challenge, answer: Vec::with_capacity(ANSWER), since: Instant::now() })
    }

    /// Reads what has arrived.
    fn go_on(&mut self, secret: &Secret) -> Outcome {
        while self.answer.len() < ANSWER {
            let mut bytes = [0; ANSWER];
            match self.stream.read(&mut bytes[self.answer.len()..]) {
                Ok(0) => return Outcome::Refused,
                Ok(n) => {
                    let start = self.answer.len();
                    self.answer.extend_from_slice(&bytes[start..start + n]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.since.elapsed() < PROVE => {
                    return Outcome::Waits;
                }
                Err(_) => return Outcome::Refused,
            }
        }
        let Some(answer) = self.answer.first_chunk() else { return Outcome::Refused };
        match secret.check(&self.challenge, answer) {
            Ok((host, proof, session)) if self.stream.write_all(&proof).is_ok() => {
                Outcome::Proved(host, session)
            }
            _ => Outcome::Refused,
        }
    }
}
