//! What a PE tells its peers of its memory: which bytes of its slot are in which file.
//!
//! Peers do not trust it: a list that does not fit the layout, or a file that could shrink under a
//! mapping (a later access would kill the reader), is refused before anything is mapped.

use core::ops::{Range, RangeInclusive};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use shmem_grammar::show_size;

use super::map::SEALS;

/// Marks a list and its version.
const MAGIC: u64 = u64::from_le_bytes(*b"shmpcs01");
const WORDS: usize = 5;
const WORD: usize = size_of::<u64>();

/// Bytes of a slot that lie in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilePart {
    /// Bytes from the start of the slot.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) bytes: u64,
    /// Index of the file among those handed over.
    pub(super) file: u64,
    /// Bytes from the start of the file.
    pub(super) at: u64,
    /// Bytes of a page of the file.
    pub(super) page: u64,
}

impl FilePart {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes
    }

    fn words(&self) -> [u64; WORDS] {
        [self.offset, self.bytes, self.file, self.at, self.page]
    }
}

/// Adds a piece, to the last one if it continues it in the slot and in the file.
pub(super) fn push(pieces: &mut Vec<FilePart>, piece: FilePart) {
    match pieces.last_mut() {
        _ if piece.bytes == 0 => {}
        Some(last)
            if last.end() == piece.offset && last.file == piece.file && last.at + last.bytes == piece.at =>
        {
            last.bytes += piece.bytes;
        }
        _ => pieces.push(piece),
    }
}

/// The list as bytes.
pub(super) fn encode(pieces: &[FilePart]) -> Vec<u8> {
    let words = core::iter::once(MAGIC).chain(pieces.iter().flat_map(FilePart::words));
    words.flat_map(u64::to_le_bytes).collect()
}

/// The list from bytes, if its pieces cover a range from `offset` without gaps up to an end in
/// `ends`, with files below `files`.
pub(super) fn decode(
    bytes: &[u8],
    offset: u64,
    ends: RangeInclusive<u64>,
    files: usize,
) -> Result<Vec<FilePart>, String> {
    if !bytes.len().is_multiple_of(WORD) {
        return Err(format!("its list of pieces has {}", show_size(bytes.len() as u64)));
    }
    let words: Vec<_> = bytes.chunks_exact(WORD).map(word).collect();
    let Some((&MAGIC, words)) = words.split_first() else {
        return Err("its list of pieces is of another version".into());
    };
    if !words.len().is_multiple_of(WORDS) {
        return Err("its list of pieces is cut off".into());
    }
    let pieces: Vec<_> = words.chunks_exact(WORDS).map(piece).collect();
    let mut end = offset;
    for (i, piece) in pieces.iter().enumerate() {
        let FilePart { offset, bytes, file, at, page } = *piece;
        let wrong = |what: String| Err(format!("piece {i} of its list {what}"));
        if offset != end || bytes == 0 {
            return wrong(format!("has {} at {offset:#x}, and {end:#x} follows", show_size(bytes)));
        }
        if !page.is_power_of_two() || page < rustix::param::page_size() as u64 {
            return wrong(format!("has pages of {}", show_size(page)));
        }
        if ![offset, bytes, at].iter().all(|n| n.is_multiple_of(page)) {
            return wrong(format!("does not consist of pages of {}", show_size(page)));
        }
        if file >= files as u64 {
            return wrong(format!("is in file {file} of {files}"));
        }
        end = match (offset.checked_add(bytes), at.checked_add(bytes)) {
            (Some(end), Some(_)) if end <= *ends.end() => end,
            _ => return wrong(format!("has {} at {offset:#x}, beyond {:#x}", show_size(bytes), ends.end())),
        };
    }
    if end < *ends.start() {
        return Err(format!("its pieces end at {end:#x} and not at {:#x}", ends.start()));
    }
    Ok(pieces)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn piece(words: &[u64]) -> FilePart {
    FilePart { offset: words[0], bytes: words[1], file: words[2], at: words[3], page: words[4] }
}

/// Checks that a file is what the pieces in it say: a memfd, or in the ranges `named` of a slot a file that
/// survives the job. The latter cannot be sealed: that nobody cuts it short is left to its lock and its owner.
pub(super) fn check_file(
    number: usize,
    file: &OwnedFd,
    pieces: &[FilePart],
    named: &[Range<u64>],
) -> Result<(), String> {
    let wrong = |what: String| Err(format!("file {number} {what}"));
    let pieces = || pieces.iter().filter(|piece| piece.file == number as u64);
    let is_named =
        pieces().all(|p| named.iter().any(|range| range.start <= p.offset && p.end() <= range.end));
    let stat = match rustix::fs::fstat(file) {
        Ok(stat) => stat,
        Err(errno) => return wrong(format!("has no size ({errno})")),
    };
    let size = stat.st_size as u64;
    let page = if is_named {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return wrong("is no regular file".into());
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return wrong(format!("belongs to user {}", stat.st_uid));
        }
        rustix::param::page_size() as u64
    } else {
        match rustix::fs::fcntl_get_seals(file) {
            Ok(seals) if seals.contains(SEALS) => {}
            Ok(_) => return wrong("is not sealed against resizing".into()),
            Err(errno) => return wrong(format!("is not a memfd ({errno})")),
        }
        match rustix::fs::fstatfs(file) {
            Ok(stat) => stat.f_bsize as u64,
            Err(errno) => return wrong(format!("has no page size ({errno})")),
        }
    };
    for piece in pieces() {
        if piece.at + piece.bytes > size {
            return wrong(format!(
                "has {}, and pieces up to {}",
                show_size(size),
                show_size(piece.at + piece.bytes)
            ));
        }
        if piece.page != page {
            return wrong(format!(
                "has pages of {}, and pieces with pages of {}",
                show_size(page),
                show_size(piece.page)
            ));
        }
    }
    Ok(())
}
