//! What PEs print, when it does not go straight to the launcher's own output: by whole lines, each with its
//! PE's number if that was asked for, or all of it kept for the caller.
//!
//! Several processes that write into one file or pipe tear each other's lines: their libraries write what their buffers
//! hold, and these end anywhere. So only a terminal, into which libraries write line by line, is left to the PEs.
//!
//! Each of the launcher's streams has a thread that reads what PEs print there, and writes it. Whoever reads that may pause:
//! then the thread waits in its write, PEs that print wait for it as they would without a launcher, and all else goes on. (Made
//! non-blocking, a file would be so for all who have it open.)

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};

use super::{Output, Printed};

/// A line longer than this is passed on in pieces.
const LONGEST_LINE: usize = 1 << 20;

/// Which of the two a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StdStream {
    Out,
    Err,
}

impl fmt::Display for StdStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Out { "standard output" } else { "standard error" })
    }
}

/// The streams of each PE that come to the launcher, by the pipes that they come through. Streams that go to the same file share
/// a pipe, which keeps their order, and are passed on as the first of them.
pub(crate) fn pipes(output: Output, pes: usize) -> Vec<Vec<StdStream>> {
    let (out, err) = (io::stdout(), io::stderr());
    let comes = |is_terminal: bool| output != Output::Inherit || pes > 1 && !is_terminal;
    let file = |stream: BorrowedFd<'_>| rustix::fs::fstat(stream).map(|file| (file.st_dev, file.st_ino)).ok();
    let mut pipes: Vec<Vec<StdStream>> =
        comes(out.is_terminal()).then(|| vec![StdStream::Out]).into_iter().collect();
    if comes(err.is_terminal()) {
        let is_shared = output != Output::Capture && file(out.as_fd()) == file(err.as_fd());
        match pipes.last_mut().filter(|_| is_shared) {
            Some(streams) => streams.push(StdStream::Err),
            None => pipes.push(vec![StdStream::Err]),
        }
    }
    pipes
}

/// The launcher's streams: lines of PEs go there, and its own.
#[derive(Debug)]
pub(crate) struct Outlets {
    /// One for each kind, or one for both.
    outlets: Vec<Outlet>,
    /// Rings when a thread has ended.
    bell: Arc<OwnedFd>,
}

/// One of them, as its thread is told what to do.
#[derive(Debug)]
struct Outlet {
    kind: StdStream,
    orders: Option<Sender<Order>>,
    /// Rings when there are orders.
    bell: Arc<OwnedFd>,
    end: Arc<OnceLock<Result<(), Errno>>>,
    thread: JoinHandle<Vec<Source>>,
}

#[derive(Debug)]
enum Order {
    /// A PE prints into the other end of this pipe, which does not block.
    Read(usize, OwnedFd),
    /// Lines of the launcher, behind what PEs have printed so far.
    Say(String),
}

impl Outlets {
    /// For streams that come through these [`pipes`]. What writes them is there before there is anything to be written: where it
    /// cannot be had, no PE is to have begun.
    pub(crate) fn new(output: Output, pipes: &[Vec<StdStream>]) -> io::Result<Self> {
        let bell = bell()?;
        let is_shared = pipes.iter().any(|streams| streams.len() > 1);
        let kinds = if is_shared { &[StdStream::Out][..] } else { &[StdStream::Out, StdStream::Err] };
        let outlets = kinds.iter().map(|kind| Outlet::start(*kind, output, Arc::clone(&bell)));
        Ok(Self { outlets: outlets.collect::<io::Result<_>>()?, bell })
    }

    /// What is readable once the bell has rung.
    pub(crate) fn poll_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.bell, PollFlags::IN)
    }

    /// The bell is heard: before it is looked what has changed.
    pub(crate) fn hush(&self) {
        hush(&self.bell);
    }

    /// Reads what a PE prints from this pipe, which must not block.
    pub(crate) fn read(&self, pe: usize, kind: StdStream, pipe: OwnedFd) {
        self.of(kind).order(Order::Read(pe, pipe));
    }

    /// Writes lines of the launcher behind what PEs have printed so far.
    pub(crate) fn say(&self, lines: String) {
        self.of(StdStream::Err).order(Order::Say(lines));
    }

    /// How writing has ended, if it has.
    pub(crate) fn end(&self, kind: StdStream) -> Option<io::Result<()>> {
        self.of(kind).end.get().map(|end| end.map_err(io::Error::from))
    }

    /// Nothing more comes for standard output, and then for standard error. Gives whether something is still to be written.
    pub(crate) fn close(&mut self, kind: StdStream) -> bool {
        if kind == StdStream::Out && self.outlets.len() == 1 {
            // What is said on standard error comes behind it.
            return false;
        }
        let last = self.outlets.len() - 1;
        let outlet = &mut self.outlets[last.min(kind as usize)];
        outlet.orders = None;
        ring(&outlet.bell);
        self.end(kind).is_none()
    }

    /// To which of the launcher's own streams it goes.
    pub(crate) fn stream_of(&self, kind: StdStream) -> StdStream {
        self.of(kind).kind
    }

    /// What so many PEs have printed, if that was kept; all is closed.
    pub(crate) fn into_printed(mut self, pes: usize) -> Vec<Printed> {
        let mut printed = vec![Printed::default(); pes];
        let outlets = std::mem::take(&mut self.outlets);
        for Outlet { kind, thread, .. } in outlets.into_iter().filter(|outlet| outlet.end.get().is_some()) {
            for Source { pe, bytes, .. } in thread.join().unwrap_or_default() {
                *(if kind == StdStream::Out { &mut printed[pe].out } else { &mut printed[pe].err }) = bytes;
            }
        }
        printed
    }

    fn of(&self, kind: StdStream) -> &Outlet {
        &self.outlets[(self.outlets.len() - 1).min(kind as usize)]
    }
}

impl Drop for Outlets {
    /// Threads of a job that has not begun hear that nothing comes.
    fn drop(&mut self) {
        for outlet in &mut self.outlets {
            outlet.orders = None;
            ring(&outlet.bell);
        }
    }
}

impl Outlet {
    fn start(kind: StdStream, output: Output, ended: Arc<OwnedFd>) -> io::Result<Self> {
        let (orders, received) = channel();
        let (bell, end) = (bell()?, Arc::new(OnceLock::new()));
        let mut stream =
            Stream { kind, output, orders: received, bell: Arc::clone(&bell), sources: Vec::new() };
        let theirs = Arc::clone(&end);
        let run = move || {
            let end = stream.run();
            let _ = theirs.set(end);
            ring(&ended);
            match end {
                Ok(()) => return stream.sources,
                // Nobody reads any more: PEs are to see that as they would without the launcher.
                Err(Errno::PIPE) => {}
                // The job ends for that, and until then PEs find somebody who reads.
                Err(_) => stream.orders.iter().for_each(drop),
            }
            Vec::new()
        };
        let thread = std::thread::Builder::new().name("output".into()).spawn(run)?;
        Ok(Self { kind, orders: Some(orders), bell, end, thread })
    }

    fn order(&self, order: Order) {
        // A thread that has ended needs none.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
        ring(&self.bell);
    }
}

/// What a thread has to do.
struct Stream {
    kind: StdStream,
    output: Output,
    orders: Receiver<Order>,
    bell: Arc<OwnedFd>,
    sources: Vec<Source>,
}

/// One stream of a PE.
#[derive(Debug)]
struct Source {
    pe: usize,
    /// Until it has ended.
    pipe: Option<OwnedFd>,
    /// What is not passed on yet, or is kept.
    bytes: Vec<u8>,
}

impl Stream {
    /// Passes on what comes until nothing more does.
    fn run(&mut self) -> Result<(), Errno> {
        loop {
            for i in self.wait()? {
                self.pump(i)?;
            }
            loop {
                match self.orders.try_recv() {
                    Ok(Order::Read(pe, pipe)) => {
                        self.sources.push(Source { pe, pipe: Some(pipe), bytes: Vec::new() });
                    }
                    Ok(Order::Say(lines)) => {
                        (0..self.sources.len()).try_for_each(|i| self.pump(i))?;
                        self.write(lines.as_bytes())?;
                    }
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        return (0..self.sources.len()).try_for_each(|i| {
                            self.pump(i)?;
                            self.pass(i, true)
                        });
                    }
                }
            }
        }
    }

    /// Waits until there is something to do; gives the sources that have something.
    fn wait(&self) -> Result<Vec<usize>, Errno> {
        let mut list = vec![PollFd::new(&self.bell, PollFlags::IN)];
        let mut owners = Vec::new();
        for (i, source) in self.sources.iter().enumerate() {
            list.extend(source.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            owners.extend(source.pipe.iter().map(|_| i));
        }
        retry_on_intr(|| poll(&mut list, None))?;
        hush(&self.bell);
        let ready = owners.into_iter().zip(&list[1..]).filter(|(_, fd)| !fd.revents().is_empty());
        Ok(ready.map(|(i, _)| i).collect())
    }

    /// Takes what there is: all that a pipe holds, and not so much more that a PE which prints
    /// without end could keep others from their turn.
    fn pump(&mut self, i: usize) -> Result<(), Errno> {
        let Source { pipe, bytes, .. } = &mut self.sources[i];
        let mut chunk = [0; 16 << 10];
        for _ in 0..16 {
            let Some(open) = &*pipe else { break };
            match retry_on_intr(|| rustix::io::read(open, &mut chunk)) {
                Err(Errno::AGAIN) => break,
                Ok(0) | Err(_) => *pipe = None,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
        // What is left at the end is the last line.
        let has_ended = pipe.is_none();
        self.pass(i, has_ended)
    }

    /// Passes on whole lines, or all.
    fn pass(&mut self, i: usize, all: bool) -> Result<(), Errno> {
        let Source { pe, bytes, .. } = &mut self.sources[i];
        let tag = match self.output {
            Output::Inherit => String::new(),
            Output::Tag => format!("[{pe}] "),
            Output::Capture => return Ok(()),
        };
        let lines = tagged(&tag, bytes, all);
        self.write(&lines)
    }

    fn write(&self, lines: &[u8]) -> Result<(), Errno> {
        match self.kind {
            StdStream::Out => write(io::stdout(), lines),
            StdStream::Err => write(io::stderr(), lines),
        }
    }
}

fn bell() -> io::Result<Arc<OwnedFd>> {
    Ok(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
}

fn ring(bell: &OwnedFd) {
    // If it cannot ring any louder, it is heard.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

fn hush(bell: &OwnedFd) {
    let _ = rustix::io::read(bell, &mut [0; 8]);
}

/// Writes all bytes, also to a file that others have made non-blocking.
fn write(to: impl AsFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => _ = retry_on_intr(|| poll(&mut [PollFd::new(&to, PollFlags::OUT)], None))?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The whole lines of `bytes`, each behind the tag; what follows them stays, unless it is too long or `all` is to go.
fn tagged(tag: &str, bytes: &mut Vec<u8>, all: bool) -> Vec<u8> {
    let end = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut lines = Vec::new();
    for line in bytes[..end].split_inclusive(|&b| b == b'\n') {
        lines.extend_from_slice(tag.as_bytes());
        lines.extend_from_slice(line);
    }
    bytes.drain(..end);
    if bytes.len() >= LONGEST_LINE || all && !bytes.is_empty() {
        lines.extend_from_slice(tag.as_bytes());
        lines.append(bytes);
        if !tag.is_empty() {
            lines.push(b'\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the bytes are cut, the lines are those of the whole text.
        #[test]
        fn lines_are_tagged_once_however_they_arrive(
            tag in "(\\[3\\] )?",
            text in "[ab\n]{0,200}",
            cuts in prop::collection::vec(0..200usize, 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let (mut kept, mut seen) = (Vec::new(), Vec::new());
            for pair in cuts.windows(2) {
                kept.extend_from_slice(&text.as_bytes()[pair[0]..pair[1]]);
                seen.extend(tagged(&tag, &mut kept, false));
            }
            let model: String =
                text.split_inclusive('\n').filter(|l| l.ends_with('\n')).map(|l| format!("{tag}{l}")).collect();
            prop_assert_eq!(String::from_utf8(seen).unwrap(), model);
            let last = text.rsplit('\n').next().unwrap_or("");
            prop_assert_eq!(&kept, last.as_bytes());
            let end = if tag.is_empty() || last.is_empty() { "" } else { "\n" };
            let model = if last.is_empty() { String::new() } else { format!("{tag}{last}{end}") };
            prop_assert_eq!(String::from_utf8(tagged(&tag, &mut kept, true)).unwrap(), model);
        }
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_pieces() {
        let mut bytes = vec![b'x'; LONGEST_LINE];
        assert_eq!(tagged("[0] ", &mut bytes.clone(), false).len(), LONGEST_LINE + 5);
        assert_eq!(tagged("", &mut bytes, false).len(), LONGEST_LINE);
        assert!(bytes.is_empty());
    }

    #[test]
    fn kept_output_is_whole() {
        let mut outlets =
            Outlets::new(Output::Capture, &[vec![StdStream::Out], vec![StdStream::Err]]).unwrap();
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        outlets.read(1, StdStream::Err, read);
        rustix::io::write(&write, b"one\ntwo").unwrap();
        for kind in [StdStream::Out, StdStream::Err] {
            while outlets.close(kind) {
                poll(&mut [outlets.poll_fd()], None).unwrap();
                outlets.hush();
            }
        }
        let two = Printed { out: Vec::new(), err: b"one\ntwo".to_vec() };
        assert_eq!(outlets.into_printed(2), [Printed::default(), two]);
    }

    #[test]
    fn a_pipe_that_does_not_block_is_waited_for() {
        let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        let lines = vec![b'x'; 1 << 20];
        std::thread::scope(|scope| {
            scope.spawn(|| write(&to, &lines).unwrap());
            let (mut seen, mut buffer) = (0, [0; 1 << 16]);
            while seen < lines.len() {
                seen += rustix::io::read(&from, &mut buffer).unwrap_or_default();
                std::thread::yield_now();
            }
        });
    }
}
