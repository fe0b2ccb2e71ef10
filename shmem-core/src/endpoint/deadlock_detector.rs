//! Detects that all PEs of a job wait, and none can wake another (distributed termination detection).
//!
//! Sleeping threads wake at intervals. On each node, one thread of the first running PE is the *asker*. It reads how many sleeps of
//! the node's PEs have begun and ended, and raises a question: it increments a number that all threads of the node read. Each
//! sleeping thread then checks its own wait once more. If it still waits, it answers, and says whether its process is *closed*: the
//! process has no other threads, no other sources of events, and no operations in flight to other nodes. The node has answered when
//! all sleeping threads have, and no sleep has begun or ended meanwhile. If a thread makes progress with a background operation
//! ([`Work`](super::Work)), this counts as an end and a begin of its sleep.
//!
//! Nodes form a tree, along which the root asks all nodes in waves. A node passes a wave to its children, and answers its parent
//! when its own PEs and all children have answered. The answer says whether any thread was awake since the previous wave. A node
//! that cannot answer sends nothing. If no node reports an awake thread, no PE can go on.
//!
//! Proof, from such a wave and the one before it: at some time during the earlier wave each process was closed, and none of its
//! threads has left its sleep since. So no thread was created, and nothing was sent. After the last of these times no state has
//! changed, and no message is in flight. In the later wave, after that time, every thread has checked its wait, and still waits.
//! Stopped and starved processes do not answer.
//!
//! Source: N. Francez, M. Rodeh: Achieving Distributed Termination without Freezing, IEEE Transactions on Software Engineering 8
//! (1982), for waves over a tree. F. Mattern: Algorithms for Distributed Termination Detection, Distributed Computing 2 (1987),
//! whose message counters are not needed here, because a sender knows when its operations have arrived.

use std::time::Duration;

use crate::system_area::{PeRecord, Stage};

/// Interval between the checks of a sleeping thread.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// The PEs of this node, the neighbouring nodes in the tree, and the action on a deadlock.
pub trait Watch: Send + Sync {
    /// The number of PEs on this node.
    fn pes(&self) -> usize;

    /// Index of the calling PE on its node.
    fn me(&self) -> usize;

    /// The record of the PE with index `pe` on its node.
    fn record(&self, pe: usize) -> &PeRecord;

    /// Whether this process is closed: it has no threads but `sleeping` sleeping ones, no event sources, and no operations in
    /// flight.
    fn is_closed(&self, sleeping: usize) -> bool;

    /// Number of child nodes in the tree.
    fn below(&self) -> u64;

    /// Whether this node is the root of the tree.
    fn is_top(&self) -> bool;

    /// Sends a wave to the child nodes: writes its number to [`PeRecord::WAVE`] of the first PE of each. Returns `false`, and sends
    /// nothing, if other operations are in flight.
    fn call(&self, wave: u64) -> bool;

    /// Answers the parent node: adds [`PeRecord::echo`] to [`PeRecord::ECHOES`] of the parent's first PE.
    fn echo(&self, was_awake: bool);

    /// Reports the deadlock, and ends the job.
    fn stand(&self);
}

/// The sleep of one thread. Dropped when the sleep ends.
pub(super) struct SleepingThread<'w> {
    watch: &'w dyn Watch,
    answered: u64,
    /// Whether this thread asks the questions of its node.
    asks: bool,
    round: Option<Round>,
    /// The last wave that was seen (`found`), and the last wave that was sent to the child nodes (`called`).
    found: u64,
    called: u64,
    /// State at this node's last answer: number of begins and ends of sleeps, and number of answers of child nodes that reported an
    /// awake thread. `None`: this thread has not answered for the node.
    before: Option<(u64, u64)>,
}

/// A question that this node's asker has raised.
#[derive(Clone, Copy)]
struct Round {
    number: u64,
    /// Number of begins and ends of sleeps before the question.
    turns: u64,
    wave: u64,
}

impl<'w> SleepingThread<'w> {
    pub(super) fn begin(watch: &'w dyn Watch) -> Self {
        watch.record(watch.me()).begin_sleep();
        Self { watch, answered: 0, asks: false, round: None, found: 0, called: 0, before: None }
    }

    /// Counts an end and a new begin of this thread's sleep.
    pub(super) fn turn(&self) {
        let mine = self.watch.record(self.watch.me());
        mine.end_sleep();
        mine.begin_sleep();
    }

    /// Whether this thread asks for its node, and a wave has arrived that it has not seen.
    pub(super) fn is_called(&self) -> bool {
        self.asks && self.watch.record(0).wave() != self.found
    }

    /// Takes one step of the detection. `done` returns whether the thread's wait is over; `describe` records the wait.
    pub(super) fn look(&mut self, done: &mut dyn FnMut() -> bool, describe: &dyn Fn()) {
        if self.ask() {
            self.watch.stand();
        }
        self.answer(done, describe);
        self.found = self.watch.record(0).wave();
        // Sent after this process has answered, because a process with an operation in flight, such as the wave, is not closed.
        if let Some(Round { wave, .. }) = self.round
            && wave != self.called
            && self.watch.call(wave)
        {
            self.called = wave;
        }
    }

    fn answer(&mut self, done: &mut dyn FnMut() -> bool, describe: &dyn Fn()) {
        let number = self.watch.record(0).question();
        // `done` runs after the question was read, so it sees all changes from before the question.
        if number == self.answered || done() {
            return;
        }
        self.answered = number;
        describe();
        let mine = self.watch.record(self.watch.me());
        mine.answer(number, self.watch.is_closed(mine.sleeping()));
    }

    /// Collects answers, raises the next question, and returns whether the job is deadlocked.
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
        let mut wave = first.wave();
        if wave == first.echoed() {
            if !watch.is_top() {
                return false;
            }
            wave = first.begin_wave();
        }
        // Each number only grows, so an unchanged sum means that each number is unchanged.
        let turns = || (0..watch.pes()).map(|pe| watch.record(pe).sleeps()).fold(0, u64::wrapping_add);
        if let Some(round) = self.round
            && (round.wave, round.turns, round.number) == (wave, turns(), first.question())
        {
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
                // Asks again: a thread may have progressed a background operation before it answered, and counted an end and a
                // begin of its sleep.
                Some(true) if round.turns != turns() => {}
                // Every process of this node was closed at some time after the question.
                Some(true) => {
                    let (answers, awake) = first.echoes();
                    if answers < wave * watch.below() {
                        return false;
                    }
                    let now = Some((round.turns, awake));
                    let was_awake = core::mem::replace(&mut self.before, now) != now;
                    first.set_echoed(wave);
                    if !watch.is_top() {
                        watch.echo(was_awake);
                        return false;
                    }
                    if !was_awake {
                        return true;
                    }
                    wave = first.begin_wave();
                }
            }
        }
        self.round = Some(Round { wave, turns: turns(), number: first.raise_question() });
        false
    }
}

impl Drop for SleepingThread<'_> {
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
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;

    /// A PE of a job of several, in one thread of a test.
    struct Seat<'j> {
        job: &'j [Vec<PeRecord>],
        node: usize,
        me: usize,
        is_closed: AtomicBool,
        stands: AtomicBool,
    }

    /// A word of a record, as another node reaches it.
    fn word(record: &PeRecord, offset: usize) -> &AtomicU64 {
        let word = core::ptr::from_ref(record).cast_mut().wrapping_byte_add(offset).cast();
        // SAFETY: an aligned word of the record, which is shared by atomics and lives as long as the reference.
        unsafe { AtomicU64::from_ptr(word) }
    }

    impl Seat<'_> {
        /// The nodes next below: twice as far, and one more.
        fn nodes_below(&self) -> impl Iterator<Item = &PeRecord> {
            [1, 2].into_iter().filter_map(|side| self.job.get(2 * self.node + side)).map(|node| &node[0])
        }
    }

    impl Watch for Seat<'_> {
        fn pes(&self) -> usize {
            self.job[self.node].len()
        }

        fn me(&self) -> usize {
            self.me
        }

        fn record(&self, pe: usize) -> &PeRecord {
            &self.job[self.node][pe]
        }

        fn is_closed(&self, sleeping: usize) -> bool {
            assert!(sleeping > 0);
            self.is_closed.load(Ordering::Relaxed)
        }

        fn below(&self) -> u64 {
            self.nodes_below().count() as u64
        }

        fn is_top(&self) -> bool {
            self.node == 0
        }

        fn call(&self, wave: u64) -> bool {
            self.nodes_below().for_each(|first| word(first, PeRecord::WAVE).store(wave, Ordering::Release));
            true
        }

        fn echo(&self, was_awake: bool) {
            let above = word(&self.job[(self.node - 1) / 2][0], PeRecord::ECHOES);
            above.fetch_add(PeRecord::echo(was_awake), Ordering::AcqRel);
        }

        fn stand(&self) {
            self.stands.store(true, Ordering::Relaxed);
        }
    }

    fn job(nodes: &[usize]) -> Vec<Vec<PeRecord>> {
        // SAFETY: all zeroes is the initial state of a record.
        nodes.iter().map(|pes| (0..*pes).map(|_| unsafe { core::mem::zeroed() }).collect()).collect()
    }

    fn seats(job: &[Vec<PeRecord>]) -> Vec<Seat<'_>> {
        let seat = |node, me| Seat { job, node, me, is_closed: true.into(), stands: false.into() };
        (0..job.len()).flat_map(|node| (0..job[node].len()).map(move |me| seat(node, me))).collect()
    }

    /// Looks of all who sleep, one behind the other, so many times; whether the job was found to stand.
    fn looks(seats: &[Seat<'_>], sleeping_threads: &mut [SleepingThread<'_>], times: usize) -> bool {
        for _ in 0..times {
            sleeping_threads.iter_mut().for_each(|sleeping| sleeping.look(&mut || false, &|| ()));
        }
        seats.iter().any(|seat| seat.stands.swap(false, Ordering::Relaxed))
    }

    #[test]
    fn who_has_left_the_job_is_not_asked() {
        let job = job(&[3]);
        let seats = seats(&job);
        let mut sleeping_threads: Vec<_> =
            seats[..2].iter().map(|seat| SleepingThread::begin(seat)).collect();
        assert!(!looks(&seats, &mut sleeping_threads, 9), "PE 2 runs");
        job[0][2].set_stage(Stage::Finished);
        assert!(looks(&seats, &mut sleeping_threads, 9));
    }

    #[test]
    fn what_is_over_is_not_taken_for_a_wait() {
        let job = job(&[2]);
        let seats = seats(&job);
        let mut sleeping_threads: Vec<_> = seats.iter().map(|seat| SleepingThread::begin(seat)).collect();
        let over = Cell::new(false);
        for _ in 0..9 {
            sleeping_threads[0].look(&mut || false, &|| ());
            sleeping_threads[1].look(&mut || over.replace(true), &|| ());
        }
        assert!(!looks(&seats, &mut [], 0), "PE 1 has seen that it may go on");
    }

    /// The PEs on each node of jobs, of one node, and of up to three from the top to the lowest one.
    const JOBS: [&[usize]; 5] = [&[3], &[1, 1], &[2, 2], &[1, 3, 1], &[2, 1, 1, 2, 1]];

    /// As many looks as no wave takes.
    const MANY: usize = 40;

    #[test]
    fn all_sleep_and_nobody_can_act() {
        for job in JOBS.map(job) {
            let seats = seats(&job);
            let mut sleeping_threads: Vec<_> = seats.iter().map(|seat| SleepingThread::begin(seat)).collect();
            assert!(!looks(&seats, &mut sleeping_threads, 2), "one round is no proof");
            assert!(looks(&seats, &mut sleeping_threads, MANY));
            assert!(
                seats[1..].iter().all(|seat| !seat.stands.load(Ordering::Relaxed)),
                "the first one says so"
            );
            drop(sleeping_threads);
            assert!(job.iter().flatten().all(|record| record.sleeping() == 0));
        }
    }

    /// Each of them may be the one, and waves may have begun before.
    #[test]
    fn one_that_runs_or_may_act_is_enough() {
        for job in JOBS.map(job) {
            let seats = seats(&job);
            for (at, seat) in seats.iter().enumerate() {
                let mut sleeping_threads: Vec<_> =
                    seats.iter().map(|seat| SleepingThread::begin(seat)).collect();
                seat.is_closed.store(false, Ordering::Relaxed);
                assert!(
                    !looks(&seats, &mut sleeping_threads, MANY),
                    "it has something under way, or that may act"
                );
                seat.is_closed.store(true, Ordering::Relaxed);
                // It does not look: it may be stopped, and have been woken before.
                let stopped = sleeping_threads.remove(at);
                assert!(!looks(&seats, &mut sleeping_threads, MANY));
                drop(stopped);
                assert!(!looks(&seats, &mut sleeping_threads, MANY), "it runs");
                sleeping_threads.insert(at, SleepingThread::begin(seat));
                assert!(looks(&seats, &mut sleeping_threads, MANY));
            }
        }
    }

    #[test]
    fn who_was_awake_since_the_last_wave_begins_the_waves_anew() {
        for job in JOBS.map(job) {
            let seats = seats(&job);
            let mut sleeping_threads: Vec<_> = seats.iter().map(|seat| SleepingThread::begin(seat)).collect();
            let mut waves = 0;
            for _ in 0..5 * MANY {
                // One after the other is awake, each behind another wave.
                if job[0][0].echoed() > waves {
                    waves = job[0][0].echoed();
                    sleeping_threads[waves as usize % seats.len()].turn();
                }
                assert!(!looks(&seats, &mut sleeping_threads, 1), "behind wave {waves}");
            }
            assert!(waves > seats.len() as u64);
            assert!(looks(&seats, &mut sleeping_threads, MANY));
        }
    }
}
