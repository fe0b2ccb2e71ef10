//! Whether a history of operations on one word could have happened one after the other.
//!
//! The algorithm of Wing and Gong ("Testing and verifying concurrent objects", 1993), with the memory of
//! states that Lowe added: an operation may come next if no other that is left had returned before it was
//! invoked. A state is what has happened and the value of the word; none is looked at twice.

use std::collections::HashSet;

/// What is done to a word of `MASK`'s width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Fetch,
    Set(u64),
    Swap(u64),
    CompareSwap(u64, u64),
    Add(u64),
    And(u64),
    Or(u64),
    Xor(u64),
    /// Of numbers without a sign.
    Min(u64),
    Max(u64),
}

/// One operation, as the thread that called it saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) op: Op,
    /// What it gave back, if it gives anything.
    pub(crate) result: Option<u64>,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
}

impl Op {
    /// What the word is afterwards.
    pub(crate) fn applied(self, value: u64, mask: u64) -> u64 {
        let after = match self {
            Self::Fetch => value,
            Self::Set(v) | Self::Swap(v) => v,
            Self::CompareSwap(expected, desired) if value == expected & mask => desired,
            Self::CompareSwap(..) => value,
            Self::Add(v) => value.wrapping_add(v),
            Self::And(v) => value & v,
            Self::Or(v) => value | v,
            Self::Xor(v) => value ^ v,
            Self::Min(v) => value.min(v),
            Self::Max(v) => value.max(v),
        };
        after & mask
    }
}

/// Whether the events could have happened one after the other to a word that is 0 at first, each between its
/// invocation and its return, and give what they gave.
pub(crate) fn is_linearizable(events: &[Event], mask: u64) -> bool {
    assert!(events.len() <= 64, "a history of {} events is too long", events.len());
    let all = if events.len() == 64 { u64::MAX } else { (1 << events.len()) - 1 };
    let mut seen = HashSet::new();
    let mut open = vec![(0_u64, 0_u64)];
    while let Some((done, value)) = open.pop() {
        if done == all {
            return true;
        }
        let left = || events.iter().enumerate().filter(|(i, _)| done >> i & 1 == 0);
        let first_return = left().map(|(_, event)| event.returned).min().unwrap_or(u64::MAX);
        for (i, event) in left().filter(|(_, event)| event.invoked <= first_return) {
            let state = (done | 1 << i, event.op.applied(value, mask));
            if event.result.is_none_or(|result| result == value) && seen.insert(state) {
                open.push(state);
            }
        }
    }
    false
}
