//! The launcher on another host: it starts the PEs there, passes on what happens to them, and does as
//! the user's launcher says.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, poll};

use super::greeting::{CHALLENGE, PROOF, Session};
use super::letter::{LONGEST, Letter};
use super::link::Link;
use super::{FAREWELL, LOOK};
use crate::launch::error::LaunchError;
use crate::launch::host_pes::HostPes;
use crate::launch::message::{Description, Event, Order};
use crate::launch::spawn::Before;
use crate::launch::{limits, say, this_host, timespec};

/// How long the other side may take for each step until the connection is made.
const STEP: Duration = Duration::from_secs(5);

/// How often each address is tried.
const ROUNDS: usize = 3;

/// Bytes that may wait to be sent before PEs have to wait with their output.
const ROOM: usize = 1 << 20;

/// Is the launcher of another host's PEs, as the line at standard input says, and gives the exit code.
///
/// Not meant for users: the launcher that they start runs it there.
#[doc(hidden)]
pub fn deputy() -> u8 {
    stand_alone();
    let connected = read_letter().and_then(|letter| connect(&letter));
    match connected {
        Ok(link) => run(link),
        Err(error) => {
            say("shmrun", &format!("on {}: {error}", this_host()));
            1
        }
    }
}

/// Keys of a terminal, and what an agent on the same host has set for itself, are not for the PEs.
fn stand_alone() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
        // SAFETY: no handler is installed, and no thread but this one exists yet.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // Who leads a group of processes is alone with it already.
    let _ = rustix::process::setsid();
}

fn read_letter() -> io::Result<Letter> {
    let mut line = String::new();
    let invalid = "standard input is not from shmrun, which starts this on hosts that `-H` names";
    io::stdin().lock().take(LONGEST).read_line(&mut line)?;
    Letter::parse(&line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, invalid))
}

fn connect(letter: &Letter) -> io::Result<Link> {
    let mut why = String::new();
    for _ in 0..ROUNDS {
        why.clear();
        for address in &letter.addresses {
            match greet(*address, letter) {
                Ok((stream, session)) => return Link::new(stream, session, letter.silence),
                Err(error) => {
                    let separator = if why.is_empty() { "" } else { "; " };
                    why.push_str(&format!("{separator}{address}: {error}"));
                }
            }
        }
        std::thread::sleep(LOOK);
    }
    Err(io::Error::other(format!("the launcher of the job cannot be reached: {why}")))
}

fn greet(address: SocketAddr, letter: &Letter) -> io::Result<(TcpStream, Session)> {
    let mut stream = TcpStream::connect_timeout(&address, STEP)?;
    stream.set_read_timeout(Some(STEP))?;
    stream.set_write_timeout(Some(STEP))?;
    let mut challenge = [0; CHALLENGE];
    stream.read_exact(&mut challenge)?;
    let (answer, expected) = letter.secret.answer(letter.host, &challenge)?;
    stream.write_all(&answer)?;
    let mut proof = [0; PROOF];
    stream.read_exact(&mut proof)?;
    let stranger = "whoever listens there is not the launcher of this job";
    let session =
        expected.check(proof).map_err(|_| io::Error::new(io::ErrorKind::PermissionDenied, stranger))?;
    Ok((stream, session))
}

/// From the first order to the last.
fn run(mut link: Link) -> u8 {
    let mut children: Option<HostPes> = None;
    loop {
        let room = link.backlog() < ROOM;
        let ready = wait(&link, children.as_ref(), room);
        link.flush();
        let (messages, mut end) = link.hear();
        for message in messages {
            match (Order::decode(&message), &mut children) {
                (Ok(Order::Start(description)), None) => match start(*description) {
                    Ok(started) => children = Some(started),
                    Err(error) => {
                        let (what, code) = (error.to_string(), error.code());
                        tell(&mut link, &[Event::Failed { what, code }]);
                    }
                },
                (Ok(Order::End), _) => {
                    tell(&mut link, &children.as_mut().map(HostPes::pump).unwrap_or_default());
                    return leave(link);
                }
                (Ok(order), Some(children)) => children.obey(&order),
                (Ok(_), None) => {}
                (Err(malformed), _) => end = Some(malformed.to_string()),
            }
        }
        if let Some(children) = &mut children {
            tell(&mut link, &children.serve(&ready, room));
        }
        if end.is_some() {
            // The user's launcher notices the same, and says so.
            children.iter_mut().for_each(HostPes::kill);
            return 1;
        }
    }
}

fn start(description: Description) -> Result<HostPes, LaunchError> {
    if let Some(directory) = &description.directory {
        std::env::set_current_dir(directory)
            .map_err(|source| LaunchError::Directory { directory: directory.into(), source })?;
    }
    let descriptors = limits::prepare(description.pes().len())?;
    HostPes::start(description, Before { descriptors, ..Before::default() })
}

fn tell(link: &mut Link, events: &[Event]) {
    events.iter().flat_map(Event::encode).for_each(|message| link.say(&message));
}

/// Waits until something happens; gives which PEs it happened to.
fn wait(link: &Link, children: Option<&HostPes>, room: bool) -> Vec<usize> {
    let (owners, mut list): (Vec<usize>, Vec<PollFd<'_>>) =
        children.map(|children| children.poll_list(room)).unwrap_or_default().into_iter().unzip();
    list.push(link.poll_fd());
    let patience = children.and_then(HostPes::patience);
    let patience = patience.map(timespec);
    if poll(&mut list, patience.as_ref()).is_err() {
        std::thread::sleep(LOOK);
    }
    let ready = owners.iter().zip(&list).filter(|(_, fd)| !fd.revents().is_empty());
    ready.map(|(&owner, _)| owner).collect()
}

/// Sends what is left, unless nobody takes it.
fn leave(mut link: Link) -> u8 {
    let until = Instant::now() + FAREWELL;
    while link.backlog() > 0 && Instant::now() < until {
        link.flush();
        std::thread::sleep(LOOK);
    }
    0
}
