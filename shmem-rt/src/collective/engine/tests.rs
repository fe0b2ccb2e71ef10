//! All nodes of a team in one place: what each does is carried out on a network of numbers, in any order.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use proptest::prelude::*;
use shmem_core::system::MOST_CREDITS;
use shmem_launch::env::CollectiveWay;

use super::super::schedule::{Chunks, HalvingDoubling, Memory, Pairwise, Radices, RingAllgather, TwoTree};
use super::*;
use crate::model::Model;

/// Something on its way.
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
    /// What has been sent so far: messages with data, those without, bytes.
    sent: (usize, usize, usize),
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
        let data = self.read(step.from);
        let lands = step.lands.filter(|_| self.is_direct);
        self.sent.0 += 1;
        self.sent.2 += data.len();
        assert_ne!(step.to, self.number, "a node sends to itself");
        let (from, place, to) = (self.number, step.from, step.to);
        self.out.push(Parcel::Chunk { from, place, to, slot, data, lands });
    }

    fn give(&mut self, node: usize, word: usize, chunks: u64) {
        self.sent.1 += 1;
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
            self.result[into.at + k] = crate::collective::tree::tests::root(&column, &mixed);
        }
    }
}

fn mixed(left: u64, right: u64) -> u64 {
    left.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7).wrapping_add(right ^ 0x5555)
}

/// A family, with what makes its schedule.
#[derive(Clone, Copy, Debug)]
enum Family {
    Broadcast { root: usize },
    Sum,
    Fcollect,
    Alltoall,
}

/// A collective among nodes.
#[derive(Clone, Copy, Debug)]
struct Case {
    family: Family,
    nodes: usize,
    bytes: usize,
    chunk: usize,
    slots: usize,
    is_direct: bool,
}

impl Case {
    fn value(node: usize, k: usize) -> u64 {
        mixed(node as u64 + 1, k as u64)
    }

    fn node(self, number: usize) -> Node {
        let Self { family, nodes, bytes, slots, is_direct, .. } = self;
        let own = |k| Self::value(number, k);
        let (source, result) = match family {
            Family::Broadcast { root } => {
                (vec![], (0..bytes).map(|k| if number == root { own(k) } else { 0 }).collect())
            }
            Family::Sum => (vec![], (0..bytes).map(own).collect()),
            Family::Fcollect => ((0..bytes).map(own).collect(), vec![0; bytes * nodes]),
            Family::Alltoall => ((0..bytes * nodes).map(own).collect(), vec![0; bytes * nodes]),
        };
        let credits = vec![0; MOST_CREDITS];
        let (slots, arrived) = (vec![None; slots], vec![0; slots]);
        Node { number, is_direct, source, result, slots, arrived, credits, out: vec![], sent: (0, 0, 0) }
    }

    /// What a node must have in the end. What it has for itself in an fcollect or alltoall goes no way.
    fn expected(self, number: usize) -> Vec<u64> {
        let Self { family, nodes, bytes, .. } = self;
        let elsewhere = |from: usize, value: u64| if from == number { 0 } else { value };
        match family {
            Family::Broadcast { root } => (0..bytes).map(|k| Self::value(root, k)).collect(),
            Family::Sum => {
                let column = |k| (0..nodes).map(|node| Self::value(node, k)).collect::<Vec<_>>();
                (0..bytes).map(|k| crate::collective::tree::tests::root(&column(k), &mixed)).collect()
            }
            Family::Fcollect => {
                (0..nodes * bytes).map(|k| elsewhere(k / bytes, Self::value(k / bytes, k % bytes))).collect()
            }
            Family::Alltoall => {
                let part =
                    |k: usize| elsewhere(k / bytes, Self::value(k / bytes, number * bytes + k % bytes));
                (0..nodes * bytes).map(part).collect()
            }
        }
    }

    /// Runs all nodes to the end, if `pick` lets them come there.
    fn run(self, pick: &mut Pick<'_>) -> Option<Vec<Node>> {
        let Self { family, nodes, bytes, chunk, slots, .. } = self;
        let chunks = Chunks::new(bytes, chunk, 1);
        match family {
            Family::Broadcast { root } => {
                let trees = |node| {
                    let trees = TwoTree::both(nodes, node, root, chunks, slots);
                    trees.into_iter().take(TwoTree::ways(nodes)).collect()
                };
                self.run_schedules((0..nodes).map(trees).collect(), pick)
            }
            Family::Sum => {
                let radices = Radices::of(nodes);
                let schedule = |node| vec![HalvingDoubling::new(node, radices, bytes, chunk, 1, slots)];
                self.run_schedules((0..nodes).map(schedule).collect(), pick)
            }
            Family::Fcollect => self.run_schedules(
                (0..nodes).map(|node| vec![RingAllgather::new(nodes, node, chunks, slots)]).collect(),
                pick,
            ),
            Family::Alltoall => self.run_schedules(
                (0..nodes).map(|node| vec![Pairwise::new(nodes, node, chunks, slots)]).collect(),
                pick,
            ),
        }
    }

    /// Of each node the schedules are given of which each is a pipeline.
    fn run_schedules<P: Schedule>(self, schedules: Vec<Vec<P>>, pick: &mut Pick<'_>) -> Option<Vec<Node>> {
        let mut nodes: Vec<Node> = (0..self.nodes).map(|number| self.node(number)).collect();
        for (schedule, node) in schedules.iter().zip(&mut nodes) {
            node.credits.truncate(schedule[0].credits());
        }
        let mut progress: Vec<_> = schedules
            .iter()
            .map(|schedules| {
                let pipelines = schedules
                    .iter()
                    .map(|schedule| (schedule.sends(), [schedule.receives(), schedule.receives()]));
                Progress::new(pipelines, self.slots)
            })
            .collect();
        let mut done: BTreeSet<usize> = BTreeSet::new();
        let mut under_way: Vec<Parcel> = Vec::new();
        let mut poll = |number: usize, nodes: &mut Vec<Node>, under_way: &mut Vec<Parcel>| {
            let is_done = progress[number].poll(&mut nodes[number]);
            under_way.append(&mut nodes[number].out);
            if is_done {
                done.insert(number);
            }
        };
        (0..self.nodes).for_each(|number| poll(number, &mut nodes, &mut under_way));
        while !under_way.is_empty() {
            let next = pick(&under_way, &|| like(&nodes, &under_way))?;
            let parcel = under_way.remove(next);
            let to = match parcel {
                Parcel::Chunk { from, place, to, slot, data, lands } => {
                    assert_eq!(nodes[from].read(place), data, "node {from} has written what is being sent");
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

fn families() -> impl Strategy<Value = Family> {
    prop_oneof![
        (0_usize..1000).prop_map(|root| Family::Broadcast { root }),
        Just(Family::Sum),
        Just(Family::Fcollect),
        Just(Family::Alltoall),
    ]
}

/// Many in the mean, and few as well.
fn nodes() -> impl Strategy<Value = usize> {
    prop_oneof![2_usize..9, 2_usize..65]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_node_comes_to_the_end_with_the_result_in_any_order(
        family in families(), nodes in nodes(), bytes in 1_usize..200, chunk in 8_usize..40,
        slots in prop_oneof![Just(16_usize), Just(8)], is_direct in any::<bool>(), seed in any::<u64>(),
    ) {
        let family = match family {
            Family::Broadcast { root } => Family::Broadcast { root: root % nodes },
            family => family,
        };
        Case { family, nodes, bytes, chunk, slots, is_direct }.check(&mut at_random(seed));
    }
}

/// Messages with chunks, messages that tell, and bytes, of all nodes.
fn sent(case: Case) -> (usize, usize, usize) {
    let nodes = case.check(&mut |_, _| Some(0)).unwrap();
    nodes.iter().fold((0, 0, 0), |all, node| (all.0 + node.sent.0, all.1 + node.sent.1, all.2 + node.sent.2))
}

#[test]
fn every_byte_goes_as_often_as_it_must() {
    for nodes in (2..20).chain([24, 28, 32, 37, 40]) {
        let (bytes, chunk, slots) = (17 * nodes, 8, 16);
        let case = |family| Case { family, nodes, bytes, chunk, slots, is_direct: nodes % 2 == 0 };
        let others = nodes - 1;
        assert_eq!(sent(case(Family::Broadcast { root: nodes / 2 })).2, others * bytes, "{nodes} nodes");
        assert_eq!(sent(case(Family::Fcollect)).2, nodes * others * bytes, "{nodes} nodes");
        assert_eq!(sent(case(Family::Alltoall)).2, nodes * others * bytes, "{nodes} nodes");
        assert_eq!(sent(case(Family::Sum)).2, 2 * others * bytes, "{nodes} nodes");
    }
}

/// A choice of what is delivered next that looks like none.
fn at_random(seed: u64) -> impl FnMut(&[Parcel], &dyn Fn() -> u64) -> Option<usize> {
    let mut state = seed;
    move |under_way, _| {
        state = mixed(state, under_way.len() as u64);
        Some((state >> 33) as usize % under_way.len())
    }
}

#[test]
fn every_number_of_nodes_reduces_to_the_tree() {
    for nodes in (2..=64).chain([65, 67, 97, 101, 131, 257]) {
        // Blocks of several chunks, of which slots are used again, and one that is cut short.
        let (blocks, slots) = (if nodes <= 64 { 4 } else { 1 }, if nodes % 2 == 0 { 16 } else { 8 });
        let bytes = (2 * blocks + 1) * Radices::of(nodes).each()[0] + 1;
        Case { family: Family::Sum, nodes, bytes, chunk: 2, slots, is_direct: nodes % 3 == 0 }
            .check(&mut at_random(nodes as u64));
    }
}

#[test]
fn no_node_sends_much_more_than_twice_what_it_reduces() {
    for nodes in (2..=64).chain([97, 101, 131]) {
        let bytes = 40 * nodes;
        let case = Case { family: Family::Sum, nodes, bytes, chunk: bytes, slots: 16, is_direct: false };
        let most = case.run(&mut |_, _| Some(0)).unwrap().iter().map(|node| node.sent.2).max().unwrap();
        let least = 2 * bytes * (nodes - 1) / nodes;
        assert!(16 * most <= 17 * least, "of {nodes} nodes one sends {most} of {bytes}");
    }
}

#[test]
fn no_number_of_ranks_has_more_words_than_there_are() {
    for ranks in (1..1500).chain([1 << 12, 4097, 10_240, 65_537, 100_000, (1 << 20) + 1, 1 << 24]) {
        let radices = Radices::of(ranks);
        // Those of the last group hold most slices; others are as the first.
        let words = |rank| HalvingDoubling::new(rank, radices, 1 << 20, 1 << 15, 8, 16).credits();
        for rank in
            [0, 1, 63].into_iter().chain(ranks.saturating_sub(300)..ranks).filter(|rank| *rank < ranks)
        {
            assert!(words(rank) <= MOST_CREDITS, "{} words of rank {rank} of {ranks}", words(rank));
        }
    }
}

#[test]
fn who_sends_is_told_of_a_quarter_of_the_window_at_a_time_and_of_nothing_behind_the_end() {
    let credits = |bytes| {
        sent(Case { family: Family::Fcollect, nodes: 2, bytes, chunk: 1, slots: 16, is_direct: false }).1
    };
    assert_eq!([1, 16, 17, 20, 21, 40].map(credits), [0, 0, 2, 2, 4, 12]);
}

#[test]
fn every_order_of_delivery_of_few_chunks_leads_to_the_result() {
    use Family::{Alltoall, Broadcast, Fcollect, Sum};
    let broadcast = Broadcast { root: 1 };
    for is_direct in [false, true] {
        let all = |nodes, family, bytes, slots, most| {
            let case = Case { family, nodes, bytes, chunk: 1, slots, is_direct };
            in_every_order(most, |pick| drop(case.check(pick)))
        };
        for (nodes, family, bytes, slots) in [
            (2, broadcast, 3, 2),
            (2, Sum, 3, 2),
            (2, Sum, 5, 4),
            (2, Fcollect, 3, 2),
            (2, Alltoall, 3, 2),
            (3, broadcast, 3, 2),
            (3, Sum, 3, 4),
            (3, Fcollect, 2, 2),
            (3, Alltoall, 2, 2),
            (4, broadcast, 2, 2),
            (4, Fcollect, 1, 2),
        ] {
            assert!(all(nodes, family, bytes, slots, 100_000), "{family:?} of {bytes} among {nodes}");
        }
        // Of more there are too many: those that differ late.
        for (nodes, family, bytes, slots) in
            [(3, Sum, 9, 4), (4, Sum, 8, 4), (4, Fcollect, 3, 2), (4, Alltoall, 3, 2)]
        {
            all(nodes, family, bytes, slots, 300);
        }
    }
}

/// With nothing but messages that take time, all of them as much.
fn rounds(case: Case) -> u64 {
    let (mut rounds, mut left) = (0, 0);
    let nodes = case.check(&mut |under_way, _| {
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

#[test]
fn messages_wait_for_each_other_as_often_as_the_formulas_say() {
    use crate::scale::{Collective, Cost, Shape};
    for nodes in (2..=32).chain([37, 48, 64]) {
        let shape = Shape { nodes, per_node: 1 };
        let expect = |family, collective: Collective, bytes, chunk| {
            // As many slots as chunks, for which nobody waits.
            let case = Case { family, nodes, bytes, chunk, slots: 256, is_direct: false };
            let cost = Cost::of_way(CollectiveWay::Windows, collective, false, shape);
            let meeting = shape.rounds() as u64;
            assert_eq!(rounds(case), cost.rounds - meeting, "{collective:?} among {nodes}");
        };
        // One chunk, or one for each who combines.
        expect(Family::Broadcast { root: 0 }, Collective::Broadcast(1), 1, 1);
        expect(Family::Fcollect, Collective::Fcollect(1), 1, 1);
        expect(Family::Alltoall, Collective::Alltoall(1), 1, 1);
        if nodes <= 32 {
            expect(Family::Sum, Collective::Sum(8 * nodes), nodes, nodes);
        }
    }
}

/// Nanoseconds until all have come to the end: what a node sends leaves one behind the other, as fast as the model says, and is half a
/// round trip under way. A number stands for so many bytes.
fn time(case: Case, model: Model, each: usize) -> f64 {
    let (mut now, mut free) = (0.0_f64, vec![0.0_f64; case.nodes]);
    let mut times: Vec<f64> = Vec::new();
    let nodes = case.run(&mut |under_way, _| {
        for parcel in &under_way[times.len()..] {
            let (from, numbers) = match parcel {
                Parcel::Chunk { from, data, .. } => (*from, data.len()),
                Parcel::Word { from, .. } => (*from, 0),
            };
            let last = now.max(free[from]) + (numbers * each) as f64 * model.beta;
            free[from] = last + model.gap;
            times.push(last + model.alpha / 2.0);
        }
        let (next, time) = times.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
        now = *time;
        times.remove(next);
        Some(next)
    });
    assert!(nodes.is_some());
    now
}

#[test]
fn chunks_of_a_broadcast_come_at_the_pace_of_the_root() {
    let model = Model { alpha: 17_000.0, gap: 8_000.0, beta: 0.25 };
    for nodes in (2..=17).chain([31, 32, 33, 64]) {
        for (slots, is_direct) in [(8, false), (16, true)] {
            let (chunks, chunk) = (128, 128);
            let family = Family::Broadcast { root: nodes / 3 };
            let case = Case { family, nodes, bytes: chunks * chunk, chunk, slots, is_direct };
            // One chunk, which nobody sends on before it has come; the words that tell take a gap as well.
            let of_chunk = (chunk << 10) as f64 * model.beta + model.gap;
            let hops = (nodes.ilog2() + 1) as f64;
            let least = chunks as f64 * of_chunk;
            let most = 1.25 * least + 2.0 * hops * (of_chunk + model.alpha / 2.0);
            let time = time(case, model, 1 << 10);
            assert!(time <= most, "{nodes} nodes: {time:.0}, and the root sends for {least:.0}");
        }
    }
}
