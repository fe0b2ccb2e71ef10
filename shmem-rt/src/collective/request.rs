//! Requests: started collectives that make progress while the program runs. [`Started`] is the handle to wait for one.
//!
//! A started collective is a barrier of all members, followed by a [schedule](super::schedule). Both form one background task of
//! the PE ([`Work`]), which proceeds whenever the PE waits inside the library or tests a request. There is no progress thread.
//!
//! **Barrier.** A dissemination (Hensgen, Finkel and Manber, 1988): in round `k` each member sends its [`Mark`] to the rank `2^k`
//! further on. A mark contains the team's number of barriers, a hash of the signature, the number of the request, and a bit that is
//! always 1. Unequal marks show that members started different collectives, or in another order. If some members have not started
//! the collective, one of these finds a mark at its next barrier, and ends the job ([`mismatch`](super::mismatch)).
//!
//! **Places.** A team has up to [`MOST_REQUESTS`](shmem_core::system_area::MOST_REQUESTS) requests under way, each with a place,
//! which is a set of counters and slots (buffers of one chunk each) in the system area of every PE. A start clears the counters,
//! then sends its mark. No message of the new request reaches the counters before they are cleared:
//!
//! * The previous request at this place is complete on this PE, so all its messages have arrived.
//! * Before all members have started the new request, only marks arrive. Marks use two sets of words in turn. The set
//!   for the new marks was cleared when this PE started the previous request at this place. Whoever sends such a mark
//!   has completed that request, and so sends it after all members had started that request.
//!
//! **Memory.** Data are copied when the request starts, and the result when the program waits for it. Meanwhile transfers use only
//! memory of the runtime, which is kept until the runtime's channel is quiet. So a request borrows nothing of the program, and
//! cannot conflict with a [phase](crate::phase). Soundness depends on no other PE ([`pipelined`](super::pipelined)).

use core::mem::offset_of;
use core::panic::Location;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::endpoint::{Work, WorkStatus};
use shmem_core::exclusion::Mutex;
use shmem_core::observe::{Call, Family, TeamBarrier};
use shmem_core::planted_fault::mutant;
use shmem_core::system_area::{Activity, MOST_SLOTS, ROUNDS, RequestArea};
use shmem_core::text::Text;
use shmem_core::transport::SignalOp;
use shmem_launch::diagnostics::say;

use super::choose::Pattern;
use super::compared_argument::Argument;
use super::engine::Progress;
use super::mismatch::{Mark, in_words, place_of, refuse_started};
use super::pipelined::{ChunkTransfers, PeerMemory, Slots, request_area};
use super::reduce_op::ReduceOp;
use super::schedule::Cut;
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, END, Operation, Team};
use crate::job::Job;
use crate::members::Members;
use crate::state::team_uses::RequestClaim;

/// Bytes of the shortest chunk, because a shorter chunk takes about as long.
const LEAST: usize = 2 << 10;

impl Team {
    /// Returns the steps of a started collective; None if no data move. Items have `item` bytes. Chunks are short, so that several
    /// are under way.
    pub(super) fn steps(&self, pattern: Pattern, root: usize, item: usize) -> Option<Progress> {
        let members = self.size();
        if members == 1 || pattern.bytes() == 0 {
            return None;
        }
        let longest = Slots::of_request(self.index, 0).bytes;
        let most = (pattern.stream(members) / 8).next_power_of_two().clamp(LEAST, longest);
        let cut = Cut { most, slots: MOST_SLOTS };
        Some(Progress::of(pattern, (members, self.rank(), root), cut, item))
    }

    /// Waits until all started collectives of the team are complete.
    pub(crate) fn land(&self, endpoint: &Endpoint) {
        let activity = Activity { operation: Text::head("destroy"), ..Activity::NONE };
        wait_until(endpoint, || self.uses.has_landed(), || activity);
    }
}

impl<'t, K: Initiator + ?Sized> Argument<'t, K> {
    /// Starts a collective of `bytes` bytes on this PE. `finish` delivers the result. Members compare `words`; error texts show
    /// `subject`.
    pub(super) fn start<const N: usize, R>(
        &self,
        operation: impl Into<Operation>,
        words: [u64; N],
        subject: &dyn Fn() -> String,
        (bytes, task): (usize, Task),
        finish: impl FnOnce(&[u8]) -> R + 't,
    ) -> Started<'t, R> {
        let (team, endpoint, location) = (self.team, self.token.endpoint(), self.location);
        let (words, compared) = self.compared(words);
        let operation = operation.into();
        let signature = self.signature(operation, &words[..compared], subject);
        let barrier = TeamBarrier { team: team.index, members: team.neighbours(), count: team.started() + 1 };
        let call = Call { bytes, ..Call::new(operation.family, location).with_barrier(barrier) };
        endpoint.tell(call, || {
            let collective = team.enter(endpoint, Some(location));
            let ((place, _), barriers) = (place_of(team.started() + 1), collective.next_barrier() - 1);
            if !team.uses.is_free(place) {
                let activity = signature.activity(team.index, barriers);
                wait_until(endpoint, || team.uses.is_free(place), || activity);
            }
            let request =
                StartedRequest::start(team, endpoint, &signature, (collective.start(), barriers), task);
            Started { endpoint, request, barrier, finish: Some(Box::new(finish)), location }
        })
    }
}

/// Waits until all started collectives of this PE are complete, before the program ends.
pub(crate) fn land_all(endpoint: &Endpoint) {
    let activity = Activity { operation: Text::head(END), ..Activity::NONE };
    wait_until(endpoint, || !endpoint.waiting().has_work(), || activity);
}

pub(super) fn wait_until(endpoint: &Endpoint, done: impl FnMut() -> bool, activity: impl Fn() -> Activity) {
    // SAFETY: only the doorbell is used, as by every wait for a word of this PE.
    let bell = &unsafe { endpoint.system() }.doorbell;
    endpoint.waiting().until(0, endpoint, done, |timeout, done| bell.watch(timeout, done), activity);
}

type Finish<'t, R> = Box<dyn FnOnce(&[u8]) -> R + 't>;

/// A started collective, as from [`start_sum`](crate::Team::start_sum), which makes progress while the program runs. A
/// [`wait`](Self::wait) delivers the result of the blocking call: it returns a value, or writes `&mut x`, a destination or a
/// symmetric object, which is unchanged until then.
///
/// The collective makes progress whenever this PE waits inside the library or calls [`is_complete`](Self::is_complete). There is no
/// progress thread, so a PE that computes for long should call `is_complete` at times, because other members wait for its data.
///
/// Dropping the handle waits, as [`wait`](Self::wait) does, and writes results in place, except while a panic unwinds. Forgetting
/// the handle loses the result, but the collective goes on.
///
/// ```no_run
/// use shmem::prelude::*;
///
/// #[shmem::main]
/// fn main(world: &mut World) {
///     let norm = world.start_sum(vec![1.0; 1000]);
///     let inner: f64 = (0..1_000_000).map(f64::from).sum();
///     let norm = norm.wait();
///     println!("{inner} {}", norm[0]);
/// }
/// ```
#[must_use = "the result comes by `wait`; dropping it waits as well"]
pub struct Started<'t, R> {
    endpoint: &'t Endpoint,
    request: Arc<StartedRequest>,
    /// Identification of the collective for the observer.
    barrier: TeamBarrier<'t>,
    /// Function that delivers the result; None after its call.
    finish: Option<Finish<'t, R>>,
    location: &'static Location<'static>,
}

impl<R> Started<'_, R> {
    /// Waits until the collective is complete on this PE. Returns the result.
    ///
    /// Source: MPI 4.1, `MPI_Wait`.
    #[doc(alias = "MPI_Wait")]
    #[track_caller]
    pub fn wait(mut self) -> R {
        self.location = Location::caller();
        self.land();
        let finish = self.finish.take().unwrap_or_else(|| unreachable!("a result is taken once"));
        finish(self.request.result())
    }

    /// Returns whether the collective is complete on this PE, so that [`wait`](Self::wait) would return at once. Makes progress on
    /// all started collectives of the PE, without blocking.
    ///
    /// Source: MPI 4.1, `MPI_Test`.
    #[doc(alias = "MPI_Test")]
    pub fn is_complete(&self) -> bool {
        if !self.request.is_complete() {
            self.endpoint.waiting().go_on(self.endpoint);
        }
        if !self.request.is_complete() {
            return false;
        }
        // Notifies the observer, as a wait does.
        self.land();
        true
    }

    fn land(&self) {
        let Self { endpoint, request, barrier, location, .. } = self;
        let land = || wait_until(endpoint, || request.is_complete(), || request.activity());
        endpoint.tell(Call::new(Family::Started, location).with_barrier(*barrier), land);
    }
}

impl<R> Drop for Started<'_, R> {
    fn drop(&mut self) {
        if let Some(finish) = self.finish.take()
            && !std::thread::panicking()
        {
            self.land();
            finish(self.request.result());
        }
    }
}

/// A buffer that transfers read and write while no reference to its bytes exists.
pub(super) struct TransferBuffer(Box<[AtomicU8]>);

impl TransferBuffer {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice()) as *mut [AtomicU8];
        // SAFETY: `bytes` was a box of `u8`. An `AtomicU8` has the same size and alignment, and any byte is a valid value of both.
        Self(unsafe { Box::from_raw(bytes) })
    }

    /// Returns the buffer for transfers, which may write to it.
    ///
    /// # Safety
    ///
    /// The result may be used only while `self` lives, and while no result of [`settled`](Self::settled) is used. Nobody else may
    /// write bytes that a method of the result reads, or access bytes that a method writes, during the call.
    unsafe fn target<'h>(&self) -> RecvBuf<'h> {
        // SAFETY: the box has `len` bytes, in atomic cells. No `&[u8]` to them exists, and nobody else uses the bytes that a method
        // moves (caller).
        unsafe { RecvBuf::shared(self.0.as_ptr().cast::<u8>().cast_mut(), self.0.len()) }
    }

    /// Returns the bytes, when transfers are over.
    ///
    /// # Safety
    ///
    /// Nobody may write the bytes while the result is used.
    unsafe fn settled(&self) -> &[u8] {
        // SAFETY: the box has `len` bytes, which nobody writes while the result is used (caller).
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }
}

/// The data transfer of a request, which follows its barrier.
pub(super) struct Task {
    /// Steps of the schedule; None if no data move.
    pub(super) progress: Option<Progress>,
    /// Data to send; empty if the data to send are in `result`.
    pub(super) source: TransferBuffer,
    pub(super) result: TransferBuffer,
    pub(super) op: Option<Box<dyn ReduceOp + Send>>,
}

impl Task {
    /// Returns a task with an empty source and without an operation.
    pub(super) fn of(progress: Option<Progress>, result: Vec<u8>) -> Self {
        Self {
            progress,
            source: TransferBuffer::new(Vec::new()),
            result: TransferBuffer::new(result),
            op: None,
        }
    }
}

pub(super) struct StartedRequest {
    activity: Activity,
    /// State of the request; None when the request is over.
    state: Mutex<Option<RequestState>>,
    is_complete: AtomicBool,
    result: TransferBuffer,
}

struct RequestState {
    job: Arc<Job>,
    members: Arc<Members>,
    rank: usize,
    team: usize,
    /// (place among the team's requests, index of the set of words that receive the marks)
    place: (usize, usize),
    mark: Mark,
    round: usize,
    has_told: bool,
    progress: Option<Progress>,
    source: TransferBuffer,
    op: Option<Box<dyn ReduceOp + Send>>,
    /// Claim on the place, released when the state is dropped.
    _claim: RequestClaim,
}

impl StartedRequest {
    /// Starts request number `number` of a team. `barriers` is the number of the team's barriers so far.
    pub(super) fn start(
        team: &Team,
        endpoint: &Endpoint,
        signature: &CallSignature<'_>,
        (number, barriers): (u64, u64),
        task: Task,
    ) -> Arc<Self> {
        let (place, mark) = (place_of(number), Mark::new(signature, number, barriers));
        let activity = signature.activity(team.index, barriers);
        let Task { progress, source, result, op } = task;
        let credits = progress.as_ref().map_or(0, |progress| progress.credits);
        let claim = team.uses.claim_request(place.0);
        let state = RequestState {
            job: Arc::clone(&team.job),
            members: Arc::clone(&team.members),
            rank: team.rank(),
            team: team.index,
            place,
            mark,
            round: 0,
            has_told: false,
            progress,
            source,
            op,
            _claim: claim,
        };
        let mine = &team.system_at(endpoint, endpoint.me()).requests[team.index][place.0];
        mine.begin(place.1, credits);
        mine.record.describe(&activity);
        let (state, is_complete) = (Mutex::new(Some(state)), AtomicBool::new(false));
        let request = Arc::new(Self { activity, state, is_complete, result });
        endpoint.waiting().go_on_with(Arc::clone(&request) as _);
        endpoint.waiting().go_on(endpoint);
        request
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// Returns the result.
    ///
    /// # Panics
    ///
    /// If the request is not complete.
    pub(super) fn result(&self) -> &[u8] {
        assert!(self.is_complete(), "the result of a collective is asked for before it is there");
        // SAFETY: the request is complete, and only its steps write the result.
        unsafe { self.result.settled() }
    }

    pub(super) fn activity(&self) -> Activity {
        let mut activity = self.activity;
        let state = self.state.try_lock();
        let awaited = state.and_then(|state| {
            let state = state.as_ref()?;
            let rank = state.awaited()?;
            Some(state.members.member(rank).number())
        });
        if let Some(pe) = awaited {
            let comma = if activity.subject.is_empty() { "" } else { ", " };
            activity.subject = Text::head(&format!("{}{comma}waits for PE {pe}", activity.subject));
        }
        activity
    }

    fn step(&self) -> WorkStatus {
        let Some(mut guard) = self.state.try_lock() else { return WorkStatus::Nothing };
        let Some(state) = guard.as_mut() else { return WorkStatus::Last };
        let mut moved = false;
        if !self.is_complete() {
            moved = state.meet(&self.activity);
            let mut is_over = state.has_met() || mutant("flight-unopened");
            if is_over && let Some(progress) = &mut state.progress {
                // SAFETY: `result` is used in this call only, while `self` lives, and `state` is locked. `settled` is called only
                // for a complete request. Transfers under way only read, and their sources are not written (`pipelined`).
                let result = unsafe { self.result.target() };
                // SAFETY: `source` is used in this call only, while `state` lives. Nothing writes it, and `settled` is not called
                // on it.
                let source = SendBuf::from(unsafe { state.source.target() });
                let mut transfers = ChunkTransfers {
                    reach: PeerMemory { job: &state.job, members: &state.members, rank: state.rank },
                    slots: Slots::of_request(state.team, state.place.0),
                    source,
                    result,
                    object: None,
                    op: state.op.as_deref().map(|op| op as &dyn ReduceOp),
                };
                let before = progress.moved();
                is_over = progress.poll(&mut transfers);
                moved |= progress.moved() != before;
            }
            if !is_over {
                return if moved { WorkStatus::Some } else { WorkStatus::Nothing };
            }
            self.is_complete.store(true, Ordering::Release);
            moved = true;
        }
        // Sources are kept until all transfers are complete.
        let own = state.job.network.own.as_ref();
        if !own.is_none_or(|far| far.transport.is_quiet(far.channel)) {
            return if moved { WorkStatus::Some } else { WorkStatus::Nothing };
        }
        *guard = None;
        WorkStatus::Last
    }
}

// SAFETY: a panic ends the process (`Broken`). A step only moves chunks and counters of its schedules, and begins no other work.
unsafe impl Work for StartedRequest {
    fn go_on(&self) -> WorkStatus {
        let broken = Broken(&self.activity);
        let step = self.step();
        core::mem::forget(broken);
        step
    }
}

/// A guard that ends the process when a panic drops the guard. A waiting PE must not unwind, because other PEs wait for its steps.
struct Broken<'f>(&'f Activity);

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        say(&format!("shmem: a panic {} ends the process: it goes on wherever this PE waits", self.0));
        std::process::abort();
    }
}

impl RequestState {
    fn has_met(&self) -> bool {
        // Each round doubles the number of members that are known to have started the request.
        self.round == self.members.size().next_power_of_two().ilog2() as usize
    }

    fn before(&self, distance: usize) -> usize {
        (self.rank + self.members.size() - distance) % self.members.size()
    }

    fn reach(&self) -> PeerMemory<'_> {
        PeerMemory { job: &self.job, members: &self.members, rank: self.rank }
    }

    /// Makes progress on the barrier. Returns whether a mark was sent or has arrived.
    fn meet(&mut self, activity: &Activity) -> bool {
        let mut moved = false;
        while !self.has_met() {
            let (distance, (place, set)) = (1 << self.round, self.place);
            let word = offset_of!(RequestArea, met) + (set * ROUNDS + self.round) * size_of::<u64>();
            let offset = request_area(self.team, place) + word;
            if !self.has_told {
                let to = (self.rank + distance) % self.members.size();
                self.reach().signal(to, offset, SignalOp::Set(self.mark.0));
                (self.has_told, moved) = (true, true);
            }
            match Mark::heard(self.reach().own(offset)) {
                None => break,
                Some(mark) if mark == self.mark => (),
                Some(_) => self.refuse(self.before(distance), activity),
            }
            (self.round, self.has_told, moved) = (self.round + 1, false, true);
        }
        moved
    }

    fn awaited(&self) -> Option<usize> {
        match self.has_met() {
            false => Some(self.before(1 << self.round)),
            true => self.progress.as_ref()?.awaited(),
        }
    }

    /// Ends the job, because the member with rank `other` has started another collective.
    #[cold]
    fn refuse(&self, other: usize, mine: &Activity) -> ! {
        let pes = [self.rank, other].map(|rank| self.members.member(rank));
        refuse_started(&self.job, (pes[0], pes[1]), (self.team, self.place.0), |theirs| {
            let (here, there) = (mine.to_string(), in_words(theirs));
            let behind = |text: &str, barriers| format!("{text} behind {barriers} other barriers");
            match theirs {
                // Equal texts: the same call, at another point of the program.
                Some(theirs) if here == there => (behind(&here, mine.count), behind(&there, theirs.count)),
                _ => (here, there),
            }
        })
    }
}
