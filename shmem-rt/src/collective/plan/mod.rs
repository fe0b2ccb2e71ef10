//! Plans: what each member of a team sends, and what comes to it, when there is much of it.
//!
//! A plan is that of one rank, and it is data: two iterators, made from the shape of the team, the bytes and nothing
//! else. No memory is reached here and nothing is sent. [`departures`](Plan::departures) says in which order the rank
//! sends chunks, and of each when it may; [`arrivals`](Plan::arrivals), in which order chunks come, and what becomes
//! of each. A [cursor](super::cursor) carries out both side by side, without ever waiting.
//!
//! **Slots.** Chunks arrive in a window of equal slots. Arrivals are numbered, and number `a` lies in slot `a mod
//! slots`; who sends it knows the number, because both plans are the same function of the rank. So no message says
//! what it is. The first chunks, as many as there are slots, may be sent at any time. Each later one waits until its
//! slot is free: the receiver tells the sender, in a word that is theirs for this, how many of its chunks may come
//! besides. What is [told](Departure::clearance) so is counted, and every one is waited for, so nothing of a plan is
//! under way when all ranks have come to its end.
//!
//! **No circle.** All ranks send, and expect, in the order of one key that they share (the chunk; or the block and
//! the step; or the turn of a wave, the step, the slice, the piece and how far it goes). Of all chunks that are yet to come take the first in that order: whoever sends
//! it has sent everything before it, has all it depends on, which came earlier in that order, and the slot has been
//! emptied by whoever receives it: chunks that stay there until others have come follow each other, and there are
//! more slots than these and those that are told of together. So it can be sent.
//!
//! **Strands.** A collective has one plan, or two that wait for nothing of each other: [trees](Tree). They have the slots of a window
//! in turn, and words of which each is for chunks of one.
//!
//! Plans are of ranks, wherever these are. Those of one node write into each other's windows by stores. Where ranks
//! follow each other node by node, few chunks cross: of a relay each once, and of levels what the members of a node
//! have made of theirs together.
//!
//! There are four plans, one for each family:
//!
//! | plan | for | chunks |
//! |---|---|---|
//! | [`Tree`] | broadcast | every second one along one of two, of which each has those as leaves that send in the other |
//! | [`Levels`] | reductions | each combines a part, level by level, and gives it back the same way |
//! | [`Relay`] | fcollect | the blocks of all go round |
//! | [`Rotation`] | alltoall | to each in turn, the one `t` ranks further on in step `t` |
//!
//! Two ranks could send each other all that they reduce, and so begin with the second half before the first has come. Counts say
//! that it does not pay: bytes are the same, there would be no fewer messages, and by a model of two nodes (a chunk leaves behind the
//! one before, and is half a round trip under way) levels take 0.86 to 1.09 of that time for 8 KiB to 16 MiB over TCP, and 0.94 to
//! 1.0 over what is faster. Each combines half as much.

mod arrival;
mod chunks;
mod departure;
mod levels;
mod place;
mod radices;
mod relay;
mod rotation;
mod seat;
mod trees;

pub(in crate::collective) use arrival::{Arrival, Fate};
pub(in crate::collective) use chunks::Chunks;
pub(in crate::collective) use departure::Departure;
pub(in crate::collective) use levels::Levels;
pub(in crate::collective) use place::{Memory, Place};
pub(in crate::collective) use radices::Radices;
pub(in crate::collective) use relay::Relay;
pub(in crate::collective) use rotation::Rotation;
pub(in crate::collective) use trees::Tree;

/// What one rank does.
pub(in crate::collective) trait Plan {
    /// What it sends, in that order.
    fn departures(&self) -> impl Iterator<Item = Departure>;

    /// What comes to it, in that order.
    fn arrivals(&self) -> impl Iterator<Item = Arrival>;

    /// Words in which it is told what it may send.
    fn words(&self) -> usize;
}
