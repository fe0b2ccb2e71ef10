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

/// Words of a part in the list: offset, bytes, file, at, page.
type Words = [u64; 5];

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
    let words = pieces.iter().flat_map(|piece| [piece.offset, piece.bytes, piece.file, piece.at, piece.page]);
    bytemuck::cast_slice(&core::iter::once(MAGIC).chain(words).collect::<Vec<u64>>()).to_vec()
}

/// The list from bytes, if its pieces cover a range from `offset` without gaps up to an end in
/// `ends`, with files below `files`.
pub(super) fn decode(
    bytes: &[u8],
    offset: u64,
    ends: RangeInclusive<u64>,
    files: usize,
) -> Result<Vec<FilePart>, String> {
    if !bytes.len().is_multiple_of(size_of::<u64>()) {
        return Err(format!("its list of pieces has {}", show_size(bytes.len() as u64)));
    }
    let Some(words) = bytes.strip_prefix(bytemuck::bytes_of(&MAGIC)) else {
        return Err("its list of pieces is of another version".into());
    };
    let piece = |words: &[u8]| {
        let [offset, bytes, file, at, page] = bytemuck::pod_read_unaligned::<Words>(words);
        FilePart { offset, bytes, file, at, page }
    };
    let pieces = words.chunks_exact(size_of::<Words>());
    if !pieces.remainder().is_empty() {
        return Err("its list of pieces is cut off".into());
    }
    let pieces: Vec<_> = pieces.map(piece).collect();
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

/// Checks that a file is what the pieces in it say: a memfd, or in the ranges `named` of a slot a file that
/// survives the job. The latter cannot be sealed: that nobody cuts it short is left to its lock and its owner.
pub(super) fn check_file(
    number: usize,
    file: &OwnedFd,
    pieces: &[FilePart],
    named: &[Range<u64>],
) -> Result<(), String> {
    let pieces = || pieces.iter().filter(|piece| piece.file == number as u64);
    let is_named =
        pieces().all(|p| named.iter().any(|range| range.start <= p.offset && p.end() <= range.end));
    let checked = if is_named { pages_of_named(file) } else { pages_of_memfd(file) };
    let (size, page) = checked.map_err(|what| format!("file {number} {what}"))?;
    for piece in pieces() {
        let (has, says) = match piece.at + piece.bytes {
            end if end > size => (show_size(size), format!("pieces up to {}", show_size(end))),
            _ if piece.page != page => {
                let has = format!("pages of {}", show_size(page));
                (has, format!("pieces with pages of {}", show_size(piece.page)))
            }
            _ => continue,
        };
        return Err(format!("file {number} has {has}, and {says}"));
    }
    Ok(())
}

/// The size of a file that survives the job, and bytes of its pages.
fn pages_of_named(file: &OwnedFd) -> Result<(u64, u64), String> {
    let stat = rustix::fs::fstat(file).map_err(|errno| format!("has no size ({errno})"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err("is no regular file".into());
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(format!("belongs to user {}", stat.st_uid));
    }
    Ok((stat.st_size as u64, rustix::param::page_size() as u64))
}

/// The size of a memfd that keeps it, and bytes of its pages.
fn pages_of_memfd(file: &OwnedFd) -> Result<(u64, u64), String> {
    let seals = rustix::fs::fcntl_get_seals(file).map_err(|errno| format!("is not a memfd ({errno})"))?;
    if !seals.contains(SEALS) {
        return Err("is not sealed against resizing".into());
    }
    let stat = rustix::fs::fstat(file).map_err(|errno| format!("has no size ({errno})"))?;
    let system = rustix::fs::fstatfs(file).map_err(|errno| format!("has no page size ({errno})"))?;
    Ok((stat.st_size as u64, system.f_bsize as u64))
}
