//! The division of one PE's slot.
//!
//! ```text
//! 0          system area, memory of teams
//! ..         partition, partition, ..      in the order of their IDs
//!            dynamic segments               run-time partitions, registered arrays, halos
//! stride     the next PE's slot
//! ```
//!
//! The layout follows from the requests alone, not from the grants of a machine, so every PE computes an equal layout. Slots and
//! segments start at multiples of 2 MiB, or of a larger page size, because only there can the kernel merge pages to a huge page.
//! The stride is an *odd* multiple of this size, so that equal offsets of different PEs are in different cache sets. Segments start
//! at multiples of the *granule*. It is 2 MiB, but more in a large slot, because the table of [`Segments`] has an entry for each
//! granule.

use core::ops::Range;

use super::error::{MemoryError, Size};
use super::mapping::HUGE;
use super::segment_request::Request;
use crate::partition::{MAX_PARTITIONS, PartitionSpec};
use crate::segment_table::{SYSTEM, Segment, Segments};
use crate::system_area::SYSTEM_BYTES;
use crate::text::Text;
use crate::topology::Topology;

/// Upper limit on the granules of a slot, because the table of segments has an entry for each.
const MOST_GRANULES: usize = 1024;

/// Upper limit on the addresses of a process, in bytes. They include the slots of all PEs of the node.
pub(super) const ADDRESSES: u64 = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };

/// The layout of a PE's slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotLayout {
    granule: usize,
    unit: usize,
    requests: Vec<Request>,
    names: Vec<(u32, Text<32>)>,
    system: usize,
    starts: Vec<usize>,
    bytes: usize,
    slot_bytes: usize,
    stride: usize,
    /// The largest consumer of a slot's addresses: a text with the variable that sets its size, and its bytes.
    pub(super) largest_claim: (String, u64),
    allowed: Vec<u32>,
}

impl SlotLayout {
    /// Computes the layout of a slot for `partitions`, which are in the order of their IDs. Teams get at least `team_bytes` bytes
    /// for allocations, dynamic segments `dynamic_bytes` bytes of addresses. `topology` decides placement, but no offset.
    /// Fails if the slot does not fit into an address space, or a mandatory kind of memory is not available.
    /// Panics if there are more than [`MAX_PARTITIONS`] partitions, or they are in another order.
    pub fn new(
        partitions: &[PartitionSpec],
        team_bytes: usize,
        dynamic_bytes: usize,
        topology: &Topology,
    ) -> Result<Self, MemoryError> {
        assert!(partitions.len() <= MAX_PARTITIONS, "more partitions than a job can have");
        assert!(partitions.is_sorted_by(|a, b| a.id < b.id), "partitions come in the order of their IDs");
        let requests = partitions
            .iter()
            .map(|spec| Request::partition(spec, topology))
            .collect::<Result<Vec<_>, _>>()?;
        let unit = requests.iter().map(Request::room).max().unwrap_or(HUGE);
        let largest_claim = largest_claim(&requests, team_bytes, dynamic_bytes);
        let too_large = || {
            MemoryError::new(format!(
                "{}: {} are asked for, and a process has {} of addresses for all PEs of its node; lower it",
                largest_claim.0,
                Size(largest_claim.1),
                Size(ADDRESSES)
            ))
        };
        let system = SYSTEM_BYTES.checked_add(team_bytes).ok_or_else(too_large)?;
        let names = partitions.iter().map(|spec| (spec.id, spec.name)).collect();
        let mut granule = HUGE;
        loop {
            let arranged = arrange(system, &requests, dynamic_bytes, granule);
            let (starts, bytes, slot_bytes) = arranged.ok_or_else(too_large)?;
            if slot_bytes.div_ceil(granule) > MOST_GRANULES {
                granule *= 2;
                continue;
            }
            let stride = odd_multiple(slot_bytes, unit).ok_or_else(too_large)?;
            return Ok(Self {
                granule,
                unit,
                requests,
                names,
                system,
                starts,
                bytes,
                slot_bytes,
                stride,
                largest_claim,
                allowed: topology
                    .nodes()
                    .iter()
                    .filter(|node| node.allowed)
                    .map(|node| node.number)
                    .collect(),
            });
        }
    }

    /// The NUMA nodes that this process may use.
    pub fn allowed_nodes(&self) -> &[u32] {
        &self.allowed
    }

    /// Returns the table of segments, with the system area and all partitions.
    pub fn segments(&self) -> Segments {
        let segments = Segments::new(self.slot_bytes, self.granule.trailing_zeros());
        let system = Segment { start: 0, bytes: self.system, partition: 0, name: Text::head("system") };
        // SAFETY: the arena maps the system area in every slot before any operation, and this segment is hidden from the lookup of
        // raw addresses.
        unsafe { segments.insert(SYSTEM, system, true) };
        for (k, (&(partition, name), request)) in self.names.iter().zip(&self.requests).enumerate() {
            let segment = Segment { start: self.starts[k], bytes: request.bytes, partition, name };
            // SAFETY: the arena maps every partition in every slot before any operation, and only phases (`World::local`,
            // `frozen`) lend references into partitions.
            unsafe { segments.insert(1 + k as u32, segment, false) };
        }
        segments
    }

    /// The requests for the partitions, in the order of their IDs.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The range of partition number `k`, counted from 0 in the order of IDs: bytes from the start of a slot.
    /// Panics if there is no such partition.
    pub fn partition(&self, k: usize) -> Range<usize> {
        self.starts[k]..self.starts[k] + self.requests[k].bytes
    }

    /// The range of the teams' memory: bytes from the start of a slot, inside the system's segment.
    pub fn teams(&self) -> Range<usize> {
        SYSTEM_BYTES..self.system
    }

    /// Bytes of addresses for the system area and the partitions.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The range of addresses for dynamic segments: bytes from the start of a slot.
    pub fn dynamic(&self) -> Range<usize> {
        self.bytes..self.slot_bytes
    }

    /// Bytes of addresses in a slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Bytes from one PE's slot to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Alignment of segments in a slot, in bytes.
    pub fn granule(&self) -> usize {
        self.granule
    }

    /// Alignment of the slots' addresses, in bytes: 2 MiB, or more if a partition asks for larger pages.
    pub fn unit(&self) -> usize {
        self.unit
    }
}

/// Returns the starts of the partitions, the end of the last one, and the end of the slot.
fn arrange(
    system: usize,
    requests: &[Request],
    dynamic: usize,
    granule: usize,
) -> Option<(Vec<usize>, usize, usize)> {
    let mut end = Some(system);
    let mut starts = Vec::with_capacity(requests.len());
    for request in requests {
        let room = request.room().max(granule);
        let start = end.and_then(|end| end.checked_next_multiple_of(room));
        end = start
            .and_then(|start| start.checked_add(request.bytes))
            .and_then(|end| end.checked_next_multiple_of(room));
        starts.push(start?);
    }
    // Aligned for the largest requested pages, because a dynamic segment may have such pages.
    let room = requests.iter().map(Request::room).max().unwrap_or(HUGE).max(granule);
    let bytes = end?.checked_next_multiple_of(room)?;
    let slot_bytes = bytes.checked_add(dynamic)?.checked_next_multiple_of(granule)?;
    isize::try_from(slot_bytes).is_ok().then_some((starts, bytes, slot_bytes))
}

fn odd_multiple(bytes: usize, unit: usize) -> Option<usize> {
    (bytes.div_ceil(unit) | 1).checked_mul(unit)
}

fn largest_claim(requests: &[Request], teams: usize, dynamic: usize) -> (String, u64) {
    let claims = requests.iter().map(|request| (request.what.as_str(), request.bytes)).chain([
        ("SHMEM_TEAM_SIZE, the memory of teams", teams),
        ("SHMEM_DYNAMIC_SIZE, the addresses for memory that is made after the start", dynamic),
    ]);
    let largest = claims.max_by_key(|(_, bytes)| *bytes);
    largest.map_or_else(|| unreachable!("two are always there"), |(what, bytes)| (what.into(), bytes as u64))
}
