//! Segments that come after the start: partitions made at run time, arrays with memory of their own,
//! pools of arrays, halos.
//!
//! All PEs make and remove them together, and find the same index and offset for each without talking
//! ([`LaterRange`](shmem_core::memory::LaterRange)). Making one takes three meetings, all over symmetric
//! memory; the launcher is asked for one thing only, to pass the descriptors on:
//!
//! ```text
//! 1  every PE has addresses and enough memory             agreed, before any of it is taken;
//!    as many bytes, of such pages, at such an offset      told, and compared with the own
//! 2  map, place, touch, register the own part             agreed; file parts and keys are told with it
//! 3  map the parts of the PEs on this node, learn keys    agreed
//! ```
//!
//! What fails on one PE fails on all with the same error, and nothing is left of it. Removing is the
//! other way round: everybody is quiet, all meet, and then each PE forgets the segment, its keys and its
//! mappings. A range of addresses is used again by making another segment, whose first meeting lies
//! behind all that. So no PE uses a range anew while another still has an old mapping or key of it.

use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};

use serde::{Deserialize, Serialize};
use shmem_core::heap::{Allocation, Allocator, Owner};
use shmem_core::memory::{FilePart, LaterSegment, MemoryError, Request};
use shmem_core::partition::Grant;
use shmem_core::segment::Segment;
use shmem_core::text::Text;
use shmem_launch::codec::{self, Message};
use shmem_launch::say::say;

use crate::collective::Agreed;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::nearness::may_ask;
use crate::state::later::End;
use crate::thread::ThreadLevel;
use crate::world::World;

pub(crate) struct Wanted {
    pub(crate) request: Request,
    /// The partition's ID, or 0.
    pub(crate) partition: u32,
    /// The partition's name, or what else it is.
    pub(crate) name: Text<32>,
    /// What `prepare` takes of the memory there is, apart from what the request itself populates.
    pub(crate) taken: Vec<Request>,
    /// Whether no raw address is to find it. It must be, unless the segment is removed by who has the world
    /// exclusively: see [`remove`].
    pub(crate) hidden: bool,
    /// The memfd of the own part, if this process has had it before; else one is made.
    pub(crate) given: Option<OwnedFd>,
}

impl Wanted {
    /// A hidden segment, for which new memory is taken.
    pub(crate) fn new(request: Request, partition: u32, name: Text<32>) -> Self {
        Self { request, partition, name, taken: Vec::new(), hidden: true, given: None }
    }
}

pub(crate) struct Made {
    pub(crate) index: u32,
    /// Bytes from the start of a slot.
    pub(crate) offset: usize,
    /// What the preparations of each PE have said, by its number.
    pub(crate) said: Vec<Vec<u8>>,
}

/// This PE's part of a segment while it is made.
pub(crate) struct Own<'a> {
    /// Bytes from the start of the slot.
    pub(crate) offset: usize,
    pub(crate) grant: &'a Grant,
}

impl<L: ThreadLevel> World<L> {
    /// How often memory has been made known to all PEs since the start: once for every partition made at
    /// run time, every array with memory of its own, and every pool of arrays. Arrays that lie in a heap
    /// or in pools that exist count nothing, which is what they are for: a registration takes a message
    /// to every PE, and on a network pins the pages.
    ///
    /// Source: "NUMA-Aware Array Storage" (network cooperation).
    pub fn registrations(&self) -> u64 {
        self.job().memory.later.lock().registrations
    }
}

/// Checks that this host has what all its PEs ask of memory at the same time. Memory of one node is asked
/// for by those PEs that have it next to them.
pub(crate) fn check(job: &Job, request: &Request) -> Result<(), MemoryError> {
    let placement = &request.placement;
    let asks = |cpus: &&Vec<usize>| may_ask(job.site.topology(), cpus, &placement.nodes, placement.kind);
    job.memory.arena.check_later(request, job.site.cpus.iter().filter(asks).count())
}

/// Makes a segment on all PEs. `wanted` may have failed on some; the others have told each other bytes, page size
/// and offset, and end the job if those differ. `prepare` works on the own part, which nobody else knows of yet.
///
/// # Errors
///
/// The same on every PE, if it fails on any: see [`Agreed::settle`].
pub(crate) fn make(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: Result<Wanted>,
    prepare: impl FnOnce(Own<'_>) -> Result<Vec<u8>>,
) -> Result<Made> {
    let found = wanted.and_then(|wanted| {
        let Wanted { request, taken, given, .. } = &wanted;
        // Memory that is given is there already, and asks the host for nothing: programs in C start with such.
        let mut asked = taken.iter().chain(given.is_none().then_some(request));
        asked.try_for_each(|request| check(job, request))?;
        let place = job.memory.later.lock().range.allocate(request.bytes, request.room())?;
        Ok((wanted, place))
    });
    let (found, said) = split(found);
    let mine = found.as_ref().map(|(wanted, place)| extent(wanted, *place)).unwrap_or_default();
    let (mut wanted, place) = match (agreed.settle(said.map(|()| mine.clone())), found) {
        (Ok(all), Some(found)) => {
            if all.iter().any(|theirs| *theirs != mine) {
                job.abort(1, "the PEs differ on where a segment is to be made, and how large");
            }
            found
        }
        (Ok(_), None) => unreachable!("who found nothing does not agree"),
        (Err(error), found) => {
            found.into_iter().for_each(|(_, place)| job.memory.later.lock().range.release(place));
            return Err(error);
        }
    };
    let given = wanted.given.take();
    let made = make_in(job, agreed, &wanted, place, given, prepare);
    match made {
        Ok(said) => {
            let Wanted { request, partition, name, hidden, .. } = wanted;
            let segment = Segment { start: place.offset, bytes: request.bytes, partition, name };
            if hidden {
                // SAFETY: the last agreement of `make_in` says that every PE has mapped its part and those of
                // the other PEs of its node, and has the keys of the others. No raw address is found in it.
                unsafe { job.memory.segments.insert_hidden(place.index, segment) };
            } else {
                // SAFETY: mapped and known everywhere by the last agreement of `make_in`; references into
                // what is not hidden are lent by phases of all PEs alone.
                unsafe { job.memory.segments.insert(place.index, segment) };
            }
            job.memory.later.lock().registrations += 1;
            Ok(Made { index: place.index, offset: place.offset, said })
        }
        Err(error) => {
            job.memory.later.lock().range.release(place);
            Err(error)
        }
    }
}

/// Enters the first `bytes` bytes of a segment that was made as one object, with which it ends. The same on every PE.
#[track_caller]
pub(crate) fn enter_whole(
    job: &Job,
    made: &Made,
    (partition, name): (u32, Text<32>),
    bytes: usize,
    align: usize,
) -> Result<Allocation> {
    let mut ledger = job.memory.ledger.lock();
    ledger.add_heap(made.index, Allocator::new(partition, name, made.offset..made.offset + bytes, bytes));
    let block = ledger.allocate(made.index, bytes, align, Owner::Handle)?;
    drop(ledger);
    job.memory.later.lock().ends.insert(block.id, End::Segment(made.index));
    Ok(block)
}

/// Makes the own part of a segment and maps those of the others; leaves nothing after an error.
fn make_in(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: &Wanted,
    place: LaterSegment,
    given: Option<OwnedFd>,
    prepare: impl FnOnce(Own<'_>) -> Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let (request, LaterSegment { index, offset }) = (&wanted.request, place);
    let (arena, slot) = (&job.memory.arena, job.site.slot);
    let created = arena.create_later(slot, offset, request, given);
    let (mine, created) = split(created.map_err(Error::from));
    let told = created.and_then(|()| {
        let mine = mine.as_ref().unwrap_or_else(|| unreachable!("it was created"));
        let said = prepare(Own { offset, grant: &mine.grants[0] })?;
        let key = register(job, index, offset, request)?;
        Ok(codec::encode(&Part { files: mine.parts.clone(), key, said }))
    });
    let mine = mine.as_ref();
    let told = agreed.settle(told).inspect_err(|_| {
        // SAFETY: nobody was told of the segment, so nobody has used it.
        unsafe { take_away(job, place, mine.map(|_| slot)) };
    })?;
    let told: std::result::Result<Vec<Part>, codec::Malformed> =
        told.iter().map(|told| codec::decode(told)).collect();
    let told = told.unwrap_or_else(|_| job.abort(1, "what a PE says of a segment is garbled"));

    let descriptors: Vec<_> =
        mine.iter().flat_map(|mine| &mine.descriptors).map(|descriptor| descriptor.as_fd()).collect();
    let shared = job
        .bootstrap
        .share(&descriptors)
        .unwrap_or_else(|error| job.abort(1, &Error::launcher(error).to_string()));
    let mut mapped = vec![slot];
    let neighbours = job.site.pes().iter().filter_map(|pe| Some((pe.number(), pe.on_node()?)));
    let attach = |((number, theirs), descriptors): ((usize, usize), Vec<OwnedFd>)| {
        if theirs != slot {
            arena.attach(theirs, Some((offset, request)), &descriptors, &told[number].files)?;
            mapped.push(theirs);
        }
        Ok(())
    };
    let attached = neighbours.zip(shared).try_for_each(attach);
    if let Some(transport) = &job.network.far {
        for (pe, told) in job.site.pes().iter().zip(&told).filter(|(pe, _)| pe.on_node().is_none()) {
            // SAFETY: what `register` gave on that PE for this segment: it has told it in this agreed collective
            // (`Agreed`, 2), for as many bytes at the same offset (`make`). Those who use the segment come
            // behind the agreement below.
            unsafe { transport.learn(index, *pe, &told.key) };
        }
    }
    agreed.settle(attached.map(|()| Vec::new())).inspect_err(|_| {
        // SAFETY: the segment fails on all PEs: nobody has used it.
        unsafe { take_away(job, place, mapped) };
    })?;
    Ok(told.into_iter().map(|told| told.said).collect())
}

/// Makes the own part known to the transport, if there is one.
fn register(job: &Job, index: u32, offset: usize, request: &Request) -> Result<Vec<u8>> {
    let Some(transport) = &job.network.far else { return Ok(Vec::new()) };
    // SAFETY: `make_in` has mapped it; `take_away` has it forgotten before it is unmapped, on every path.
    let key =
        unsafe { transport.register(index, job.memory.arena.start_of(job.site.slot), offset, request.bytes) };
    key.map_err(|reason| {
        let (what, transport) = (&request.what, job.network.transport);
        ErrorKind::Refused(format!("{what}: the transport `{transport}` cannot register it: {reason}")).into()
    })
}

/// Takes the segment from the transport, and unmaps the parts in these slots.
///
/// # Safety
///
/// Nobody uses the segment, as yet or any more, and nothing for it is under way.
unsafe fn take_away(job: &Job, place: LaterSegment, slots: impl IntoIterator<Item = usize>) {
    if let Some(transport) = &job.network.far {
        // SAFETY: the promise of this function's caller.
        unsafe { transport.forget(place.index) };
    }
    for slot in slots {
        // SAFETY: the promise of this function's caller.
        unsafe { job.memory.arena.remove_later(slot, place.offset) };
    }
}

/// Removes a segment.
///
/// # Safety
///
/// All PEs have given it up, have been quiet, and have met since, in an agreed collective. So no transfer by a handle is
/// under way: a handle was borrowed when it was started, was given up after that, and then all endpoints were quiet.
///
/// A raw address borrows nothing, and another thread may be about to use one. Hence what goes while tokens
/// exist (arrays, pools, halos) is hidden from raw addresses, and what they find (a partition made at run time)
/// goes only with the world borrowed exclusively (`drop_partition`), when no token is left.
pub(crate) unsafe fn remove(job: &Job, index: u32) {
    let mut later = job.memory.later.lock();
    // SAFETY: all PEs have given it up and met since (caller), so there are no handles of objects in it.
    let Segment { start, bytes, .. } = unsafe { job.memory.segments.remove(index) };
    let place = LaterSegment { index, offset: start };
    // Whatever comes to these addresses has pages of its own.
    later.misplaced.leave_out(&(start..start + bytes));
    // SAFETY: all PEs have given it up, and were quiet before they met (caller); no address or handle leads there.
    unsafe { take_away(job, place, job.site.pes().iter().filter_map(|pe| pe.on_node())) };
    later.range.release(place);
}

/// Undoes what was done for allocations.
///
/// # Safety
///
/// All PEs have given them up, have been quiet, and have met since, in an agreed collective.
pub(crate) unsafe fn settle(job: &Job, freed: &[Allocation]) {
    for allocation in freed {
        let end = job.memory.later.lock().ends.remove(&allocation.id);
        match end {
            None => {}
            Some(End::Segment(index)) => {
                job.memory.ledger.lock().remove_heap(index);
                // SAFETY: the allocation was all of the segment, and all PEs have given it up (caller).
                unsafe { remove(job, index) };
            }
            Some(End::Pages { range, nodes, spread }) => {
                let ranges = [(range.clone(), &nodes[..])];
                let back = job.memory.arena.place_ranges(job.site.slot, &ranges, spread);
                job.memory.later.lock().misplaced.add(range);
                match back {
                    Ok(()) => {}
                    // Nothing was placed, which was said when the array was made.
                    Err(error) if error.no_nodes() => {}
                    Err(error) => {
                        say(&format!("shmem: warning: freed pages keep their nodes: {error}"));
                    }
                }
            }
        }
    }
}

/// Has pages that a new block of a heap meets come from where the partition wants them, and makes them if it
/// has all its pages from the start. Nobody knows of the block yet. (Free pages that lie where an array wanted them
/// are kept for the next array, which finds most of them right.)
pub(crate) fn renew_pages(job: &Job, block: &Range<usize>, populated: impl FnOnce() -> bool) {
    let ranges = job.memory.later.lock().misplaced.take(block);
    if ranges.is_empty() {
        return;
    }
    let populated = populated();
    for range in ranges {
        // SAFETY: this PE's ledger had the range free until now, and has not given the block away yet, so there is no
        // reference to it in this process. Other processes never have references to memory of this one. What a
        // stray address still writes there is lost.
        let discarded = unsafe { job.memory.arena.discard(job.site.slot, range.clone()) };
        let made = discarded.and_then(|()| match populated {
            true => job.memory.arena.populate(job.site.slot, range),
            false => Ok(()),
        });
        if let Err(error) = made {
            say(&format!("shmem: warning: pages of a heap lie where an array wanted them: {error}"));
        }
    }
}

/// What must be equal on all PEs of a segment that is to be made: its bytes, the bytes of its pages, where it lies,
/// and its index.
fn extent(wanted: &Wanted, place: LaterSegment) -> Vec<u8> {
    let pages = wanted.request.traits.pgsize.unwrap_or_default();
    let words = [
        wanted.request.bytes as u64,
        pages,
        place.offset as u64,
        u64::from(place.index),
        u64::from(wanted.hidden),
    ];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A result as a value and what is to be agreed on.
fn split<T>(result: Result<T>) -> (Option<T>, Result<()>) {
    match result {
        Ok(value) => (Some(value), Ok(())),
        Err(error) => (None, Err(error)),
    }
}

/// What a PE tells the others of a segment that it has made its part of.
#[derive(Debug, Serialize, Deserialize)]
struct Part {
    /// Which bytes of the segment are in which file.
    files: Vec<FilePart>,
    /// By which the transport of others reaches it.
    key: Vec<u8>,
    /// What who makes the segment has to say.
    said: Vec<u8>,
}

impl Message for Part {}
