//! The socket that connects a PE to its launcher or to the first PE of its host, for packets of bytes and descriptors.
//!
//! `SOCK_SEQPACKET` preserves packets with their descriptors, and sends a packet as a whole or not at all, so packets of several
//! threads do not mix. The kernel identifies the sender of each packet (`SCM_CREDENTIALS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{self, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, UCred};

use super::protocol::{MAX_DESCRIPTORS, MAX_PACKET};

const SPACE: usize = rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS), ScmCredentials(1));

/// Upper limit on attempts to send descriptors when the kernel's limit on descriptors in flight is reached: ten seconds.
const ATTEMPTS: usize = 10_000;

const BETWEEN: Duration = Duration::from_millis(1);

/// The last packet of a PE that leaves the job in order, if the other end of the channel watches for the PE's death.
pub(crate) const LEAVING: &[u8] = b"leaving";

/// Upper limits in [`Channel::has_left`]: on all looks at the socket, and on looks that find no packet.
const LOOKS: usize = 2000;
const EMPTY_LOOKS: usize = 10;

#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
    /// Whether this end has received [`LEAVING`].
    has_left: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// The sending process and user, as the kernel reports them. `None` unless this end is the launcher's.
    pub(crate) sender: Option<UCred>,
}

impl Channel {
    /// Returns the launcher's end, which receives each packet's sender, and the PE's end. Both are close-on-exec.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (ours, theirs) = net::socketpair(
            net::AddressFamily::UNIX,
            net::SocketType::SEQPACKET,
            net::SocketFlags::CLOEXEC,
            None,
        )?;
        net::sockopt::set_socket_passcred(&ours, true)?;
        Ok((Self::inherited(ours), Self::inherited(theirs)))
    }

    pub(crate) fn inherited(socket: OwnedFd) -> Self {
        Self { socket, has_left: AtomicBool::new(false) }
    }

    /// Sends a packet. Blocks while the socket is full.
    pub(crate) fn send(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        for _ in 0..ATTEMPTS {
            match self.send_with(bytes, descriptors, SendFlags::NOSIGNAL) {
                Err(Errno::TOOMANYREFS) => std::thread::sleep(BETWEEN),
                result => return Ok(result?),
            }
        }
        Err(Errno::TOOMANYREFS.into())
    }

    /// Sends a packet unless the socket is full. Returns whether the packet was sent.
    pub(crate) fn try_send(&self, bytes: &[u8], descriptors: &[impl AsFd]) -> io::Result<bool> {
        let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        match self.send_with(bytes, &descriptors, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Err(Errno::AGAIN) => Ok(false),
            Err(Errno::TOOMANYREFS) => {
                // Wait before the caller tries again, because `poll` does not report when descriptors in flight were received.
                std::thread::sleep(BETWEEN);
                Ok(false)
            }
            result => Ok(result.map(|()| true)?),
        }
    }

    fn send_with(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>], flags: SendFlags) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut control = net::SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(net::SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Errno::INVAL);
        }
        retry_on_intr(|| net::sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut control, flags)).map(drop)
    }

    /// Blocks until the next packet, and returns it. Returns `None` if the other end has closed, or has sent [`LEAVING`].
    pub(crate) fn receive(&self) -> io::Result<Option<Packet>> {
        self.receive_with(RecvFlags::CMSG_CLOEXEC)
    }

    /// Returns the next packet, or the error `WouldBlock` if there is none yet.
    pub(crate) fn try_receive(&self) -> io::Result<Option<Packet>> {
        self.receive_with(RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT)
    }

    /// Returns whether the other end, which has closed, has sent [`LEAVING`]. Does not remove packets, because another thread may
    /// be about to receive them.
    pub(crate) fn has_left(&self) -> bool {
        let (mut word, mut empty) = ([0; LEAVING.len() + 1], 0);
        for _ in 0..LOOKS {
            let found = net::recv(&self.socket, &mut word[..], RecvFlags::PEEK | RecvFlags::DONTWAIT)
                .map(|(bytes, _)| bytes);
            match found {
                Ok(bytes) if bytes > 0 && word[..bytes] == *LEAVING => return true,
                Ok(0) | Err(Errno::AGAIN) => empty += 1,
                _ => {}
            }
            if self.has_left.load(Ordering::Acquire) || empty == EMPTY_LOOKS {
                break;
            }
            std::thread::sleep(BETWEEN);
        }
        self.has_left.load(Ordering::Acquire)
    }

    fn receive_with(&self, flags: RecvFlags) -> io::Result<Option<Packet>> {
        let mut bytes = vec![0; MAX_PACKET];
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut control = net::RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut chunks = [IoSliceMut::new(&mut bytes)];
            match retry_on_intr(|| net::recvmsg(&self.socket, &mut chunks, &mut control, flags)) {
                // The other end closed before it had read all packets. The kernel reports that once; the packets that the other end
                // sent follow.
                Err(Errno::CONNRESET) => {}
                result => break result?,
            }
        };
        let mut packet = Packet { bytes: Vec::new(), descriptors: Vec::new(), sender: None };
        for message in control.drain() {
            match message {
                RecvAncillaryMessage::ScmRights(list) => packet.descriptors.extend(list),
                RecvAncillaryMessage::ScmCredentials(sender) => packet.sender = Some(sender),
                _ => {}
            }
        }
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(Errno::MFILE.into());
        }
        if received.flags.contains(ReturnFlags::TRUNC) {
            return Err(Errno::MSGSIZE.into());
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        bytes.truncate(received.bytes);
        if bytes == LEAVING {
            self.has_left.store(true, Ordering::Release);
            return Ok(None);
        }
        packet.bytes = bytes;
        Ok(Some(packet))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<Channel> for OwnedFd {
    fn from(channel: Channel) -> Self {
        channel.socket
    }
}

/// Returns whether a read would return data or the end of the file.
pub(crate) fn is_readable(fd: &OwnedFd) -> bool {
    let mut list = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut list, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_has_said_so_before_its_end_whoever_receives_what_it_sent() {
        let say = |words: &[&[u8]]| {
            let (ours, theirs) = Channel::pair().unwrap();
            words.iter().for_each(|word| theirs.send(word, &[]).unwrap());
            ours
        };
        assert!(say(&[LEAVING]).has_left() && !say(&[]).has_left());
        let ours = say(&[b"fenced", LEAVING]);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| ours.has_left());
            std::thread::sleep(3 * BETWEEN);
            assert_eq!(ours.receive().unwrap().unwrap().bytes, b"fenced");
            assert!(watch.join().unwrap());
        });
        assert!(ours.receive().unwrap().is_none() && ours.has_left(), "received by a step");
    }

    #[test]
    fn a_packet_that_is_too_long_is_an_error_and_not_a_part() {
        let (ours, theirs) = Channel::pair().unwrap();
        theirs.send(&vec![7; MAX_PACKET + 1], &[]).unwrap();
        assert_eq!(ours.receive().unwrap_err().raw_os_error(), Some(Errno::MSGSIZE.raw_os_error()));
    }

    #[test]
    fn last_words_are_heard_though_the_other_side_has_not_read_all() {
        let (ours, theirs) = Channel::pair().unwrap();
        ours.send(b"unread", &[]).unwrap();
        theirs.send(b"last words", &[]).unwrap();
        drop(theirs);
        assert_eq!(ours.try_receive().unwrap().unwrap().bytes, b"last words");
        assert!(ours.receive().unwrap().is_none());
    }

    #[test]
    fn who_must_not_wait_is_told_that_there_is_no_room() {
        let (ours, _theirs) = Channel::pair().unwrap();
        assert_eq!(ours.try_receive().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let sent = (0..100_000).take_while(|_| ours.try_send(&[0; 1000], &[] as &[OwnedFd]).unwrap()).count();
        assert!((1..100_000).contains(&sent), "{sent}");
    }
}
