//! Private copies of the globals for a forked child, as POSIX requires.
//!
//! The parent copies the existing pages before it forks. The child moves the copy to the addresses of the shared pages before
//! `fork` returns in the child. `posix_spawn`, `vfork` and `system` start another program, and need no copy.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::Ordering::Relaxed;
use std::os::fd::BorrowedFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags};
use shmem_launch::diagnostics::say;

use super::executable::Data;
use super::{IS_COPY, data, held};

thread_local! {
    /// The copy of the globals for this thread's present call of `fork`, or null.
    static COPY: Cell<*mut c_void> = const { Cell::new(null_mut()) };
}

pub(super) fn prepare() {
    // SAFETY: the three functions may run in any thread that calls `fork`, and stay loaded as long as they are registered.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    COPY.set(null_mut());
    let Some(data) = data().filter(|_| !IS_COPY.load(Relaxed)) else { return };
    if data.has_libc {
        say(
            "shmem: `fork` in a program with globals that are symmetric, and in which the C library is linked statically: \
             its variables would be shared as well; link it without -static (-static-shmem links this library alone so). A \
             program that starts its own PEs does so by `fork`: start it with oshrun",
        );
        std::process::abort();
    }
    match copy(&data) {
        Ok(copy) => COPY.set(copy),
        Err(errno) => say(&format!(
            "shmem: warning: globals are not copied for a forked process, which shares them: {errno}"
        )),
    }
}

unsafe extern "C" fn in_parent() {
    let (Some(data), copy) = (data(), COPY.replace(null_mut())) else { return };
    if !copy.is_null() {
        // SAFETY: `before` mapped these bytes, and no other code has their address.
        _ = unsafe { rustix::mm::munmap(copy, data.span().len()) };
    }
}

unsafe extern "C" fn in_child() {
    let (Some(data), copy) = (data(), COPY.replace(null_mut())) else { return };
    if copy.is_null() {
        return;
    }
    for range in data.ranges() {
        let (from, bytes) =
            (copy.wrapping_byte_add(range.start - data.span().start), range.end - range.start);
        let place = with_exposed_provenance_mut(range.start);
        // SAFETY: `before` mapped the pages at `from`, and no other code has their address. Their contents are those that the
        // pages at `place` had at the call of `fork`, and the child has one thread.
        let moved = unsafe { rustix::mm::mremap_fixed(from, bytes, bytes, MremapFlags::MAYMOVE, place) };
        if let Err(errno) = moved {
            say(&format!("shmem: warning: globals are shared with the parent of this process: {errno}"));
        }
    }
    // From now on `fork` copies nothing, because this process's globals are private. If it starts a job of its own, `memfd` moves
    // them again.
    IS_COPY.store(true, Relaxed);
}

fn copy(data: &Data) -> Result<*mut c_void, Errno> {
    let span = data.span();
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
    let copy = unsafe { rustix::mm::mmap_anonymous(null_mut(), span.len(), protection, flags) }?;
    // Writes of other threads and PEs during this copy may be lost in the child, as in any program that forks with several threads.
    let done = held().ok_or(Errno::BADF).and_then(|memfd| copy_pages(memfd, copy.cast(), span.len()));
    match done {
        Ok(()) => Ok(copy),
        Err(errno) => {
            // SAFETY: the mapping was made above, and no other code uses it.
            _ = unsafe { rustix::mm::munmap(copy, span.len()) };
            Err(errno)
        }
    }
}

/// Copies the existing pages of a memfd to the same offsets of the mapping `copy`, which has `span` bytes.
fn copy_pages(memfd: BorrowedFd<'_>, copy: *mut u8, span: usize) -> Result<(), Errno> {
    let mut at = 0;
    while at < span {
        let start = match rustix::fs::seek(memfd, SeekFrom::Data(at as u64)) {
            Ok(start) => start as usize,
            // There are no more pages.
            Err(Errno::NXIO) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let end = rustix::fs::seek(memfd, SeekFrom::Hole(start as u64))? as usize;
        at = start;
        while at < end.min(span) {
            // SAFETY: the bytes are in the mapping `copy`, which begins as zeroes and is used by no other code.
            let to = unsafe { core::slice::from_raw_parts_mut(copy.wrapping_add(at), end.min(span) - at) };
            match rustix::io::pread(memfd, to, at as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(read) => at += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        at = at.max(end);
    }
    Ok(())
}
