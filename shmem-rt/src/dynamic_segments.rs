//! Dynamic segments, which are made after the start: for partitions made at run time, arrays, pools of arrays, halos, and the
//! globals of C programs.
//!
//! All PEs make and remove a segment together, and compute equal indices and offsets without an exchange
//! ([`DynamicRange`](shmem_core::memory::DynamicRange)). They agree through symmetric memory. Only file descriptors pass
//! through the launcher. The steps, each of which ends with an agreement:
//!
//! ```text
//! 1  each PE has addresses and enough memory              bytes, page size and offset are exchanged and compared
//! 2  map, place, touch, register the own part             file parts and keys are exchanged
//! 3  map the parts of the PEs on this node, learn keys
//! ```
//!
//! An error on one PE becomes the same error on all PEs, and each PE undoes its part. Before a segment is removed, all PEs complete
//! their operations and pass a collective. Then each PE drops the segment, its keys and its mappings. Making another segment at
//! these addresses begins with an agreement, which each PE reaches after that. So no PE then has an old mapping or key.

use std::os::fd::{AsFd as _, OwnedFd};

use serde::{Deserialize, Serialize};
use shmem_core::heap::{Allocation, Allocator, Owner};
use shmem_core::memory::{DynamicSegment, FilePart, MemoryError, Request};
use shmem_core::partition::Grant;
use shmem_core::segment_table::Segment;
use shmem_core::text::Text;
use shmem_launch::codec::{self, Message};
use shmem_launch::diagnostics::say;

use crate::collective::Agreed;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::nearest_memory::may_ask;
use crate::state::dynamic_memory::End;
use crate::thread::ThreadLevel;
use crate::world::World;

pub(crate) struct Wanted {
    pub(crate) request: Request,
    /// The ID of the segment's partition, or 0 without one.
    pub(crate) partition: u32,
    pub(crate) name: Text<32>,
    /// Requests for further memory, which the argument `prepare` of [`make`] will populate. Free memory is checked for them, too.
    pub(crate) taken: Vec<Request>,
    /// Whether raw addresses cannot reach the segment. [`remove`] explains why.
    pub(crate) hidden: bool,
    /// The memfd with the memory of this PE's part, if the caller has made it.
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
    /// Number of memory registrations since the start: one for each partition made at run time, each array with memory of its own,
    /// each pool of arrays, and each halo or plan. A registration sends a message to every PE. Over a network, it pins the pages.
    ///
    /// Source: "NUMA-Aware Array Storage" (network cooperation).
    pub fn registrations(&self) -> u64 {
        self.job().memory.dynamic.lock().registrations
    }
}

/// Checks that this host has memory if all its PEs make this request (or, if it is for one NUMA node, the PEs nearest to that).
pub(crate) fn check(job: &Job, request: &Request) -> Result<(), MemoryError> {
    let placement = &request.placement;
    let asks = |cpus: &&Vec<usize>| may_ask(job.site.topology(), cpus, &placement.nodes, placement.kind);
    job.memory.arena.check_dynamic(request, job.site.cpus.iter().filter(asks).count())
}

/// Makes a segment on all PEs, or returns the same error on all PEs, for instance if `wanted` is an error on one. The job ends if
/// bytes, page size or offset differ. `prepare(offset in the slot, ..)` initialises this PE's part before another PE can reach it.
pub(crate) fn make(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: Result<Wanted>,
    prepare: impl FnOnce(usize, &Grant) -> Result<Vec<u8>>,
) -> Result<Made> {
    let found = wanted.and_then(|wanted| {
        let Wanted { request, taken, given, .. } = &wanted;
        // A memfd that the caller has made has its memory already, so its request is not checked.
        let mut asked = taken.iter().chain(given.is_none().then_some(request));
        asked.try_for_each(|request| check(job, request))?;
        let place = job.memory.dynamic.lock().range.allocate(request.bytes, request.room())?;
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
            found.into_iter().for_each(|(_, place)| job.memory.dynamic.lock().range.release(place));
            return Err(error);
        }
    };
    let given = wanted.given.take();
    let made = make_in(job, agreed, &wanted, place, given, prepare);
    match made {
        Ok(said) => {
            let Wanted { request, partition, name, hidden, .. } = wanted;
            let segment = Segment { start: place.offset, bytes: request.bytes, partition, name };
            // SAFETY: by the last agreement of `make_in`, every PE has mapped its own part and those of its node, and has the keys
            // of PEs on other nodes. If raw addresses reach the segment (not `hidden`), references to it exist only inside
            // `World::local` and `World::frozen`, phases that all PEs open together, so no PE writes by an address then.
            unsafe { job.memory.segments.insert(place.index, segment, hidden) };
            job.memory.dynamic.lock().registrations += 1;
            Ok(Made { index: place.index, offset: place.offset, said })
        }
        Err(error) => {
            job.memory.dynamic.lock().range.release(place);
            Err(error)
        }
    }
}

/// Records the first `bytes` bytes of a new segment as one allocation in the ledger. Freeing it removes the segment.
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
    job.memory.dynamic.lock().ends.insert(block.id, End::Segment(made.index));
    Ok(block)
}

/// Makes this PE's part of a segment, and maps the other PEs' parts. If it fails, it undoes both.
fn make_in(
    job: &Job,
    agreed: &Agreed<'_>,
    wanted: &Wanted,
    place: DynamicSegment,
    given: Option<OwnedFd>,
    prepare: impl FnOnce(usize, &Grant) -> Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let (request, DynamicSegment { index, offset }) = (&wanted.request, place);
    let (arena, slot) = (&job.memory.arena, job.site.slot);
    let created = arena.create_dynamic(slot, offset, request, given);
    let (mine, created) = split(created.map_err(Error::from));
    let told = created.and_then(|()| {
        let mine = mine.as_ref().unwrap_or_else(|| unreachable!("it was created"));
        let said = prepare(offset, &mine.grants[0])?;
        let key = register(job, index, offset, request)?;
        Ok(codec::encode(&PartMessage { files: mine.parts.clone(), key, said }))
    });
    let mine = mine.as_ref();
    let told = agreed.settle(told).inspect_err(|_| {
        // SAFETY: no other PE knows the segment, so no PE has used it.
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
            // SAFETY: `register` returned this key on that PE for this segment, with the same offset and size (`make`). The PE sent
            // it in this call, where all members execute the same steps (`Agreed`). The segment is used after the agreement below.
            unsafe { transport.learn(index, *pe, &told.key) };
        }
    }
    agreed.settle(attached.map(|()| Vec::new())).inspect_err(|_| {
        // SAFETY: making the segment fails on all PEs, so no PE has used it.
        unsafe { take_away(job, place, mapped) };
    })?;
    Ok(told.into_iter().map(|told| told.said).collect())
}

fn register(job: &Job, index: u32, offset: usize, request: &Request) -> Result<Vec<u8>> {
    let Some(transport) = &job.network.far else { return Ok(Vec::new()) };
    // SAFETY: `make_in` has mapped the memory. On every path, `take_away` removes it from the transport before it is unmapped.
    let key =
        unsafe { transport.register(index, job.memory.arena.start_of(job.site.slot), offset, request.bytes) };
    key.map_err(|reason| {
        let (what, transport) = (&request.what, job.network.transport);
        ErrorKind::Refused(format!("{what}: the transport `{transport}` cannot register it: {reason}")).into()
    })
}

/// Removes a segment from the transport, and unmaps its parts in `slots`.
///
/// # Safety
///
/// No PE may use the segment, now or later, and no operation on it may be in progress.
unsafe fn take_away(job: &Job, place: DynamicSegment, slots: impl IntoIterator<Item = usize>) {
    if let Some(transport) = &job.network.far {
        // SAFETY: no PE uses the segment, and no operation on it is in progress (caller).
        unsafe { transport.forget(place.index) };
    }
    for slot in slots {
        // SAFETY: no PE uses the segment, and no operation on it is in progress (caller).
        unsafe { job.memory.arena.remove_dynamic(slot, place.offset) };
    }
}

/// Removes a segment.
///
/// # Safety
///
/// All PEs must have dropped their handles, then been quiet, and then passed an agreed collective. So no transfer that used a
/// handle is in progress: it borrowed the handle when it was issued, and all endpoints were quiet after the drop.
///
/// A raw address borrows no handle, and another thread may be about to use one. Therefore raw addresses cannot reach segments that
/// are removed while tokens exist (arrays, pools, halos). A segment that raw addresses can reach (a partition made at run time) is
/// removed only while the world is borrowed exclusively (`drop_partition`), when no token exists.
pub(crate) unsafe fn remove(job: &Job, index: u32) {
    let mut dynamic = job.memory.dynamic.lock();
    // SAFETY: all PEs have dropped their handles of the segment, and have then passed a collective (caller).
    let Segment { start, .. } = unsafe { job.memory.segments.remove(index) };
    let place = DynamicSegment { index, offset: start };
    // SAFETY: all PEs were quiet after they dropped their handles and before the collective (caller), so no address is in use.
    unsafe { take_away(job, place, job.site.pes().iter().filter_map(|pe| pe.on_node())) };
    dynamic.range.release(place);
}

/// Does the cleanup ([`End`]) that some freed allocations need besides their removal from the ledger.
///
/// # Safety
///
/// All PEs must have dropped their handles of the allocations, then been quiet, and then passed an agreed collective.
pub(crate) unsafe fn settle(job: &Job, freed: &[Allocation]) {
    for allocation in freed {
        let end = job.memory.dynamic.lock().ends.remove(&allocation.id);
        match end {
            None => {}
            Some(End::Segment(index)) => {
                job.memory.ledger.lock().remove_heap(index);
                // SAFETY: the allocation was the whole segment, and all PEs have dropped its handle and were quiet (caller).
                unsafe { remove(job, index) };
            }
            Some(End::Pages { range, nodes, spread, populated }) => {
                let (arena, slot) = (&job.memory.arena, job.site.slot);
                let renew = || {
                    arena.place_ranges(slot, &[(range.clone(), &nodes[..])], spread)?;
                    // SAFETY: all PEs have dropped their handles and were quiet (caller), and the block is not
                    // allocated again yet. Only a write through an invalid raw address could be lost.
                    unsafe { arena.discard(slot, range.clone()) }?;
                    if populated { arena.populate(slot, range) } else { Ok(()) }
                };
                match renew() {
                    Ok(()) => {}
                    // The system does not support placing pages. Making the array has already printed a warning.
                    Err(error) if error.no_nodes() => {}
                    Err(error) => say(&format!("shmem: warning: freed pages keep their nodes: {error}")),
                }
            }
        }
    }
}

/// Encodes the values that must be equal on all PEs.
fn extent(Wanted { request, hidden, .. }: &Wanted, place: DynamicSegment) -> Vec<u8> {
    codec::encode(&(request.bytes, request.traits.pgsize, place.offset, place.index, hidden))
}

fn split<T>(result: Result<T>) -> (Option<T>, Result<()>) {
    match result {
        Ok(value) => (Some(value), Ok(())),
        Err(error) => (None, Err(error)),
    }
}

/// The message in which a PE describes its new part of a segment to the other PEs.
#[derive(Debug, Serialize, Deserialize)]
struct PartMessage {
    files: Vec<FilePart>,
    key: Vec<u8>,
    said: Vec<u8>,
}

impl Message for PartMessage {}
