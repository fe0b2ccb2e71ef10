//! What PEs print, when it does not go straight to the launcher's own output: each line with its
//! PE's number, or all of it kept for the caller.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use serde::{Deserialize, Serialize};

/// A line longer than this is passed on in pieces.
const LONGEST_LINE: usize = 1 << 20;

/// Which of the two a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Out,
    Err,
}

/// One stream of a PE, as it comes out of the PE.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    pipe: Option<OwnedFd>,
}

impl Source {
    /// From the read end of a pipe, which must not block.
    pub(crate) fn new(kind: Kind, pipe: OwnedFd) -> Self {
        Self { kind, pipe: Some(pipe) }
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
    kind: Kind,
    tag: Option<String>,
    bytes: Vec<u8>,
}

impl Printer {
    /// With a tag lines are passed on with it, without they are kept.
    pub(crate) fn new(kind: Kind, tag: Option<String>) -> Self {
        Self { kind, tag, bytes: Vec::new() }
    }

    /// Takes what the PE has printed; says whether anybody reads it.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.pass_on()
    }

    /// The stream has ended: what is left is its last line.
    pub(crate) fn finish(&mut self) {
        if self.tag.is_some() && !self.bytes.is_empty() {
            self.bytes.push(b'\n');
            self.pass_on();
        }
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn pass_on(&mut self) -> bool {
        let Some(tag) = &self.tag else { return true };
        let lines = tagged(tag, &mut self.bytes);
        let written = match self.kind {
            Kind::Out => write(io::stdout().lock(), &lines),
            Kind::Err => write(io::stderr().lock(), &lines),
        };
        if written.is_err() {
            self.bytes.clear();
        }
        written.is_ok()
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
        let (mut source, mut printer) = (Source::new(Kind::Out, read), Printer::new(Kind::Out, None));
        rustix::io::write(&write, b"one\ntw").unwrap();
        assert!(printer.take(&source.pump()));
        assert!(source.pipe().is_some());
        rustix::io::write(&write, b"o").unwrap();
        drop(write);
        assert!(printer.take(&source.pump()));
        assert!(source.pipe().is_none());
        printer.finish();
        assert_eq!(printer.into_bytes(), b"one\ntwo");
    }
}
