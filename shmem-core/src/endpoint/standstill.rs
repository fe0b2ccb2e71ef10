//! How PEs find out that they all wait, and that nobody is left who could wake any of them.
//!
//! A thread that sleeps wakes now and then, and looks. One thread of the first PE that runs asks: it takes note of
//! how often threads of all PEs have begun and ended to sleep, and raises a number. Whoever sleeps looks at what it
//! waits for once more, behind the number, and answers: that it waits still, and whether its process is closed, that
//! is, has no threads but those that sleep here, and nothing else that could act of its own. When all threads that
//! sleep have answered, and nobody has begun or ended to sleep meanwhile, the question is asked a second time. Who goes on
//! with a [work](super::Work) when it looks has not slept: it counts that as if it had, and answers at another look.
//!
//! That proves it. Behind the first round every process was closed at some time, and none of its threads has left
//! its sleep since, so none can have become two: from the last of these times on nobody has done anything. In the
//! second round everybody has looked behind that time, and waits still. What no thread has changed and none can
//! change stays as it is. A process that is stopped or short of time does not answer, and proves nothing.

use std::time::Duration;

use crate::system::{PeRecord, Stage};

/// How long a thread sleeps before it looks.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// Who knows the PEs of a job that are all on this node, and what is to happen when none of them can go on.
pub trait Watch: Send + Sync {
    /// The number of PEs.
    fn pes(&self) -> usize;

    /// Which of them is the calling one.
    fn me(&self) -> usize;

    /// What a PE says of itself.
    fn record(&self, pe: usize) -> &PeRecord;

    /// Whether nothing in this process can act of its own, if so many of its threads sleep.
    fn is_closed(&self, sleeping: usize) -> bool;

    /// No PE can go on: says so, and ends the job.
    fn stand(&self);
}

/// One thread's sleep. Dropped when it is over.
pub(super) struct Vigil<'w> {
    watch: &'w dyn Watch,
    answered: u64,
    /// Whether this is the thread of its PE that asks.
    asks: bool,
    round: Option<Round>,
}

/// A question that was asked.
#[derive(Clone, Copy)]
struct Round {
    number: u64,
    /// How often threads had begun and ended to sleep when it was asked.
    turns: u64,
    is_second: bool,
}

impl<'w> Vigil<'w> {
    /// A thread begins to sleep.
    pub(super) fn begin(watch: &'w dyn Watch) -> Self {
        watch.record(watch.me()).begin_sleep();
        Self { watch, answered: 0, asks: false, round: None }
    }

    /// A thread that sleeps has done something, and goes on sleeping.
    pub(super) fn turn(&self) {
        let mine = self.watch.record(self.watch.me());
        mine.end_sleep();
        mine.begin_sleep();
    }

    /// A thread that sleeps looks; `done` says whether its wait is over, `describe` what it waits for.
    pub(super) fn look(&mut self, done: &mut dyn FnMut() -> bool, describe: &dyn Fn()) {
        if self.ask() {
            self.watch.stand();
        }
        self.answer(done, describe);
    }

    fn answer(&mut self, done: &mut dyn FnMut() -> bool, describe: &dyn Fn()) {
        let number = self.watch.record(0).question();
        // Behind the number: what was done before it was raised is seen.
        if number == self.answered || done() {
            return;
        }
        self.answered = number;
        describe();
        let mine = self.watch.record(self.watch.me());
        mine.answer(number, self.watch.is_closed(mine.sleeping()));
    }

    /// Whether nobody can go on.
    fn ask(&mut self) -> bool {
        let (watch, first) = (self.watch, self.watch.record(0));
        let runs = |pe: &usize| watch.record(*pe).stage() != Stage::Finished;
        let running = || (0..watch.pes()).filter(runs);
        if running().next() != Some(watch.me()) {
            return false;
        }
        self.asks = self.asks || watch.record(watch.me()).begin_asking();
        let sleep = running().all(|pe| watch.record(pe).sleeping() > 0);
        if !self.asks || !sleep {
            self.round = None;
            return false;
        }
        // None of the numbers ever falls: the sum is the same only if all are.
        let turns = || (0..watch.pes()).map(|pe| watch.record(pe).sleeps()).fold(0, u64::wrapping_add);
        let is_second = match self.round {
            Some(round) if round.turns == turns() && round.number == first.question() => {
                // Whether all processes were closed; `None`: a thread has not answered yet.
                let are_closed = running().try_fold(true, |all, pe| {
                    let record = watch.record(pe);
                    let (threads, is_closed) = record.answers(round.number)?;
                    (threads >= record.sleeping()).then_some(all && is_closed)
                });
                match are_closed {
                    None => return false,
                    Some(false) => {
                        self.round = None;
                        return false;
                    }
                    // Who sleeps may have gone on with a work before it has answered, and has counted a turn then.
                    Some(true) if round.turns != turns() => false,
                    Some(true) if round.is_second => return true,
                    // Every process was closed at some time. What was done until then is seen from now on.
                    Some(true) => true,
                }
            }
            _ => false,
        };
        self.round = Some(Round { turns: turns(), number: first.raise_question(), is_second });
        false
    }
}

impl Drop for Vigil<'_> {
    fn drop(&mut self) {
        let mine = self.watch.record(self.watch.me());
        if self.asks {
            mine.end_asking();
        }
        mine.end_sleep();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A PE of a job of several, in one thread of a test.
    struct Seat<'j> {
        records: &'j [PeRecord],
        me: usize,
        is_closed: AtomicBool,
        stands: AtomicBool,
    }

    impl Watch for Seat<'_> {
        fn pes(&self) -> usize {
            self.records.len()
        }

        fn me(&self) -> usize {
            self.me
        }

        fn record(&self, pe: usize) -> &PeRecord {
            &self.records[pe]
        }

        fn is_closed(&self, sleeping: usize) -> bool {
            assert!(sleeping > 0);
            self.is_closed.load(Ordering::Relaxed)
        }

        fn stand(&self) {
            self.stands.store(true, Ordering::Relaxed);
        }
    }

    fn records(pes: usize) -> Vec<PeRecord> {
        // SAFETY: all zeroes is the initial state of a record.
        (0..pes).map(|_| unsafe { core::mem::zeroed() }).collect()
    }

    fn seats(records: &[PeRecord]) -> Vec<Seat<'_>> {
        let seat = |me| Seat { records, me, is_closed: true.into(), stands: false.into() };
        (0..records.len()).map(seat).collect()
    }

    /// Looks of all who sleep, one behind the other, so many times; whether the job was found to stand.
    fn looks(seats: &[Seat<'_>], vigils: &mut [Vigil<'_>], times: usize) -> bool {
        for _ in 0..times {
            vigils.iter_mut().for_each(|vigil| vigil.look(&mut || false, &|| ()));
        }
        seats.iter().any(|seat| seat.stands.swap(false, Ordering::Relaxed))
    }

    #[test]
    fn all_sleep_and_nobody_can_act() {
        let records = records(3);
        let seats = seats(&records);
        let mut vigils: Vec<_> = seats.iter().map(|seat| Vigil::begin(seat)).collect();
        assert!(!looks(&seats, &mut vigils, 2), "one round is no proof");
        assert!(looks(&seats, &mut vigils, 1));
        drop(vigils);
        assert!(records.iter().all(|record| record.sleeping() == 0));
    }

    #[test]
    fn one_that_runs_or_may_act_is_enough() {
        let records = records(3);
        let seats = seats(&records);
        let mut vigils: Vec<_> = seats[..2].iter().map(|seat| Vigil::begin(seat)).collect();
        assert!(!looks(&seats, &mut vigils, 9), "PE 2 runs");
        vigils.push(Vigil::begin(&seats[2]));
        seats[1].is_closed.store(false, Ordering::Relaxed);
        assert!(!looks(&seats, &mut vigils, 9), "PE 1 has something that may act");
        seats[1].is_closed.store(true, Ordering::Relaxed);
        assert!(looks(&seats, &mut vigils, 9));
        // PE 2 has left the job.
        vigils.pop();
        assert!(!looks(&seats, &mut vigils, 9));
        records[2].set_stage(Stage::Finished);
        assert!(looks(&seats, &mut vigils, 9));
    }

    #[test]
    fn who_does_not_look_proves_nothing() {
        let records = records(2);
        let seats = seats(&records);
        let mut vigils: Vec<_> = seats.iter().map(|seat| Vigil::begin(seat)).collect();
        // It may be stopped, and have been woken before.
        assert!(!looks(&seats, &mut vigils[..1], 9));
        // It looks once, in the first round, and not again.
        vigils[1].look(&mut || false, &|| ());
        assert!(!looks(&seats, &mut vigils[..1], 9));
    }

    #[test]
    fn what_is_over_is_not_taken_for_a_wait() {
        let records = records(2);
        let seats = seats(&records);
        let mut vigils: Vec<_> = seats.iter().map(|seat| Vigil::begin(seat)).collect();
        let over = Cell::new(false);
        for _ in 0..9 {
            vigils[0].look(&mut || false, &|| ());
            vigils[1].look(&mut || over.replace(true), &|| ());
        }
        assert!(!looks(&seats, &mut [], 0), "PE 1 has seen that it may go on");
    }

    #[test]
    fn who_has_gone_on_between_the_rounds_begins_them_anew() {
        let records = records(2);
        let seats = seats(&records);
        let mut asker = Vigil::begin(&seats[0]);
        for _ in 0..9 {
            // Each time it has done something before it sleeps again.
            let mut other = Vigil::begin(&seats[1]);
            asker.look(&mut || false, &|| ());
            other.look(&mut || false, &|| ());
        }
        assert!(!looks(&seats, &mut [], 0));
    }

    #[test]
    fn who_goes_on_with_a_work_begins_the_rounds_anew() {
        let records = records(2);
        let seats = seats(&records);
        let mut vigils: Vec<_> = seats.iter().map(|seat| Vigil::begin(seat)).collect();
        for _ in 0..9 {
            vigils[1].turn();
            assert!(!looks(&seats, &mut vigils, 1));
        }
        assert!(looks(&seats, &mut vigils, 3));
    }

    #[test]
    fn all_threads_of_a_pe_answer() {
        let records = records(2);
        let seats = seats(&records);
        let mut vigils: Vec<_> = [0, 0, 1, 1].map(|pe| Vigil::begin(&seats[pe])).into();
        assert!(!looks(&seats, &mut vigils[..3], 9), "a thread of PE 1 does not");
        assert!(looks(&seats, &mut vigils, 9));
        // The thread that asks may go; another one takes its place.
        vigils.remove(0);
        assert!(looks(&seats, &mut vigils, 9));
    }
}
