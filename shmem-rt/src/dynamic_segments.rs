//! Segments made after the start: partitions made at run time, arrays with memory of their own, pools of arrays, halos.
//!
//! All PEs make and remove a segment together, and compute equal indices and offsets without an exchange
//! ([`LaterRange`](shmem_core::memory::LaterRange)). They agree over symmetric memory; the launcher only passes descriptors on:
//!
//! ```text
//! 1  each PE has addresses and enough memory              bytes, page size and offset are exchanged and compared
//! 2  map, place, touch, register the own part             file parts and keys are exchanged
//! 3  map the parts of the PEs on this node, learn keys
//! ```
//!
//! An error on one PE is the same error on all, and each undoes its part. To remove a segment all PEs are quiet and pass a
//! collective, then each forgets the segment, its keys and its mappings. The first agreement on another segment at these addresses
//! comes after that on all PEs, so none has an old mapping or key then.

use std::os::fd::{AsFd as _, OwnedFd};

use serde::{Deserialize, Serialize};
use shmem_core::fixed_text::Text;
use shmem_core::heap::{Allocation, Allocator, Owner};
use shmem_core::memory::{FilePart, LaterSegment, MemoryError, Request};
use shmem_core::partition::Grant;
use shmem_core::segment_table::Segment;
use shmem_launch::codec::{self, Message};
use shmem_launch::diagnostics::say;

use crate::collective::Agreed;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::nearest_memory::may_ask;
use crate::state::dynamic_segments::End;
use crate::thread::ThreadLevel;
use crate::world::World;

pub(crate) struct Wanted {
    pub(crate) request: Request,
    /// The partition's ID, or 0.
    pub(crate) partition: u32,
    pub(crate) name: Text<32>,
    /// Other memory that `prepare` populates.
    pub(crate) taken: Vec<Request>,
    /// Whether raw addresses do not find the segment: see [`remove`].
    pub(crate) hidden: bool,
    /// The memfd of this PE's part, if it exists already.
    pub(crate) given: Option<OwnedFd>,
}

impl Wanted {
    pub(crate) fn new(request: Request, partition: u32, name: Text<32>) -> Self {
        Self { request, partition, name, taken: Vec::new(), hidden: true, given: None }
    }
}

pub(crate) struct Made {
    pub(crate) index: u32,
    pub(crate) offset: usize,
    pub(crate) said: Vec<Vec<u8>>,
}

impl<L: ThreadLevel> World<L> {
    /// Number of registrations of memory with all PEs since the start: one for every partition made at run time, every array with
    /// memory of its own, and every pool of arrays. Each sends a message to every PE, and pins the pages on a network.
    ///
    /// Source: "NUMA-Aware Array Storage" (network cooperation).
    pub fn registrations(&self) -> u64 {
        self.job().memory.later.lock().registrations
    }
}

/// Checks that this host has the memory that all its PEs request at the same time, or on one NUMA node the PEs next to it.
pub(crate) fn check(job: &Job, request: &Request) -> Result<(), MemoryError> {
    let placement = &request.placement;
    let asks = |cpus: &&Vec<usize>| may_ask(job.site.topology(), cpus, &placement.nodes, placement.kind);
    job.memory.arena.check_later(request, job.site.cpus.iter().filter(asks).count())
}

/// Makes a segment on all PEs, or fails on all with the same error. `wanted` may be an error on some PEs. The job ends if bytes, page
/// size or offset differ. `prepare` initialises this PE's part, at an offset of its slot, before another PE can reach it.
pub(crate) fn make(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: Result<Wanted>,
    prepare: impl FnOnce(usize, &Grant) -> Result<Vec<u8>>,
) -> Result<Made> {
    let found = wanted.and_then(|wanted| {
        let Wanted { request, taken, given, .. } = &wanted;
        // A given memfd has its memory already.
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
            // SAFETY: by the last agreement of `make_in` every PE has mapped its part and the parts of the other PEs of its node,
            // and has the keys of all others. Only phases of all PEs lend references into a segment that is not hidden.
            unsafe { job.memory.segments.insert(place.index, segment, hidden) };
            job.memory.later.lock().registrations += 1;
            Ok(Made { index: place.index, offset: place.offset, said })
        }
        Err(error) => {
            job.memory.later.lock().range.release(place);
            Err(error)
        }
    }
}

/// Records the first `bytes` bytes of a new segment as one allocation, on every PE. Freeing it removes the segment.
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

/// Makes this PE's part of a segment and maps the other PEs' parts; after an error nothing is left.
fn make_in(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: &Wanted,
    place: LaterSegment,
    given: Option<OwnedFd>,
    prepare: impl FnOnce(usize, &Grant) -> Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let (request, LaterSegment { index, offset }) = (&wanted.request, place);
    let (arena, slot) = (&job.memory.arena, job.site.slot);
    let created = arena.create_later(slot, offset, request, given);
    let (mine, created) = split(created.map_err(Error::from));
    let told = created.and_then(|()| {
        let mine = mine.as_ref().unwrap_or_else(|| unreachable!("it was created"));
        let said = prepare(offset, &mine.grants[0])?;
        let key = register(job, index, offset, request)?;
        Ok(codec::encode(&PartMessage { files: mine.parts.clone(), key, said }))
    });
    let mine = mine.as_ref();
    let told = agreed.settle(told).inspect_err(|_| {
        // SAFETY: no other PE knows of the segment, so none has used it.
        unsafe { take_away(job, place, mine.map(|_| slot)) };
    })?;
    let told: std::result::Result<Vec<PartMessage>, codec::Malformed> =
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
            // SAFETY: the key that `register` returned on that PE for this segment, sent in this agreed collective (`Agreed`, 2), for
            // as many bytes at the same offset (`make`). The segment is used only after the agreement below.
            unsafe { transport.learn(index, *pe, &told.key) };
        }
    }
    agreed.settle(attached.map(|()| Vec::new())).inspect_err(|_| {
        // SAFETY: the segment fails on all PEs, so none has used it.
        unsafe { take_away(job, place, mapped) };
    })?;
    Ok(told.into_iter().map(|told| told.said).collect())
}

fn register(job: &Job, index: u32, offset: usize, request: &Request) -> Result<Vec<u8>> {
    let Some(transport) = &job.network.far else { return Ok(Vec::new()) };
    // SAFETY: `make_in` has mapped it; `take_away` makes the transport forget it before it is unmapped, on every path.
    let key =
        unsafe { transport.register(index, job.memory.arena.start_of(job.site.slot), offset, request.bytes) };
    key.map_err(|reason| {
        let (what, transport) = (&request.what, job.network.transport);
        ErrorKind::Refused(format!("{what}: the transport `{transport}` cannot register it: {reason}")).into()
    })
}

/// Removes the segment from the transport, and unmaps the parts in these slots.
///
/// # Safety
///
/// No PE uses the segment yet or any more, and no operation to it is under way.
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
/// All PEs have dropped their handles, then were quiet, and then passed an agreed collective. So no transfer by a handle is
/// under way: the handle was borrowed when the transfer was issued, and after the drop all endpoints were quiet.
///
/// A raw address borrows nothing, and another thread may be about to use one. Hence segments that are removed while tokens
/// exist (arrays, pools, halos) are hidden from raw addresses. A segment that raw addresses find (a partition made at run time)
/// is removed only with the world borrowed exclusively (`drop_partition`), when no token exists.
pub(crate) unsafe fn remove(job: &Job, index: u32) {
    let mut later = job.memory.later.lock();
    // SAFETY: all PEs have dropped their handles of the segment, and passed a collective since (caller).
    let Segment { start, .. } = unsafe { job.memory.segments.remove(index) };
    let place = LaterSegment { index, offset: start };
    // SAFETY: all PEs were quiet after their drops and before the collective (caller); no address or handle is left.
    unsafe { take_away(job, place, job.site.pes().iter().filter_map(|pe| pe.on_node())) };
    later.range.release(place);
}

/// Carries out the [`End`] of each freed allocation.
///
/// # Safety
///
/// All PEs have dropped their handles, then were quiet, and then passed an agreed collective.
pub(crate) unsafe fn settle(job: &Job, freed: &[Allocation]) {
    for allocation in freed {
        let end = job.memory.later.lock().ends.remove(&allocation.id);
        match end {
            None => {}
            Some(End::Segment(index)) => {
                job.memory.ledger.lock().remove_heap(index);
                // SAFETY: the allocation was all of the segment, and all PEs have dropped it (caller).
                unsafe { remove(job, index) };
            }
            Some(End::Pages { range, nodes, spread, populated }) => {
                let (arena, slot) = (&job.memory.arena, job.site.slot);
                let renew = || {
                    arena.place_ranges(slot, &[(range.clone(), &nodes[..])], spread)?;
                    // SAFETY: all PEs have dropped their handles and were quiet (caller), and the block is not handed out again
                    // yet. A write by a stray address is lost.
                    unsafe { arena.discard(slot, range.clone()) }?;
                    if populated { arena.populate(slot, range) } else { Ok(()) }
                };
                match renew() {
                    Ok(()) => {}
                    // Pages cannot be placed here; the array has warned of that.
                    Err(error) if error.no_nodes() => {}
                    Err(error) => say(&format!("shmem: warning: freed pages keep their nodes: {error}")),
                }
            }
        }
    }
}

/// What must be equal on all PEs.
fn extent(Wanted { request, hidden, .. }: &Wanted, place: LaterSegment) -> Vec<u8> {
    codec::encode(&(request.bytes, request.traits.pgsize, place.offset, place.index, hidden))
}

fn split<T>(result: Result<T>) -> (Option<T>, Result<()>) {
    match result {
        Ok(value) => (Some(value), Ok(())),
        Err(error) => (None, Err(error)),
    }
}

/// What a PE says of the part of a segment that it has made.
#[derive(Debug, Serialize, Deserialize)]
struct PartMessage {
    files: Vec<FilePart>,
    key: Vec<u8>,
    said: Vec<u8>,
}

impl Message for PartMessage {}
