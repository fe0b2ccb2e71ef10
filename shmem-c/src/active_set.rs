//! Active sets: PEs at a stride, which synchronise by words of the program (`pSync`). Older than teams.
//!
//! A set of all PEs is the world's team. Other sets cannot become teams, because only their members know them. They synchronise by
//! a dissemination barrier with counters in `pSync`: in round `k` each member adds one to the `k`-th word of the member `2^k` ranks
//! later, waits until its own word is positive, and subtracts one. Ones of the next barrier stay in the word. So between two
//! calls all words are zero (`SHMEM_SYNC_VALUE`), as the specification asks, and a set has no other state.
//!
//! Data are read by gets between two barriers: after the first all sources are ready, after the second no member reads any more.

use std::ffi::{c_int, c_long};
use std::fmt;

use shmem::c_interface::collective::{self, Fold};
use shmem::{Pe, Team};
use shmem_core::context::{Endpoint, untyped};
use shmem_core::fixed_text::counted;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
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

/// Bytes of each member that are combined at once: a multiple of the size of every type.
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
    /// `pSync`.
    words: SegmentOffset,
}

impl Members {
    /// Refuses an invalid team.
    pub(crate) fn of_team(routine: &'static str, team: types::Team) -> Self {
        Self { routine, group: Group::Team(team::required(routine, "team", team)), is_set: false }
    }

    /// The members of an active set; for all PEs, the world's team. Refuses PEs beyond the job, and sets without this PE.
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
        // One PE needs no words.
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

    /// The team, or else the set.
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
        // SAFETY: an aligned word of `pSync`, which has one word more than there are rounds (`Members::of`).
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

    /// Completes writes of the calling PE, and waits for all members.
    pub(crate) fn barrier(&self) {
        untyped::quiet(self.endpoint);
        self.meet();
    }

    /// Reads bytes of a member.
    ///
    /// # Safety
    ///
    /// `bytes` bytes are writable at `to`, and in a segment from `offset`.
    unsafe fn get(&self, to: *mut u8, rank: usize, offset: usize, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let segment = self.endpoint.segments().holding(offset, bytes);
        let segment = segment.unwrap_or_else(|| unreachable!("the place was found in a segment"));
        let from = Remote { pe: self.pe(rank), segment, offset };
        // SAFETY: the caller's promise; a blocking get is over when it returns.
        unsafe { untyped::get(self.endpoint, to, from, bytes, Family::Getmem) };
    }

    /// Reads a part of each member, starting with this PE's, so that members read from different PEs.
    ///
    /// # Safety
    ///
    /// `part` returns for a rank: an offset in a segment, a writable destination, and the bytes available at both.
    pub(crate) unsafe fn get_parts(&self, part: impl Fn(usize) -> (usize, *mut u8, usize)) {
        for distance in 0..self.size {
            let rank = (self.rank + distance) % self.size;
            let (from, to, bytes) = part(rank);
            // SAFETY: the caller's promise.
            unsafe { self.get(to, rank, from, bytes) };
        }
    }

    /// [`get_parts`](Self::get_parts) between two barriers.
    ///
    /// # Safety
    ///
    /// As for `get_parts`.
    pub(crate) unsafe fn exchange(&self, part: impl Fn(usize) -> (usize, *mut u8, usize)) {
        self.meet();
        // SAFETY: the caller's promise.
        unsafe { self.get_parts(part) };
        self.meet();
    }

    /// Concatenates members' elements, whose counts may differ.
    ///
    /// # Safety
    ///
    /// What the specification asks of `shmem_collect`, with elements of this type.
    pub(crate) unsafe fn collect<T>(&self, dest: *mut T, source: *const T, elements: usize) {
        let from = place(self.routine, "source", source, elements);
        let mut told = vec![elements as u64; self.size];
        // One PE has no `pSync`.
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
            // A member without elements may pass any source.
            let from = if from.bytes == 0 { place(self.routine, "source", source, elements) } else { from };
            // SAFETY: the destination has room for all elements (`place`), and each source is at one offset.
            unsafe { self.get(to.cast(), rank, from.offset, elements * size_of::<T>()) };
        }
        self.meet();
        if let Some(lengths) = lengths {
            lengths.update(self.world.me(), AtomicOp::Set(0), Family::AtomicSet);
        }
    }

    /// Reduces: each member reads pieces of all, and writes its result after the last barrier.
    ///
    /// # Safety
    ///
    /// The source is in a segment, of whole elements of the fold. `source.bytes` bytes are writable at `dest`.
    pub(crate) unsafe fn reduce(&self, dest: *mut u8, source: Extent, fold: Fold) {
        let Extent { offset, bytes } = source;
        let mut all = vec![0_u8; PIECE.min(bytes) * self.size];
        let mut result = vec![0_u8; bytes];
        self.meet();
        for (k, piece) in result.chunks_mut(PIECE).enumerate() {
            let bytes = piece.len();
            let room = all.as_mut_ptr();
            let part = |rank: usize| (offset + k * PIECE, room.wrapping_add(rank * bytes), bytes);
            // SAFETY: the source lies in a segment (caller), and there is room for the piece of each member.
            unsafe { self.get_parts(part) };
            let read = |rank: usize, at: usize, into: &mut [u8]| {
                into.copy_from_slice(&all[rank * bytes + at..][..into.len()]);
            };
            // SAFETY: pieces are whole elements, which the fold combines at any alignment.
            unsafe { collective::fold_ranks(self.size, fold, piece, &read) };
        }
        self.meet();
        // SAFETY: `bytes` bytes are writable at `dest` (caller), and no PE reads them any more.
        unsafe { untyped::copy(dest, result.as_ptr(), bytes) };
    }
}
