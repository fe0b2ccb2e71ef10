//! The words of the runtime on every PE, at the start of the PE's slot in the arena. A *chunk* is a part of the data of a
//! collective; each buffer for chunks holds one at a time.
//!
//! ```text
//! offset 0   Doorbell            rung by PEs that change a word of this PE
//!        +   PeRecord            identity and activity of this PE, for peers and the launcher
//!        +   TeamArea x MAX      each team's barrier words and staging buffers
//!        +   ChunkCounters              chunks of large blocking collectives
//!        +   RequestArea x MAX   chunks of nonblocking collectives
//!        +   CpuTable            CPUs on which the node's PEs wait (on the node's first PE)
//! 32M        memory of teams
//! ```
//!
//! All of this is segment 0 of every slot. The program gets no address in it, and handles to symmetric memory reach only the memory
//! of teams.

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::shared;
use crate::sync::{BarrierLines, Doorbell, NodeBarrier, RingWords, SignatureWords};
use crate::text::Text;

/// Bytes of addresses reserved for the system area, which has memory for touched pages only.
pub const SYSTEM_BYTES: usize = 32 << 20;

/// Upper limit on the teams that exist at a time, the world included.
pub const MAX_TEAMS: usize = 64;

/// Bytes of a [`scratch`](TeamArea::scratch) buffer, for one PE's contribution to one step of a collective.
pub const SCRATCH_BYTES: usize = 16 << 10;

/// Bytes of a [`receive_buffer`](TeamArea::receive_buffer), for the data that a node receives in one step of a collective.
pub const RECEIVE_BUFFER_BYTES: usize = 64 << 10;

/// Bytes of the buffer in which a node's leader packs sent data and combines received data.
pub const WORK_BUFFER_BYTES: usize = 64 << 10;

/// Bytes of all slots (buffers) of a [`ChunkCounters`] together, for chunks from other nodes.
pub const WINDOW_BYTES: usize = 1 << 20;

/// Bytes of a ring buffer, which replaces the slots of a [`ChunkCounters`] if all members are on one node.
pub const RING_BYTES: usize = 2 << 20;

/// Upper limit on the slots of a [`ChunkCounters`].
pub const MOST_SLOTS: usize = 16;

/// Number of credit counters. Each counts the chunks that a PE may send beyond those for which the receiver has free slots at the
/// start.
pub const MOST_CREDITS: usize = 1024;

/// Upper limit on the nonblocking collectives that a team has in progress.
pub const MOST_REQUESTS: usize = 4;

/// Bytes of all slots (buffers) of a nonblocking collective together.
pub const REQUEST_BYTES: usize = 32 << 10;

/// Bytes of all slots (buffers) of a nonblocking collective of all PEs together.
pub const WORLD_REQUEST_BYTES: usize = 256 << 10;

/// Bytes of the largest chunk in a ring buffer.
pub const CHUNK_BYTES: usize = 32 << 10;

/// Upper limit on the rounds of a dissemination barrier, enough for 2^24 nodes.
pub const ROUNDS: usize = 24;

/// The words of the runtime on one PE, initially zero.
#[repr(C, align(4096))]
pub struct SystemArea {
    /// The doorbell, rung by PEs that change a word of this PE.
    pub doorbell: Doorbell,
    /// Identity and activity of this PE.
    pub record: PeRecord,
    /// Words of the teams, by the team's index.
    pub teams: [TeamArea; MAX_TEAMS],
    /// Chunk counters of the blocking collectives of the world, the team of all PEs.
    pub window: ChunkCounters,
    /// The slots of `window`, or the ring buffer that replaces them.
    pub chunk_slots: Room<RING_BYTES>,
    /// Words of nonblocking collectives, by the team's index. A team's collectives use its entries in turn.
    pub requests: [[RequestArea; MOST_REQUESTS]; MAX_TEAMS],
    /// Slots (buffers) of the nonblocking collectives of the world, the team of all PEs.
    pub world_requests: [Room<WORLD_REQUEST_BYTES>; MOST_REQUESTS],
    /// CPUs on which the node's PEs wait (used on the node's first PE).
    pub cpus: CpuTable,
}

const _: () = assert!(size_of::<SystemArea>() <= SYSTEM_BYTES && WINDOW_BYTES <= RING_BYTES);
const _: () = assert!(
    offset_of!(SystemArea, chunk_slots) == offset_of!(SystemArea, window) + size_of::<ChunkCounters>()
);

/// One team's words on one PE. Successive barriers use the two elements of an array in turn, because a PE that is one barrier ahead
/// must not change words that others still read.
#[repr(C, align(128))]
pub struct TeamArea {
    /// Cache lines of this PE, which other members poll in a flag barrier.
    pub lines: BarrierLines,
    /// Counter barrier of the node (on the node's first member).
    pub node: NodeBarrier,
    /// Arrivals in the dissemination rounds between nodes (on a node's first member).
    pub rounds: [[AtomicU64; ROUNDS]; 2],
    /// Values of `rounds` after the last barrier, by which the node's leader recognises new arrivals.
    pub expected: [[AtomicU64; ROUNDS]; 2],
    /// Direct arrivals from other nodes, without rounds (on a node's first member).
    pub direct: [AtomicU64; 2],
    /// Value of `direct` after the last barrier, by which the node's leader recognises new arrivals.
    pub expected_direct: [AtomicU64; 2],
    /// Signature (operation and arguments) of the collective that this PE has entered.
    pub signatures: [SignatureWords; 2],
    /// Signatures (operation and arguments) of other nodes' collectives, by dissemination round (on a node's first member).
    pub remote_signatures: [[SignatureWords; ROUNDS]; 2],
    /// Contributions of this PE to collectives. A buffer is rewritten only after the barrier that follows the buffer's last read.
    pub scratch: [Room<SCRATCH_BYTES>; 2],
    /// Data received for a step of a collective (on the node's first member). A team on one node without memory for chunks uses
    /// these buffers as the ring buffer.
    pub receive_buffer: [Room<RECEIVE_BUFFER_BYTES>; 2],
    /// Staging buffer of the node's leader (on the node's first member). One suffices, because it is written while all members are
    /// in a barrier, and read before the next barrier.
    pub work_buffer: Room<WORK_BUFFER_BYTES>,
    /// This PE's progress in the ring buffers of all members.
    pub ring: RingWords,
}

impl TeamArea {
    /// Clears flags, ring words and signatures that an earlier team left, because teams number their barriers from the same start.
    pub fn clear(&self) {
        self.lines.clear();
        self.ring.clear();
        self.signatures.iter().chain(self.remote_signatures.as_flattened()).for_each(SignatureWords::clear);
    }
}

/// Counters of a PE in one collective: of chunks that others send to its slots (buffers), and of chunks that it may send.
#[repr(C, align(4096))]
pub struct ChunkCounters {
    /// Number of chunks that have arrived in each slot.
    pub arrived: [AtomicU64; MOST_SLOTS],
    /// Number of chunks that this PE may send beyond the initial ones, for each edge (path from a sender to a receiver) of the
    /// schedule.
    pub credits: [AtomicU64; MOST_CREDITS],
}

impl ChunkCounters {
    /// Clears the chunk counters and the first `credits` credit counters, before any PE can send for the next collective.
    pub fn clear(&self, credits: usize) {
        self.arrived.iter().chain(&self.credits[..credits]).for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

/// The words of a nonblocking collective, on one PE.
#[repr(C, align(128))]
pub struct RequestArea {
    /// Arrivals in the dissemination rounds. Two sets, used in turn, because another member may start the next collective before
    /// this PE does.
    pub met: [[AtomicU64; ROUNDS]; 2],
    /// Number of chunks that have arrived in each slot, as in a [`ChunkCounters`].
    pub arrived: [AtomicU64; MOST_SLOTS],
    /// Number of chunks that this PE may send beyond the initial ones, as in a [`ChunkCounters`].
    pub credits: [AtomicU64; MOST_CREDITS],
    /// The collective that this PE has started, for the error text of a mismatch.
    pub record: PeRecord,
    /// The slots (buffers) for teams other than the world.
    pub room: Room<REQUEST_BYTES>,
}

impl RequestArea {
    /// Clears the arrivals that an earlier team left.
    pub fn clear(&self) {
        self.met.as_flattened().iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Clears the chunk counters, the first `credits` credit counters, and the set of arrivals other than `set`.
    pub fn begin(&self, set: usize, credits: usize) {
        let words = self.met[1 - set].iter().chain(&self.arrived).chain(&self.credits[..credits]);
        words.for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

/// A buffer of `BYTES` bytes.
#[repr(C, align(128))]
pub struct Room<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

impl<const BYTES: usize> Room<BYTES> {
    /// Pointer to the buffer's first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

/// The CPU on which each PE of a node last waited, plus 1, by the PE's place on the node; 0: not known.
///
/// A PE that shares its CPU yields while it waits, and others spin. A stale entry costs only time, because either
/// way the PE sleeps when its patience ends.
#[repr(C, align(128))]
pub struct CpuTable([AtomicU16; NodeBarrier::MAX_PES]);

impl CpuTable {
    /// Records that the PE at `place`, one of `pes` PEs, waits on `cpu`. Returns whether another PE last waited on this CPU.
    pub fn is_shared(&self, place: usize, pes: usize, cpu: usize) -> bool {
        // Fits into 16 bits, because Linux has at most 8192 CPUs.
        let here = cpu as u16 + 1;
        let (before, rest) = self.0[..pes].split_at(place);
        // Write the shared cache line only on a change.
        if rest[0].load(Ordering::Relaxed) != here {
            rest[0].store(here, Ordering::Relaxed);
        }
        before.iter().chain(&rest[1..]).any(|other| other.load(Ordering::Relaxed) == here)
    }
}

/// The stage of a PE's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// The PE's memory exists, and the job is being assembled.
    Starting = 0,
    /// The program runs on the PE.
    Running = 1,
    /// The PE has left the job in order.
    Finished = 2,
    /// The PE is ending the job.
    Aborting = 3,
}

/// A PE's activity in the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The operation, such as `barrier`, `local`, `alloc`, `wait_until`.
    pub operation: Text<24>,
    /// Arguments of the operation: names of objects, sizes.
    pub subject: Text<104>,
    /// File of the call.
    pub file: Text<96>,
    /// Line of the call.
    pub line: u32,
    /// Fingerprint of the collective's signature (operation and arguments); 0: the operation is no collective.
    pub fingerprint: u64,
    /// Index of the collective's team.
    pub team: u32,
    /// Number of the collective in its team, from 1; 0: the operation is no collective.
    pub count: u64,
}

impl Activity {
    /// The activity of a PE that runs the program's own code.
    pub const NONE: Self = Self {
        operation: Text::EMPTY,
        subject: Text::EMPTY,
        file: Text::EMPTY,
        line: 0,
        fingerprint: 0,
        team: 0,
        count: 0,
    };
}

impl core::fmt::Display for Activity {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.operation.is_empty() {
            return f.write_str("in its own code");
        }
        write!(f, "in `{}", self.operation)?;
        if !self.subject.is_empty() {
            write!(f, "({})", self.subject)?;
        }
        f.write_str("`")?;
        if !self.file.is_empty() {
            write!(f, " at {}:{}", self.file, self.line)?;
        }
        Ok(())
    }
}

/// A PE's identity and activity: written by the PE, read by its peers on the node and by the launcher, also after the PE has died.
///
/// A PE writes its activity when it goes to sleep, not when it spins, so short waits write nothing. Readers check a sequence
/// number, which is odd during a write.
#[repr(C, align(128))]
pub struct PeRecord {
    magic: AtomicU64,
    pid: AtomicU32,
    number: AtomicU32,
    stage: AtomicU32,
    sequence: AtomicU32,
    waiting_since: AtomicU64,
    collectives: AtomicU64,
    /// Number of sleeping threads (low 16 bits), and of begins and ends of sleeps (other bits), which shows whether a thread woke
    /// meanwhile.
    sleeps: AtomicU64,
    /// The last question of deadlock detection to the node's threads, counted from 1 (on the node's first PE).
    question: AtomicU64,
    /// The last answered question (47 bits), whether a thread answered that the process is not closed (1 bit; see `answer`), and
    /// the number of answers (16 bits).
    answers: AtomicU64,
    /// The last wave (a round of questions to all nodes) that this node received (`wave`) and answered (`echoed`), on the node's
    /// first PE.
    wave: AtomicU64,
    echoed: AtomicU64,
    /// Number of answers from child nodes (low 32 bits), and of those that report a thread awake since the previous wave (high
    /// 32 bits), on the node's first PE.
    echoes: AtomicU64,
    /// Whether a thread of this PE asks the questions of the node.
    asking: AtomicU32,
    busy: AtomicU32,
    activity: UnsafeCell<Activity>,
}

// SAFETY: only the thread of the owning PE that made `sequence` odd writes `activity`. Readers copy it (`shared`), and discard the
// copy if `sequence` changed meanwhile.
unsafe impl Sync for PeRecord {}
// SAFETY: the record consists of words, and threads may share it (`Sync`).
unsafe impl Send for PeRecord {}
// SAFETY: only collectives access a `Room`, through raw pointers, and their barriers order the owner's writes and the others'
// reads. The other fields are atomics and `PeRecord`s.
unsafe impl Sync for SystemArea {}

impl PeRecord {
    const MAGIC: u64 = u64::from_le_bytes(*b"shmrec05");

    /// Writes the PE's number and process ID, at the start.
    pub fn start(&self, number: u32, pid: u32) {
        self.pid.store(pid, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.magic.store(Self::MAGIC, Ordering::Release);
    }

    /// Whether `start` was called.
    pub fn is_started(&self) -> bool {
        self.magic.load(Ordering::Acquire) == Self::MAGIC
    }

    /// Process ID of the PE.
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    /// Number of the PE in the job.
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Stage of the PE.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Starting,
            1 => Stage::Running,
            2 => Stage::Finished,
            _ => Stage::Aborting,
        }
    }

    /// Sets the PE's stage.
    pub fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u32, Ordering::Release);
    }

    /// Writes the PE's activity. Only the PE itself calls this. If several threads wait, the record describes one of them.
    #[inline]
    pub fn describe(&self, activity: &Activity) {
        let n = self.sequence.load(Ordering::Relaxed);
        // Odd means that another thread is writing.
        let ours = n.is_multiple_of(2)
            && self
                .sequence
                .compare_exchange(n, n.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if !ours {
            return;
        }
        core::sync::atomic::fence(Ordering::Release);
        let from = core::ptr::from_ref(activity).cast();
        // SAFETY: only the thread of the owner that made `sequence` odd writes. Readers copy meanwhile, which is no race
        // (`shared`), and discard copies with an odd or changed sequence.
        unsafe { shared::copy(self.activity.get().cast(), from, size_of::<Activity>()) };
        self.busy.store(1, Ordering::Relaxed);
        self.sequence.store(n.wrapping_add(2), Ordering::Release);
    }

    /// Ends the activity that was last described.
    #[inline]
    pub fn done(&self) {
        self.busy.store(0, Ordering::Relaxed);
    }

    /// Sets the number of collectives of the world that this PE has entered.
    #[inline(always)]
    pub fn enter_collective(&self, count: u64) {
        self.collectives.store(count, Ordering::Relaxed);
    }

    /// Number of collectives of the world that this PE has entered.
    pub fn collectives(&self) -> u64 {
        self.collectives.load(Ordering::Relaxed)
    }

    /// The PE's activity; `None`: another thread keeps writing it.
    pub fn activity(&self) -> Option<Activity> {
        if self.busy.load(Ordering::Relaxed) == 0 {
            return Some(Activity::NONE);
        }
        for _ in 0..100 {
            let before = self.sequence.load(Ordering::Acquire);
            let mut copy = Activity::NONE;
            // SAFETY: the cell is valid for reads, and may be written meanwhile (`shared`); `Activity` has no invalid
            // bit patterns (texts check their UTF-8 when shown), and a torn copy is discarded below.
            unsafe {
                shared::copy((&raw mut copy).cast(), self.activity.get().cast(), size_of::<Activity>())
            };
            core::sync::atomic::fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before {
                return Some(copy);
            }
            core::hint::spin_loop();
        }
        None
    }

    /// Marks the PE as asleep since `now` (monotonic nanoseconds, not 0), or as awake (0).
    pub fn set_waiting_since(&self, now: u64) {
        self.waiting_since.store(now, Ordering::Relaxed);
    }

    pub(crate) fn begin_sleep(&self) {
        self.sleeps.fetch_add((1 << 16) + 1, Ordering::AcqRel);
    }

    pub(crate) fn end_sleep(&self) {
        self.sleeps.fetch_add((1 << 16) - 1, Ordering::AcqRel);
    }

    /// Number of this PE's sleeping threads.
    pub fn sleeping(&self) -> usize {
        (self.sleeps.load(Ordering::Acquire) & 0xffff) as usize
    }

    pub(crate) fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::Acquire) >> 16
    }

    pub(crate) fn question(&self) -> u64 {
        self.question.load(Ordering::Acquire)
    }

    /// Raises the next question, which sleeping threads answer, and returns its number.
    pub fn raise_question(&self) -> u64 {
        self.question.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Counts the answer of one thread to `question`. The process is closed if it has no thread that is awake, no other source of
    /// events, and no operation in flight.
    pub(crate) fn answer(&self, question: u64, is_closed: bool) {
        let more = |before: u64| {
            let same = if before >> 17 == question { before } else { question << 17 };
            Some((same + 1) | u64::from(!is_closed) << 16)
        };
        let _ = self.answers.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
    }

    /// Number of threads that answered `question`, and whether the process was closed at each answer; `None`: no thread has
    /// answered it.
    pub(crate) fn answers(&self, question: u64) -> Option<(usize, bool)> {
        let answers = self.answers.load(Ordering::Acquire);
        (answers >> 17 == question).then_some(((answers & 0xffff) as usize, answers >> 16 & 1 == 0))
    }

    /// Offset of the word to which a parent node writes the number of a wave.
    pub const WAVE: usize = offset_of!(Self, wave);

    /// Offset of the word to which child nodes add their answers.
    pub const ECHOES: usize = offset_of!(Self, echoes);

    /// The number that a child node adds to [`ECHOES`](Self::ECHOES) as its answer. `was_awake`: a thread was awake since the
    /// previous wave.
    pub const fn echo(was_awake: bool) -> u64 {
        1 | (was_awake as u64) << 32
    }

    pub(crate) fn wave(&self) -> u64 {
        self.wave.load(Ordering::Acquire)
    }

    /// Begins a wave, on the root node, and returns its number.
    pub(crate) fn begin_wave(&self) -> u64 {
        self.wave.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub(crate) fn echoed(&self) -> u64 {
        self.echoed.load(Ordering::Acquire)
    }

    pub(crate) fn set_echoed(&self, wave: u64) {
        self.echoed.store(wave, Ordering::Release);
    }

    /// Number of answers from child nodes, and number of those that report a thread awake since the previous wave.
    pub(crate) fn echoes(&self) -> (u64, u64) {
        let echoes = self.echoes.load(Ordering::Acquire);
        (echoes & u64::from(u32::MAX), echoes >> 32)
    }

    /// Makes the calling thread the one that asks for this PE in deadlock detection. Returns `false` if another thread does so
    /// already.
    pub(crate) fn begin_asking(&self) -> bool {
        self.asking.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn end_asking(&self) {
        self.asking.store(0, Ordering::Release);
    }

    /// Start of the PE's sleep, in nanoseconds of [`monotonic_now`]; 0: awake.
    pub fn waiting_since(&self) -> u64 {
        self.waiting_since.load(Ordering::Relaxed)
    }
}

/// The monotonic clock in nanoseconds, common to all processes of a host.
pub fn monotonic_now() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_shared_by_pes_that_waited_there_last() {
        // SAFETY: all zeroes is the initial state of the table.
        let table = unsafe { Box::<CpuTable>::new(core::mem::zeroed()) };
        let waits = |place, cpu| table.is_shared(place, 3, cpu);
        assert!(!waits(1, 0), "of the others nothing is known");
        assert!(!waits(2, 8191));
        assert!(waits(0, 8191));
        assert!(!waits(2, 5));
        assert!(!waits(0, 8191), "the other one has moved");
        assert!(waits(0, 0));
    }

    #[test]
    fn a_second_thread_does_not_write_where_one_is_writing() {
        // SAFETY: all zeroes is the initial state of a record.
        let record = unsafe { Box::<PeRecord>::new(core::mem::zeroed()) };
        let waits = |line| Activity { operation: Text::head("wait_until"), line, ..Activity::NONE };
        record.describe(&waits(1));
        assert_eq!(record.activity(), Some(waits(1)));
        // One thread is in the middle of its description.
        record.sequence.fetch_add(1, Ordering::Relaxed);
        record.describe(&waits(2));
        assert_eq!(record.activity(), None, "the first is still writing");
        record.sequence.fetch_add(1, Ordering::Relaxed);
        assert_eq!(record.activity(), Some(waits(1)), "and what it writes is untouched");
        record.describe(&waits(3));
        assert_eq!(record.activity(), Some(waits(3)));
    }
}
