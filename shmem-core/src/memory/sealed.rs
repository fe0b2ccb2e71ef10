//! Immutable memory that the processes of a node share, for lists of all PEs of a job.

use core::ops::Deref;
use core::ptr::{NonNull, null_mut};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::SealFlags;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::mapping::{self, SEALS};
use crate::pe::Pe;

/// Bytes of a memfd that is sealed against all changes, mapped for reading.
#[derive(Debug)]
pub struct Sealed {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: nobody can change the memory, and this value alone unmaps it.
unsafe impl Send for Sealed {}
// SAFETY: nobody can change the memory, and this value alone unmaps it.
unsafe impl Sync for Sealed {}

/// The seals against all changes: of contents, size and seals.
const WHOLLY: SealFlags = SEALS.union(SealFlags::WRITE);

impl Sealed {
    /// Makes a memfd of these bytes, sealed against all changes. Processes that receive the memfd [`open`](Self::open) it.
    /// Fails if the system has no memory, or allows no memfd.
    pub fn make(bytes: &[u8]) -> io::Result<OwnedFd> {
        let mut memfd = File::from(mapping::memfd(None)?);
        memfd.write_all(bytes)?;
        rustix::fs::fcntl_add_seals(&memfd, WHOLLY)?;
        Ok(memfd.into())
    }

    /// Maps a memfd of `bytes` bytes from [`make`](Self::make). Checks seals and size, because the sender is not trusted.
    /// Fails if the file is no memfd, is not sealed, or has another size, or if a system call fails.
    pub fn open(memfd: impl AsFd, bytes: usize) -> io::Result<Self> {
        // Called once, because a second call could return another descriptor than the checked one.
        let memfd = memfd.as_fd();
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let seals = rustix::fs::fcntl_get_seals(memfd).unwrap_or(SealFlags::empty());
        if !seals.contains(WHOLLY) {
            return Err(invalid("its contents are not sealed".to_owned()));
        }
        let size = rustix::fs::fstat(memfd)?.st_size;
        if bytes == 0 || u64::try_from(size) != Ok(bytes as u64) {
            return Err(invalid(format!("it has {size} bytes and not {bytes}")));
        }
        // The mapping is private, because kernels before 6.7, and some later ones, refuse a shared mapping of a descriptor that is
        // open for writing. A private mapping still shares the memfd's pages, because nobody writes to them.
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let start =
            unsafe { rustix::mm::mmap(null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE, memfd, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::FAULT)?, bytes })
    }

    /// Maps a memfd, checks seals and size as [`open`](Self::open) does, and checks that its bytes are those of `own`.
    /// Fails if the memory could change, or differs in any bit.
    pub fn in_place_of(own: &[u8], memfd: impl AsFd) -> io::Result<Self> {
        let memory = Self::open(memfd, own.len())?;
        match memory.as_ref() == own {
            true => Ok(memory),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "it has others")),
        }
    }
}

impl AsRef<[u8]> for Sealed {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `open` has mapped `bytes` bytes from `start` on, of a file of that size. The file's seals forbid changes of size
        // and contents. The mapping lasts as long as this value.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        // SAFETY: `open` mapped the range, and slices from `as_ref` do not outlive this value.
        _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A list of PEs, by number, in memory of this process, or in immutable memory that the PEs of the node share.
#[derive(Debug)]
pub struct PeList(Pes);

#[derive(Debug)]
enum Pes {
    Own(Box<[Pe]>),
    Shared(Sealed, usize),
}

impl PeList {
    /// A list of PEs in memory of this process.
    pub fn new(pes: Vec<Pe>) -> Self {
        Self(Pes::Own(pes.into()))
    }

    /// Makes a memfd with these PEs, for [`in_place_of`](Self::in_place_of) in the processes of the node.
    /// Fails if the system has no memory, or allows no memfd.
    pub fn share(pes: &[Pe]) -> io::Result<OwnedFd> {
        Sealed::make(Pe::bytes_of(pes))
    }

    /// Maps a memfd that a process of the node made by [`share`](Self::share), and checks that its PEs are those of `own`.
    /// Fails if the memory could change, or differs in any bit.
    pub fn in_place_of(own: &[Pe], shared: impl AsFd) -> io::Result<Self> {
        Ok(Self(Pes::Shared(Sealed::in_place_of(Pe::bytes_of(own), shared)?, own.len())))
    }

    /// Whether the list is in memory that processes share.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Pes::Shared(..))
    }
}

impl Deref for PeList {
    type Target = [Pe];

    #[inline]
    fn deref(&self) -> &[Pe] {
        match &self.0 {
            Pes::Own(pes) => pes,
            Pes::Shared(memory, count) => {
                let start = memory.as_ref().as_ptr().cast();
                // SAFETY: the memory starts on a page, and was found equal, bit for bit, to `count` PEs of this process
                // (`in_place_of`), so it consists of valid PEs. Nobody can change the memory (`Sealed`), and it lasts as long as
                // `self`.
                unsafe { core::slice::from_raw_parts(start, *count) }
            }
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use core::cell::Cell;
    use std::os::fd::BorrowedFd;

    use super::*;

    /// Returns one memfd `looks` times, and then another one.
    struct Changing<'f> {
        looks: Cell<usize>,
        first: &'f OwnedFd,
        then: &'f OwnedFd,
    }

    impl AsFd for Changing<'_> {
        fn as_fd(&self) -> BorrowedFd<'_> {
            match self.looks.replace(self.looks.get().saturating_sub(1)) {
                0 => self.then.as_fd(),
                _ => self.first.as_fd(),
            }
        }
    }

    #[test]
    fn what_is_sealed_is_read_and_cannot_be_changed() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|k| k as u8).collect();
        let memfd = Sealed::make(&bytes).unwrap();
        let sealed = Sealed::open(&memfd, bytes.len()).unwrap();
        assert_eq!(sealed.as_ref(), bytes);
        assert_eq!(rustix::io::pwrite(&memfd, &[1], 0), Err(Errno::PERM));
        assert_eq!(rustix::fs::ftruncate(&memfd, 1), Err(Errno::PERM));
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let written =
            unsafe { rustix::mm::mmap(null_mut(), 4096, ProtFlags::WRITE, MapFlags::SHARED, &memfd, 0) };
        assert_eq!(written.map(drop), Err(Errno::PERM));
        drop(memfd);
        assert_eq!(sealed.as_ref(), bytes, "it is there as long as it is mapped");
    }

    /// The kernel that runs this test may take shared mappings as well; older kernels do not.
    #[test]
    fn it_is_mapped_as_every_kernel_allows() {
        let sealed = Sealed::open(Sealed::make(b"some bytes").unwrap(), 10).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let start = format!("{:x}-", sealed.as_ref().as_ptr().addr());
        let line = maps.lines().find(|line| line.starts_with(&start)).unwrap();
        assert_eq!(line.split(' ').nth(1), Some("r--p"), "{line}");
    }

    #[test]
    fn what_somebody_could_change_is_refused() {
        let why = |memfd: &OwnedFd, bytes| Sealed::open(memfd, bytes).unwrap_err().to_string();
        let open = mapping::memfd(None).unwrap();
        rustix::fs::ftruncate(&open, 4096).unwrap();
        assert_eq!(why(&open, 4096), "its contents are not sealed");
        rustix::fs::fcntl_add_seals(&open, SEALS).unwrap();
        assert_eq!(why(&open, 4096), "its contents are not sealed");
        assert_eq!(why(&OwnedFd::from(tempfile::tempfile().unwrap()), 4096), "its contents are not sealed");
        let sealed = Sealed::make(b"some bytes").unwrap();
        assert_eq!(why(&sealed, 11), "it has 10 bytes and not 11");
        assert_eq!(why(&Sealed::make(b"").unwrap(), 0), "it has 0 bytes and not 0");
    }

    #[test]
    fn what_is_mapped_is_what_was_found_sealed() {
        let (first, then) = (Sealed::make(&[7; 4096]).unwrap(), mapping::memfd(None).unwrap());
        rustix::fs::ftruncate(&then, 4096).unwrap();
        for looks in 0..4 {
            let opened = Sealed::open(Changing { looks: Cell::new(looks), first: &first, then: &then }, 4096);
            assert!(opened.map_or(looks == 0, |sealed| sealed.as_ref() == [7; 4096]), "{looks}");
        }
    }

    #[test]
    fn a_shared_list_is_taken_only_if_it_is_ones_own() {
        // SAFETY: nothing is issued to any of them.
        let pes: Vec<Pe> = (0..1000).map(|number| unsafe { Pe::new(number, number % 7) }).collect();
        let list = PeList::in_place_of(&pes, PeList::share(&pes).unwrap()).unwrap();
        assert!(list.is_shared() && *list == *pes);
        let why = |given: &[Pe]| {
            PeList::in_place_of(&pes, PeList::share(given).unwrap()).map(drop).unwrap_err().to_string()
        };
        let mut other = pes.clone();
        // SAFETY: nothing is issued to it.
        other[999] = unsafe { Pe::new(999, 6) };
        assert_eq!(why(&other), "it has others");
        assert_eq!(why(&pes[1..]), "it has 7992 bytes and not 8000");
        assert!(!PeList::new(pes).is_shared());
    }
}
