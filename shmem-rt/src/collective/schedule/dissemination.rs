//! Dissemination: rounds after which each node has the data of all.
//!
//! Before a round a node has received the data of the `s` nodes before it. Rounds have two forms. In the first, each node
//! sends these data to the node at distance `s`, which then has received `2 s` nodes' data. In the second, each node adds
//! its own data, and sends all to the node at distance `s + 1`, which then has received `2 s + 1`. The number of other nodes
//! as a binary number, from its highest bit, gives the forms: 0 for the first, 1 for the second. So `ceil(log2(nodes))`
//! rounds are enough, with one message per node and round. A node receives no data twice, so a message can carry a sum of
//! data. Rounds with distances of `2^k` have that property only if the number of nodes is a power of two.
//!
//! Sources: D. Hensgen, R. Finkel and U. Manber, "Two algorithms for barrier synchronization", 1988; J. Bruck et al., "Efficient
//! algorithms for all-to-all communications in multiport message-passing systems", 1997 (concatenation among any number of nodes).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Round {
    pub(in crate::collective) number: usize,
    /// Distance from sender to receiver, equal to the number of nodes whose data are sent.
    pub(in crate::collective) distance: usize,
    /// Whether the sent data include the sender's own.
    pub(in crate::collective) with_own: bool,
}

impl Round {
    pub(in crate::collective) fn all(nodes: usize) -> impl Iterator<Item = Self> {
        let others = nodes - 1;
        let rounds = if others == 0 { 0 } else { others.ilog2() + 1 };
        (0..rounds).map(move |number| {
            // The bits above `bit` are the number of nodes whose data have arrived before the round.
            let (known, bit) = (others >> (rounds - number), others >> (rounds - 1 - number) & 1);
            Self { number: number as usize, distance: known + bit, with_own: bit == 1 }
        })
    }

    /// Returns the number of other nodes whose data a node has before the round.
    pub(in crate::collective) fn known(self) -> usize {
        self.distance - usize::from(self.with_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What node 0 knows of which nodes before it, in every round, where all do the same.
    #[test]
    fn all_others_are_known_once_after_as_few_rounds_as_there_can_be() {
        for nodes in (1..=300).chain([1000, 4097, 99_999]) {
            let (mut known, mut rounds) = (vec![false; nodes], 0);
            for round in Round::all(nodes) {
                assert_eq!(round.number, rounds);
                assert!(round.distance > 0 && round.distance < nodes, "{nodes} nodes, {round:?}");
                assert_eq!(known.iter().filter(|known| **known).count(), round.known(), "{nodes} nodes");
                // The sender is `distance` before; it sends what it knows by now, which is what we know, from there.
                let own = round.with_own.then_some(0);
                for before in own.into_iter().chain(1..=round.known()) {
                    let is_known = core::mem::replace(&mut known[round.distance + before], true);
                    assert!(!is_known, "{nodes} nodes: windows overlap in round {rounds}");
                }
                rounds += 1;
            }
            assert!(!known[0] && known[1..].iter().all(|known| *known), "{nodes} nodes");
            assert_eq!(rounds, nodes.next_power_of_two().ilog2() as usize, "rounds of {nodes} nodes");
        }
    }
}
