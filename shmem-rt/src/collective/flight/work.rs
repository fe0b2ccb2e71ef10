use core::sync::atomic::{AtomicBool, Ordering};

use shmem_core::endpoint::{Step, Work};
use shmem_core::exclusion::Mutex;
use shmem_core::primitive::mutant;
use shmem_core::system::Activity;
use shmem_launch::say::say;

use super::area::Area;
use super::course::Course;
use super::hold::Hold;
use super::load::{Combine, Load};
use super::mark::Mark;
use crate::collective::disagreement::{Record, disagreement};
use crate::collective::stream::Group;
use crate::state::uses::FlightClaim;

/// What is given to a flight.
pub(super) struct Freight {
    /// What is done behind the meeting; nothing, if there is nothing to bring.
    pub(super) course: Option<Course>,
    /// What is sent, if that is not a part of the result.
    pub(super) given: Option<Hold>,
    /// Where in the result what is sent lies otherwise.
    pub(super) own: usize,
    pub(super) result: Hold,
    pub(super) combine: Combine,
}

impl Freight {
    /// Of a result that is sent on as it comes, and in which nothing is combined.
    pub(super) fn of(course: Option<Course>, result: Hold) -> Self {
        let combine = Box::new(|_: Group<'_>| unreachable!("only reductions combine"));
        Self { course, given: None, own: 0, result, combine }
    }
}

/// A collective that goes on beside the program.
pub(super) struct Flight {
    /// What it is, for messages.
    activity: Activity,
    /// What it takes to go on; nothing, when it is over.
    state: Mutex<Option<State>>,
    /// Whether the result is there.
    has_landed: AtomicBool,
    result: Hold,
}

struct State {
    area: Area,
    mark: Mark,
    /// The round of the meeting.
    round: usize,
    /// Whether it has been told in that round what was started.
    has_told: bool,
    course: Option<Course>,
    given: Option<Hold>,
    own: usize,
    combine: Combine,
    /// Dropped when it is over.
    _claim: FlightClaim,
}

impl Flight {
    /// One that all words are ready for.
    pub(super) fn new(
        area: Area,
        mark: Mark,
        activity: Activity,
        freight: Freight,
        claim: FlightClaim,
    ) -> Self {
        let Freight { course, given, own, result, combine } = freight;
        let (round, has_told) = (0, false);
        let state = State { area, mark, round, has_told, course, given, own, combine, _claim: claim };
        Self { activity, state: Mutex::new(Some(state)), has_landed: AtomicBool::new(false), result }
    }

    /// Whether the result is there.
    pub(super) fn has_landed(&self) -> bool {
        self.has_landed.load(Ordering::Acquire)
    }

    /// The result.
    ///
    /// # Panics
    ///
    /// If it is not there yet.
    pub(super) fn result(&self) -> &[u8] {
        assert!(self.has_landed(), "the result of a collective is asked for before it is there");
        // SAFETY: behind the end of the course nobody writes the result: chunks are kept and combined by the course alone.
        unsafe { self.result.settled() }
    }

    /// What it is, and whom it waits for.
    pub(super) fn activity(&self) -> Activity {
        let mut activity = self.activity;
        let state = self.state.try_lock();
        let awaited = state.and_then(|mut state| {
            let state = state.as_mut()?;
            let rank = state.awaited()?;
            Some(state.area.member(rank).number())
        });
        if let Some(pe) = awaited {
            let comma = if activity.subject.is_empty() { "" } else { ", " };
            let subject = format!("{}{comma}waits for PE {pe}", activity.subject);
            activity.subject = shmem_core::text::Text::head(&subject);
        }
        activity
    }
}

// SAFETY: what would unwind ends the process (`Broken`). Plans, chunks and numbers are gone on with, and no work is begun.
unsafe impl Work for Flight {
    fn go_on(&self) -> Step {
        let broken = Broken(&self.activity);
        let step = self.step();
        core::mem::forget(broken);
        step
    }
}

impl Flight {
    fn step(&self) -> Step {
        let Some(mut guard) = self.state.try_lock() else { return Step::Nothing };
        let Some(state) = guard.as_mut() else { return Step::Last };
        let mut moved = false;
        if !self.has_landed() {
            moved = state.meet(&self.activity);
            let mut is_over = state.has_met() || mutant("flight-unopened");
            if is_over && let Some(course) = &mut state.course {
                let State { area, given, own, combine, .. } = state;
                let (given, own, result) = (given.as_ref(), *own, &self.result);
                let mut load = Load { area, given, own, result, combine, moved };
                is_over = course.cursor.poll(&mut load);
                moved = load.moved;
            }
            if !is_over {
                return if moved { Step::Some } else { Step::Nothing };
            }
            self.has_landed.store(true, Ordering::Release);
            moved = true;
        }
        // What transfers read stays until they are over.
        if !state.area.is_quiet() {
            return if moved { Step::Some } else { Step::Nothing };
        }
        *guard = None;
        Step::Last
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
    /// How many rounds there are: in each twice as many are known to have started it.
    fn rounds(&self) -> usize {
        self.area.size().next_power_of_two().ilog2() as usize
    }

    fn has_met(&self) -> bool {
        self.round == self.rounds()
    }

    /// The rank so many before this one.
    fn before(&self, distance: usize) -> usize {
        (self.area.rank() + self.area.size() - distance) % self.area.size()
    }

    /// Goes on with the meeting. Whether anything was done.
    fn meet(&mut self, activity: &Activity) -> bool {
        let mut moved = false;
        while !self.has_met() {
            let distance = 1 << self.round;
            if !self.has_told {
                let to = (self.area.rank() + distance) % self.area.size();
                self.area.announce(to, self.round, self.mark);
                (self.has_told, moved) = (true, true);
            }
            match self.area.heard(self.round) {
                None => break,
                Some(mark) if mark == self.mark => (),
                Some(_) => self.refuse(self.before(distance), activity),
            }
            (self.round, self.has_told, moved) = (self.round + 1, false, true);
        }
        moved
    }

    /// Whom it waits for, if for anybody.
    fn awaited(&mut self) -> Option<usize> {
        if !self.has_met() {
            return Some(self.before(1 << self.round));
        }
        self.course.as_mut()?.cursor.awaited()
    }

    /// Ends the job: a member has started something else.
    #[cold]
    fn refuse(&self, other: usize, mine: &Activity) -> ! {
        let (area, other) = (&self.area, self.area.member(other));
        let theirs = Record::Started { team: area.team(), place: area.place() }.of(area.job(), other);
        let (here, there) = (mine.to_string(), theirs.map(|theirs| theirs.to_string()));
        let behind = |text: &str, meetings| format!("{text} behind {meetings} other meetings");
        let (here, there) = match (there, theirs) {
            // The same, at another place of the program.
            (Some(there), Some(theirs)) if here == there => {
                (behind(&here, mine.count), behind(&there, theirs.count))
            }
            (Some(there), _) => (here, there),
            (None, _) => (here, "somewhere it did not say".to_owned()),
        };
        let me = area.member(area.rank());
        let places = vec![(here, vec![me.number()]), (there, vec![other.number()])];
        area.job().abort(1, &disagreement(places))
    }
}
