//! A connection between two launchers of a job, once they have made sure of each other.
//!
//! Nothing here waits. That the other host is still there the kernels find out between them, also while
//! one of the launchers is stopped: whoever does not acknowledge for a time is gone.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt;

use super::greeting::Session;

/// Bytes read at a time, and at a turn.
const CHUNK: usize = 64 << 10;
const CHUNKS: usize = 16;

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    session: Session,
    outbox: Vec<u8>,
}

impl Link {
    /// Of a connection whose other side has proved what it is. It is lost when that has not acknowledged
    /// anything for `silence`.
    pub(super) fn new(stream: TcpStream, session: Session, silence: Option<Duration>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        if let Some(silence) = silence {
            let seconds = silence.as_secs().max(1);
            let pause = Duration::from_secs((seconds / 4).max(1));
            sockopt::set_socket_keepalive(&stream, true)?;
            sockopt::set_tcp_keepidle(&stream, pause)?;
            sockopt::set_tcp_keepintvl(&stream, pause)?;
            sockopt::set_tcp_keepcnt(&stream, 3)?;
            let most = silence.as_millis().try_into().unwrap_or(u32::MAX);
            sockopt::set_tcp_user_timeout(&stream, most)?;
        }
        Ok(Self { stream, session, outbox: Vec::new() })
    }

    pub(super) fn poll_fd(&self) -> PollFd<'_> {
        let output = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        PollFd::new(&self.stream, PollFlags::IN | output)
    }

    /// Bytes that wait to be sent.
    pub(super) fn backlog(&self) -> usize {
        self.outbox.len()
    }

    /// Queues a message, and sends what there is room for. That the connection has ended is heard.
    pub(super) fn say(&mut self, message: &[u8]) {
        let frame = self.session.sealer.seal(message);
        self.outbox.extend_from_slice(&frame);
        self.flush();
    }

    /// Sends what there is room for.
    pub(super) fn flush(&mut self) {
        while !self.outbox.is_empty() {
            match self.stream.write(&self.outbox) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.outbox.clear(),
            }
        }
    }

    /// What has arrived; and how the connection ended, if it has.
    pub(super) fn hear(&mut self) -> (Vec<Vec<u8>>, Option<String>) {
        let mut messages = Vec::new();
        let mut end = None;
        let mut chunk = vec![0; CHUNK];
        for _ in 0..CHUNKS {
            match self.stream.read(&mut chunk) {
                Ok(0) => end = Some("its launcher closed the connection".to_owned()),
                Ok(bytes) => self.session.opener.feed(&chunk[..bytes]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => end = Some(format!("the connection to its launcher failed: {error}")),
            }
            loop {
                match self.session.opener.open() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(forged) => return (messages, Some(forged.to_string())),
                }
            }
            if end.is_some() {
                break;
            }
        }
        (messages, end)
    }
}
