//! What PEs print, when it does not go straight to the launcher's own output: each line with its
//! PE's number, or all of it kept for the caller.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};

/// A line longer than this is passed on in pieces.
const LONGEST_LINE: usize = 1 << 20;

/// Which of the two a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Out,
    Err,
}

/// One stream of one PE.
#[derive(Debug)]
pub(crate) struct Stream {
    kind: Kind,
    pipe: Option<OwnedFd>,
    tag: Option<String>,
    bytes: Vec<u8>,
}

impl Stream {
    /// From the read end of a pipe, which must not block. With a tag lines are passed on with it,
    /// without they are kept.
    pub(crate) fn new(kind: Kind, pipe: OwnedFd, tag: Option<String>) -> Self {
        Self { kind, pipe: Some(pipe), tag, bytes: Vec::new() }
    }

    /// The pipe, until it has ended.
    pub(crate) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Takes what there is: all that a pipe holds, and not so much more that a PE which prints
    /// without end could keep the launcher from everything else.
    pub(crate) fn pump(&mut self) {
        let mut chunk = [0; 16 << 10];
        for _ in 0..16 {
            let Some(pipe) = &self.pipe else { return };
            match retry_on_intr(|| rustix::io::read(pipe, &mut chunk)) {
                Err(Errno::AGAIN) => return,
                Ok(0) | Err(_) => self.finish(),
                Ok(n) => {
                    self.bytes.extend_from_slice(&chunk[..n]);
                    self.pass_on();
                }
            }
        }
    }

    /// Ends the stream: what is left is its last line.
    pub(crate) fn finish(&mut self) {
        self.pipe = None;
        if self.tag.is_some() && !self.bytes.is_empty() {
            self.bytes.push(b'\n');
            self.pass_on();
        }
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn pass_on(&mut self) {
        let Some(tag) = &self.tag else { return };
        let lines = tagged(tag, &mut self.bytes);
        let written = match self.kind {
            Kind::Out => write(io::stdout().lock(), &lines),
            Kind::Err => write(io::stderr().lock(), &lines),
        };
        if written.is_err() {
            // Nobody reads any more: the PE is to see that as it would without the launcher.
            self.pipe = None;
            self.bytes.clear();
        }
    }
}

fn write(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

/// The whole lines of `bytes`, each behind the tag; what follows them stays.
fn tagged(tag: &str, bytes: &mut Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut lines = Vec::new();
    for line in bytes[..end].split_inclusive(|&b| b == b'\n') {
        lines.extend_from_slice(tag.as_bytes());
        lines.extend_from_slice(line);
    }
    bytes.drain(..end);
    if bytes.len() >= LONGEST_LINE {
        lines.extend_from_slice(tag.as_bytes());
        lines.append(bytes);
        lines.push(b'\n');
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
            text in "[ab\n]{0,200}",
            cuts in prop::collection::vec(0..200usize, 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let (mut kept, mut seen) = (Vec::new(), Vec::new());
            for pair in cuts.windows(2) {
                kept.extend_from_slice(&text.as_bytes()[pair[0]..pair[1]]);
                seen.extend(tagged("[3] ", &mut kept));
            }
            let model: String =
                text.split_inclusive('\n').filter(|l| l.ends_with('\n')).map(|l| format!("[3] {l}")).collect();
            prop_assert_eq!(String::from_utf8(seen).unwrap(), model);
            prop_assert_eq!(kept, text.rsplit('\n').next().unwrap_or("").as_bytes());
        }
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_pieces() {
        let mut bytes = vec![b'x'; LONGEST_LINE];
        assert_eq!(tagged("[0] ", &mut bytes).len(), LONGEST_LINE + 5);
        assert!(bytes.is_empty());
    }

    #[test]
    fn kept_output_is_whole() {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        let mut stream = Stream::new(Kind::Out, read, None);
        rustix::io::write(&write, b"one\ntw").unwrap();
        stream.pump();
        assert!(stream.pipe().is_some());
        rustix::io::write(&write, b"o").unwrap();
        drop(write);
        stream.pump();
        assert!(stream.pipe().is_none());
        assert_eq!(stream.into_bytes(), b"one\ntwo");
    }
}
