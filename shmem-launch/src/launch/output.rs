//! Output of PEs that passes through the launcher: forwarded by whole lines, each with its PE's number on request, or kept for
//! the caller.
//!
//! If several processes write into one file or pipe, they tear each other's lines, because libraries write whenever their buffers
//! are full. Into a terminal they write line by line, so a terminal is left to the PEs.
//!
//! The launcher's thread reads the pipes of PEs. A thread for each of the launcher's streams writes, because the reader may pause. Then
//! the launcher stops reading the pipes of that stream, and PEs that print wait, as they would without a launcher. (A non-blocking
//! write would make the file non-blocking for all processes that have it open.)

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};

use super::{Output, Printed};

/// Upper limit on the bytes of a line. A longer line is passed on in pieces.
const LONGEST_LINE: usize = 1 << 20;

/// Upper limit on the queued bytes of a writer. With more, no pipe of the writer's stream is read.
const MOST_QUEUED: usize = 64 << 10;

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

/// Returns the pipes of each PE, each as the list of streams that write into the pipe. Streams that go to one file share a pipe,
/// which keeps their order; the pipe's output goes to the first stream.
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

/// The launcher's streams, and the pipes of PEs.
#[derive(Debug)]
pub(crate) struct Outlets {
    output: Output,
    /// One for each stream, or one for both; none if output is kept.
    writers: Vec<Writer>,
    sources: Vec<Source>,
    /// The source that was read last: the next one has the first turn.
    last: usize,
    /// Rings when a writer has room again or has ended.
    bell: Arc<OwnedFd>,
}

/// A thread that writes to one of the launcher's streams.
#[derive(Debug)]
struct Writer {
    stream: StdStream,
    /// Lines to be written; `None`: closed.
    queue: Option<Sender<Vec<u8>>>,
    queued: Arc<AtomicUsize>,
    end: Arc<OnceLock<Result<(), Errno>>>,
}

#[derive(Debug)]
struct Source {
    pe: usize,
    stream: StdStream,
    /// The pipe; `None`: the pipe has ended.
    pipe: Option<OwnedFd>,
    /// Bytes that are not passed on yet, or are kept.
    bytes: Vec<u8>,
}

impl Outlets {
    /// Fails if no thread can be started. Then no PE must be started.
    pub(crate) fn new(output: Output, pipes: &[Vec<StdStream>]) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let streams = match output {
            Output::Capture => &[][..],
            _ if pipes.iter().any(|streams| streams.len() > 1) => &[StdStream::Out],
            _ => &[StdStream::Out, StdStream::Err],
        };
        let writers = streams.iter().map(|stream| Writer::start(*stream, Arc::clone(&bell)));
        let writers = writers.collect::<io::Result<_>>()?;
        Ok(Self { output, writers, sources: Vec::new(), last: 0, bell })
    }

    /// Adds a pipe of a PE. Reads of the pipe must not block.
    pub(crate) fn add(&mut self, pe: usize, stream: StdStream, pipe: OwnedFd) {
        self.sources.push(Source { pe, stream, pipe: Some(pipe), bytes: Vec::new() });
    }

    /// Returns the descriptors to wait on for [`pump`](Self::pump).
    pub(crate) fn poll_list(&self) -> Vec<PollFd<'_>> {
        let pipes = self.open().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN));
        pipes.chain([PollFd::new(&self.bell, PollFlags::IN)]).collect()
    }

    /// Passes on output of PEs, as far as writers have room.
    pub(crate) fn pump(&mut self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        // PEs get an error if nobody reads their output, as without the launcher.
        for i in 0..self.sources.len() {
            if let Some(Err(error)) = self.end(self.sources[i].stream)
                && error.kind() == io::ErrorKind::BrokenPipe
            {
                self.sources[i].pipe = None;
            }
        }
        let (owners, mut list): (Vec<usize>, Vec<_>) =
            self.open().map(|(i, pipe)| (i, PollFd::new(pipe, PollFlags::IN))).unzip();
        if poll(&mut list, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_err() {
            return;
        }
        let ready = owners.into_iter().zip(&list).filter(|(_, fd)| !fd.revents().is_empty());
        let mut ready: Vec<usize> = ready.map(|(i, _)| i).collect();
        let first = ready.partition_point(|i| *i <= self.last);
        ready.rotate_left(first);
        for i in ready {
            if self.has_room(self.sources[i].stream) {
                self.take(i, false);
                self.last = i;
            }
        }
    }

    /// Writes lines of the launcher after all output of PEs so far.
    pub(crate) fn say(&mut self, lines: String) {
        self.take_all(StdStream::Err, false);
        self.write(StdStream::Err, lines.into_bytes());
    }

    /// Returns the result of writing, if the writer has ended.
    pub(crate) fn end(&self, stream: StdStream) -> Option<io::Result<()>> {
        self.writer(stream)?.end.get().map(|end| end.map_err(io::Error::from))
    }

    /// Closes a stream, standard output first. Returns whether lines are still to be written.
    pub(crate) fn close(&mut self, stream: StdStream) -> bool {
        if stream == StdStream::Out && self.writers.len() == 1 {
            // The launcher's own lines on standard error come later.
            return false;
        }
        self.take_all(stream, true);
        let index = self.writer_index(stream);
        let Some(writer) = self.writers.get_mut(index) else { return false };
        writer.queue = None;
        writer.end.get().is_none()
    }

    /// Returns the stream of the launcher that a PE's stream is passed on to.
    pub(crate) fn stream_of(&self, stream: StdStream) -> StdStream {
        self.writer(stream).map_or(stream, |writer| writer.stream)
    }

    pub(crate) fn into_printed(self, pes: usize) -> Vec<Printed> {
        let mut printed = vec![Printed::default(); pes];
        for Source { pe, stream, bytes, .. } in self.sources {
            *(if stream == StdStream::Out { &mut printed[pe].out } else { &mut printed[pe].err }) = bytes;
        }
        printed
    }

    fn writer(&self, stream: StdStream) -> Option<&Writer> {
        self.writers.get(self.writer_index(stream))
    }

    /// A single writer serves both streams.
    fn writer_index(&self, stream: StdStream) -> usize {
        self.writers.len().saturating_sub(1).min(stream as usize)
    }

    fn has_room(&self, stream: StdStream) -> bool {
        self.writer(stream).is_none_or(|writer| {
            writer.queued.load(Ordering::Relaxed) < MOST_QUEUED && writer.end.get().is_none()
        })
    }

    /// Returns the pipes that may be read, with the index of each.
    fn open(&self) -> impl Iterator<Item = (usize, &OwnedFd)> {
        let sources = self.sources.iter().enumerate().filter(|(_, source)| self.has_room(source.stream));
        sources.filter_map(|(i, source)| Some((i, source.pipe.as_ref()?)))
    }

    /// Reads all pipes that go to the same launcher stream as `stream`. `is_end`: also takes an unfinished last line.
    fn take_all(&mut self, stream: StdStream, is_end: bool) {
        for i in 0..self.sources.len() {
            if self.stream_of(self.sources[i].stream) == self.stream_of(stream) {
                self.take(i, is_end);
            }
        }
    }

    /// Reads at least what a pipe holds, but a bounded amount, so that a PE that prints without end starves no other.
    fn take(&mut self, i: usize, is_end: bool) {
        let Source { pe, stream, pipe, bytes } = &mut self.sources[i];
        let mut chunk = [0; 16 << 10];
        for _ in 0..16 {
            let Some(open) = &*pipe else { break };
            match retry_on_intr(|| rustix::io::read(open, &mut chunk)) {
                Err(Errno::AGAIN) => break,
                Ok(0) | Err(_) => *pipe = None,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
        let tag = match self.output {
            Output::Inherit => String::new(),
            Output::Tag => format!("[{pe}] "),
            Output::Capture => return,
        };
        let (stream, lines) = (*stream, tagged(&tag, bytes, is_end || pipe.is_none()));
        self.write(stream, lines);
    }

    fn write(&self, stream: StdStream, lines: Vec<u8>) {
        if let Some(Writer { queue: Some(queue), queued, .. }) =
            self.writer(stream).filter(|_| !lines.is_empty())
        {
            queued.fetch_add(lines.len(), Ordering::Relaxed);
            // An error: the writer has ended.
            let _ = queue.send(lines);
        }
    }
}

impl Writer {
    fn start(stream: StdStream, bell: Arc<OwnedFd>) -> io::Result<Self> {
        let (queue, lines) = channel::<Vec<u8>>();
        let (queued, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(OnceLock::new()));
        let (is_written, has_ended) = (Arc::clone(&queued), Arc::clone(&end));
        let run = move || {
            // An error: the bell is already readable.
            let ring = || _ = rustix::io::write(&bell, &1_u64.to_ne_bytes());
            let result = lines.iter().try_for_each(|lines| {
                match stream {
                    StdStream::Out => write(io::stdout(), &lines),
                    StdStream::Err => write(io::stderr(), &lines),
                }?;
                if is_written.fetch_sub(lines.len(), Ordering::Relaxed) >= MOST_QUEUED {
                    ring();
                }
                Ok(())
            });
            let _ = has_ended.set(result);
            ring();
        };
        std::thread::Builder::new().name("output".into()).spawn(run)?;
        Ok(Self { stream, queue: Some(queue), queued, end })
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

/// Removes the whole lines of `bytes`, and returns them tagged. A partial line stays, unless too long, or with `all`.
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
