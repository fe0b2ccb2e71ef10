use core::mem::offset_of;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use shmem_core::context::Far;
use shmem_core::pe::Pe;
use shmem_core::segment::SYSTEM;
use shmem_core::shared;
use shmem_core::system::{
    FLIGHT_BYTES, FlightArea, MOST_FLIGHTS, MOST_SLOTS, MOST_TOLD, ROUNDS, SystemArea, WORLD_FLIGHT_BYTES,
};
use shmem_core::transport::{Remote, SignalOp, Until};

use super::mark::Mark;
use crate::group::Team;
use crate::job::Job;
use crate::members::Members;
use crate::state::indexes::WORLD;

/// The words and slots of a flight, on all members.
pub(super) struct Area {
    job: Arc<Job>,
    members: Arc<Members>,
    rank: usize,
    team: usize,
    /// Which of those that a team has under way.
    place: usize,
    /// Which set of words its meeting uses.
    set: usize,
}

impl Area {
    /// Those of the flight of a team with a number.
    pub(super) fn new(team: &Team, number: u64) -> Self {
        let (place, set) = place_of(number);
        let (job, members) = (Arc::clone(&team.job), Arc::clone(team.members()));
        Self { job, members, rank: team.rank(), team: team.index(), place, set }
    }

    pub(super) fn job(&self) -> &Job {
        &self.job
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Number of members.
    pub(super) fn size(&self) -> usize {
        self.members.size()
    }

    pub(super) fn team(&self) -> usize {
        self.team
    }

    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// The member with a rank.
    pub(super) fn member(&self, rank: usize) -> Pe {
        self.members.member(rank)
    }

    /// The words of this PE.
    pub(super) fn mine(&self) -> &FlightArea {
        let mine = self.near(self.rank).unwrap_or_else(|| unreachable!("a PE is on its node"));
        &mine.flights[self.team][self.place]
    }

    /// Begins to count anew, so many words of what may be sent.
    pub(super) fn begin(&self, told: usize) {
        self.mine().begin(self.set, told);
    }

    /// Tells a member in a round what this one has started.
    pub(super) fn announce(&self, rank: usize, round: usize, mark: Mark) {
        if let Some(there) = self.near(rank) {
            there.flights[self.team][self.place].met[self.set][round].swap(mark.word(), Ordering::AcqRel);
            return there.doorbell.ring();
        }
        let word = (self.set * ROUNDS + round) * size_of::<u64>();
        self.signal(rank, offset_of!(FlightArea, met) + word, SignalOp::Set(mark.word()));
    }

    /// What has come in a round.
    pub(super) fn heard(&self, round: usize) -> Option<Mark> {
        Mark::heard(self.mine().met[self.set][round].load(Ordering::Acquire))
    }

    /// How many chunks have come to a slot.
    pub(super) fn come(&self, slot: usize) -> u64 {
        self.mine().come[slot].load(Ordering::Acquire)
    }

    /// What a word says that may be sent.
    pub(super) fn told(&self, word: usize) -> u64 {
        self.mine().told[word].load(Ordering::Acquire)
    }

    /// Bytes of a slot, at most.
    pub(super) fn most(&self) -> usize {
        let bytes = if self.team == WORLD { WORLD_FLIGHT_BYTES } else { FLIGHT_BYTES };
        bytes / MOST_SLOTS
    }

    /// Where bytes of a slot of this PE lie.
    pub(super) fn slot(&self, slot: usize, bytes: usize) -> *const u8 {
        let mine = self.near(self.rank).unwrap_or_else(|| unreachable!("a PE is on its node"));
        self.room(mine).wrapping_add(self.at(slot, bytes))
    }

    /// Copies bytes to a slot of a member, and counts them there behind it.
    ///
    /// # Safety
    ///
    /// They are readable, and unchanged, until the stream of the runtime is quiet.
    pub(super) unsafe fn send(&self, rank: usize, slot: usize, source: *const u8, bytes: usize) {
        let at = self.at(slot, bytes);
        if let Some(there) = self.near(rank) {
            let into = self.room(there).wrapping_add(at);
            // SAFETY: the source is readable (caller). The slot has that many bytes (`at`), and is memory of the runtime that no
            // reference leads to: a plan says that nobody else reads or writes there now, and if members disagree about that
            // such copies race with nobody (`shared`).
            unsafe { shared::copy(into, source, bytes) };
            there.flights[self.team][self.place].come[slot].fetch_add(1, Ordering::AcqRel);
            return there.doorbell.ring();
        }
        let room = match self.team {
            WORLD => offset_of!(SystemArea, world_flights) + self.place * WORLD_FLIGHT_BYTES,
            _ => self.offset() + offset_of!(FlightArea, room),
        };
        let pe = self.member(rank);
        let (into, word) = (room + at, offset_of!(FlightArea, come) + slot * size_of::<u64>());
        let [into, word] = [into, self.offset() + word].map(|offset| Remote { pe, segment: SYSTEM, offset });
        let Far { transport, channel } = self.far();
        // SAFETY: the source is readable until quiet (caller). A slot is a part of the system area of every PE, and its word an
        // aligned `AtomicU64` there.
        unsafe {
            transport.put_signal(*channel, into, source, bytes, word, SignalOp::Add(1), Until::Quiet);
        }
    }

    /// Tells a member, in a word of it, that so many more chunks may come.
    pub(super) fn tell(&self, rank: usize, word: usize, chunks: u64) {
        assert!(word < MOST_TOLD, "word {word}");
        if let Some(there) = self.near(rank) {
            there.flights[self.team][self.place].told[word].fetch_add(chunks, Ordering::AcqRel);
            return there.doorbell.ring();
        }
        self.signal(rank, offset_of!(FlightArea, told) + word * size_of::<u64>(), SignalOp::Add(chunks));
    }

    /// Whether nothing that the runtime has sent is on its way.
    pub(super) fn is_quiet(&self) -> bool {
        self.job.network.own.as_ref().is_none_or(|far| far.transport.is_quiet(far.channel))
    }

    /// Changes a word of the area on another node.
    fn signal(&self, rank: usize, word: usize, op: SignalOp) {
        assert!(
            word.is_multiple_of(size_of::<u64>()) && word < offset_of!(FlightArea, record),
            "word {word}"
        );
        let word = Remote { pe: self.member(rank), segment: SYSTEM, offset: self.offset() + word };
        let (nothing, Far { transport, channel }) = (core::ptr::dangling(), self.far());
        // SAFETY: of no bytes the signal alone is changed. It is an aligned `AtomicU64` of the system area of every PE: what lies
        // before the record of an area are such words, as was just found.
        unsafe { transport.put_signal(*channel, word, nothing, 0, word, op, Until::Return) };
    }

    /// The system area of a member on this node.
    fn near(&self, rank: usize) -> Option<&SystemArea> {
        let slot = self.member(rank).on_node()?;
        let system = self.job.memory.arena.start_of(slot).cast::<SystemArea>();
        // SAFETY: the slots of this node are mapped for as long as the job, which is kept here. Each begins with a system area,
        // which all zeroes initialise and which is shared by atomics, and beyond them through raw pointers.
        Some(unsafe { &*system })
    }

    fn room(&self, system: &SystemArea) -> *mut u8 {
        match self.team {
            WORLD => system.world_flights[self.place].as_ptr(),
            _ => system.flights[self.team][self.place].room.as_ptr(),
        }
    }

    /// Where so many bytes of a slot lie in the room.
    fn at(&self, slot: usize, bytes: usize) -> usize {
        assert!(slot < MOST_SLOTS && bytes <= self.most(), "{bytes} bytes in slot {slot} of {}", self.most());
        slot * self.most()
    }

    /// Where the area lies, from the start of a slot of the arena.
    fn offset(&self) -> usize {
        let before = self.team * MOST_FLIGHTS + self.place;
        offset_of!(SystemArea, flights) + before * size_of::<FlightArea>()
    }

    fn far(&self) -> &Far {
        let far = self.job.network.own.as_ref();
        far.unwrap_or_else(|| unreachable!("a member on another node is reached by a transport"))
    }
}

/// Which place the flight with a number has among those of its team, and which set of words its meeting uses.
pub(super) fn place_of(number: u64) -> (usize, usize) {
    let (places, number) = (MOST_FLIGHTS, number as usize);
    (number % places, number / places % 2)
}
