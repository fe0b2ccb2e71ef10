//! What PEs print, when it does not go straight to the launcher's own output: by whole lines, each with its
//! PE's number if that was asked for, or all of it kept for the caller.
//!
//! Several processes that write into one file or pipe tear each other's lines: their libraries write what their buffers
//! hold, and these end anywhere. So only a terminal, into which libraries write line by line, is left to the PEs.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};

use super::Output;

/// A line longer than this is passed on in pieces.
const LONGEST_LINE: usize = 1 << 20;

/// Bytes that may wait to be written before PEs have to wait with their output.
const ROOM: usize = 1 << 20;

/// Which of the two a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Out,
    Err,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Out { "standard output" } else { "standard error" })
    }
}

/// The streams of each PE that come to the launcher, by the pipes that they come through. Streams that go to the same file share
/// a pipe, which keeps their order, and are passed on as the first of them.
pub(crate) fn pipes(output: Output, pes: usize) -> Vec<Vec<Kind>> {
    let (out, err) = (io::stdout(), io::stderr());
    let comes = |is_terminal: bool| output != Output::Inherit || pes > 1 && !is_terminal;
    let file = |stream: BorrowedFd<'_>| rustix::fs::fstat(stream).map(|file| (file.st_dev, file.st_ino)).ok();
    let mut pipes: Vec<Vec<Kind>> = comes(out.is_terminal()).then(|| vec![Kind::Out]).into_iter().collect();
    if comes(err.is_terminal()) {
        let is_shared = output != Output::Capture && file(out.as_fd()) == file(err.as_fd());
        match pipes.last_mut().filter(|_| is_shared) {
            Some(streams) => streams.push(Kind::Err),
            None => pipes.push(vec![Kind::Err]),
        }
    }
    pipes
}

/// One stream of a PE, as it comes out of the PE.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// Whether there is no room for what it prints.
    pub(crate) held: bool,
    pipe: Option<OwnedFd>,
}

impl Source {
    /// From the read end of a pipe, which must not block.
    pub(crate) fn new(kind: Kind, pipe: OwnedFd) -> Self {
        Self { kind, held: false, pipe: Some(pipe) }
    }

    /// The pipe, until it has ended.
    pub(crate) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Takes what there is: all that a pipe holds, and not so much more that a PE which prints
    /// without end could keep the launcher from everything else.
    pub(crate) fn pump(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 16 << 10];
        for _ in 0..16 {
            let Some(pipe) = &self.pipe else { break };
            match retry_on_intr(|| rustix::io::read(pipe, &mut chunk)) {
                Err(Errno::AGAIN) => break,
                Ok(0) | Err(_) => self.close(),
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
        bytes
    }

    /// Nobody reads any more: the PE is to see that as it would without the launcher.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }
}

/// One stream of a PE, on its way to people or to the caller.
#[derive(Debug)]
pub(crate) struct Printer {
    pub(crate) kind: Kind,
    tag: Option<String>,
    bytes: Vec<u8>,
}

impl Printer {
    /// With a tag, which may be empty, lines are passed on behind it; without, they are kept.
    pub(crate) fn new(kind: Kind, tag: Option<String>) -> Self {
        Self { kind, tag, bytes: Vec::new() }
    }

    /// Takes what the PE has printed, and gives the lines to pass on.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.bytes.extend_from_slice(bytes);
        self.lines(false)
    }

    /// The stream has ended: what is left is its last line.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.lines(true)
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn lines(&mut self, all: bool) -> Vec<u8> {
        self.tag.as_ref().map(|tag| tagged(tag, &mut self.bytes, all)).unwrap_or_default()
    }
}

/// Where lines go: those of PEs, and the launcher's own. Whoever reads them may pause, which is to hold up nothing but output.
/// So each file has a thread that writes to it: made non-blocking, it would be so for all who have it open.
#[derive(Debug)]
pub(crate) struct Outlets {
    /// One for each kind, or one for both.
    outlets: Vec<Outlet>,
    /// Rings when there is room again, and when a thread has written its last.
    bell: Arc<OwnedFd>,
}

impl Outlets {
    /// For streams that come through these [`pipes`]. What writes them is there before there is anything to be written: where it
    /// cannot be had, no PE is to have begun.
    pub(crate) fn new(output: Output, pipes: &[Vec<Kind>]) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let is_shared = pipes.iter().any(|streams| streams.len() > 1);
        let kinds = if is_shared { &[Kind::Out][..] } else { &[Kind::Out, Kind::Err] };
        let outlet = |&kind: &Kind| {
            let bell = Arc::clone(&bell);
            let writer = match kind {
                _ if output == Output::Capture => None,
                Kind::Out => Some(Writer::start(io::stdout(), bell)?),
                Kind::Err => Some(Writer::start(io::stderr(), bell)?),
            };
            Ok(Outlet { kind, held: false, writer })
        };
        let outlets = kinds.iter().map(outlet).collect::<io::Result<_>>()?;
        Ok(Self { outlets, bell })
    }

    /// What is readable once the bell has rung.
    pub(crate) fn poll_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.bell, PollFlags::IN)
    }

    /// The bell is heard: before it is looked what has changed.
    pub(crate) fn hush(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    /// Queues lines. The error says why those before them could not be written.
    pub(crate) fn write(&mut self, kind: Kind, lines: Vec<u8>) -> io::Result<()> {
        match &self.of(kind).writer {
            Some(writer) if !lines.is_empty() => writer.write(lines),
            _ => Ok(()),
        }
    }

    /// For which streams the room has come to an end, or there is some again.
    pub(crate) fn turned(&mut self) -> Vec<(Kind, bool)> {
        let mut turned = Vec::new();
        for outlet in &mut self.outlets {
            let is_full = outlet.writer.as_ref().is_some_and(Writer::is_full);
            if is_full != outlet.held {
                outlet.held = is_full;
                turned.push((outlet.kind, is_full));
            }
        }
        turned
    }

    /// How writing has ended, if it has.
    pub(crate) fn end(&mut self, kind: Kind) -> Option<io::Result<()>> {
        self.of(kind).writer.as_ref().and_then(Writer::end)
    }

    /// Nothing more is queued for standard output, and then for standard error. Gives whether something is still to be written.
    pub(crate) fn close(&mut self, kind: Kind) -> bool {
        if kind == Kind::Out && self.outlets.len() == 1 {
            // What is said on standard error comes behind it.
            return false;
        }
        let writer = self.of(kind).writer.as_mut();
        writer.is_some_and(|writer| {
            writer.queue = None;
            writer.end().is_none()
        })
    }

    /// To which of the launcher's own streams it goes.
    pub(crate) fn stream_of(&mut self, kind: Kind) -> Kind {
        self.of(kind).kind
    }

    fn of(&mut self, kind: Kind) -> &mut Outlet {
        let last = self.outlets.len() - 1;
        &mut self.outlets[last.min(kind as usize)]
    }
}

#[derive(Debug)]
struct Outlet {
    kind: Kind,
    /// Whether there was no room when it was last looked.
    held: bool,
    /// `None`: what comes is kept.
    writer: Option<Writer>,
}

/// A thread that writes what is queued.
#[derive(Debug)]
struct Writer {
    queue: Option<Sender<Vec<u8>>>,
    progress: Arc<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Bytes that wait.
    backlog: AtomicUsize,
    end: OnceLock<Result<(), Errno>>,
}

impl Writer {
    fn start(to: impl AsFd + Send + 'static, bell: Arc<OwnedFd>) -> io::Result<Self> {
        let (queue, queued) = channel::<Vec<u8>>();
        let progress = Arc::new(Progress::default());
        let theirs = Arc::clone(&progress);
        let ring = move || {
            let _ = rustix::io::write(&bell, &1_u64.to_ne_bytes());
        };
        let run = move || {
            let end = queued.iter().try_for_each(|lines| {
                let written = write(&to, &lines);
                let before = theirs.backlog.fetch_sub(lines.len(), Ordering::Relaxed);
                if before >= ROOM && before - lines.len() < ROOM {
                    ring();
                }
                written
            });
            // Before the queue has no other end any more: who finds it so finds the reason.
            let _ = theirs.end.set(end);
            ring();
        };
        std::thread::Builder::new().name("output".into()).spawn(run)?;
        Ok(Self { queue: Some(queue), progress })
    }

    fn write(&self, lines: Vec<u8>) -> io::Result<()> {
        self.progress.backlog.fetch_add(lines.len(), Ordering::Relaxed);
        match self.queue.as_ref().map(|queue| queue.send(lines)) {
            Some(Ok(())) => Ok(()),
            _ => self.end().unwrap_or(Ok(())),
        }
    }

    fn is_full(&self) -> bool {
        self.progress.backlog.load(Ordering::Relaxed) >= ROOM && self.end().is_none()
    }

    fn end(&self) -> Option<io::Result<()>> {
        self.progress.end.get().map(|end| end.map_err(io::Error::from))
    }
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
    use std::io::Read as _;

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
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        let (mut source, mut printer) = (Source::new(Kind::Out, read), Printer::new(Kind::Out, None));
        rustix::io::write(&write, b"one\ntw").unwrap();
        printer.take(&source.pump());
        assert!(source.pipe().is_some());
        rustix::io::write(&write, b"o").unwrap();
        drop(write);
        printer.take(&source.pump());
        assert!(source.pipe().is_none());
        printer.finish();
        assert_eq!(printer.into_bytes(), b"one\ntwo");
    }

    #[test]
    fn who_reads_slowly_is_waited_for_in_a_bounded_room() {
        let mut outlets = Outlets::new(Output::Capture, &[vec![Kind::Out], vec![Kind::Err]]).unwrap();
        let (from, to) = rustix::pipe::pipe().unwrap();
        outlets.outlets[0].writer = Some(Writer::start(to, Arc::clone(&outlets.bell)).unwrap());
        let lines = |number: usize| format!("{number:0>1023}\n").into_bytes();
        let written = (0..).take_while(|&number| {
            outlets.write(Kind::Out, lines(number)).unwrap();
            outlets.turned().is_empty()
        });
        let written = written.count() + 1;
        assert!((ROOM..2 * ROOM).contains(&(written * 1024)), "{written}");
        let mut seen = vec![0; 1024];
        let mut from = std::fs::File::from(from);
        for number in 0..written {
            from.read_exact(&mut seen).unwrap();
            assert_eq!(seen, lines(number));
        }
        poll(&mut [outlets.poll_fd()], None).unwrap();
        outlets.hush();
        assert_eq!(outlets.turned(), [(Kind::Out, false)]);

        drop(from);
        while outlets.write(Kind::Out, lines(0)).is_ok() {}
        poll(&mut [outlets.poll_fd()], None).unwrap();
        let end = outlets.end(Kind::Out).unwrap().unwrap_err();
        assert_eq!((end.kind(), outlets.turned()), (io::ErrorKind::BrokenPipe, vec![]));
        assert!(outlets.end(Kind::Err).is_none());
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
