//! How the PEs of a host find each other.
//!
//! The first of them listens on an abstract socket of a random name. Name and token, which is random as well, travel
//! through the launcher, so that only processes of the job know them; the kernel says of which user each side is. Who comes
//! without the token, or as another user, is turned away, and nothing else happens.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::bootstrap::manager::ProcessManager;
use crate::bootstrap::peer::Peer;
use crate::bootstrap::steps::{gone, invalid, unexpected};
use crate::launch::channel::{Channel, Packet};
use crate::launch::{limits, random, timespec};

/// The first PE of a host, as the other PEs speak of it.
pub(super) const FIRST: &str = "the first PE of this host";

/// How long the PEs of a host may take to come. They have met at a fence just before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of the name, and of the token.
const NAME: usize = 16;
const TOKEN: usize = 32;

/// Under which key the first PE of a host tells the others where it is.
const KEY: &str = "shmem.door";

/// What a PE has, once all of its host have met.
#[derive(Default)]
pub(super) struct Met {
    /// The way to the other PEs: from the first PE to each, from the others to the first.
    pub(super) channels: BTreeMap<usize, Arc<Channel>>,
    /// A counter that all share, and from which the one who speaks for all takes the only one; none where a PE is
    /// alone on its host.
    pub(super) voice: Option<OwnedFd>,
}

/// Where the first PE of a host is.
#[derive(Clone, Copy)]
struct Invitation {
    name: [u8; NAME],
    token: [u8; TOKEN],
}

/// Brings the PEs of each host together. All PEs of the job call it.
pub(super) fn meet(
    manager: &dyn ProcessManager,
    me: usize,
    neighbours: &[usize],
    hosts: &[u32],
) -> io::Result<Met> {
    // Nobody has a neighbour: nothing is told, and nobody waits. All PEs see the same.
    if hosts.iter().max().is_some_and(|last| *last as usize + 1 == hosts.len()) {
        return Ok(Met::default());
    }
    let (first, others) = (neighbours[0], &neighbours[1..]);
    if me != first {
        manager.fence()?;
        let told = manager.get(first, KEY)?;
        let invitation = Invitation::parse(&told).ok_or_else(|| unexpected(FIRST))?;
        return knock(&invitation, me, first);
    }
    if others.is_empty() {
        return manager.fence().map(|()| Met::default());
    }
    let invitation = Invitation::random()?;
    let socket = listen(&invitation, neighbours.len())?;
    manager.put(KEY, &[&invitation.name[..], &invitation.token].concat())?;
    manager.fence()?;
    receive_all(&socket, &invitation, others)
}

impl Invitation {
    fn random() -> io::Result<Self> {
        Ok(Self { name: random()?, token: random()? })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (name, token) = bytes.split_first_chunk()?;
        Some(Self { name: *name, token: token.try_into().ok()? })
    }

    fn address(&self) -> io::Result<SocketAddrUnix> {
        let name: String = self.name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SocketAddrUnix::new_abstract_name(format!("shmem-{name}").as_bytes())?)
    }

    /// What PE `pe` says first.
    fn hello(&self, pe: usize) -> Vec<u8> {
        [&self.token[..], &(pe as u32).to_le_bytes()].concat()
    }
}

fn socket() -> io::Result<OwnedFd> {
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

fn listen(invitation: &Invitation, pes: usize) -> io::Result<OwnedFd> {
    let socket = socket()?;
    net::bind(&socket, &invitation.address()?)?;
    net::listen(&socket, pes.try_into().unwrap_or(i32::MAX))?;
    Ok(socket)
}

/// The other PEs' side: goes to where the first one is.
fn knock(invitation: &Invitation, me: usize, first: usize) -> io::Result<Met> {
    let socket = socket()?;
    net::connect(&socket, &invitation.address()?).map_err(|error| {
        io::Error::other(format!(
            "PE {first} is on this host, as the launcher says, and cannot be reached ({error}): are they in network namespaces of their own?"
        ))
    })?;
    check_user(&socket)?;
    let channel = Channel::inherited(socket);
    channel.send(&invitation.hello(me), &[])?;
    wait(&[PollFd::new(&channel, PollFlags::IN)], Instant::now() + PATIENCE)?;
    let Packet { mut descriptors, .. } = channel.receive()?.ok_or_else(|| gone(FIRST))?;
    let voice = Some(descriptors.pop().ok_or_else(|| unexpected(FIRST))?);
    Ok(Met { channels: [(first, Arc::new(channel))].into(), voice })
}

/// The first PE's side: waits until the others have come.
fn receive_all(socket: &OwnedFd, invitation: &Invitation, others: &[usize]) -> io::Result<Met> {
    limits::make_room(2 * others.len() as u64).map_err(|short| {
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
            // Whoever says something else is a stranger, and is forgotten.
            if let Some(pe) = guest(&channel, invitation, others)
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

/// Which of the PEs has come, if one has.
fn guest(channel: &Channel, invitation: &Invitation, others: &[usize]) -> Option<usize> {
    let packet = channel.try_receive().ok()??;
    others.iter().copied().find(|pe| packet.bytes == invitation.hello(*pe))
}

/// Checks that the other side runs as this user.
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

/// Waits until one is ready: which are.
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

    /// A process that knows the name and not the token, or says nothing, or the number of a PE that is not of this
    /// host: it changes nothing.
    #[test]
    fn strangers_are_turned_away_and_nothing_else_happens() {
        let invitation = Invitation::random().unwrap();
        let socket = listen(&invitation, 16).unwrap();
        let come = |said: &[u8]| {
            let stranger = super::socket().unwrap();
            net::connect(&stranger, &invitation.address().unwrap()).unwrap();
            let channel = Channel::inherited(stranger);
            if !said.is_empty() {
                channel.send(said, &[]).unwrap();
            }
            channel
        };
        let mut other = invitation;
        other.token[0] ^= 1;
        let strangers =
            [come(&other.hello(7)), come(b"hello?"), come(&invitation.hello(8)), come(&[0; 5000])];
        let silent = come(&[]);
        std::thread::scope(|scope| {
            let nine = scope.spawn(|| knock(&invitation, 9, 4).unwrap());
            let seven = scope.spawn(|| knock(&invitation, 7, 4).unwrap());
            let met = receive_all(&socket, &invitation, &[7, 9]).unwrap();
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

    #[test]
    fn one_of_the_host_speaks_for_all() {
        let invitation = Invitation::random().unwrap();
        let socket = listen(&invitation, 1).unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| knock(&invitation, 1, 0).unwrap());
            let first = receive_all(&socket, &invitation, &[1]).unwrap();
            let other = other.join().unwrap();
            let takes = |met: &Met| rustix::io::read(met.voice.as_ref().unwrap(), &mut [0; 8]).is_ok();
            assert_eq!([takes(&other), takes(&first), takes(&other)], [true, false, false]);
        });
    }
}
