//! Segments that come after the start: partitions made at run time, arrays with memory of their own,
//! pools of arrays, halos.
//!
//! All PEs make and remove them together, and find the same index and offset for each without talking
//! ([`LaterRange`]). Making one takes three meetings, all over symmetric memory; the launcher is asked
//! for one thing only, to pass the descriptors on:
//!
//! ```text
//! 1  every PE has addresses and enough memory             agreed, before any of it is taken
//! 2  map, place, touch, register the own part             agreed; pieces and keys are told with it
//! 3  map the parts of the PEs on this node, learn keys    agreed
//! ```
//!
//! What fails on one PE fails on all with the same error, and nothing is left of it. Removing is the
//! other way round: everybody is quiet, all meet, and then each PE forgets the segment, its keys and its
//! mappings. A range of addresses is used again by making another segment, whose first meeting lies
//! behind all that. So no PE uses a range anew while another still has an old mapping or key of it.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

use shmem_core::memory::{LaterPlace, LaterRange, PlaceLayout, Request};
use shmem_core::partition::Grant;
use shmem_core::segment::Segment;
use shmem_core::text::Text;

use crate::array::{End, Misplaced, Pools};
use crate::collective::Purpose;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::team::Collective;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The segments that came after the start, as one PE keeps them.
pub(crate) struct Later {
    range: LaterRange,
    places: BTreeMap<u32, LaterPlace>,
    registrations: u64,
    /// What else ends with the allocations of arrays, by their numbers.
    pub(crate) ends: BTreeMap<u64, End>,
    pub(crate) pools: Pools,
    pub(crate) misplaced: Misplaced,
}

impl Later {
    pub(crate) fn new(layout: &PlaceLayout) -> Self {
        Self {
            range: LaterRange::new(layout),
            places: BTreeMap::new(),
            registrations: 0,
            ends: BTreeMap::new(),
            pools: Pools::default(),
            misplaced: Misplaced::default(),
        }
    }

    /// Bytes of the largest range of addresses that is free.
    pub(crate) fn largest_free(&self) -> usize {
        self.range.largest_free()
    }
}

/// What is wanted of a segment.
pub(crate) struct Wanted {
    pub(crate) request: Request,
    /// The partition's ID, or 0.
    pub(crate) partition: u32,
    /// The partition's name, or what else it is.
    pub(crate) name: Text<32>,
    /// What `prepare` takes of the memory there is, apart from what the request itself populates.
    pub(crate) taken: Vec<Request>,
    /// Whether no raw address is to find it.
    pub(crate) hidden: bool,
}

/// A segment that has been made.
pub(crate) struct Made {
    /// Index of the segment.
    pub(crate) index: u32,
    /// Bytes from the start of a place.
    pub(crate) offset: usize,
    /// What the preparations of each PE have said, by its number.
    pub(crate) said: Vec<Vec<u8>>,
}

/// This PE's part of a segment while it is made.
pub(crate) struct Own<'a> {
    /// Bytes from the start of the place.
    pub(crate) offset: usize,
    /// What the memory is.
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
        self.job().later().registrations
    }
}

impl Job {
    /// Makes a segment on all PEs. `wanted` may have failed on some; sizes and page sizes in it are the
    /// same on the others. `prepare` works on the own part, which nobody else knows of yet.
    ///
    /// # Errors
    ///
    /// The same on every PE, if it fails on any: see [`Collective::agree`].
    pub(crate) fn make_segment(
        &self,
        collective: &Collective<'_>,
        purpose: &Purpose<'_>,
        wanted: Result<Wanted>,
        prepare: impl FnOnce(Own<'_>) -> Result<Vec<u8>>,
    ) -> Result<Made> {
        let found = wanted.and_then(|wanted| {
            let Wanted { request, taken, .. } = &wanted;
            taken.iter().chain([request]).try_for_each(|request| self.check_later(request))?;
            let place = self.later().range.allocate(request.bytes, request.room())?;
            Ok((wanted, place))
        });
        let (found, said) = split(found);
        let agreed = collective.agree(purpose, said.map(|()| Vec::new()));
        let (wanted, place) = match (agreed, found) {
            (Ok(_), Some(found)) => found,
            (Ok(_), None) => unreachable!("who found nothing does not agree"),
            (Err(error), found) => {
                found.into_iter().for_each(|(_, place)| self.later().range.release(place));
                return Err(error);
            }
        };
        let made = self.make_in(collective, purpose, &wanted, place, prepare);
        match made {
            Ok(said) => {
                let Wanted { request, partition, name, hidden, .. } = wanted;
                let segment = Segment { start: place.offset, bytes: request.bytes, partition, name };
                match hidden {
                    true => self.segments.insert_hidden(place.index, segment),
                    false => self.segments.insert(place.index, segment),
                };
                let mut later = self.later();
                later.places.insert(place.index, place);
                later.registrations += 1;
                Ok(Made { index: place.index, offset: place.offset, said })
            }
            Err(error) => {
                self.later().range.release(place);
                Err(error)
            }
        }
    }

    /// Makes the own part of a segment and maps those of the others; leaves nothing after an error.
    fn make_in(
        &self,
        collective: &Collective<'_>,
        purpose: &Purpose<'_>,
        wanted: &Wanted,
        place: LaterPlace,
        prepare: impl FnOnce(Own<'_>) -> Result<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>> {
        let (request, LaterPlace { index, offset }) = (&wanted.request, place);
        let created = self.arena.create_later(self.slot, offset, request).map_err(Error::from);
        let (mine, created) = split(created);
        let told = created.and_then(|()| {
            let mine = mine.as_ref().unwrap_or_else(|| unreachable!("it was created"));
            let said = prepare(Own { offset, grant: &mine.grants[0] })?;
            let key = self.register(index, offset, request)?;
            Ok(pack([&mine.pieces, &key, &said]))
        });
        let mine = mine.as_ref();
        let told = collective.agree(purpose, told).inspect_err(|_| {
            self.forget(index);
            if mine.is_some() {
                self.unmap(offset, [self.slot]);
            }
        })?;
        let told: Option<Vec<_>> = told.iter().map(|told| unpack(told)).collect();
        let told = told.unwrap_or_else(|| self.abort(1, "what a PE says of a segment is garbled"));

        let descriptors: Vec<_> =
            mine.iter().flat_map(|mine| &mine.descriptors).map(|descriptor| descriptor.as_fd()).collect();
        let shared = self
            .bootstrap
            .share(&descriptors)
            .unwrap_or_else(|error| self.abort(1, &Error::Launcher(error.to_string()).to_string()));
        let mut mapped = vec![self.slot];
        let neighbours = self.pes.iter().filter_map(|pe| Some((pe.number(), pe.on_node()?)));
        let attach = |((number, slot), descriptors): ((usize, usize), _)| {
            if slot == self.slot {
                return Ok(());
            }
            self.arena.attach_later(slot, offset, request, descriptors, &told[number][0])?;
            mapped.push(slot);
            Ok(())
        };
        let attached = neighbours.zip(shared).try_for_each(attach);
        if let Some(transport) = &self.far {
            for (pe, told) in self.pes.iter().zip(&told).filter(|(pe, _)| pe.on_node().is_none()) {
                transport.learn(index, *pe, &told[1]);
            }
        }
        collective.agree(purpose, attached.map(|()| Vec::new())).inspect_err(|_| {
            self.forget(index);
            self.unmap(offset, mapped);
        })?;
        Ok(told.into_iter().map(|[_, _, said]| said).collect())
    }

    /// Makes the own part known to the transport, if there is one.
    fn register(&self, index: u32, offset: usize, request: &Request) -> Result<Vec<u8>> {
        let Some(transport) = &self.far else { return Ok(Vec::new()) };
        // SAFETY: `make_in` has mapped it; `forget` comes before `unmap`, on every path.
        let key = unsafe { transport.register(index, self.arena.place(self.slot), offset, request.bytes) };
        key.map_err(|reason| Error::Register {
            what: request.what.clone(),
            transport: self.transport,
            reason,
        })
    }

    fn forget(&self, index: u32) {
        if let Some(transport) = &self.far {
            transport.forget(index);
        }
    }

    fn unmap(&self, offset: usize, slots: impl IntoIterator<Item = usize>) {
        for slot in slots {
            // SAFETY: nobody was told of the segment yet, or all PEs have given it up and met since.
            unsafe { self.arena.remove_later(slot, offset) };
        }
    }

    /// Removes a segment. All PEs have given it up, have been quiet, and have met since.
    pub(crate) fn remove_segment(&self, index: u32) {
        let mut later = self.later();
        let place = later.places.remove(&index);
        let place = place.unwrap_or_else(|| unreachable!("segment {index} was made by `make_segment`"));
        let Segment { start, bytes, .. } = self.segments.remove(index);
        // Whatever comes to these addresses has pages of its own.
        later.misplaced.leave_out(&(start..start + bytes));
        self.forget(index);
        self.unmap(place.offset, self.pes.iter().filter_map(|pe| pe.on_node()));
        later.range.release(place);
    }
}

/// A result as a value and what is to be agreed on.
fn split<T>(result: Result<T>) -> (Option<T>, Result<()>) {
    match result {
        Ok(value) => (Some(value), Ok(())),
        Err(error) => (None, Err(error)),
    }
}

/// Three things in one.
fn pack(parts: [&[u8]; 3]) -> Vec<u8> {
    parts
        .iter()
        .flat_map(|part| (part.len() as u64).to_le_bytes().into_iter().chain(part.iter().copied()))
        .collect()
}

/// What [`pack`] made; `None` if it is something else.
fn unpack(mut bytes: &[u8]) -> Option<[Vec<u8>; 3]> {
    let mut part = || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        bytes = rest;
        Some(part.to_vec())
    };
    let parts = [part()?, part()?, part()?];
    bytes.is_empty().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_nothing_else() {
        let parts: [&[u8]; 3] = [b"pieces", b"", b"\0said"];
        let packed = pack(parts);
        assert_eq!(unpack(&packed).unwrap(), parts.map(<[u8]>::to_vec));
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(unpack(&[packed.as_slice(), b"x"].concat()), None);
    }
}
