//! Translates C addresses to offsets in slots. A PE's slot is its copy of all symmetric memory.
//!
//! An address is looked up in the default heap, then in the executable's globals, and then in the runtime's table of all segments.
//! The hot path looks in the first two only.

use std::sync::atomic::{AtomicUsize, Ordering};

use shmem_core::context::Endpoint;
use shmem_core::object::SymAddr;

use crate::context;
use crate::errors::refuse;
use crate::globals;
use crate::world;

static MINE: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the default heap at which a value of [`LARGEST`] bytes may begin, or 0 while the library is closed.
static SPAN: AtomicUsize = AtomicUsize::new(0);

/// Bytes of the largest type. A value that begins in the first `SPAN` bytes of the heap also ends in the heap.
const LARGEST: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentOffset {
    pub(crate) segment: u32,
    pub(crate) offset: usize,
}

/// Returns the offset of a value of at most 16 bytes, or `None` if the caller must take the cold path.
#[inline(always)]
pub(crate) fn offset<T>(pointer: *const T) -> Option<usize> {
    let address = pointer.addr();
    let offset = address.wrapping_sub(MINE.load(Ordering::Relaxed));
    if offset.wrapping_sub(FIRST.load(Ordering::Relaxed)) < SPAN.load(Ordering::Relaxed) {
        return Some(offset);
    }
    globals::offset(address)
}

/// Returns the offset of a range, or `None` if the caller must take the cold path.
#[inline(always)]
pub(crate) fn range<T>(pointer: *const T, bytes: usize) -> Option<usize> {
    let offset = pointer.addr().wrapping_sub(MINE.load(Ordering::Relaxed));
    let inside = offset.wrapping_sub(FIRST.load(Ordering::Relaxed));
    let span = SPAN.load(Ordering::Relaxed);
    if inside < span && bytes <= span - inside {
        return Some(offset);
    }
    let (first, last) =
        (globals::offset(pointer.addr())?, pointer.addr().checked_add(bytes.saturating_sub(1))?);
    globals::offset(last).map(|_| first)
}

/// Returns the segment and the offset of a range. Refuses a range that is not symmetric.
pub(crate) fn locate<T>(pointer: *const T, bytes: usize, routine: &str, argument: &str) -> SegmentOffset {
    world::current(routine);
    let endpoint = context::default_endpoint(routine);
    find(endpoint, pointer.addr(), bytes)
        .unwrap_or_else(|| missed(endpoint, pointer.addr(), bytes, routine, argument))
}

pub(crate) fn must_be_aligned<T>(pointer: *const T, routine: &str, argument: &str) {
    if !pointer.is_aligned() {
        let (address, bytes) = (pointer.addr(), size_of::<T>());
        refuse(routine, argument, format_args!("is {address:#x}, which is no multiple of {bytes}"));
    }
}

/// Returns the symmetric address of a range, in the runtime's type. Refuses a range that is not symmetric.
pub(crate) fn address<T>(pointer: *const T, bytes: usize, routine: &str, argument: &str) -> SymAddr {
    let place = locate(pointer, bytes, routine, argument);
    SymAddr::assume(context::default_endpoint(routine).mine(place.offset))
}

pub(crate) fn find(endpoint: &Endpoint, address: usize, bytes: usize) -> Option<SegmentOffset> {
    let offset = address.wrapping_sub(endpoint.mine(0).addr());
    let offset = match endpoint.segments().find(offset, bytes) {
        Some(segment) => return Some(SegmentOffset { segment, offset }),
        None => globals::offset(address)?,
    };
    let segment = endpoint.segments().find(offset, bytes)?;
    Some(SegmentOffset { segment, offset })
}

#[cold]
#[inline(never)]
fn missed(endpoint: &Endpoint, address: usize, bytes: usize, routine: &str, argument: &str) -> ! {
    let list = endpoint.segments().list();
    let mine = endpoint.mine(0).addr();
    if let Some(offset) = globals::offset(address) {
        let ends = list.iter().map(|(_, segment)| segment.start + segment.bytes).filter(|&end| end > offset);
        let room = ends.min().map_or(0, |end| end - offset);
        refuse(
            routine,
            argument,
            format_args!(
                "is {address:#x}: {bytes} bytes from there on are more than the {room} up to the end of the program's variables"
            ),
        );
    }
    if let Some(why) = globals::refusal(address) {
        refuse(routine, argument, format_args!("is {address:#x}, which is not symmetric: {why}"));
    }
    let is_symmetric = |index: &u32| *index != shmem_core::segment_table::SYSTEM;
    let segments = list.iter().filter(|(index, _)| is_symmetric(index));
    let segments = segments
        .map(|(_, segment)| (mine + segment.start, mine + segment.start + segment.bytes, segment.name));
    if let Some((_, end, name)) = segments.clone().find(|(start, end, _)| (*start..*end).contains(&address)) {
        let room = end - address;
        let why = format_args!("{bytes} bytes from there on are more than the {room} that `{name}` has left");
        refuse(routine, argument, format_args!("is {address:#x}: {why}"))
    }
    let distance =
        |(start, end, _): &(usize, usize, _)| start.saturating_sub(address).max(address.saturating_sub(*end));
    let nearest = segments.min_by_key(distance);
    let nearest = nearest.map_or_else(String::new, |(start, end, name)| {
        format!("; nearest is {start:#x}..{end:#x} (`{name}`)")
    });
    refuse(
        routine,
        argument,
        format_args!(
            "is {address:#x}: no symmetric memory; symmetric are the variables of the executable, what shmem_malloc gives{nearest}"
        ),
    )
}

pub(crate) fn open(endpoint: &Endpoint) {
    let list = endpoint.segments().list();
    if let Some((_, heap)) = list.iter().find(|(index, _)| *index == 1) {
        MINE.store(endpoint.mine(0).addr(), Ordering::Relaxed);
        FIRST.store(heap.start, Ordering::Relaxed);
        SPAN.store(heap.bytes.saturating_sub(LARGEST - 1), Ordering::Release);
    }
}

pub(crate) fn close() {
    SPAN.store(0, Ordering::Release);
}
