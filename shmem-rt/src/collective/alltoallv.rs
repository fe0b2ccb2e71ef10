//! alltoallv: parts of any length for each from each.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::{PlainData, zeroed_items};
use shmem_core::observe::Family;
use shmem_core::system::SCRATCH_BYTES;

use super::packed::{Packed, Piece};
use super::passing::GRAIN;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Sends a part of `source` to each member: the first `counts[0]` elements to the one with rank 0, the next `counts[1]`
    /// to the one with rank 1, and so on. `into` becomes what all members have sent to the calling PE, in the order of
    /// their ranks; how many elements that is of each is returned. `into` keeps its room from call to call.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// // Each PE sends one number to the first, two to the second, and so on.
    /// let counts: Vec<usize> = (1..=world.n_pes()).collect();
    /// let source = vec![world.my_pe(); counts.iter().sum()];
    /// let mut into = Vec::new();
    /// let came = world.alltoallv(&source, &counts, &mut into);
    /// assert_eq!(came, vec![world.my_pe() + 1; world.n_pes()]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If there is not a count for each member, or they do not add up to the length of `source`.
    ///
    /// Source: MPI 4.1, `MPI_Alltoallv`.
    #[doc(alias = "MPI_Alltoallv")]
    #[track_caller]
    pub fn alltoallv<T: PlainData>(
        &self,
        token: &(impl Initiator + ?Sized),
        source: &[T],
        counts: &[usize],
        into: &mut Vec<T>,
    ) -> Vec<usize> {
        let location = Location::caller();
        let members = self.size();
        assert!(counts.len() == members, "{} counts are given for {members} members", counts.len());
        let all = counts.iter().try_fold(0_usize, |all, count| all.checked_add(*count));
        assert!(
            all == Some(source.len()),
            "the counts add up to {}, the source has {} elements",
            all.map_or_else(|| "more than there can be".to_owned(), |all| all.to_string()),
            source.len()
        );
        let purpose = Purpose {
            operation: Operation::of(Family::Alltoallv),
            opens: false,
            arguments: &[size_of::<T>() as u64],
            subject: &|| format!("{} x {}", source.len(), core::any::type_name::<T>()),
            location: Some(location),
        };
        let collective = self.enter(token.endpoint(), Some(location)).moving(size_of_val(source));
        collective.exchange_parts(&purpose, source, counts, into)
    }
}

impl<L: ThreadLevel> World<L> {
    /// Sends a part of `source`, of any length, to each PE; see [`Team::alltoallv`].
    #[track_caller]
    pub fn alltoallv<T: PlainData>(&self, source: &[T], counts: &[usize], into: &mut Vec<T>) -> Vec<usize> {
        self.team().alltoallv(self, source, counts, into)
    }
}

impl Collective<'_> {
    /// First how much there is, then the parts, in pieces that are as long for all: as many as the longest part of any member
    /// takes.
    fn exchange_parts<T: PlainData>(
        &self,
        purpose: &Purpose<'_>,
        source: &[T],
        counts: &[usize],
        into: &mut Vec<T>,
    ) -> Vec<usize> {
        let (members, rank, size) = (self.team.size(), self.team.rank(), size_of::<T>());
        let mut came = vec![0_usize; members];
        self.exchange(purpose, bytemuck::cast_slice(counts), bytemuck::cast_slice_mut(&mut came));
        let all = came.iter().fold(0, |all: usize, count| all.saturating_add(*count));
        if size == 0 {
            *into = zeroed_items(all);
            return came;
        }
        into.clear();
        into.resize(all, T::zeroed());
        let mut longest = counts.iter().max().map_or(0, |count| *count as u64);
        self.reduce_for(purpose, bytemuck::bytes_of_mut(&mut longest), u64::max);
        let longest = (longest as usize).saturating_mul(size);
        if longest == 0 {
            return came;
        }
        let (source, into): (&[u8], &mut [u8]) =
            (bytemuck::cast_slice(source), bytemuck::cast_slice_mut(into));
        let begin = |end: &mut usize, count: &usize| Some(core::mem::replace(end, *end + count * size));
        let starts: Vec<usize> = counts.iter().scan(0, begin).collect();
        // Some bytes of the part for a rank: as many as there are.
        let pack = |to: usize, first: usize, room: &mut [u8]| {
            let part = &source[starts[to]..][..counts[to] * size];
            let some = part.get(first..).unwrap_or_default();
            let some = &some[..some.len().min(room.len())];
            room[..some.len()].copy_from_slice(some);
        };
        let mut unpack = |first: usize, count: usize, read: Piece<'_>| {
            let mut start = 0;
            for (from, items) in came.iter().enumerate() {
                let bytes = items * size;
                let some = first.min(bytes)..bytes.min(first.saturating_add(count));
                if !some.is_empty() {
                    let into = &mut into[start..][some];
                    if from == rank { pack(rank, first, into) } else { read(from, 0, into) }
                }
                start += bytes;
            }
        };
        if let Some(packed) = Packed::of(self, longest, 1) {
            packed.exchange(self, purpose, pack, unpack);
            return came;
        }
        let piece = (SCRATCH_BYTES / members / GRAIN * GRAIN).max(GRAIN).min(longest);
        let mut packed = vec![0; piece * members];
        let mut received = packed.clone();
        for done in (0..longest).step_by(piece) {
            packed.chunks_exact_mut(piece).enumerate().for_each(|(to, room)| pack(to, done, room));
            self.exchange(purpose, &packed, &mut received);
            unpack(done, piece, &|from, at, into| {
                into.copy_from_slice(&received[from * piece + at..][..into.len()]);
            });
        }
        came
    }
}
