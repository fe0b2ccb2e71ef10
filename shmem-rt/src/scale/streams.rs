//! Collectives of much data, which go in chunks through windows: what each PE is sent by those of other nodes.

use std::collections::BTreeMap;

use super::collective::Collective;
use super::cost::Cost;
use super::shape::Shape;
use crate::collective::choose::radices;
use crate::collective::schedule::Cut;

/// Most arrivals whose senders are told together that they may: a quarter of the window, and no more than these.
const MOST_TOLD_TOGETHER: usize = 4;

/// How many those are of so many slots.
fn told_together(slots: usize) -> usize {
    (slots / 4).clamp(1, MOST_TOLD_TOGETHER)
}

/// Most members of a group of a reduction.
const MOST_MEMBERS: usize = 8;

/// Most slices that blocks of a reduction are cut into below the last level.
const MOST_SLICES: usize = 64;

/// Chunks that come to PEs one behind the other: to each PE as many, from somebody in the same relation to it.
struct Arrivals<I> {
    /// Of each: the relation, which is one of those that `far` is given.
    each: I,
    /// Messages on the longest way of a chunk, or what is made of it.
    hops: usize,
    /// Bytes that come from other nodes, to all PEs.
    bytes: usize,
}

impl Collective {
    /// Bytes of a chunk, where data go through windows; whether they lie in symmetric objects.
    pub fn chunk(self, symmetric: bool, shape: Shape) -> usize {
        self.cut(symmetric, shape).map_or(0, |cut| cut.most)
    }

    fn cut(self, symmetric: bool, shape: Shape) -> Option<Cut> {
        match self {
            Self::Barrier | Self::Scan(_) => None,
            Self::Broadcast(bytes) | Self::Fcollect(bytes) => {
                Some(Cut::of(bytes, symmetric, shape.pes() > 2))
            }
            Self::Alltoall(bytes) => Some(Cut::of(bytes, symmetric, false)),
            // Of what one is given, between items. What is combined goes through windows, wherever data lie.
            Self::Sum(bytes) | Self::ExactSum(bytes) => {
                let share = self.groups(shape).first().map_or(1, |members| *members);
                let cut = Cut::in_windows(bytes / share, shape.pes() > 2);
                Some(Cut { most: cut.most / GRAIN * GRAIN, ..cut })
            }
        }
    }

    /// How many groups become one at each level of a reduction through windows; nothing of other collectives.
    pub fn groups(self, shape: Shape) -> Vec<usize> {
        match self {
            Self::Sum(_) | Self::ExactSum(_) => radices(shape.pes()),
            _ => Vec::new(),
        }
    }
}

impl Cost {
    /// That of a collective whose data go through windows, or, if they lie in symmetric objects, past them.
    ///
    /// # Panics
    ///
    /// If it has none.
    pub(super) fn of_streams(collective: Collective, symmetric: bool, shape: Shape) -> Self {
        let cut = collective.cut(symmetric, shape);
        let cut = cut.unwrap_or_else(|| panic!("{collective:?} of {} PEs has no windows", shape.pes()));
        match collective {
            Collective::Broadcast(bytes) => Self::of_trees(bytes, cut, shape),
            Collective::Sum(bytes) | Collective::ExactSum(bytes) => {
                Self::of_levels(bytes, cut, &levels(shape.pes()), shape)
            }
            Collective::Fcollect(bytes) => Self::of_relay(bytes, cut, shape),
            Collective::Alltoall(bytes) => Self::of_rotation(bytes, cut, shape),
            Collective::Barrier | Collective::Scan(_) => unreachable!("they have no cut"),
        }
    }

    /// The meeting that opens windows, the chunks, and the messages that tell their senders that they may, behind those that
    /// have one of so many slots from the start. `far` is how many PEs are sent from another node what comes in a relation.
    fn of_arrivals(
        arrivals: Arrivals<impl Iterator<Item = usize>>,
        slots: usize,
        far: impl Fn(usize) -> usize,
        shape: Shape,
    ) -> Self {
        let (mut chunks, mut told, mut together) = (0, 0, Vec::new());
        for (number, relation) in arrivals.each.enumerate() {
            chunks += far(relation);
            if number < slots {
                continue;
            }
            if number.is_multiple_of(told_together(slots)) {
                together.clear();
            }
            // Those who send several of them are told once.
            if !together.contains(&relation) {
                together.push(relation);
                told += far(relation);
            }
        }
        Self::of_chunks(chunks, told, arrivals.hops, arrivals.bytes, shape)
    }

    /// The meeting that opens windows, so many chunks, and so many messages that tell. `hops` and `bytes` are as those of
    /// [`Arrivals`].
    fn of_chunks(chunks: usize, told: usize, hops: usize, of_chunks: usize, shape: Shape) -> Self {
        let Self { rounds, messages, bytes, .. } = Self::of_meetings(1, 0, shape);
        Self {
            rounds: rounds + hops as u64,
            messages: messages + (chunks + told) as u64,
            bytes: bytes + (of_chunks + 8 * (chunks + told)) as u64,
            unordered: chunks.div_ceil(shape.nodes).saturating_sub(hops) as u64,
        }
    }

    /// A broadcast from PE 0: every second chunk goes along one of two trees of the others.
    fn of_trees(bytes: usize, cut: Cut, shape: Shape) -> Self {
        let others = shape.pes() - 1;
        let chunks = bytes.div_ceil(cut.most);
        let ways = others.min(2);
        let (mut far, mut hops) = ([0; 2], 0);
        for (way, far) in far.iter_mut().enumerate().take(ways.min(chunks)) {
            // The second tree is the first one turned round, or moved on by one.
            let pe = |place: usize| match (way, others % 2) {
                (0, _) => place,
                (_, 0) => others + 1 - place,
                _ => (place + others - 2) % others + 1,
            };
            for place in 1..=others {
                let (mut at, mut on_the_way) = (Some(place), 0);
                while let Some(below) = at {
                    at = above(below, others);
                    let from = at.map_or(0, pe);
                    let is_far = pe(below) / shape.per_node != from / shape.per_node;
                    on_the_way += usize::from(is_far);
                    if below == place {
                        *far += usize::from(is_far);
                    }
                }
                hops = hops.max(on_the_way);
            }
        }
        let length = |number: usize| cut.most.min(bytes - number * cut.most);
        let bytes = (0..chunks).map(|number| far[number % ways] * length(number)).sum();
        let each = (0..chunks).map(|number| number % ways);
        Self::of_arrivals(Arrivals { each, hops, bytes }, cut.slots, |way| far[way], shape)
    }

    /// A reduction in groups of groups, and back: PEs that hold the same slice of a block cut it and deal the pieces.
    fn of_levels(bytes: usize, cut: Cut, levels: &[Level], shape: Shape) -> Self {
        let most = cut.most * levels[0].radix;
        let blocks = bytes.div_ceil(most);
        let is_far = |pe: usize, other: usize| pe / shape.per_node != other / shape.per_node;
        // Who holds each slice in each group, and how long it is in a block, and in the last.
        let mut groups: Vec<Vec<usize>> = (0..shape.pes()).map(|pe| vec![pe]).collect();
        let mut lengths = [vec![most], vec![bytes - (blocks - 1) * most]];
        let mut deals = Vec::new();
        for level in levels {
            lengths = lengths.map(|lengths| lengths.iter().flat_map(|length| level.cut(*length)).collect());
            let deal: Vec<Deal> =
                groups.chunks(level.radix).map(|members| Deal::of(members, *level)).collect();
            groups = deal.iter().map(Deal::owners).collect();
            deals.push((deal, lengths.clone()));
        }
        // What comes to each PE for one block: in which step, and whether from another node.
        let mut come: Vec<Vec<(usize, bool)>> = vec![Vec::new(); shape.pes()];
        let (mut of_block, mut of_last, mut hops) = (0, 0, 0);
        for step in 0..2 * levels.len() {
            let returns = step >= levels.len();
            let (deal, lengths) = &deals[if returns { 2 * levels.len() - 1 - step } else { step }];
            let mut crosses = false;
            for deal in deal {
                deal.each(returns, |to, from, piece| {
                    let is_far = is_far(to, from);
                    come[to].push((step, is_far));
                    if is_far {
                        crosses = true;
                        of_block += lengths[0][piece];
                        of_last += lengths[1][piece];
                    }
                });
            }
            hops += usize::from(crosses);
        }
        let bytes = (blocks - 1) * of_block + of_last;
        let mut known = BTreeMap::new();
        let (mut chunks, mut told) = (0, 0);
        for come in come {
            chunks += blocks * come.iter().filter(|(_, is_far)| *is_far).count();
            let count = |come: &Vec<_>| told_of(come, blocks, 2 * levels.len(), cut.slots);
            told += match known.get(&come) {
                Some(told) => *told,
                None => *known.entry(come).or_insert_with_key(count),
            };
        }
        Self::of_chunks(chunks, told, hops, bytes, shape)
    }

    /// An fcollect: blocks go round, from each PE to the next.
    fn of_relay(bytes: usize, cut: Cut, shape: Shape) -> Self {
        let (others, chunks) = (shape.pes() - 1, bytes.div_ceil(cut.most));
        let each = core::iter::repeat_n(0, others * chunks);
        let arrivals = Arrivals { each, hops: shape.nodes - 1, bytes: shape.nodes * others * bytes };
        Self::of_arrivals(arrivals, cut.slots, |_| shape.nodes, shape)
    }

    /// An alltoall: what is for another PE goes straight there, in the order of distances.
    fn of_rotation(bytes: usize, cut: Cut, shape: Shape) -> Self {
        let Shape { nodes, per_node } = shape;
        let (pes, chunks) = (shape.pes(), bytes.div_ceil(cut.most));
        let each = (1..pes).flat_map(|distance| core::iter::repeat_n(distance, chunks));
        let arrivals = Arrivals { each, hops: 1, bytes: pes * (pes - per_node) * bytes };
        // On its node are some of those before a PE, and round the job some of those behind it.
        let near = |distance: usize| nodes * per_node.saturating_sub(distance);
        let far = |distance: usize| pes - near(distance) - near(pes - distance);
        Self::of_arrivals(arrivals, cut.slots, far, shape)
    }
}

/// Bytes of an item of what is summed.
const GRAIN: usize = 8;

/// The next place up in a tree in order of so many: that which can be halved once more often, or the next above it
/// that is there.
fn above(place: usize, places: usize) -> Option<usize> {
    let (mut at, mut step) = (place, 1 << place.trailing_zeros());
    while step <= places {
        at = at & !step | step << 1;
        if at <= places {
            return Some(at);
        }
        step <<= 1;
    }
    None
}

/// One level of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// How many groups become one.
    radix: usize,
    /// Into how many pieces a slice is cut: as many, or none.
    pieces: usize,
    /// Of a slice that is not cut, how many numbers of slices have the same digit that says who is given it, and how
    /// many of those digits there are.
    digit: (usize, usize),
}

impl Level {
    /// The lengths of what a slice is cut into.
    fn cut(self, length: usize) -> impl Iterator<Item = usize> {
        let each = length.div_ceil(self.pieces).next_multiple_of(GRAIN);
        (0..self.pieces).map(move |piece| length.saturating_sub(piece * each).min(each))
    }
}

/// What the members of one group do at a level: of each slice, who holds it, and of its pieces, which of these owns
/// them.
struct Deal {
    slices: Vec<(Vec<usize>, Vec<usize>)>,
    pieces: usize,
}

impl Deal {
    /// That of groups of which each says who holds its slices.
    fn of(members: &[Vec<usize>], level: Level) -> Self {
        let slices = (0..members[0].len()).map(|slice| {
            let holders: Vec<usize> = members.iter().map(|member| member[slice]).collect();
            let owner = |piece| match level.pieces {
                1 => slice / level.digit.0 % level.digit.1 * holders.len() / level.digit.1,
                pieces => piece * holders.len() / pieces,
            };
            let owners = (0..level.pieces).map(owner).collect();
            (holders, owners)
        });
        Self { slices: slices.collect(), pieces: level.pieces }
    }

    /// Who holds the slices of all together.
    fn owners(&self) -> Vec<usize> {
        self.slices.iter().flat_map(|(holders, owners)| owners.iter().map(|owner| holders[*owner])).collect()
    }

    /// What comes to whom, in the order in which it comes to each: the receiver, who sends it, and which piece it is. On
    /// the way back owners give their pieces to the others.
    fn each(&self, returns: bool, mut come: impl FnMut(usize, usize, usize)) {
        for (slice, (holders, owners)) in self.slices.iter().enumerate() {
            let count = holders.len();
            let of = |owner: usize| {
                let first = slice * self.pieces;
                let owned = owners.iter().enumerate().filter(move |(_, other)| **other == owner);
                owned.map(move |(piece, _)| first + piece)
            };
            for member in 0..count {
                for turn in 0..self.pieces {
                    for distance in 1..count {
                        let from = (member + count - distance) % count;
                        if let Some(piece) = of(if returns { from } else { member }).nth(turn) {
                            come(holders[member], holders[from], piece);
                        }
                    }
                }
            }
        }
    }
}

/// How many messages tell those on other nodes who send to a PE that they may. What comes to it for one block is given in
/// order, with its step; each step of a block is two turns behind the one before.
fn told_of(come: &[(usize, bool)], blocks: usize, steps: usize, slots: usize) -> usize {
    let (mut told, mut number, mut together) = (0, 0, Vec::new());
    for turn in 0..blocks + 2 * (steps - 1) {
        for (which, (step, is_far)) in come.iter().enumerate() {
            if !(2 * step..2 * step + blocks).contains(&turn) {
                continue;
            }
            if number >= slots {
                if number.is_multiple_of(told_together(slots)) {
                    together.clear();
                }
                // What comes in the same place of several blocks is told of once.
                if !together.contains(&which) {
                    together.push(which);
                    told += usize::from(*is_far);
                }
            }
            number += 1;
        }
    }
    told
}

/// The levels of a reduction. Four groups, or two, become one, and in the end what is odd, with one two more if that
/// is not too many. If what is odd is too much, the last group of a level has fewer members; if three of four would be
/// left at the first level, two become one there.
fn levels(pes: usize) -> Vec<Level> {
    let mut radices = Vec::new();
    let mut groups = pes;
    let mut join = |radix: usize, groups: &mut usize| {
        radices.push(radix);
        *groups = groups.div_ceil(radix);
    };
    let odd = pes >> pes.trailing_zeros();
    if odd > MOST_MEMBERS {
        if pes % 4 == 3 {
            join(2, &mut groups);
        }
        while groups > MOST_MEMBERS {
            join(4, &mut groups);
        }
    } else {
        let last = if odd > 1 && 2 * odd <= MOST_MEMBERS && pes > odd { 2 * odd } else { odd };
        while groups > last {
            let radix = if (groups / last).is_multiple_of(4) { 4 } else { 2 };
            join(radix, &mut groups);
        }
    }
    if groups > 1 {
        radices.push(groups);
    }
    let (mut levels, mut slices) = (Vec::<Level>::new(), 1);
    let whole = |levels: &[Level]| levels.iter().filter(|level| level.pieces == 1).count();
    for (number, radix) in radices.iter().copied().enumerate() {
        let is_cut = slices * radix <= MOST_SLICES || number + 1 == radices.len();
        let cut: Vec<usize> = levels.iter().map(|level| level.pieces).filter(|pieces| *pieces > 1).collect();
        let digit = match cut.len() {
            0 => (1, 1),
            digits => {
                let which = whole(&levels) % digits;
                (cut[which + 1..].iter().product(), cut[which])
            }
        };
        let pieces = if is_cut { radix } else { 1 };
        slices *= pieces;
        levels.push(Level { radix, pieces, digit });
    }
    levels
}

#[cfg(test)]
mod tests {
    use shmem_launch::env::CollectiveWay;

    use super::*;

    #[test]
    fn two_nodes_bring_what_one_of_them_has() {
        let shape = Shape { nodes: 2, per_node: 1 };
        let cost = |collective| Cost::of_way(CollectiveWay::Windows, collective, false, shape);
        let large = 1 << 20;
        // 2 chunks of 512 KiB, and the words of two messages to meet.
        let once = Cost { rounds: 2, messages: 4, bytes: (large + 4 * 8) as u64, unordered: 0 };
        assert_eq!(cost(Collective::Broadcast(large)), once);
        let both = Cost { rounds: 2, messages: 6, bytes: (2 * large + 6 * 8) as u64, unordered: 1 };
        assert_eq!(cost(Collective::Fcollect(large)), both);
        assert_eq!(cost(Collective::Alltoall(large)), both);
        // Of each half goes, and comes back combined.
        let sum = Cost { rounds: 3, messages: 10, bytes: (2 * large + 10 * 8) as u64, unordered: 2 };
        assert_eq!(cost(Collective::Sum(large)), sum);
        // Objects in one chunk, but for what is combined.
        let objects = |collective| Cost::of_way(CollectiveWay::Windows, collective, true, shape);
        let whole = Cost { rounds: 2, messages: 3, bytes: (large + 3 * 8) as u64, unordered: 0 };
        assert_eq!(objects(Collective::Broadcast(large)), whole);
        let whole = Cost { messages: 4, bytes: (2 * large + 4 * 8) as u64, ..whole };
        assert_eq!([Collective::Fcollect(large), Collective::Alltoall(large)].map(objects), [whole; 2]);
        assert_eq!(objects(Collective::Sum(large)), cost(Collective::Sum(large)));
    }

    #[test]
    fn every_place_of_a_tree_is_below_its_top() {
        for places in 1..300_usize {
            let tops: Vec<_> = (1..=places).filter(|place| above(*place, places).is_none()).collect();
            assert_eq!(tops, [1 << places.ilog2()], "{places} places");
        }
    }

    #[test]
    fn every_number_of_pes_is_made_of_groups() {
        let radices = |pes| levels(pes).iter().map(|level| level.radix).collect::<Vec<_>>();
        let pieces = |pes| levels(pes).iter().map(|level| level.pieces).collect::<Vec<_>>();
        assert_eq!([radices(10240), pieces(10240)], [[4, 4, 4, 4, 4, 2, 5], [4, 4, 4, 1, 1, 1, 5]]);
        assert_eq!([radices(6), radices(12), radices(24)], [vec![6], vec![2, 6], vec![4, 6]]);
        assert_eq!([radices(11), radices(13), radices(37)], [vec![2, 6], vec![4, 4], vec![4, 4, 3]]);
        assert_eq!(
            [radices(97), radices(99), radices(128)],
            [vec![4, 4, 7], vec![2, 4, 4, 4], vec![4, 4, 4, 2]]
        );
        for pes in 1..5000 {
            assert_eq!(radices(pes), crate::collective::choose::radices(pes), "{pes} PEs");
        }
    }

    /// Every byte is brought to who combines it, and back to all others.
    #[test]
    fn sums_of_any_number_of_pes_send_as_many_bytes() {
        for pes in 2..200 {
            let (shape, bytes) = (Shape { nodes: pes, per_node: 1 }, 100_000);
            let cost = Cost::of_streams(Collective::Sum(bytes), false, shape);
            let meeting = (pes * shape.rounds() * 8) as u64;
            let words = 8 * (cost.messages - (pes * shape.rounds()) as u64);
            assert_eq!(cost.bytes - words - meeting, (2 * (pes - 1) * bytes) as u64, "{pes} PEs");
        }
    }
}
