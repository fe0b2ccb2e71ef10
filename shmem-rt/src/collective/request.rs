//! Requests: collectives that go on beside the program. They are [started](super::start), and waited for later.
//!
//! A started collective is what a blocking one of much data is, but for who does it: a barrier of all members, and behind it a
//! [schedule](super::schedule). Both are one [work](Work) of the PE, and go on whenever it waits inside the library, whatever for, and
//! when it asks. No thread is made for it: a PE that only computes holds up those that need what it has.
//!
//! **Barrier.** A dissemination: in round `k` each member tells the one `2^k` ranks further on what it has started, in a [`Mark`], and
//! waits for that of the one as far before it. A mark is a hash of the purpose, how many barriers of the team the member has come to
//! before, and a bit that is never 0. So members that start different things find it here, as do those that start something before a
//! blocking collective and behind it. Who has not started it at all meets the others with another mark, since how many were started is
//! part of that; while it waits for them it looks for [strays](super::mismatch).
//!
//! **Places.** A team has up to [`MOST_REQUESTS`](shmem_core::system::MOST_REQUESTS) under way, which take as many places in turn. Each has counters and slots of its own in
//! the system area of every PE, so no memory is allocated for them and no start waits for the others. Who starts one clears the counters
//! of its place before it says so. Nothing is under way to them then:
//!
//! * A request is complete on a PE when all that schedules make others send there has come and was counted, and so was every mark of its
//!   barrier. The one before at this place is: its end is waited for.
//! * What comes for the new one before this PE has started it are marks of its barrier alone, since nobody sends anything else before
//!   all have started. These have two sets in turn, and the set is cleared a turn before: when the last one at this place began. Nobody
//!   could have come to the new one then, because nobody ends the last one before all have started it.
//!
//! **Memory.** What the program gives is copied when the request is started, and the result is copied out when it is waited for. In
//! between all that is read and written is memory of the runtime: so nothing is borrowed, what is forgotten goes on, and no phase can
//! come upon an object that is being written. What transfers read stays until the stream of the runtime is quiet. Soundness rests on no
//! other PE, as [`placement`](super::placement) says.

use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::Arc;

use shmem_core::context::Endpoint;
use shmem_core::endpoint::{Step, Work};
use shmem_core::exclusion::Mutex;
use shmem_core::primitive::mutant;
use shmem_core::system::{Activity, ROUNDS, RequestArea};
use shmem_core::text::Text;
use shmem_core::transport::SignalOp;
use shmem_launch::say::say;

use super::buffer::{RecvBuf, SendBuf};
use super::engine::Written;
use super::mismatch::{Mark, in_words, place_of, refuse_started};
use super::placement::{Carrier, Reach, Slots, request_area};
use super::reduction::Reduction;
use crate::group::{Purpose, Team};
use crate::job::Job;
use crate::members::Members;
use crate::state::uses::RequestClaim;

/// Bytes of the runtime that transfers read and chunks are written to, while nobody has a reference to them as bytes.
pub(super) struct Held(Box<[AtomicU8]>);

impl Held {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice()) as *mut [AtomicU8];
        // SAFETY: it was a box of bytes, whose size and alignment an `AtomicU8` has, and any byte is a value of both.
        Self(unsafe { Box::from_raw(bytes) })
    }

    /// The bytes, to be written by transfers.
    ///
    /// # Safety
    ///
    /// The result is used for no longer than `self` lives, and [`settled`](Self::settled) is not meanwhile.
    unsafe fn target<'h>(&self) -> RecvBuf<'h> {
        // SAFETY: as many bytes are there, in cells, to which nobody has a reference as bytes (caller).
        unsafe { RecvBuf::shared(self.0.as_ptr().cast::<u8>().cast_mut(), self.0.len()) }
    }

    /// The bytes.
    ///
    /// # Safety
    ///
    /// Nobody writes them for as long as the result is used.
    unsafe fn settled(&self) -> &[u8] {
        // SAFETY: as many bytes are there; the rest is the caller's promise.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }
}

/// What is sent in a request.
pub(super) enum Sent {
    /// Other bytes than the result.
    Given(Held),
    /// The result from a byte on.
    Result(usize),
}

/// What a request does behind its barrier.
pub(super) struct Task {
    /// Its progress and its credit counters; nothing, if there is nothing to bring.
    pub(super) schedule: Option<(Written, usize)>,
    pub(super) sent: Sent,
    pub(super) result: Held,
    pub(super) op: Option<Box<dyn Reduction + Send>>,
}

impl Task {
    /// Of a result that is sent on as it comes, and in which nothing is combined.
    pub(super) fn of(schedule: Option<(Written, usize)>, result: Vec<u8>) -> Self {
        Self { schedule, sent: Sent::Result(0), result: Held::new(result), op: None }
    }
}

/// A collective that goes on beside the program.
pub(super) struct Request {
    /// What it is, for messages.
    activity: Activity,
    /// What it takes to go on; nothing, when it is over.
    state: Mutex<Option<State>>,
    /// Whether the result is there.
    is_complete: AtomicBool,
    result: Held,
}

struct State {
    job: Arc<Job>,
    members: Arc<Members>,
    rank: usize,
    team: usize,
    /// Its place among those that the team has under way, and the set of marks that its barrier uses.
    place: (usize, usize),
    mark: Mark,
    /// The round of the barrier.
    round: usize,
    /// Whether its mark was sent in that round.
    has_told: bool,
    progress: Option<Written>,
    sent: Sent,
    op: Option<Box<dyn Reduction + Send>>,
    /// Dropped when it is over.
    _claim: RequestClaim,
}

impl Request {
    /// Starts the request of a team with a number, behind so many barriers: what is done is said by `task`.
    pub(super) fn start(
        team: &Team,
        endpoint: &Endpoint,
        purpose: &Purpose<'_>,
        (number, meetings): (u64, u64),
        task: Task,
    ) -> Arc<Self> {
        let (place, mark) = (place_of(number), Mark::new(purpose, number, meetings));
        let activity = purpose.activity(team.index(), meetings);
        let Task { schedule, sent, result, op } = task;
        let (progress, credits) = schedule.unzip();
        let claim = team.uses().claim_request(place.0);
        let state = State {
            job: Arc::clone(&team.job),
            members: Arc::clone(team.members()),
            rank: team.rank(),
            team: team.index(),
            place,
            mark,
            round: 0,
            has_told: false,
            progress,
            sent,
            op,
            _claim: claim,
        };
        let mine = &team.system_at(endpoint, endpoint.me()).requests[team.index()][place.0];
        mine.begin(place.1, credits.unwrap_or_default());
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

    /// The result.
    ///
    /// # Panics
    ///
    /// If it is not there yet.
    pub(super) fn result(&self) -> &[u8] {
        assert!(self.is_complete(), "the result of a collective is asked for before it is there");
        // SAFETY: behind the end of the schedule nobody writes the result: only its steps do.
        unsafe { self.result.settled() }
    }

    /// What it is, and whom it waits for.
    pub(super) fn activity(&self) -> Activity {
        let mut activity = self.activity;
        let state = self.state.try_lock();
        let awaited = state.and_then(|mut state| {
            let state = state.as_mut()?;
            let rank = state.awaited()?;
            Some(state.members.member(rank).number())
        });
        if let Some(pe) = awaited {
            let comma = if activity.subject.is_empty() { "" } else { ", " };
            activity.subject = Text::head(&format!("{}{comma}waits for PE {pe}", activity.subject));
        }
        activity
    }

    fn step(&self) -> Step {
        let Some(mut guard) = self.state.try_lock() else { return Step::Nothing };
        let Some(state) = guard.as_mut() else { return Step::Last };
        let mut moved = false;
        if !self.is_complete() {
            moved = state.meet(&self.activity);
            let mut is_over = state.has_met() || mutant("flight-unopened");
            if is_over && let Some(progress) = &mut state.progress {
                // SAFETY: used for this call, in which the result lives and nobody is given it.
                let result = unsafe { self.result.target() };
                // SAFETY: used for this call; what is sent lives as long as the state, and is written by the schedule alone.
                let all = unsafe { self.result.target() };
                let source = match &state.sent {
                    Sent::Result(from) => SendBuf::from(all).part(*from..self.result.0.len()),
                    // SAFETY: used for this call, in which what is given lives; nobody writes it.
                    Sent::Given(given) => SendBuf::from(unsafe { given.target() }),
                };
                let mut carrier = Carrier {
                    reach: Reach { job: &state.job, members: &state.members, rank: state.rank },
                    slots: Slots::of_request(state.team, state.place.0),
                    source,
                    result,
                    object: None,
                    op: state.op.as_deref().map(|op| op as &dyn Reduction),
                };
                let before = progress.moved();
                is_over = progress.poll(&mut carrier);
                moved |= progress.moved() != before;
            }
            if !is_over {
                return if moved { Step::Some } else { Step::Nothing };
            }
            self.is_complete.store(true, Ordering::Release);
            moved = true;
        }
        // What transfers read stays until they are over.
        let own = state.job.network.own.as_ref();
        if !own.is_none_or(|far| far.transport.is_quiet(far.channel)) {
            return if moved { Step::Some } else { Step::Nothing };
        }
        *guard = None;
        Step::Last
    }
}

// SAFETY: what would unwind ends the process (`Broken`). Schedules, chunks and numbers are gone on with, and no work is begun.
unsafe impl Work for Request {
    fn go_on(&self) -> Step {
        let broken = Broken(&self.activity);
        let step = self.step();
        core::mem::forget(broken);
        step
    }
}

/// Ends the process when it is dropped, by a panic: whoever waits is where others count on it, and cannot unwind.
struct Broken<'f>(&'f Activity);

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        say(&format!("shmem: a panic {} ends the process: it goes on wherever this PE waits", self.0));
        std::process::abort();
    }
}

impl State {
    fn has_met(&self) -> bool {
        // In each round twice as many are known to have started it.
        self.round == self.members.size().next_power_of_two().ilog2() as usize
    }

    fn before(&self, distance: usize) -> usize {
        (self.rank + self.members.size() - distance) % self.members.size()
    }

    fn reach(&self) -> Reach<'_> {
        Reach { job: &self.job, members: &self.members, rank: self.rank }
    }

    /// Goes on with the barrier: tells a member in each round what this one has started. Whether anything was done.
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

    /// The rank that it waits for, if it waits for any.
    fn awaited(&mut self) -> Option<usize> {
        match self.has_met() {
            false => Some(self.before(1 << self.round)),
            true => self.progress.as_mut()?.awaited(),
        }
    }

    /// Ends the job: a member has started something else.
    #[cold]
    fn refuse(&self, other: usize, mine: &Activity) -> ! {
        let pes = [self.rank, other].map(|rank| self.members.member(rank));
        refuse_started(&self.job, (pes[0], pes[1]), (self.team, self.place.0), |theirs| {
            let (here, there) = (mine.to_string(), in_words(theirs));
            let behind = |text: &str, meetings| format!("{text} behind {meetings} other meetings");
            match theirs {
                // The same, at another place of the program.
                Some(theirs) if here == there => (behind(&here, mine.count), behind(&there, theirs.count)),
                _ => (here, there),
            }
        })
    }
}
