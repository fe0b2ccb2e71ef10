//! Memory of peers: the files that a peer sends, and [`FilePart`]s, which say which bytes of the peer's slot are in which file.
//!
//! A PE checks the files and parts of a peer before it maps any of them. It refuses parts that do not fit the layout, and files
//! that could shrink, because an access behind the new end would kill this PE.

use core::ops::{Range, RangeInclusive};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use shmem_grammar::show_size;

use super::mapping::SEALS;

/// A range of a slot that is stored in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilePart {
    /// Bytes from the start of the slot to the part.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// Index of the file among the files that the peer sent.
    pub(super) file: u64,
    /// Bytes from the start of the file to the part.
    pub(super) at: u64,
    /// Page size of the file, in bytes.
    pub(super) page: u64,
}

impl FilePart {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

/// Appends a part, or extends the last part if both are adjacent in the slot and in one file.
pub(super) fn push(parts: &mut Vec<FilePart>, part: FilePart) {
    match parts.last_mut() {
        _ if part.bytes == 0 => {}
        Some(last)
            if last.end() == part.offset && last.file == part.file && last.at + last.bytes == part.at =>
        {
            last.bytes += part.bytes;
        }
        _ => parts.push(part),
    }
}

/// Checks that parts cover a range without gaps, from `offset` to an end that `ends` allows. `files` is the number of files.
pub(super) fn check_parts(
    parts: &[FilePart],
    offset: u64,
    ends: RangeInclusive<u64>,
    files: usize,
) -> Result<(), String> {
    let mut end = offset;
    for (i, part) in parts.iter().enumerate() {
        let FilePart { offset, bytes, file, at, page } = *part;
        let wrong = |what: String| Err(format!("part {i} of its list {what}"));
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
        return Err(format!("its parts end at {end:#x} and not at {:#x}", ends.start()));
    }
    Ok(())
}

/// Checks that file `number` fits its parts. The file is a memfd or, in the ranges `named` of a slot, a file that survives the job.
/// A file that survives cannot be sealed, but only processes of its owner can truncate it.
pub(super) fn check_file(
    number: usize,
    file: &OwnedFd,
    parts: &[FilePart],
    named: &[Range<u64>],
) -> Result<(), String> {
    let parts = || parts.iter().filter(|part| part.file == number as u64);
    let is_named = parts().all(|p| named.iter().any(|range| range.start <= p.offset && p.end() <= range.end));
    let checked = if is_named { pages_of_named(file) } else { pages_of_memfd(file) };
    let (size, page) = checked.map_err(|what| format!("file {number} {what}"))?;
    for part in parts() {
        let (has, says) = match part.at + part.bytes {
            end if end > size => (show_size(size), format!("parts up to {}", show_size(end))),
            _ if part.page != page => {
                let has = format!("pages of {}", show_size(page));
                (has, format!("parts with pages of {}", show_size(part.page)))
            }
            _ => continue,
        };
        return Err(format!("file {number} has {has}, and {says}"));
    }
    Ok(())
}

/// The size and page size of a file that survives the job.
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

/// The size and page size of a memfd of sealed size.
fn pages_of_memfd(file: &OwnedFd) -> Result<(u64, u64), String> {
    let seals = rustix::fs::fcntl_get_seals(file).map_err(|errno| format!("is not a memfd ({errno})"))?;
    if !seals.contains(SEALS) {
        return Err("is not sealed against resizing".into());
    }
    let stat = rustix::fs::fstat(file).map_err(|errno| format!("has no size ({errno})"))?;
    let system = rustix::fs::fstatfs(file).map_err(|errno| format!("has no page size ({errno})"))?;
    Ok((stat.st_size as u64, system.f_bsize as u64))
}
