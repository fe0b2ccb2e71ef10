//! The other hosts of a job.
//!
//! The launcher that the user starts begins a launcher on each other host, through an agent (`ssh`, or
//! what is named instead), which connects back over TCP. It is told what the PEs are started from, starts
//! them, and from then on passes on what happens there and does as it is told. It decides nothing.
//!
//! What travels between launchers could start programs in the user's name, so both sides prove that they
//! know a secret of the job before either says anything, and each message proves where it belongs. A
//! stranger who connects is let go without a word, and takes neither time nor room. The listener is
//! closed when all hosts are there.
//!
//! When a connection ends, or the other side acknowledges nothing for `SHMEM_TIMEOUT`, the user's launcher
//! ends the job, and the other one its PEs and itself: nothing is left anywhere, whichever of them dies.
//!
//! ```text
//! list       which hosts            interface  under which addresses
//! agent      reaching a host        letter     what it is told then
//! gather     until all are there    greeting   who is one of them
//! link       a connection           frame      what keeps it
//! deputy     the launcher on the other host
//! ```

mod agent;
mod deputy;
mod frame;
mod gather;
mod greeting;
mod interface;
mod letter;
mod link;
mod list;

use std::time::{Duration, Instant};

use rustix::event::{PollFd, poll};

use self::agent::Agent;
use self::link::Link;
use super::host_pes::LOOK;
use super::message::{Event, Order};
use super::timespec;

pub use agent::DEPUTY;
pub use deputy::deputy;
pub(super) use gather::{Call, gather};
pub use interface::Interface;
pub(super) use interface::addresses;
pub use list::{HostList, HostListError};

/// How long a launcher and its agent may take to end after the job has.
const FAREWELL: Duration = Duration::from_secs(2);

/// Another host, whose launcher has connected.
#[derive(Debug)]
pub(crate) struct Remote {
    name: String,
    link: Link,
    agent: Agent,
}

impl Remote {
    /// One whose launcher has said this, and is gone.
    #[cfg(test)]
    pub(super) fn saying(name: &str, events: &[Event]) -> Self {
        use std::net::{TcpListener, TcpStream};

        use self::frame::{Opener, Sealer};
        use self::greeting::Session;

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        let session = |up, down| Session { sealer: Sealer::new([up; 32]), opener: Opener::new([down; 32]) };
        let mut theirs = Link::new(theirs, session(1, 2), None).unwrap();
        events.iter().flat_map(Event::encode).for_each(|message| theirs.say(&message));
        let link = Link::new(ours, session(2, 1), None).unwrap();
        let agent = Agent::start(&["true".into()], name, "shmrun".as_ref(), "").unwrap();
        Self { name: name.to_owned(), link, agent }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn poll_list(&self) -> Vec<(usize, PollFd<'_>)> {
        [Some(self.link.poll_fd()), self.agent.poll_fd()].into_iter().flatten().map(|fd| (0, fd)).collect()
    }

    /// How long it may be waited on them.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.agent.poll_fd().is_none().then_some(LOOK)
    }

    pub(super) fn order(&mut self, order: &Order) {
        self.link.say(&order.encode());
    }

    /// What has happened there; and how the host was lost, if it was.
    pub(super) fn serve(&mut self) -> (Vec<Event>, Option<String>) {
        self.link.flush();
        let (messages, end) = self.link.hear();
        let events = messages.iter().map(|message| Event::decode(message)).collect::<Result<_, _>>();
        match events {
            // What was said before the agent ended counts.
            Ok(events) if end.is_none() && messages.is_empty() => (events, self.agent.end()),
            Ok(events) => (events, end),
            Err(malformed) => (Vec::new(), Some(malformed.to_string())),
        }
    }

    /// Waits until the launcher there has ended, though not for long; gives what it still says.
    pub(super) fn dismiss(mut self) -> Vec<Event> {
        let until = Instant::now() + FAREWELL;
        let mut last = Vec::new();
        loop {
            let (events, end) = self.serve();
            last.extend(events);
            let left = until.saturating_duration_since(Instant::now());
            if end.is_some() || left.is_zero() {
                break;
            }
            // Whatever it says, it is looked again.
            let _ = poll(&mut [self.link.poll_fd()], Some(&timespec(left)));
        }
        self.agent.wait(until);
        last
    }
}
