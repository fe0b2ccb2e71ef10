//! The program headers of this process's executable, and the pages of its globals.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use libc::{Elf64_Phdr, PF_W, PF_X, PT_GNU_RELRO, PT_INTERP, PT_LOAD, PT_NOTE, dl_phdr_info};
use object::NativeEndian;
use object::elf::{ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::NoteIterator;

use super::moving::Failure;

/// Upper limit on the page ranges of an executable's globals. Most linkers make one range.
const MOST: usize = 4;

pub(super) struct Executable {
    /// The difference between an address in memory and the address in the program headers.
    base: usize,
    headers: &'static [Elf64_Phdr],
    page: usize,
}

/// The executable's globals: the whole pages that it may write.
#[derive(Clone, Copy)]
pub(super) struct Data {
    ranges: [PageRange; MOST],
    count: usize,
    page: usize,
    pub(super) has_libc: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct PageRange {
    pub(super) start: usize,
    /// End of the pages that the executable file initialises. Pages after it begin as zeroes (`.bss`).
    pub(super) stored: usize,
    pub(super) end: usize,
}

impl Executable {
    /// Returns this process's executable, as `dl_iterate_phdr` describes it.
    pub(super) fn of_this_process() -> Option<Self> {
        unsafe extern "C" fn first(info: *mut dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
            // SAFETY: `dl_iterate_phdr` passes an `info` that is valid during this callback.
            let info = unsafe { &*info };
            // SAFETY: `found` is the variable of the enclosing function, which does not use it during the callback.
            let found = unsafe { &mut *found.cast::<Option<(usize, &'static [Elf64_Phdr])>>() };
            // SAFETY: `dlpi_phdr` has `dlpi_phnum` headers, which are never written, and stay mapped as long as the executable.
            let headers =
                unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
            *found = Some((info.dlpi_addr as usize, headers));
            // Ends the iteration, because the first object is the executable.
            1
        }
        let mut found: Option<(usize, &'static [Elf64_Phdr])> = None;
        // SAFETY: `first` is a valid callback, and its argument is a pointer to `found`.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut found).cast()) };
        let (base, headers) = found?;
        Some(Self { base, headers, page: rustix::param::page_size() })
    }

    pub(super) fn data(&self) -> Result<Data, Failure> {
        let down = |address: usize| address & !(self.page - 1);
        let up = |address: usize| address.next_multiple_of(self.page);
        // The whole pages that the dynamic linker makes read-only after relocation.
        let constant = self.of_type(PT_GNU_RELRO).map(|header| {
            let start = self.address(header);
            down(start)..down(start + header.p_memsz as usize)
        });
        let constant = constant.last().unwrap_or(0..0);
        let mut data = Data {
            ranges: [PageRange::default(); MOST],
            count: 0,
            page: self.page,
            has_libc: self.has_libc(),
        };
        let mut last = 0;
        for header in self.of_type(PT_LOAD).filter(|header| header.p_flags & PF_W != 0) {
            let address = self.address(header);
            let stored = up(address + header.p_filesz as usize);
            let end = up(address + header.p_memsz as usize);
            let mut start = down(address).max(last);
            last = end;
            if constant.contains(&start) {
                start = constant.end;
            }
            if start >= end {
                continue;
            }
            if header.p_flags & PF_X != 0 {
                return Err(Failure::Unfit("they lie in pages that the program executes (linked with -N?)"));
            }
            let range = data.ranges.get_mut(data.count);
            *range.ok_or(Failure::Unfit("they lie in too many parts of the program"))? =
                PageRange { start, stored: stored.clamp(start, end), end };
            data.count += 1;
        }
        if data.count == 0 { Err(Failure::Unfit("the program has none")) } else { Ok(data) }
    }

    /// Returns whether a range is between the executable's first and last address.
    pub(super) fn holds(&self, addresses: Range<usize>) -> bool {
        let starts = self.of_type(PT_LOAD).map(|header| self.address(header));
        let ends = self.of_type(PT_LOAD).map(|header| self.address(header) + header.p_memsz as usize);
        let (start, end) = (starts.min().unwrap_or(0), ends.max().unwrap_or(0));
        start <= addresses.start && addresses.end <= end
    }

    pub(super) fn in_file(&self, address: usize) -> usize {
        address.wrapping_sub(self.base)
    }

    pub(super) fn build_id(&self) -> Option<&'static [u8]> {
        self.of_type(PT_NOTE).find_map(|header| {
            let start = core::ptr::with_exposed_provenance::<u8>(self.address(header));
            // SAFETY: the executable's notes are read-only, and mapped as long as the process lives.
            let notes = unsafe { core::slice::from_raw_parts(start, header.p_memsz as usize) };
            let align = header.p_align;
            let mut notes =
                NoteIterator::<FileHeader64<NativeEndian>>::new(NativeEndian, align, notes).ok()?;
            while let Ok(Some(note)) = notes.next() {
                if note.n_type(NativeEndian) == NT_GNU_BUILD_ID && note.name() == ELF_NOTE_GNU {
                    return Some(note.desc());
                }
            }
            None
        })
    }

    /// Returns a fingerprint, for executables without a build ID: a hash of the sizes of all entries of the program headers, one of
    /// their addresses, and the number of entries.
    pub(super) fn shape(&self) -> [u64; 3] {
        self.headers.iter().fold([0_u64; 3], |[sizes, places, count], header| {
            [sizes.wrapping_mul(31) ^ header.p_memsz, places.wrapping_mul(31) ^ header.p_vaddr, count + 1]
        })
    }

    fn has_libc(&self) -> bool {
        self.of_type(PT_INTERP).next().is_none()
    }

    fn address(&self, header: &Elf64_Phdr) -> usize {
        self.base.wrapping_add(header.p_vaddr as usize)
    }

    fn of_type(&self, kind: u32) -> impl Iterator<Item = &'static Elf64_Phdr> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }
}

impl Data {
    pub(super) fn span(&self) -> Range<usize> {
        let ranges = self.ranges();
        ranges.first().map_or(0, |range| range.start)..ranges.last().map_or(0, |range| range.end)
    }

    pub(super) fn ranges(&self) -> &[PageRange] {
        &self.ranges[..self.count]
    }

    pub(super) fn page(&self) -> usize {
        self.page
    }
}
