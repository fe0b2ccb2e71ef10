//! Makes the memory of one PE.
//!
//! The memory is made in an *area*: system area and partitions of the PE's slot, or one dynamic segment. One sparse memfd has the
//! base pages, also those that are merged into huge pages. It is as long as the area and has equal offsets, so a peer maps it by
//! one call. Pages of huge-page pools need a file for each page size. At the end, parts of these files are mapped over the area.
//!
//! A step that fails for lack of pages leaves the area unchanged: pages of a pool are made through another mapping, and a failed
//! merge frees its pages.

use core::ops::Range;
use std::os::fd::OwnedFd;

use shmem_grammar::{Kind, Policy};

use super::arena::Arena;
use super::capacity::no_pages;
use super::error::{MemoryError, Size};
use super::mapping::{self, Reservation};
use super::numa::{self, PlacedPages, apply, compare};
use super::pages::{PageChoice, PageSizes};
use super::peer_memory::{FilePart, push};
use super::placement::Spread;
use super::pmem::PmemFile;
use super::segment_request::Request;
use crate::partition::{Grant, Pages};

/// Memory that this process made.
#[derive(Debug)]
pub struct OwnMemory {
    /// The files of the memory, to be sent to peers. The memfd of the base pages is the first, if there are base pages.
    pub descriptors: Vec<OwnedFd>,
    /// The bytes of the slot that each file stores, for the peers.
    pub parts: Vec<FilePart>,
    /// The grants of the segments, in the order of the requests.
    pub grants: Vec<Grant>,
}

/// A range of a slot. The slot starts at `origin` in the arena's reservation.
pub(super) struct SlotArea<'a> {
    pub(super) arena: &'a Arena,
    pub(super) origin: usize,
    pub(super) range: Range<usize>,
}

/// A file that holds a part of an area.
struct AreaFile {
    file: OwnedFd,
    page: u64,
    bytes: u64,
    /// Whether the file survives the job.
    named: bool,
}

struct Provider<'a> {
    area: SlotArea<'a>,
    /// The files of the area. The first file has base pages, and is as long as the area. The others are mapped over it.
    files: Vec<AreaFile>,
    /// Parts of all files but the first, in the order of their offsets in the slot.
    overlays: Vec<FilePart>,
}

/// Makes and maps the memory of an area. `wanted` has the start, request and file of each segment.
///
/// # Safety
///
/// Nothing may refer to the area's present mappings, and nobody else may map memory there.
pub(super) unsafe fn provide(
    area: SlotArea<'_>,
    wanted: &[(usize, &Request, Option<&PmemFile>)],
) -> Result<OwnMemory, MemoryError> {
    let base = mapping::memfd(None).map_err(MemoryError::no_memfd)?;
    mapping::resize(&base, area.range.len() as u64)
        .map_err(MemoryError::of_call("ftruncate", "sizing a memfd"))?;
    mapping::seal(&base).map_err(MemoryError::of_call("fcntl", "sealing a memfd"))?;
    let whole = area.inside(&area.range);
    // SAFETY: nothing refers to the area's mappings (caller).
    unsafe { area.arena.reservation.map(whole, &base, 0) }
        .map_err(MemoryError::of_call("mmap", "mapping own memory"))?;
    let page = area.arena.machine.base_page();
    let base = AreaFile { file: base, page, bytes: area.range.len() as u64, named: false };
    let mut provider = Provider { area, files: vec![base], overlays: Vec::new() };
    let mut grants = Vec::with_capacity(wanted.len());
    for (i, &(start, request, file)) in wanted.iter().enumerate() {
        let end = wanted.get(i + 1).map_or(provider.area.range.end, |&(next, ..)| next);
        grants.push(match file {
            Some(file) => provider.in_file(start, request, file)?,
            None => provider.segment(start..end, request)?,
        });
    }
    // SAFETY: nothing refers to the area's mappings (caller), and the grants above gave out no pointers.
    unsafe { provider.lay_over() }?;
    Ok(provider.finish(grants))
}

/// Maps the first `bytes` bytes of an existing memfd at the start of an area. Seals the memfd's size, because peers require a
/// sealed size.
///
/// # Safety
///
/// Nothing may refer to the area's present mappings, and nobody else may map memory there.
pub(super) unsafe fn adopt(
    area: &SlotArea<'_>,
    bytes: usize,
    memfd: OwnedFd,
) -> Result<OwnMemory, MemoryError> {
    let page = area.arena.machine.base_page();
    mapping::seal(&memfd).map_err(MemoryError::of_call("fcntl", "sealing a memfd"))?;
    let range = area.range.start..area.range.start + bytes;
    // SAFETY: the area has the range (`dynamic_area`), and nothing refers to the area's mappings (caller).
    unsafe { area.arena.reservation.map(area.inside(&range), &memfd, 0) }
        .map_err(MemoryError::of_call("mmap", "mapping memory that was there before"))?;
    let part = FilePart { offset: range.start as u64, bytes: bytes as u64, file: 0, at: 0, page };
    let grants = vec![Grant::plain(bytes as u64, page)];
    Ok(OwnMemory { descriptors: vec![memfd], parts: vec![part], grants })
}

impl SlotArea<'_> {
    fn inside(&self, range: &Range<usize>) -> Range<usize> {
        self.origin + range.start..self.origin + range.end
    }
}

impl Provider<'_> {
    /// Makes the pages of a segment in `range` of the slot, and returns the segment's grant.
    fn segment(&mut self, range: Range<usize>, request: &Request) -> Result<Grant, MemoryError> {
        let machine = &self.area.arena.machine;
        let mut sizes = match request.traits.pgsize {
            Some(_) => machine.page_sizes(),
            None => PageSizes::only(machine.base_page()),
        };
        let mut unplaced = None;
        let (choice, found) = loop {
            let room = request.room().min(self.area.arena.layout().unit());
            let choice = sizes.choose(request, room).map_err(|has| self.no_pages(request, has))?;
            let bytes = request.bytes.next_multiple_of(choice.size as usize);
            let part = range.start..range.start + bytes;
            let tried = match choice.pages {
                Pages::HugeTlb => self.take_from_pool(part, choice.size, request, &mut unplaced)?,
                sort => {
                    unplaced = self.bind(&part, request)?;
                    if sort == Pages::Transparent {
                        self.merged(part, choice.size as usize, request)
                    } else {
                        Ok(self.base_pages(part, range.end, request)?)
                    }
                }
            };
            match tried {
                Ok(found) => break (choice, found),
                Err(reason) => sizes.failed(&choice, &reason),
            }
        };
        let PageChoice { pages, size, downgrade } = choice;
        let downgrades = [request.placement.downgrade.clone(), downgrade, unplaced.or(found.downgrade)];
        Ok(Grant {
            pages,
            kind: request.placement.kind,
            nodes: found.nodes,
            populated: request.populate || pages != Pages::Base,
            downgrades: downgrades.into_iter().flatten().collect(),
            ..Grant::plain(request.bytes as u64, size)
        })
    }

    /// Adds the file of a partition, to be mapped at offset `start` of the slot.
    fn in_file(&mut self, start: usize, request: &Request, file: &PmemFile) -> Result<Grant, MemoryError> {
        let page = self.area.arena.machine.base_page();
        let work = file.work().map_err(MemoryError::of_call("fcntl", "duplicating the descriptor of a file"));
        let (descriptor, at, bytes) = work?;
        let number = self.files.len() as u64;
        self.files.push(AreaFile { file: descriptor, page, bytes, named: true });
        push(&mut self.overlays, FilePart { offset: start as u64, bytes, file: number, at, page });
        Ok(Grant { kind: request.traits.kind, populated: true, ..Grant::plain(request.bytes as u64, page) })
    }

    fn no_pages(&self, request: &Request, mut has: String) -> MemoryError {
        let unit = self.area.arena.layout().unit();
        if unit < request.room() {
            has += &format!(
                ", of which a job that did not start with larger ones can use those up to {}",
                Size(unit as u64)
            );
        }
        no_pages(request, self.area.arena.slots(), &has)
    }

    /// Sets the NUMA nodes of future base pages of a part. Returns the wish that cannot be granted, in words.
    fn bind(&self, part: &Range<usize>, request: &Request) -> Result<Option<String>, MemoryError> {
        let start = self.area.arena.reservation.address(&self.area.inside(part));
        apply(request, |nodes, spread| numa::bind_file(start, &[(0..part.len(), nodes)], spread))
    }

    /// Allocates pages of a pool for a part of the area, through another mapping, whose policy the pages follow. The inner error is
    /// the reason why no pages were made; the area is then unchanged.
    fn take_from_pool(
        &mut self,
        part: Range<usize>,
        page: u64,
        request: &Request,
        unplaced: &mut Option<String>,
    ) -> Result<Result<PlacedPages, String>, MemoryError> {
        let file = match self.files.iter().position(|file| file.page == page && !file.named) {
            Some(file) => file,
            None => match mapping::memfd(Some(page)) {
                Ok(file) => {
                    self.files.push(AreaFile { file, page, bytes: 0, named: false });
                    self.files.len() - 1
                }
                Err(errno) => return Ok(Err(errno.to_string())),
            },
        };
        let huge = &mut self.files[file];
        let (at, bytes) = (huge.bytes, part.len() as u64);
        let machine = &self.area.arena.machine;
        let made = mapping::resize(&huge.file, at + bytes)
            .and_then(|()| Reservation::of(&huge.file, at, part.len()));
        let tried = match made {
            Err(errno) => Err(errno.to_string()),
            Ok(mapping) => {
                let start = mapping.start().as_ptr();
                // Smaller pages of a preferred kind are better than pool pages of another kind, so the pool's pages are bound to
                // the kind.
                let strict = |spread| match spread {
                    Spread::Preferred if request.only_on().is_some() => Spread::Bound,
                    spread => spread,
                };
                *unplaced =
                    apply(request, |nodes, spread| numa::bind(start, part.len(), nodes, strict(spread)))?;
                let nodes = || numa::nodes_of_pages(start, part.len(), page as usize);
                match mapping.populate(0..part.len(), page as usize) {
                    Err(errno) => Err(errno.to_string()),
                    Ok(()) => compare(request, machine, page as usize, nodes()),
                }
            }
        };
        if tried.is_ok() {
            huge.bytes += bytes;
            let part = FilePart { offset: part.start as u64, bytes, file: file as u64, at, page };
            push(&mut self.overlays, part);
        } else {
            // If this fails, the file stays longer, but has no pages there.
            _ = mapping::resize(&huge.file, at);
        }
        Ok(tried)
    }

    fn merged(&self, part: Range<usize>, page: usize, request: &Request) -> Result<PlacedPages, String> {
        let inside = self.area.inside(&part);
        let spread_over = match request.placement.spread {
            Spread::Interleaved => request.placement.nodes.len(),
            _ => 1,
        };
        let tried = self
            .area
            .arena
            .reservation
            .collapse(inside.clone(), page, spread_over)
            .map_err(|errno| errno.to_string())
            .and_then(|()| self.look(&part, page, request)?.of_kind(request));
        if tried.is_err() {
            mapping::punch(
                &self.files[0].file,
                (part.start - self.area.range.start) as u64,
                part.len() as u64,
            )
            .map_err(|errno| errno.to_string())?;
        }
        tried
    }

    fn base_pages(
        &self,
        part: Range<usize>,
        end: usize,
        request: &Request,
    ) -> Result<PlacedPages, MemoryError> {
        let traits = &request.traits;
        let system = traits.kind == Some(Kind::SysDefault) || traits.policy == Some(Policy::SysDefault);
        if traits.pgsize.is_none() && !system {
            // Advises up to the next segment, because neighbours with equal advice stay one mapping.
            self.area.arena.reservation.advise_huge(self.area.inside(&(part.start..end)));
        }
        if !request.populate {
            return Ok(PlacedPages::default());
        }
        let page = self.area.arena.machine.base_page() as usize;
        self.area.arena.reservation.populate(self.area.inside(&part), page).map_err(|errno| {
            let bound = request.placement.spread == Spread::Bound;
            let nodes = if bound { &request.placement.nodes[..] } else { &[] };
            MemoryError::unpopulated(&request.what, part.len(), nodes, errno)
        })?;
        let misplaced = |why| MemoryError::new(format!("{}: {why}", request.what));
        self.look(&part, page, request).map_err(misplaced)
    }

    /// Compares the NUMA nodes of a part's pages with the request.
    fn look(&self, part: &Range<usize>, page: usize, request: &Request) -> Result<PlacedPages, String> {
        let start = self.area.arena.reservation.address(&self.area.inside(part));
        compare(request, &self.area.arena.machine, page, numa::nodes_of_pages(start, part.len(), page))
    }

    /// Maps files and pool pages over the area.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the area's present mappings.
    unsafe fn lay_over(&self) -> Result<(), MemoryError> {
        for AreaFile { file, .. } in self.files[1..].iter().filter(|file| !file.named) {
            mapping::seal(file).map_err(MemoryError::of_call("fcntl", "sealing a memfd"))?;
        }
        for part in &self.overlays {
            let range = self.area.inside(&(part.offset as usize..part.end() as usize));
            let reservation = &self.area.arena.reservation;
            let AreaFile { file, named, .. } = &self.files[part.file as usize];
            // SAFETY: nothing refers to the area's mappings (caller).
            unsafe { reservation.map(range.clone(), file, part.at) }.map_err(MemoryError::of_call(
                "mmap",
                if *named { "mapping a file" } else { "mapping huge pages" },
            ))?;
            if *named {
                continue;
            }
            // Enters the existing pages into the page table.
            reservation
                .populate(range, part.page as usize)
                .map_err(MemoryError::of_call("madvise", "entering huge pages"))?;
        }
        Ok(())
    }

    /// Returns the memory, with the parts of all files in the order of offsets, and without files that have no part.
    fn finish(self, grants: Vec<Grant>) -> OwnMemory {
        let Self { area, files, overlays } = self;
        let (start, page) = (area.range.start as u64, area.arena.machine.base_page());
        let (mut parts, mut end) = (Vec::new(), start);
        let rest =
            |from: u64, to: u64| FilePart { offset: from, bytes: to - from, file: 0, at: from - start, page };
        for part in overlays {
            push(&mut parts, rest(end, part.offset));
            end = part.end();
            push(&mut parts, part);
        }
        push(&mut parts, rest(end, area.range.end as u64));
        let holds = |file: &usize| parts.iter().any(|part| part.file == *file as u64);
        let used: Vec<_> = (0..files.len()).filter(holds).collect();
        for part in &mut parts {
            part.file = used.iter().take_while(|&&f| (f as u64) < part.file).count() as u64;
        }
        let files = files.into_iter().enumerate().filter(|(file, _)| used.contains(file));
        let descriptors = files.map(|(_, file)| file.file).collect();
        OwnMemory { descriptors, parts, grants }
    }
}
