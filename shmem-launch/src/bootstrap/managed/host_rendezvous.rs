//! Connects the PEs of a host with its first PE.
//!
//! The first PE listens on an abstract Unix socket with a random name. It publishes the name and a random token through the
//! launcher, so only processes of the job know the token. The kernel reports the user at each end of a connection. A connection
//! without the token, or of another user, is closed, and has no other effect.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::bootstrap::exchange_client::{gone, invalid, unexpected};
use crate::bootstrap::process_manager::ProcessManager;
use crate::bootstrap::socket_peer::Peer;
use crate::launch::socket::{Channel, Packet};
use crate::launch::{descriptor_limit, random, timespec};

pub(super) const FIRST: &str = "the first PE of this host";

/// Time limit for the PEs of a host to connect, after a fence of all PEs.
const PATIENCE: Duration = Duration::from_secs(60);

const KEY: &str = "shmem.door";

#[derive(Default)]
pub(super) struct Met {
    /// Connections by PE. The first PE has one to each other PE of its host. The others have one, to the first PE.
    pub(super) channels: BTreeMap<usize, Arc<Channel>>,
    /// An eventfd with value 1, shared by the host's PEs. The PE that reads the 1 may report why the job ends. `None` for one PE.
    pub(super) voice: Option<OwnedFd>,
}

/// Random bytes: 16 for the socket's name, and 32 for the token.
#[derive(Clone, Copy)]
struct Credentials([u8; 48]);

/// Connects the PEs of each host. Collective over all PEs of the job.
pub(super) fn meet(
    manager: &dyn ProcessManager,
    me: usize,
    neighbours: &[usize],
    hosts: &[u32],
) -> io::Result<Met> {
    // Each host has one PE, so there is nothing to connect. All PEs return here, so none waits in the fence below.
    if hosts.iter().max().is_some_and(|last| *last as usize + 1 == hosts.len()) {
        return Ok(Met::default());
    }
    let (first, others) = (neighbours[0], &neighbours[1..]);
    if me != first {
        manager.fence()?;
        let told = manager.get(first, KEY)?;
        let credentials = Credentials(told.try_into().map_err(|_| unexpected(FIRST))?);
        return connect_to_first(&credentials, me, first);
    }
    if others.is_empty() {
        return manager.fence().map(|()| Met::default());
    }
    let credentials = Credentials(random()?);
    let socket = listen(&credentials, neighbours.len())?;
    manager.put(KEY, &credentials.0)?;
    manager.fence()?;
    receive_all(&socket, &credentials, others)
}

impl Credentials {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        let name: String = self.0[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SocketAddrUnix::new_abstract_name(format!("shmem-{name}").as_bytes())?)
    }

    /// Returns the first packet that PE `pe` sends: the token and the PE's number.
    fn hello(&self, pe: usize) -> Vec<u8> {
        [&self.0[16..], &(pe as u32).to_le_bytes()].concat()
    }
}

fn socket() -> io::Result<OwnedFd> {
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

fn listen(credentials: &Credentials, pes: usize) -> io::Result<OwnedFd> {
    let socket = socket()?;
    net::bind(&socket, &credentials.address()?)?;
    net::listen(&socket, pes.try_into().unwrap_or(i32::MAX))?;
    Ok(socket)
}

/// Connects this PE to the first PE of its host.
fn connect_to_first(credentials: &Credentials, me: usize, first: usize) -> io::Result<Met> {
    let socket = socket()?;
    net::connect(&socket, &credentials.address()?).map_err(|error| {
        io::Error::other(format!(
            "PE {first} is on this host, as the launcher says, and cannot be reached ({error}): are they in network namespaces of their own?"
        ))
    })?;
    check_user(&socket)?;
    let channel = Channel::inherited(socket);
    channel.send(&credentials.hello(me), &[])?;
    wait(&[PollFd::new(&channel, PollFlags::IN)], Instant::now() + PATIENCE)?;
    let Packet { mut descriptors, .. } = channel.receive()?.ok_or_else(|| gone(FIRST))?;
    let voice = Some(descriptors.pop().ok_or_else(|| unexpected(FIRST))?);
    Ok(Met { channels: [(first, Arc::new(channel))].into(), voice })
}

/// Accepts the connections of the `others`, on the first PE of a host.
fn receive_all(socket: &OwnedFd, credentials: &Credentials, others: &[usize]) -> io::Result<Met> {
    descriptor_limit::make_room(2 * others.len() as u64).map_err(|short| {
        let pes = others.len() + 1;
        io::Error::other(format!("the {pes} PEs of the host meet by descriptors, but this process {short}"))
    })?;
    let end = Instant::now() + PATIENCE;
    let mut waiting: Vec<Channel> = Vec::new();
    let mut channels = BTreeMap::new();
    while let Some(missing) = others.iter().find(|pe| !channels.contains_key(*pe)) {
        let mut list = vec![PollFd::new(socket, PollFlags::IN)];
        list.extend(waiting.iter().map(|channel| PollFd::new(channel, PollFlags::IN)));
        let ready = wait(&list, end).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => {
                let patience = PATIENCE.as_secs();
                io::Error::new(
                    error.kind(),
                    format!("PE {missing} has not come to the first PE of its host in {patience} s"),
                )
            }
            _ => error,
        })?;
        let (come, silent): (Vec<_>, Vec<_>) =
            waiting.into_iter().zip(&ready[1..]).partition(|(_, ready)| **ready);
        for (channel, _) in come {
            // A connection without the token is dropped, and so closed.
            if let Some(pe) = guest(&channel, credentials, others)
                && channels.insert(pe, Arc::new(channel)).is_some()
            {
                return Err(invalid(format!(
                    "two processes of the job say that they are PE {pe}: each needs a number of its own"
                )));
            }
        }
        waiting = silent.into_iter().map(|(channel, _)| channel).collect();
        if ready[0] {
            let guest = net::accept_with(socket, SocketFlags::CLOEXEC)?;
            if check_user(&guest).is_ok() {
                waiting.push(Channel::inherited(guest));
            }
        }
    }
    let voice = eventfd(1, EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
    channels.values().try_for_each(|channel| channel.send(b"welcome", &[voice.as_fd()]))?;
    Ok(Met { channels, voice: Some(voice) })
}

/// Returns the PE at the other end of a channel, by its first packet. Returns `None` if the packet is not that of a PE in `others`.
fn guest(channel: &Channel, credentials: &Credentials, others: &[usize]) -> Option<usize> {
    let packet = channel.try_receive().ok()??;
    others.iter().copied().find(|pe| packet.bytes == credentials.hello(*pe))
}

fn check_user(socket: &OwnedFd) -> io::Result<()> {
    let (theirs, ours) = (Peer::of(socket)?.user, rustix::process::getuid());
    match theirs == ours {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "a PE of this host runs as user {}, and this one as user {}",
                theirs.as_raw(),
                ours.as_raw()
            ),
        )),
    }
}

/// Blocks until a descriptor is ready, or fails at time `end`. Returns whether each descriptor is ready.
fn wait(list: &[PollFd<'_>], end: Instant) -> io::Result<Vec<bool>> {
    let mut list = list.to_vec();
    let left = timespec(end.saturating_duration_since(Instant::now()));
    match rustix::io::retry_on_intr(|| poll(&mut list, Some(&left)))? {
        0 => Err(io::Error::new(io::ErrorKind::TimedOut, format!("{FIRST} does not answer"))),
        _ => Ok(list.iter().map(|fd| !fd.revents().is_empty()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the token, silent, or with the number of a PE of another host.
    #[test]
    fn strangers_are_turned_away_and_nothing_else_happens() {
        let credentials = Credentials(random().unwrap());
        let socket = listen(&credentials, 16).unwrap();
        let come = |said: &[u8]| {
            let stranger = super::socket().unwrap();
            net::connect(&stranger, &credentials.address().unwrap()).unwrap();
            let channel = Channel::inherited(stranger);
            if !said.is_empty() {
                channel.send(said, &[]).unwrap();
            }
            channel
        };
        let mut other = credentials;
        other.0[47] ^= 1;
        let strangers =
            [come(&other.hello(7)), come(b"hello?"), come(&credentials.hello(8)), come(&[0; 5000])];
        let silent = come(&[]);
        std::thread::scope(|scope| {
            let nine = scope.spawn(|| connect_to_first(&credentials, 9, 4).unwrap());
            let seven = scope.spawn(|| connect_to_first(&credentials, 7, 4).unwrap());
            let met = receive_all(&socket, &credentials, &[7, 9]).unwrap();
            assert!(met.channels.keys().eq(&[7, 9]));
            for ((pe, channel), guest) in met.channels.iter().zip([seven, nine]) {
                let theirs = guest.join().unwrap().channels;
                channel.send(&[*pe as u8], &[]).unwrap();
                assert_eq!(theirs[&4].receive().unwrap().unwrap().bytes, [*pe as u8]);
            }
        });
        drop(socket);
        for stranger in strangers.iter().chain([&silent]) {
            assert!(stranger.receive().unwrap().is_none(), "a stranger was answered");
        }
    }
}
