//! The progress engine: carries out the [schedules](super::schedule) of a member, as far as possible at each poll.
//!
//! A waiting member polls it. It never waits itself, and no pipeline waits for another. It serves blocking and started collectives, on
//! a node and between nodes: [`Transfers`] says where chunks and credits go.

use core::iter::{Peekable, Skip};

use shmem_core::primitive::mutant;

use super::schedule::{Place, RecvStep, Schedule, SendStep, Then};

/// Evaluates an expression of the schedules, side by side, of a rank for data of a pattern, from a root, in items of so many bytes.
macro_rules! with_schedules {
    ($pattern:expr, ($ranks:expr, $rank:expr, $root:expr), $cut:expr, $item:expr, |$schedules:ident| $use:expr) => {{
        use $crate::collective::choose::Pattern as Of;
        use $crate::collective::schedule::{
            Chunks, HalvingDoubling, Pairwise, Radices, RingAllgather, TwoTree,
        };
        let (ranks, rank, cut) = ($ranks, $rank, $cut);
        let chunks = |bytes| Chunks::new(bytes, cut.most, 1);
        match $pattern {
            Of::Broadcast(bytes) => {
                let trees = TwoTree::both(ranks, rank, $root, chunks(bytes), cut.slots);
                let $schedules = &trees[..TwoTree::ways(ranks)];
                $use
            }
            Of::Reduction(bytes) | Of::ExactReduction(bytes) => {
                let radices = Radices::of(ranks);
                let $schedules = &[HalvingDoubling::new(rank, radices, bytes, cut.most, $item, cut.slots)];
                $use
            }
            Of::Fcollect(bytes) => {
                let $schedules = &[RingAllgather::new(ranks, rank, chunks(bytes), cut.slots)];
                $use
            }
            Of::Alltoall(part) => {
                let $schedules = &[Pairwise::new(ranks, rank, chunks(part), cut.slots)];
                $use
            }
        }
    }};
}
pub(super) use with_schedules;

/// The slots and credits of a member, and its way to the others, which are called by their ranks.
pub(super) trait Transfers {
    /// How many chunks have come to a slot.
    fn arrived(&self, slot: usize) -> u64;

    /// The credits of a counter.
    fn credits(&self, counter: usize) -> u64;

    /// Sends a chunk to a slot of its receiver, and counts it there behind it.
    fn send(&mut self, step: &SendStep, slot: usize);

    /// Gives a member credits for so many more chunks, in a counter of it.
    fn give(&mut self, rank: usize, counter: usize, chunks: u64);

    /// Copies a chunk to where it belongs.
    fn copy(&mut self, slot: usize, into: Place);

    /// Reduces what lies at a place with chunks that have come to some slots one behind the other, round the window, from `first` on.
    /// `members` of a group are there, of whom this one is number `mine`, and what has come is of the ones before it, round the group.
    fn reduce(&mut self, first: usize, members: usize, mine: usize, into: Place);
}

/// How far a member has come in one schedule, or in two side by side.
pub(super) struct Progress<S: Iterator, R: Iterator> {
    pipelines: [Option<Pipeline<S, R>>; 2],
}

impl<S: Iterator<Item = SendStep>, R: Iterator<Item = RecvStep>> Progress<S, R> {
    /// At the beginning of one schedule, or two that share a window of so many slots. `steps` gives the sends of one, and the receives
    /// twice.
    pub(super) fn new<'s, T>(schedules: &'s [T], slots: usize, steps: impl Fn(&'s T) -> (S, [R; 2])) -> Self {
        let count = schedules.len();
        let pipeline = |index| Some(Pipeline::new(steps(schedules.get(index)?), (index, count), slots));
        Self { pipelines: [pipeline(0), pipeline(1)] }
    }

    /// A number that changes when something was done.
    pub(super) fn moved(&self) -> usize {
        self.pipelines.iter().flatten().map(|pipeline| pipeline.sent + pipeline.emptied + pipeline.held).sum()
    }

    /// Does all that can be done now. Whether that was the last of it.
    pub(super) fn poll(&mut self, transfers: &mut impl Transfers) -> bool {
        loop {
            // In turn, so that whoever sends in both, the root, serves both.
            let moved = |moved, pipeline: &mut Pipeline<S, R>| {
                pipeline.send(transfers) || pipeline.receive(transfers) || moved
            };
            if !self.pipelines.iter_mut().flatten().fold(false, moved) {
                return self.pipelines.iter_mut().flatten().all(Pipeline::is_over);
            }
        }
    }

    /// The rank that sends the next chunk, or else the one whose credit is waited for.
    pub(super) fn awaited(&mut self) -> Option<usize> {
        self.pipelines.iter_mut().flatten().find_map(|pipeline| {
            let next = pipeline.receives.peek().map(|step| step.from);
            next.or_else(|| pipeline.sends.peek().map(|step| step.to))
        })
    }
}

/// The progress of schedules, whose steps are made as they are needed.
pub(super) fn progress_of(
    schedules: &[impl Schedule],
    slots: usize,
) -> Progress<impl Iterator<Item = SendStep>, impl Iterator<Item = RecvStep>> {
    Progress::new(schedules, slots, |of| (of.sends(), [of.receives(), of.receives()]))
}

/// The progress of schedules that were written down, so that it outlives the call that has made them.
pub(super) type Written = Progress<std::vec::IntoIter<SendStep>, std::vec::IntoIter<RecvStep>>;

impl Written {
    pub(super) fn of(schedules: &[impl Schedule], slots: usize) -> Self {
        Self::new(schedules, slots, |of| {
            let (sends, receives): (Vec<_>, Vec<_>) = (of.sends().collect(), of.receives().collect());
            (sends.into_iter(), [receives.clone().into_iter(), receives.into_iter()])
        })
    }
}

/// Most slots for which credits are given together.
const MOST_TOGETHER: usize = 4;

/// How far a member has come in a schedule.
struct Pipeline<S: Iterator, R: Iterator> {
    sends: Peekable<S>,
    receives: Peekable<R>,
    /// The receives whose senders are given credits next.
    ahead: Skip<R>,
    /// Slots of this pipeline.
    slots: usize,
    /// Which pipeline it is, and of how many.
    turn: (usize, usize),
    /// Chunks that were sent.
    sent: usize,
    /// Chunks whose slots have been emptied.
    emptied: usize,
    /// Chunks behind these that are held in their slots.
    held: usize,
}

impl<S: Iterator<Item = SendStep>, R: Iterator<Item = RecvStep>> Pipeline<S, R> {
    /// At the beginning. Pipelines have slots of their window in turn.
    fn new((sends, [receives, ahead]): (S, [R; 2]), (index, count): (usize, usize), slots: usize) -> Self {
        let (turn, slots) = ((index, count), slots / count);
        let (sends, receives) = (sends.peekable(), receives.peekable());
        // When a slot is emptied the sender of the chunk that will lie there is given a credit.
        Self { sends, receives, ahead: ahead.skip(slots), slots, turn, sent: 0, emptied: 0, held: 0 }
    }

    fn is_over(&mut self) -> bool {
        self.sends.peek().is_none() && self.receives.peek().is_none()
    }

    fn send(&mut self, transfers: &mut impl Transfers) -> bool {
        let emptied = self.emptied;
        let early = if mutant("credit-early") { self.slots as u64 / 2 } else { 0 };
        let may = |step: &SendStep| {
            emptied >= step.after && (step.needs == 0 || transfers.credits(step.credit) + early >= step.needs)
        };
        let Some(step) = self.sends.next_if(may) else { return false };
        transfers.send(&step, self.slot(step.number));
        self.sent += 1;
        true
    }

    fn receive(&mut self, transfers: &mut impl Transfers) -> bool {
        let number = self.emptied + self.held;
        // Its slot has been written so many times that it has been written by this one.
        let has_come = transfers.arrived(self.slot(number)) > (number / self.slots) as u64;
        let Some(step) = self.receives.next_if(|_| has_come) else { return false };
        match step.then {
            Then::Copy => transfers.copy(self.slot(number), step.into),
            Then::Hold => {
                self.held += 1;
                return true;
            }
            Then::Reduce { members, mine } => {
                transfers.reduce(self.slot(self.emptied), members, mine, step.into);
            }
        }
        for _ in 0..=core::mem::take(&mut self.held) {
            self.emptied += 1;
            self.give(transfers);
        }
        true
    }

    /// A slot has been emptied. Credits for a quarter of the slots are given together, so that three quarters are always free or full.
    fn give(&mut self, transfers: &mut impl Transfers) {
        let quarter = (self.slots / 4).clamp(1, MOST_TOGETHER);
        if !self.emptied.is_multiple_of(quarter) {
            return;
        }
        let mut senders = [(0, 0, 0); MOST_TOGETHER];
        let mut count = 0;
        for RecvStep { from, credit, .. } in self.ahead.by_ref().take(quarter) {
            match senders[..count].iter_mut().find(|sender| (sender.0, sender.1) == (from, credit)) {
                Some(sender) => sender.2 += 1,
                None => {
                    senders[count] = (from, credit, 1);
                    count += 1;
                }
            }
        }
        senders[..count].iter().for_each(|(rank, credit, chunks)| transfers.give(*rank, *credit, *chunks));
    }

    fn slot(&self, number: usize) -> usize {
        let (index, count) = self.turn;
        number % self.slots * count + index
    }
}

#[cfg(test)]
mod tests;
