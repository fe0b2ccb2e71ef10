//! The progress engine: executes the [schedules](super::schedule) of one member. Each poll executes all steps that need no wait.
//!
//! A waiting member polls the engine, for blocking and for started collectives. The engine never blocks. [`Transfers`] moves chunks
//! of data, and credits: permissions to send further chunks.

use shmem_core::planted_fault::mutant;

use super::choose::Pattern;
use super::schedule::{
    Chunks, Cut, HalvingDoubling, Pairwise, Place, Radices, RecvStep, RingAllgather, Schedule, SendStep,
    Then, TwoTree,
};

/// The memory and the transport of one member: its slots (buffers of one chunk each) and credit counters, and its transfers.
pub(super) trait Transfers {
    /// Returns the number of chunks that have arrived in a slot since the collective began.
    fn arrived(&self, slot: usize) -> u64;

    fn credits(&self, counter: usize) -> u64;

    /// Sends a chunk to a slot of the receiver, then increments the slot's count.
    fn send(&mut self, step: &SendStep, slot: usize);

    /// Adds `chunks` to a credit counter of a rank. That rank may then send `chunks` further chunks.
    fn give(&mut self, rank: usize, counter: usize, chunks: u64);

    fn copy(&mut self, slot: usize, into: Place);

    /// Combines this member's operand, stored at `into`, with the operands of the `members - 1` others, and writes the result to
    /// `into`. Slot `first + k`, modulo the number of slots, contains the operand of group member `mine - 1 - k`, modulo `members`.
    fn reduce(&mut self, first: usize, members: usize, mine: usize, into: Place);
}

/// The progress of one member in a collective: in one schedule, or in two concurrent ones. It stores all steps, so that a started
/// collective can outlive the call that starts it.
pub(super) struct Progress {
    pipelines: Vec<Pipeline>,
    /// Number of credit counters that the schedule uses.
    pub(super) credits: usize,
}

impl Progress {
    /// Returns the progress of a rank that has done no step. `Cut` gives the chunk length and the slots; an item has `item` bytes.
    pub(super) fn of(
        pattern: Pattern,
        (ranks, rank, root): (usize, usize, usize),
        Cut { most, slots }: Cut,
        item: usize,
    ) -> Self {
        let chunks = |bytes| Chunks::new(bytes, most, 1);
        match pattern {
            Pattern::Broadcast(bytes) => {
                let trees = TwoTree::both(ranks, rank, root, chunks(bytes), slots);
                Self::new(&trees[..TwoTree::ways(ranks)], slots)
            }
            Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes) => {
                Self::new(&[HalvingDoubling::new(rank, Radices::of(ranks), bytes, most, item, slots)], slots)
            }
            Pattern::Fcollect(bytes) => {
                Self::new(&[RingAllgather::new(ranks, rank, chunks(bytes), slots)], slots)
            }
            Pattern::Alltoall(part) => Self::new(&[Pairwise::new(ranks, rank, chunks(part), slots)], slots),
        }
    }

    fn new(schedules: &[impl Schedule], slots: usize) -> Self {
        let (count, credits) = (schedules.len(), schedules[0].credits());
        let pipeline = |(index, schedule)| Pipeline::new(schedule, (index, count), slots / count);
        Self { pipelines: schedules.iter().enumerate().map(pipeline).collect(), credits }
    }

    /// Returns a number that changes with every step.
    pub(super) fn moved(&self) -> usize {
        self.pipelines.iter().map(|pipeline| pipeline.sent + pipeline.emptied + pipeline.held).sum()
    }

    /// Executes all steps that need no wait. Returns whether all schedules are complete.
    pub(super) fn poll(&mut self, transfers: &mut impl Transfers) -> bool {
        loop {
            // Pipelines alternate, because the root sends in both.
            let moved = |moved, pipeline: &mut Pipeline| {
                pipeline.send(transfers) || pipeline.receive(transfers) || moved
            };
            if !self.pipelines.iter_mut().fold(false, moved) {
                return self.pipelines.iter().all(Pipeline::is_over);
            }
        }
    }

    /// Returns the rank that this member waits for: the sender of the next chunk, or else the giver of the next credit.
    pub(super) fn awaited(&self) -> Option<usize> {
        self.pipelines.iter().find_map(|pipeline| {
            let next = pipeline.receives.get(pipeline.emptied + pipeline.held).map(|step| step.from);
            next.or_else(|| pipeline.sends.get(pipeline.sent).map(|step| step.to))
        })
    }
}

/// Maximum number of slots whose credits are given together.
const MOST_TOGETHER: usize = 4;

/// The progress of one member in one schedule.
struct Pipeline {
    sends: Vec<SendStep>,
    receives: Vec<RecvStep>,
    slots: usize,
    /// (pipeline index, pipeline count). The slots of a window alternate between pipelines.
    turn: (usize, usize),
    sent: usize,
    /// Number of received chunks whose slots are free again.
    emptied: usize,
    /// Number of received chunks that stay in their slots until a reduction.
    held: usize,
}

impl Pipeline {
    fn new(schedule: &impl Schedule, turn: (usize, usize), slots: usize) -> Self {
        let (sends, receives) = (schedule.sends().collect(), schedule.receives().collect());
        Self { sends, receives, slots, turn, sent: 0, emptied: 0, held: 0 }
    }

    fn is_over(&self) -> bool {
        self.sent == self.sends.len() && self.emptied + self.held == self.receives.len()
    }

    fn send(&mut self, transfers: &mut impl Transfers) -> bool {
        let Some(step) = self.sends.get(self.sent) else { return false };
        let early = if mutant("credit-early") { self.slots as u64 / 2 } else { 0 };
        let is_free = step.needs == 0 || transfers.credits(step.credit) + early >= step.needs;
        if self.emptied < step.after || !is_free {
            return false;
        }
        transfers.send(step, self.slot(step.number));
        self.sent += 1;
        true
    }

    fn receive(&mut self, transfers: &mut impl Transfers) -> bool {
        let number = self.emptied + self.held;
        let Some(step) = self.receives.get(number) else { return false };
        // A slot's count includes every earlier chunk in that slot, so chunk `number` makes it exceed `number / slots`.
        if transfers.arrived(self.slot(number)) <= (number / self.slots) as u64 {
            return false;
        }
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

    /// Gives a credit to the sender of the next chunk for a freed slot. Credits for a quarter of the slots, at most
    /// [`MOST_TOGETHER`], are given together.
    fn give(&mut self, transfers: &mut impl Transfers) {
        let quarter = (self.slots / 4).clamp(1, MOST_TOGETHER);
        if !self.emptied.is_multiple_of(quarter) {
            return;
        }
        let mut senders = [(0, 0, 0); MOST_TOGETHER];
        let mut count = 0;
        let next = self.receives.iter().skip(self.emptied - quarter + self.slots).take(quarter);
        for RecvStep { from, credit, .. } in next {
            match senders[..count].iter_mut().find(|sender| (sender.0, sender.1) == (*from, *credit)) {
                Some(sender) => sender.2 += 1,
                None => {
                    senders[count] = (*from, *credit, 1);
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
mod tests {
    //! All nodes of a team in one place: what each does is carried out on a network of numbers, in any order.

    use std::collections::{BTreeSet, HashSet};
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    use proptest::prelude::*;
    use shmem_core::system_area::MOST_CREDITS;
    use shmem_launch::env::CollectiveWay;

    use super::*;
    use crate::collective::reduction_order::tests::root as tree_of;
    use crate::collective::schedule::Memory;

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Parcel {
        Chunk { from: usize, place: Place, to: usize, slot: usize, data: Vec<u64>, lands: Option<usize> },
        Word { from: usize, to: usize, word: usize, more: u64 },
    }

    /// One node: each byte of a schedule is a number here.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Node {
        number: usize,
        /// Whether what is kept is written to where it belongs.
        is_direct: bool,
        source: Vec<u64>,
        result: Vec<u64>,
        slots: Vec<Option<Vec<u64>>>,
        arrived: Vec<u64>,
        credits: Vec<u64>,
        out: Vec<Parcel>,
        /// Messages with data so far, those without, and bytes.
        sent: [usize; 3],
    }

    impl Node {
        fn read(&self, Place { memory, at, bytes }: Place) -> Vec<u64> {
            let memory = if memory == Memory::Source { &self.source } else { &self.result };
            memory[at..at + bytes].to_vec()
        }

        fn empty(&mut self, slot: usize) -> Vec<u64> {
            self.slots[slot].take().expect("what has come lies there")
        }
    }

    impl Transfers for Node {
        fn arrived(&self, slot: usize) -> u64 {
            self.arrived[slot]
        }

        fn credits(&self, word: usize) -> u64 {
            self.credits[word]
        }

        fn send(&mut self, step: &SendStep, slot: usize) {
            let (data, from, to) = (self.read(step.from), self.number, step.to);
            self.sent = [self.sent[0] + 1, self.sent[1], self.sent[2] + data.len()];
            assert_ne!(to, from, "a node sends to itself");
            let lands = step.lands.filter(|_| self.is_direct);
            self.out.push(Parcel::Chunk { from, place: step.from, to, slot, data, lands });
        }

        fn give(&mut self, node: usize, word: usize, chunks: u64) {
            self.sent[1] += 1;
            self.out.push(Parcel::Word { from: self.number, to: node, word, more: chunks });
        }

        fn copy(&mut self, slot: usize, into: Place) {
            let data = self.empty(slot);
            assert_eq!((into.memory, into.bytes), (Memory::Result, data.len()), "{into:?}");
            match self.is_direct {
                true => assert_eq!(self.read(into), data, "it has landed at {into:?}"),
                false => self.result[into.at..][..into.bytes].copy_from_slice(&data),
            }
        }

        fn reduce(&mut self, first: usize, members: usize, mine: usize, into: Place) {
            let slots = self.slots.len();
            // Neither commutative nor associative, so that the order shows.
            let of = |node: &mut Self, member: usize| match (mine + members - member) % members {
                0 => node.read(into),
                before => node.empty((first + before - 1) % slots),
            };
            let all: Vec<Vec<u64>> = (0..members).map(|member| of(self, member)).collect();
            for k in 0..into.bytes {
                let column: Vec<u64> = all.iter().map(|data| data[k]).collect();
                self.result[into.at + k] = tree_of(&column, &mixed);
            }
        }
    }

    fn mixed(left: u64, right: u64) -> u64 {
        left.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7).wrapping_add(right ^ 0x5555)
    }

    #[derive(Clone, Copy, Debug)]
    struct Case {
        pattern: Pattern,
        root: usize,
        nodes: usize,
        chunk: usize,
        slots: usize,
        is_direct: bool,
    }

    const CASE: Case =
        Case { pattern: Pattern::Fcollect(1), root: 0, nodes: 2, chunk: 1, slots: 16, is_direct: false };

    impl Case {
        fn value(node: usize, k: usize) -> u64 {
            mixed(node as u64 + 1, k as u64)
        }

        /// What a node gives, and what its result is before.
        fn node(self, number: usize) -> Node {
            let (bytes, all) = (self.pattern.bytes(), self.pattern.bytes() * self.nodes);
            let own = |bytes| (0..bytes).map(|k| Self::value(number, k)).collect::<Vec<u64>>();
            let (source, result) = match self.pattern {
                Pattern::Broadcast(_) if number != self.root => (vec![], vec![0; bytes]),
                Pattern::Fcollect(_) => (own(bytes), vec![0; all]),
                Pattern::Alltoall(_) => (own(all), vec![0; all]),
                _ => (vec![], own(bytes)),
            };
            let (slots, arrived) = (vec![None; self.slots], vec![0; self.slots]);
            let (is_direct, credits) = (self.is_direct, vec![0; MOST_CREDITS]);
            Node { number, is_direct, source, result, slots, arrived, credits, out: vec![], sent: [0; 3] }
        }

        /// What a node must have in the end. What it has for itself in an fcollect or alltoall goes no way.
        fn expected(self, number: usize) -> Vec<u64> {
            let of = |k: usize| match self.pattern {
                Pattern::Broadcast(_) => Self::value(self.root, k),
                Pattern::Fcollect(bytes) | Pattern::Alltoall(bytes) if k / bytes == number => 0,
                Pattern::Fcollect(bytes) => Self::value(k / bytes, k % bytes),
                Pattern::Alltoall(bytes) => Self::value(k / bytes, number * bytes + k % bytes),
                _ => tree_of(&(0..self.nodes).map(|node| Self::value(node, k)).collect::<Vec<_>>(), &mixed),
            };
            (0..self.node(number).result.len()).map(of).collect()
        }

        /// Runs all nodes to the end, if `pick` lets them come there.
        fn run(self, pick: &mut Pick<'_>) -> Option<Vec<Node>> {
            let mut nodes: Vec<Node> = (0..self.nodes).map(|number| self.node(number)).collect();
            let cut = Cut { most: self.chunk, slots: self.slots };
            let progress = nodes.iter_mut().map(|node| {
                let progress = Progress::of(self.pattern, (self.nodes, node.number, self.root), cut, 1);
                node.credits.truncate(progress.credits);
                progress
            });
            let mut progress: Vec<Progress> = progress.collect();
            let (mut done, mut under_way) = (BTreeSet::new(), Vec::new());
            let mut poll = |number: usize, nodes: &mut Vec<Node>, under_way: &mut Vec<Parcel>| {
                if progress[number].poll(&mut nodes[number]) {
                    done.insert(number);
                }
                under_way.append(&mut nodes[number].out);
            };
            (0..self.nodes).for_each(|number| poll(number, &mut nodes, &mut under_way));
            while !under_way.is_empty() {
                let next = pick(&under_way, &|| like(&nodes, &under_way))?;
                let to = match under_way.remove(next) {
                    Parcel::Chunk { from, place, to, slot, data, lands } => {
                        assert_eq!(
                            nodes[from].read(place),
                            data,
                            "node {from} has written what is being sent"
                        );
                        if let Some(at) = lands {
                            nodes[to].result[at..][..data.len()].copy_from_slice(&data);
                        }
                        let before = nodes[to].slots[slot].replace(data);
                        assert_eq!(before, None, "slot {slot} of node {to} is written before it was emptied");
                        nodes[to].arrived[slot] += 1;
                        to
                    }
                    Parcel::Word { to, word, more, .. } => {
                        nodes[to].credits[word] += more;
                        to
                    }
                };
                poll(to, &mut nodes, &mut under_way);
            }
            assert_eq!(done.len(), self.nodes, "{self:?}: only {done:?} have come to the end");
            Some(nodes)
        }

        fn check(self, pick: &mut Pick<'_>) -> Option<Vec<Node>> {
            let nodes = self.run(pick)?;
            for node in &nodes {
                assert_eq!(node.result, self.expected(node.number), "{self:?}, node {}", node.number);
                assert!(node.slots.iter().all(Option::is_none), "{self:?}");
            }
            Some(nodes)
        }

        /// Messages with chunks, messages that tell, and bytes, of all nodes.
        fn sent(self) -> [usize; 3] {
            let nodes = self.check(&mut |_, _| Some(0)).unwrap();
            [0, 1, 2].map(|k| nodes.iter().map(|node| node.sent[k]).sum())
        }

        /// Rounds, with nothing but messages that take time, all of them as much.
        fn rounds(self) -> u64 {
            let (mut rounds, mut left) = (0, 0);
            let nodes = self.check(&mut |under_way, _| {
                if left == 0 {
                    (rounds, left) = (rounds + 1, under_way.len());
                }
                left -= 1;
                // What is sent meanwhile goes to the end.
                Some(0)
            });
            assert!(nodes.is_some());
            rounds
        }
    }

    /// Chooses which parcel is delivered next, or that this leads nowhere new. What all is like can be asked for.
    type Pick<'p> = dyn FnMut(&[Parcel], &dyn Fn() -> u64) -> Option<usize> + 'p;

    /// A number for what nodes have and what is on its way to them, in whatever order it was sent. How far members have got
    /// follows from that.
    fn like(nodes: &[Node], under_way: &[Parcel]) -> u64 {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let parcels = under_way.iter().map(|parcel| hasher.hash_one(parcel));
        parcels.fold(hasher.hash_one(nodes), u64::wrapping_add)
    }

    /// Every order of delivery, by counting through what is picked: `run` is asked again until no choice is left that leads to
    /// anything new. Whether there were so few.
    fn in_every_order(most: usize, mut run: impl FnMut(&mut Pick<'_>)) -> bool {
        let (mut choices, mut seen): (Vec<(usize, usize)>, _) = (Vec::new(), HashSet::new());
        for _ in 0..most {
            let mut depth = 0;
            run(&mut |under_way, like| {
                let of = under_way.len();
                if depth == choices.len() {
                    seen.insert(like()).then(|| choices.push((0, of)))?;
                }
                depth += 1;
                Some(choices[depth - 1].0)
            });
            while choices.last().is_some_and(|(choice, of)| choice + 1 == *of) {
                choices.pop();
            }
            match choices.last_mut() {
                Some((choice, _)) => *choice += 1,
                None => return true,
            }
        }
        false
    }

    /// A choice of what is delivered next that looks like none.
    fn at_random(seed: u64) -> impl FnMut(&[Parcel], &dyn Fn() -> u64) -> Option<usize> {
        let mut state = seed;
        move |under_way, _| {
            state = mixed(state, under_way.len() as u64);
            Some((state >> 33) as usize % under_way.len())
        }
    }

    const PATTERNS: [fn(usize) -> Pattern; 4] =
        [Pattern::Broadcast, Pattern::Reduction, Pattern::Fcollect, Pattern::Alltoall];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_node_comes_to_the_end_with_the_result_in_any_order(
            of in 0_usize..4, nodes in prop_oneof![2_usize..9, 2_usize..65], root in 0_usize..64, bytes in 1_usize..200,
            chunk in 8_usize..40, slots in prop_oneof![Just(16_usize), Just(8)], is_direct: bool, seed: u64,
        ) {
            let (pattern, root) = (PATTERNS[of](bytes), root % nodes);
            Case { pattern, root, nodes, chunk, slots, is_direct }.check(&mut at_random(seed));
        }
    }

    #[test]
    fn every_byte_goes_as_often_as_it_must() {
        for nodes in (2..=64).chain([97, 101, 131]) {
            let (bytes, others) = (17 * nodes, nodes - 1);
            // No node sends much more of a reduction than its share.
            let case = Case { pattern: Pattern::Reduction(bytes), nodes, chunk: bytes, ..CASE };
            let most = case.run(&mut |_, _| Some(0)).unwrap().iter().map(|node| node.sent[2]).max();
            assert!(
                16 * most.unwrap() <= 17 * 2 * bytes * others / nodes,
                "{nodes} nodes: {most:?} of {bytes}"
            );
            let least = [others * bytes, 2 * others * bytes, nodes * others * bytes, nodes * others * bytes];
            for (pattern, least) in PATTERNS.iter().zip(least).filter(|_| nodes < 20 || nodes == 37) {
                let case = Case { pattern: pattern(bytes), root: nodes / 2, nodes, chunk: 8, ..CASE };
                assert_eq!(Case { is_direct: nodes % 2 == 0, ..case }.sent()[2], least, "{case:?}");
            }
        }
    }

    #[test]
    fn every_number_of_nodes_reduces_to_the_tree() {
        for nodes in (2..=64).chain([65, 67, 97, 101, 131, 257]) {
            // Blocks of several chunks, of which slots are used again, and one that is cut short.
            let (blocks, slots) = (if nodes <= 64 { 4 } else { 1 }, if nodes % 2 == 0 { 16 } else { 8 });
            let pattern = Pattern::Reduction((2 * blocks + 1) * Radices::of(nodes).first() + 1);
            Case { pattern, nodes, chunk: 2, slots, is_direct: nodes % 3 == 0, ..CASE }
                .check(&mut at_random(nodes as u64));
        }
    }

    #[test]
    fn no_number_of_ranks_has_more_words_than_there_are() {
        for ranks in (1..1500).chain([1 << 12, 4097, 10_240, 65_537, 100_000, (1 << 20) + 1, 1 << 24]) {
            let radices = Radices::of(ranks);
            // Those of the last group hold most slices; others are as the first.
            let last = ranks.saturating_sub(300)..ranks;
            for rank in [0, 1, 63].into_iter().chain(last).filter(|rank| *rank < ranks) {
                let words = HalvingDoubling::new(rank, radices, 1 << 20, 1 << 15, 8, 16).credits();
                assert!(words <= MOST_CREDITS, "{words} words of rank {rank} of {ranks}");
            }
        }
    }

    #[test]
    fn who_sends_is_told_of_a_quarter_of_the_window_at_a_time_and_of_nothing_behind_the_end() {
        let credits = |bytes| Case { pattern: Pattern::Fcollect(bytes), ..CASE }.sent()[1];
        assert_eq!([1, 16, 17, 20, 21, 40].map(credits), [0, 0, 2, 2, 4, 12]);
    }

    #[test]
    fn every_order_of_delivery_of_few_chunks_leads_to_the_result() {
        use Pattern::{Alltoall, Broadcast, Fcollect, Reduction};
        for is_direct in [false, true] {
            let all = |nodes, pattern, slots, most| {
                let case = Case { pattern, root: 1, nodes, slots, is_direct, ..CASE };
                in_every_order(most, |pick| drop(case.check(pick)))
            };
            for (nodes, pattern, slots) in [
                (2, Broadcast(3), 2),
                (2, Reduction(3), 2),
                (2, Reduction(5), 4),
                (2, Fcollect(3), 2),
                (2, Alltoall(3), 2),
                (3, Broadcast(3), 2),
                (3, Reduction(3), 4),
                (3, Fcollect(2), 2),
                (3, Alltoall(2), 2),
                (4, Broadcast(2), 2),
                (4, Fcollect(1), 2),
            ] {
                assert!(all(nodes, pattern, slots, 100_000), "{pattern:?} among {nodes}");
            }
            // Of more there are too many: those that differ late.
            for (nodes, pattern, slots) in
                [(3, Reduction(9), 4), (4, Reduction(8), 4), (4, Fcollect(3), 2), (4, Alltoall(3), 2)]
            {
                all(nodes, pattern, slots, 300);
            }
        }
    }

    #[test]
    fn messages_wait_for_each_other_as_often_as_the_formulas_say() {
        use crate::cost_prediction::{Collective, Cost, JobShape};
        for nodes in (2..=32).chain([37, 48, 64]) {
            let shape = JobShape { nodes, per_node: 1 };
            // One chunk, or one for each who combines, and as many slots as chunks, for which nobody waits.
            for (pattern, collective, chunk) in [
                (Pattern::Broadcast(1), Collective::Broadcast(1), 1),
                (Pattern::Fcollect(1), Collective::Fcollect(1), 1),
                (Pattern::Alltoall(1), Collective::Alltoall(1), 1),
                (Pattern::Reduction(nodes), Collective::Sum(8 * nodes), nodes),
            ] {
                if nodes <= 32 || chunk == 1 {
                    let cost = Cost::of_way(CollectiveWay::Windows, collective, false, shape);
                    let rounds = Case { pattern, nodes, chunk, slots: 256, ..CASE }.rounds();
                    assert_eq!(rounds, cost.rounds - shape.rounds() as u64, "{collective:?} among {nodes}");
                }
            }
        }
    }
}
