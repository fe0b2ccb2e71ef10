//! Output of PEs that passes through the launcher: collected for the caller, or forwarded by lines, on request with PE numbers.
//!
//! If several processes write to one file or pipe, their lines get mixed, because libraries write whenever a buffer is full. To a
//! terminal, libraries write line by line, so PEs write to a terminal directly.
//!
//! For each stream of the launcher, a thread reads the pipes of PEs and writes to the stream. While the reader of the launcher's
//! output pauses, the thread blocks in its write, and PEs block when they print, as without a launcher.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};

use super::socket::is_readable;
use super::{Output, Printed};

/// Upper limit on the bytes of a line that is forwarded as a whole. A longer line is forwarded in pieces.
const LONGEST_LINE: usize = 1 << 20;

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

/// Returns the pipes that a PE needs, each as the list of its streams that write to the pipe. A stream in no list writes directly
/// to the launcher's. If both streams of the launcher are one file, both streams of the PE share a pipe, which keeps their order.
/// Output of a pipe goes to the first stream of its list.
pub(crate) fn pipes(output: Output, pes: usize) -> Vec<Vec<StdStream>> {
    let (out, err) = (io::stdout(), io::stderr());
    let comes = |is_terminal: bool| output != Output::Inherit || pes > 1 && !is_terminal;
    let file = |stream: BorrowedFd<'_>| rustix::fs::fstat(stream).map(|file| (file.st_dev, file.st_ino)).ok();
    let mut pipes: Vec<_> = comes(out.is_terminal()).then(|| vec![StdStream::Out]).into_iter().collect();
    if comes(err.is_terminal()) {
        let is_shared = output != Output::Capture && file(out.as_fd()) == file(err.as_fd());
        match pipes.last_mut().filter(|_| is_shared) {
            Some(streams) => streams.push(StdStream::Err),
            None => pipes.push(vec![StdStream::Err]),
        }
    }
    pipes
}

/// The threads that forward output: one thread for each stream of the launcher, or one for both.
#[derive(Debug)]
pub(crate) struct Forwarders(Vec<Forwarder>);

/// A thread that reads pipes of PEs. It writes to a stream of the launcher, or collects the output.
#[derive(Debug)]
struct Forwarder {
    stream: StdStream,
    /// The sender of pipes to the thread, or `None` when the thread has all pipes.
    sources: Option<Sender<Source>>,
    /// A pipe for the launcher's own lines. `None` if closed, which makes the thread end.
    lines: Option<OwnedFd>,
    /// The read end of a pipe without data, whose other end the thread closes when it ends.
    end: OwnedFd,
    thread: Option<JoinHandle<Ended>>,
    ended: Option<Ended>,
}

/// The result of writing, and the pipes. The pipes are closed if nobody reads the output, so that PEs that print get an error.
type Ended = (Result<(), Errno>, Vec<Source>);

/// An output pipe of a PE.
#[derive(Debug)]
struct Source {
    pe: usize,
    stream: StdStream,
    /// The read end of the pipe, or `None` after its end was read.
    pipe: Option<OwnedFd>,
    /// Bytes that were read, and not yet forwarded. If output is collected, all bytes.
    bytes: Vec<u8>,
}

impl Forwarders {
    /// Starts the threads. If this fails, the caller must not start PEs.
    pub(crate) fn new(output: Output, pipes: &[Vec<StdStream>]) -> io::Result<Self> {
        let is_one = output == Output::Capture || pipes.iter().any(|streams| streams.len() > 1);
        let streams = if is_one { &[StdStream::Out][..] } else { &[StdStream::Out, StdStream::Err] };
        streams.iter().map(|stream| Forwarder::start(*stream, output)).collect::<io::Result<_>>().map(Self)
    }

    /// Adds an output pipe of a PE. The pipe must be non-blocking.
    pub(crate) fn add(&mut self, pe: usize, stream: StdStream, pipe: OwnedFd) {
        let source = Source { pe, stream, pipe: Some(pipe), bytes: Vec::new() };
        if let Some(sources) = &self.0[self.index(stream)].sources {
            // Cannot fail, because the thread receives until the sender is dropped.
            let _ = sources.send(source);
        }
    }

    /// Lets the threads read. Called after all pipes were added.
    pub(crate) fn open(&mut self) {
        self.0.iter_mut().for_each(|forwarder| forwarder.sources = None);
    }

    /// Returns a descriptor for each running thread, which is ready when the thread has ended.
    pub(crate) fn poll_list(&self) -> Vec<PollFd<'_>> {
        let running = self.0.iter().filter(|forwarder| forwarder.ended.is_none());
        running.map(|forwarder| PollFd::new(&forwarder.end, PollFlags::IN)).collect()
    }

    /// Writes lines of the launcher after all output of PEs so far. Drops the lines if the pipe to the thread is full.
    pub(crate) fn say(&mut self, lines: &str) {
        if let Some(pipe) = &self.0[self.index(StdStream::Err)].lines {
            let _ = retry_on_intr(|| rustix::io::write(pipe, lines.as_bytes()));
        }
    }

    /// Returns the result of writing to a stream, if its thread has ended.
    pub(crate) fn end(&mut self, stream: StdStream) -> Option<io::Result<()>> {
        let index = self.index(stream);
        let forwarder = &mut self.0[index];
        if is_readable(&forwarder.end) {
            forwarder.join();
        }
        forwarder.ended.as_ref().map(|(result, _)| result.map_err(io::Error::from))
    }

    /// Ends the forwarding to a stream. The caller must end standard output's first. Returns whether the caller must wait for the
    /// stream's thread.
    pub(crate) fn close(&mut self, stream: StdStream) -> bool {
        if stream == StdStream::Out && self.0.len() == 1 {
            // One thread serves both streams, and standard error is closed later, after the launcher's own lines.
            return false;
        }
        let index = self.index(stream);
        self.0[index].lines = None;
        self.end(stream).is_none()
    }

    /// Returns the stream of the launcher to which a PE's stream is forwarded.
    pub(crate) fn stream_of(&self, stream: StdStream) -> StdStream {
        self.0[self.index(stream)].stream
    }

    /// Returns the collected output of each PE.
    pub(crate) fn into_printed(mut self, pes: usize) -> Vec<Printed> {
        let mut printed = vec![Printed::default(); pes];
        for forwarder in &mut self.0 {
            (forwarder.sources, forwarder.lines) = (None, None);
            forwarder.join();
            for Source { pe, stream, bytes, .. } in forwarder.ended.take().into_iter().flat_map(|end| end.1) {
                let of = &mut printed[pe];
                *(if stream == StdStream::Out { &mut of.out } else { &mut of.err }) = bytes;
            }
        }
        printed
    }

    fn index(&self, stream: StdStream) -> usize {
        (stream as usize).min(self.0.len() - 1)
    }
}

impl Forwarder {
    fn start(stream: StdStream, output: Output) -> io::Result<Self> {
        let (sender, sources) = channel();
        let (own, lines) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let (end, ends) = pipe_with(PipeFlags::CLOEXEC)?;
        let run = move || {
            let _ends = ends;
            forward(stream, output, sources.iter().collect(), own)
        };
        let thread = Some(std::thread::Builder::new().name("output".into()).spawn(run)?);
        Ok(Self { stream, sources: Some(sender), lines: Some(lines), end, thread, ended: None })
    }

    fn join(&mut self) {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        self.ended = self.ended.take().or(ended);
    }
}

/// Forwards output until the launcher closes its end of `own`, the pipe for its lines, or until a write fails.
fn forward(stream: StdStream, output: Output, mut sources: Vec<Source>, own: OwnedFd) -> Ended {
    let mut own = Source { pe: 0, stream, pipe: Some(own), bytes: Vec::new() };
    let mut result = Ok(());
    while result.is_ok() && own.pipe.is_some() {
        let ready = ready(sources.iter().chain([&own]));
        // The PEs' pipes come before `own`, so that output written before the launcher's lines is forwarded before them.
        let all = sources.iter_mut().map(|source| (source, output)).chain([(&mut own, Output::Inherit)]);
        let mut all = all.zip(ready).filter(|(_, is_ready)| *is_ready);
        result = all.try_for_each(|((source, output), _)| source.pass_on(stream, output, false));
    }
    if result.is_ok() {
        result = sources.iter_mut().try_for_each(|source| source.pass_on(stream, output, true));
    }
    if result == Err(Errno::PIPE) {
        sources.clear();
    }
    (result, sources)
}

/// Blocks until a pipe is ready. Returns whether each pipe is ready.
fn ready<'s>(sources: impl Iterator<Item = &'s Source> + Clone) -> Vec<bool> {
    let mut list: Vec<_> = sources
        .clone()
        .filter_map(|source| Some(PollFd::new(source.pipe.as_ref()?, PollFlags::IN)))
        .collect();
    // After an error all pipes count as ready. A read of a pipe without data then does nothing.
    let is_known = retry_on_intr(|| poll(&mut list, None)).is_ok();
    let mut list = list.into_iter();
    let mut is_ready = || list.next().is_some_and(|fd| !is_known || !fd.revents().is_empty());
    sources.map(|source| source.pipe.is_some() && is_ready()).collect()
}

impl Source {
    /// Reads what is in the pipe, up to a limit above a pipe's capacity, so that a PE that prints without end cannot starve others.
    /// Writes whole lines, or collects all bytes. With `is_end`, also writes an unfinished last line.
    fn pass_on(&mut self, to: StdStream, output: Output, is_end: bool) -> Result<(), Errno> {
        let mut chunk = [0; 16 << 10];
        for _ in 0..16 {
            let Some(open) = &self.pipe else { break };
            match retry_on_intr(|| rustix::io::read(open, &mut chunk)) {
                Err(Errno::AGAIN) => break,
                Ok(0) | Err(_) => self.pipe = None,
                Ok(n) => self.bytes.extend_from_slice(&chunk[..n]),
            }
        }
        let tag = match output {
            Output::Inherit => String::new(),
            Output::Tag => format!("[{}] ", self.pe),
            Output::Capture => return Ok(()),
        };
        let lines = tagged(&tag, &mut self.bytes, is_end || self.pipe.is_none());
        match to {
            StdStream::Out => write(io::stdout(), &lines),
            StdStream::Err => write(io::stderr(), &lines),
        }
    }
}

/// Writes all bytes, even if another process has made the file non-blocking.
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

/// Removes whole lines from `bytes`, and returns them, each after `tag`. Leaves a partial line, unless it is too long or `all` is
/// set.
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
