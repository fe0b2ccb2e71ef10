//! How one PE's place is divided.
//!
//! ```text
//! 0          system area, memory of teams
//! granule    partition, partition, ..      in the order of their IDs
//!            later segments                 run-time partitions, registered arrays, halos
//! stride     the next PE's place
//! ```
//!
//! The layout follows from what is *requested* alone, never from what a machine grants, so every PE
//! computes the same one. Three measured facts shape it:
//!
//! - Starts are multiples of 2 MiB (of the page size, if a larger one is asked for): otherwise
//!   merging pages into huge ones fails without a word.
//! - The stride is an *odd* multiple of that, so that equal offsets on all PEs do not meet in the
//!   same cache set. (Inside a place, the [colour](crate::heap::statics::colour) of each partition
//!   does the same.)
//! - The granule grows with the place, so that the byte table of [`Segments`] stays at about a
//!   thousand entries.

use core::ops::Range;

use super::error::MemoryError;
use super::request::{HUGE, Request};
use crate::partition::{MAX_PARTITIONS, PartitionSpec};
use crate::segment::{SYSTEM, Segment, Segments};
use crate::system::SYSTEM_BYTES;
use crate::text::Text;
use crate::topology::Topology;

/// Most entries of the table that finds segments.
const MOST_GRANULES: usize = 1024;

/// The layout of a PE's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceLayout {
    granule: usize,
    unit: usize,
    requests: Vec<Request>,
    names: Vec<(u32, Text<32>)>,
    system: usize,
    starts: Vec<usize>,
    bytes: usize,
    place: usize,
    stride: usize,
}

impl PlaceLayout {
    /// The layout of a place for `partitions` in the order of their IDs, with at least `later_bytes`
    /// bytes of addresses for later segments, whose memory comes from the nodes of `topology`. Only what is asked
    /// decides where anything lies, not the topology.
    ///
    /// # Errors
    ///
    /// [`MemoryError::TooLarge`] if it does not fit into an address space, and
    /// [`MemoryError::Placement`] if a partition must have a kind of memory that cannot be placed.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_PARTITIONS`], or they are not in the order of their IDs.
    pub fn new(
        partitions: &[PartitionSpec],
        later_bytes: usize,
        topology: &Topology,
    ) -> Result<Self, MemoryError> {
        Self::with_teams(partitions, 0, later_bytes, topology)
    }

    /// As [`new`](Self::new), with at least `team_bytes` bytes for what teams allocate.
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Panics
    ///
    /// As there.
    pub fn with_teams(
        partitions: &[PartitionSpec],
        team_bytes: usize,
        later_bytes: usize,
        topology: &Topology,
    ) -> Result<Self, MemoryError> {
        assert!(partitions.len() <= MAX_PARTITIONS, "more partitions than a job can have");
        assert!(partitions.is_sorted_by(|a, b| a.id < b.id), "partitions come in the order of their IDs");
        let requests = partitions
            .iter()
            .map(|spec| Request::partition(spec, topology))
            .collect::<Result<Vec<_>, _>>()?;
        let unit = requests.iter().map(Request::room).max().unwrap_or(HUGE);
        let system = SYSTEM_BYTES.checked_add(team_bytes).ok_or_else(|| MemoryError::TooLarge {
            what: "memory of teams".into(),
            asked: team_bytes as u64,
        })?;
        let mut granule = HUGE;
        loop {
            let (starts, bytes, place) = arrange(system, &requests, later_bytes, granule)?;
            if place.div_ceil(granule) <= MOST_GRANULES {
                let stride = odd_multiple(place, unit).ok_or_else(|| too_large(&requests))?;
                let names = partitions.iter().map(|spec| (spec.id, spec.name)).collect();
                return Ok(Self { granule, unit, requests, names, system, starts, bytes, place, stride });
            }
            granule *= 2;
        }
    }

    /// The table of segments, with the system area and all partitions entered.
    pub fn segments(&self) -> Segments {
        let segments = Segments::new(self.place, self.granule.trailing_zeros());
        let system = Segment { start: 0, bytes: self.system, partition: 0, name: Text::head("system") };
        segments.insert(SYSTEM, system);
        for (k, (&(partition, name), request)) in self.names.iter().zip(&self.requests).enumerate() {
            let segment = Segment { start: self.starts[k], bytes: request.bytes, partition, name };
            segments.insert(1 + k as u32, segment);
        }
        segments
    }

    /// What is asked of the partitions, in the order of their IDs.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Where partition number `k` (from 0, in the order of IDs) starts: bytes from the start of a
    /// place.
    ///
    /// # Panics
    ///
    /// If there is no such partition.
    pub fn start(&self, k: usize) -> usize {
        self.starts[k]
    }

    /// Where partition number `k` lies: bytes from the start of a place.
    ///
    /// # Panics
    ///
    /// If there is no such partition.
    pub fn partition(&self, k: usize) -> Range<usize> {
        self.starts[k]..self.starts[k] + self.requests[k].bytes
    }

    /// The memory of teams: bytes from the start of a place. Part of the segment of the system, so that no
    /// address names it.
    pub fn teams(&self) -> Range<usize> {
        SYSTEM_BYTES..self.system
    }

    /// Bytes of addresses for the system area and the partitions.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where later segments lie: bytes from the start of a place.
    pub fn later(&self) -> Range<usize> {
        self.bytes..self.place
    }

    /// Bytes of addresses of a place.
    pub fn place_bytes(&self) -> usize {
        self.place
    }

    /// Bytes from one PE's place to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Segments start on multiples of it.
    pub fn granule(&self) -> usize {
        self.granule
    }

    /// Places start on multiples of it, in addresses: 2 MiB, or the largest page size asked for.
    pub fn unit(&self) -> usize {
        self.unit
    }
}

/// Starts of the partitions, the end of the last one, and the end of the place.
fn arrange(
    system: usize,
    requests: &[Request],
    later: usize,
    granule: usize,
) -> Result<(Vec<usize>, usize, usize), MemoryError> {
    let mut end = Some(system);
    let mut starts = Vec::with_capacity(requests.len());
    for request in requests {
        let room = request.room().max(granule);
        let start = end.and_then(|end| end.checked_next_multiple_of(room));
        end = start
            .and_then(|start| start.checked_add(request.bytes))
            .and_then(|end| end.checked_next_multiple_of(room));
        starts.push(start.ok_or_else(|| too_large(requests))?);
    }
    // A later segment may have pages as large as any.
    let room = requests.iter().map(Request::room).max().unwrap_or(HUGE).max(granule);
    let bytes = end.and_then(|end| end.checked_next_multiple_of(room));
    let place = bytes.and_then(|bytes| bytes.checked_add(later)?.checked_next_multiple_of(granule));
    match (bytes, place) {
        (Some(bytes), Some(place)) if isize::try_from(place).is_ok() => Ok((starts, bytes, place)),
        _ => Err(too_large(requests)),
    }
}

fn odd_multiple(bytes: usize, unit: usize) -> Option<usize> {
    (bytes.div_ceil(unit) | 1).checked_mul(unit)
}

fn too_large(requests: &[Request]) -> MemoryError {
    match largest(requests) {
        Some(request) => MemoryError::TooLarge { what: request.what.clone(), asked: request.bytes as u64 },
        None => MemoryError::TooLarge { what: "later segments".into(), asked: u64::MAX },
    }
}

/// The largest of the requests: what to lower first.
pub(super) fn largest(requests: &[Request]) -> Option<&Request> {
    requests.iter().max_by_key(|request| request.bytes)
}
