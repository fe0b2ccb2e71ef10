//! Active sets, the predecessors of teams: PEs at a stride, which synchronise through an array that the program passes (`pSync`).
//!
//! An active set of all PEs is handled as the world's team. Other sets cannot become teams, because all PEs of the world would have
//! to make the team together, and only members know the set. They synchronise by a dissemination barrier with counters in `pSync`:
//! in round `k` each member adds one to the `k`-th word of the member `2^k` ranks later, waits until its own `k`-th word is
//! positive, and subtracts one. A member that is in the next barrier already may add its one early; that one stays in the word for
//! the next barrier. So all words are zero (`SHMEM_SYNC_VALUE`, as the specification requires) while no member is in a call, and a
//! set has no other state.
//!
//! Collectives read data by gets between two barriers. After the first one all sources are ready. After the second one all gets
//! are complete.

use std::ffi::{c_int, c_long};
use std::fmt;

use shmem::c_interface::collective::{self, Fold};
use shmem::{Pe, Team};
use shmem_core::context::{Endpoint, untyped};
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::text::counted;
use shmem_core::transport::{AtomicOp, Remote, Width};

use crate::collective::{place, required_rank};
use crate::context;
use crate::errors::refuse;
use crate::symmetric::{self, SegmentOffset};
use crate::team;
use crate::types;
use crate::word::Word;
use crate::world::{self, CWorld};

pub(crate) struct Members {
    routine: &'static str,
    group: Group,
    is_set: bool,
}

enum Group {
    Team(&'static Team),
    Set(Set),
}

/// Bytes of each member that a reduction combines at once: a multiple of the size of every type.
const PIECE: usize = 32 << 10;

/// An active set, seen by one of its PEs.
pub(crate) struct Set {
    routine: &'static str,
    world: &'static CWorld,
    endpoint: &'static Endpoint,
    start: usize,
    stride: usize,
    size: usize,
    rank: usize,
    /// Segment and offset of `pSync`, the same on every PE.
    words: SegmentOffset,
}

impl Members {
    /// Returns the members of a team. Refuses an invalid team.
    pub(crate) fn of_team(routine: &'static str, team: types::Team) -> Self {
        Self { routine, group: Group::Team(team::required(routine, "team", team)), is_set: false }
    }

    /// Returns the members of an active set, or of the world's team for a set of all PEs. Refuses a set that extends beyond the
    /// last PE, and a set without this PE.
    pub(crate) fn of(
        routine: &'static str,
        start: c_int,
        log_stride: c_int,
        size: c_int,
        psync: *mut c_long,
    ) -> Self {
        let world = world::current(routine);
        let refuse = |argument, why: &dyn fmt::Display| -> ! { refuse(routine, argument, why) };
        let stride = u32::try_from(log_stride).ok().and_then(|log| 1_usize.checked_shl(log));
        let Some(stride) = stride else {
            refuse("logPE_stride", &format_args!("is {log_stride}: no PE is so far from another"))
        };
        let (pes, me) = (world.n_pes(), world.my_pe());
        let start = required_rank(routine, "PE_start", start, pes);
        let Some(members) = usize::try_from(size).ok().filter(|size| *size > 0) else {
            refuse("PE_size", &format_args!("is {size}: a set has at least one PE"))
        };
        let set = || format!("from PE {start} on at a stride of {stride}");
        let last = (members - 1).checked_mul(stride).and_then(|distance| start.checked_add(distance));
        if last.is_none_or(|last| last >= pes) {
            refuse("PE_size", &format_args!("is {size}: {}, the set goes beyond PE {}", set(), pes - 1));
        }
        if members == pes {
            return Self { routine, group: Group::Team(world.team()), is_set: true };
        }
        let distance = me.checked_sub(start).filter(|distance| distance.is_multiple_of(stride));
        let Some(rank) = distance.map(|distance| distance / stride).filter(|rank| *rank < members) else {
            refuse(
                "",
                &format_args!(
                    "is called by PE {me}, which is not in the set of {} {}",
                    counted(members, "PE"),
                    set()
                ),
            )
        };
        let endpoint = context::default_endpoint(routine);
        let words = SegmentOffset { segment: 0, offset: 0 };
        let mut set = Set { routine, world, endpoint, start, stride, size: members, rank, words };
        // A set of one PE does not synchronise.
        if members > 1 {
            symmetric::must_be_aligned(psync, routine, "pSync");
            set.words = symmetric::locate(psync, (set.rounds() + 1) * size_of::<c_long>(), routine, "pSync");
        }
        Self { routine, group: Group::Set(set), is_set: true }
    }

    pub(crate) fn routine(&self) -> &'static str {
        self.routine
    }

    pub(crate) fn world(&self) -> &'static CWorld {
        world::current(self.routine)
    }

    /// Returns the team, or `Err` with the active set.
    pub(crate) fn by_team(&self) -> Result<&'static Team, &Set> {
        match &self.group {
            Group::Team(team) => Ok(team),
            Group::Set(set) => Err(set),
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_set
    }

    pub(crate) fn size(&self) -> usize {
        self.by_team().map_or_else(|set| set.size, Team::size)
    }
}

impl Set {
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    fn rounds(&self) -> usize {
        self.size.next_power_of_two().ilog2() as usize
    }

    fn pe(&self, rank: usize) -> Pe {
        self.world.pes()[self.start + rank * self.stride]
    }

    fn word(&self, number: usize) -> Word {
        let place = SegmentOffset { offset: self.words.offset + number * size_of::<c_long>(), ..self.words };
        // SAFETY: `place` is an aligned word of `pSync`, in which `Members::of` has found a word for each round and one more.
        unsafe { Word::new(self.routine, place, Width::W8) }
    }

    pub(crate) fn meet(&self) {
        for round in 0..self.rounds() {
            let (word, distance) = (self.word(round), 1 << round);
            word.update(self.pe((self.rank + distance) % self.size), AtomicOp::Add(1), Family::AtomicAdd);
            let from = (self.rank + self.size - distance % self.size) % self.size;
            let Self { size, start, stride, .. } = self;
            let subject = || format!("PE {} of {size} PEs from {start} at stride {stride}", self.pe(from));
            word.wait(|tokens| tokens as i64 > 0, subject);
            word.update(self.world.me(), AtomicOp::Add(u64::MAX), Family::AtomicAdd);
        }
    }

    /// Completes writes of the calling PE, and blocks until all members have called this.
    pub(crate) fn barrier(&self) {
        untyped::quiet(self.endpoint);
        self.meet();
    }

    /// Reads `bytes` bytes at `offset` of the member with rank `rank`.
    ///
    /// # Safety
    ///
    /// `bytes` bytes must be writable at `to`, and lie in a segment at `offset`.
    unsafe fn get(&self, to: *mut u8, rank: usize, offset: usize, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let segment = self.endpoint.segments().holding(offset, bytes);
        let segment = segment.unwrap_or_else(|| unreachable!("the place was found in a segment"));
        let from = Remote { pe: self.pe(rank), segment, offset };
        // SAFETY: `to` is writable, and `from` is in a segment (caller). A blocking get is complete when it returns.
        unsafe { untyped::get(self.endpoint, to, from, bytes, Family::Getmem) };
    }

    /// Gets bytes of each member: `part(rank)` says from which offset, to which address, and how many. Each PE starts with itself,
    /// so that members read from different PEs at a time.
    ///
    /// # Safety
    ///
    /// `part(rank)` must return an offset in a segment, a writable destination, and the number of bytes available at both.
    pub(crate) unsafe fn get_parts(&self, part: impl Fn(usize) -> (usize, *mut u8, usize)) {
        for distance in 0..self.size {
            let rank = (self.rank + distance) % self.size;
            let (from, to, bytes) = part(rank);
            // SAFETY: `part` returns valid places (caller).
            unsafe { self.get(to, rank, from, bytes) };
        }
    }

    /// Calls [`get_parts`](Self::get_parts) between two barriers.
    ///
    /// # Safety
    ///
    /// `part(rank)` must return an offset in a segment, a writable destination, and the number of bytes available at both.
    pub(crate) unsafe fn exchange(&self, part: impl Fn(usize) -> (usize, *mut u8, usize)) {
        self.meet();
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.get_parts(part) };
        self.meet();
    }

    /// Concatenates the elements of all members. Members may have different numbers of elements.
    ///
    /// # Safety
    ///
    /// The requirements of `shmem_collect` in the specification, for elements of type `T`.
    pub(crate) unsafe fn collect<T>(&self, dest: *mut T, source: *const T, elements: usize) {
        let from = place(self.routine, "source", source, elements);
        let mut told = vec![elements as u64; self.size];
        // A set of one PE has no `pSync`.
        let lengths = (self.size > 1).then(|| self.word(self.rounds()));
        if let Some(lengths) = lengths {
            lengths.update(self.world.me(), AtomicOp::Set(elements as u64), Family::AtomicSet);
            self.meet();
            for (rank, told) in told.iter_mut().enumerate().filter(|(rank, _)| *rank != self.rank) {
                *told = lengths.fetch(self.pe(rank), AtomicOp::Fetch, Family::AtomicFetch);
            }
        }
        let all = told.iter().fold(0_usize, |all, elements| all.saturating_add(*elements as usize));
        place(self.routine, "dest", dest, all);
        let mut at = 0;
        for (rank, elements) in told.into_iter().enumerate() {
            let (to, elements) = (dest.wrapping_add(at), elements as usize);
            at += elements;
            // A source of 0 elements may be any address, so it was not checked above. Its offset is needed to read from members
            // with elements.
            let from = if from.bytes == 0 { place(self.routine, "source", source, elements) } else { from };
            // SAFETY: the destination has space for all elements (`place`), and each member's source is at the same offset.
            unsafe { self.get(to.cast(), rank, from.offset, elements * size_of::<T>()) };
        }
        self.meet();
        if let Some(lengths) = lengths {
            lengths.update(self.world.me(), AtomicOp::Set(0), Family::AtomicSet);
        }
    }

    /// Reduces in tiles: each member gets a tile of every member's source, and combines them. It writes `dest` only after a barrier
    /// at the end, because `dest` may be the source that others still read.
    ///
    /// # Safety
    ///
    /// The source must be in a segment and consist of whole elements of `fold`. `source.bytes` bytes must be writable at `dest`.
    pub(crate) unsafe fn reduce(&self, dest: *mut u8, source: Extent, fold: Fold) {
        let Extent { offset, bytes } = source;
        let mut all = vec![0_u8; PIECE.min(bytes) * self.size];
        let mut result = vec![0_u8; bytes];
        self.meet();
        for (k, piece) in result.chunks_mut(PIECE).enumerate() {
            let bytes = piece.len();
            let room = all.as_mut_ptr();
            let part = |rank: usize| (offset + k * PIECE, room.wrapping_add(rank * bytes), bytes);
            // SAFETY: the source lies in a segment (caller), and `all` has space for a tile of each member.
            unsafe { self.get_parts(part) };
            let read = |rank: usize, at: usize, into: &mut [u8]| {
                into.copy_from_slice(&all[rank * bytes + at..][..into.len()]);
            };
            // SAFETY: tiles are whole elements, and `fold` accepts any alignment.
            unsafe { collective::fold_ranks(self.size, fold, piece, &read) };
        }
        self.meet();
        // SAFETY: `bytes` bytes are writable at `dest` (caller), and all members have finished reading (`meet`).
        unsafe { untyped::copy(dest, result.as_ptr(), bytes) };
    }
}
