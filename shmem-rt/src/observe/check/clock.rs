//! Vector clocks (Fidge, Mattern 1988): the accesses that a PE knows to have happened.
//!
//! Every PE counts its own epochs. A clock says for each PE up to which epoch its accesses are known. A put has not happened when
//! its call returns. It has happened after a fence, for operations that its context sends to the same PE afterwards; and after a
//! quiet, for all operations. So the clock that a PE passes on depends on context and receiver, and a clock counts puts for each
//! PE, context (some contexts share a number) and target. A put with a signal is announced by its signal alone. So known epochs
//! have gaps ([`Known`]), and [`clock_words`](super::clock_words) records the puts that each signal announces.

/// Upper limit on the PEs of a node that are checked together. It bounds the size of clocks.
pub(super) const MOST_PES: usize = 16;

/// Number of a PE's contexts that clocks distinguish.
const STREAMS: usize = 4;

/// A set of known epochs, with gaps. All zero bytes are the empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Known {
    /// All epochs up to this one are known.
    low: u32,
    /// Bit `k`: the epoch `low + 1 + k` is known.
    later: u32,
}

impl Known {
    const NONE: Self = Self { low: 0, later: 0 };

    fn up_to(low: u32) -> Self {
        Self { low, later: 0 }
    }

    fn has(self, epoch: u32) -> bool {
        match epoch.checked_sub(self.low) {
            None | Some(0) => true,
            Some(ahead) => ahead <= u32::BITS && self.later >> (ahead - 1) & 1 == 1,
        }
    }

    /// Adds an epoch. Epochs 32 or more before it then count as known, so that a race is missed rather than reported wrongly.
    fn add(&mut self, epoch: u32) {
        if self.has(epoch) {
            return;
        }
        self.raise(epoch.saturating_sub(u32::BITS));
        self.later |= 1 << (epoch - self.low - 1);
        self.settle();
    }

    fn join(&mut self, mut other: Self) {
        let low = self.low.max(other.low);
        self.raise(low);
        other.raise(low);
        self.later |= other.later;
        self.settle();
    }

    fn raise(&mut self, low: u32) {
        if let Some(by) = low.checked_sub(self.low) {
            *self = Self { low, later: self.later.checked_shr(by).unwrap_or(0) };
        }
    }

    fn settle(&mut self) {
        let run = self.later.trailing_ones();
        self.raise(self.low + run);
    }
}

/// The accesses that are known to have happened, by accessing PE, class and target PE. All zero bytes: no access.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Clock([[[Known; MOST_PES]; CLASSES]; MOST_PES]);

/// Number of classes: one for accesses that are complete on return, and two per context, for puts without and with signal.
const CLASSES: usize = 1 + 2 * STREAMS;

/// A class of accesses that the same event completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Class(u32);

impl Class {
    /// The class of accesses that are complete when their call returns: reads, and stores of a PE to its own memory.
    pub(super) const REST: Self = Self(0);

    /// Returns the class of a put through an endpoint, with or without a signal.
    pub(super) const fn put(endpoint: u32, is_signalled: bool) -> Self {
        Self(1 + endpoint % STREAMS as u32 + if is_signalled { STREAMS as u32 } else { 0 })
    }

    pub(super) const fn is_signalled(self) -> bool {
        self.0 as usize > STREAMS
    }
}

impl Clock {
    pub(super) const ZERO: Self = Self([[[Known::NONE; MOST_PES]; CLASSES]; MOST_PES]);

    /// Returns whether the accesses of `class` by PE `by` to memory of PE `to` in `epoch` are known to have happened.
    pub(super) fn knows(&self, class: Class, by: usize, to: usize, epoch: u32) -> bool {
        self.0[by][class.0 as usize][to].has(epoch)
    }

    /// Records that the data of a put with a signal have arrived.
    pub(super) fn learn(&mut self, class: Class, by: usize, to: usize, epoch: u32) {
        if class.is_signalled() {
            self.0[by][class.0 as usize][to].add(epoch);
        }
    }

    pub(super) fn join(&mut self, other: &Self, pes: usize) {
        for (mine, theirs) in self.0[..pes].iter_mut().zip(&other.0).flat_map(|(m, t)| m.iter_mut().zip(t)) {
            mine[..pes].iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.join(*theirs));
        }
    }
}

/// Puts of one class, through one endpoint to one PE, that no quiet has completed.
struct Pending {
    endpoint: u32,
    to: usize,
    class: Class,
    /// Epoch of the oldest put since the last fence; `u32::MAX` if there is none.
    unfenced: u32,
    oldest: u32,
}

/// One PE's epoch, clock and pending puts.
pub(super) struct Own {
    me: usize,
    pub(super) epoch: u32,
    pub(super) clock: Clock,
    pending: Vec<Pending>,
}

impl Own {
    pub(super) fn new(me: usize) -> Self {
        Self { me, epoch: 1, clock: Clock::ZERO, pending: Vec::new() }
    }

    pub(super) fn put(&mut self, endpoint: u32, to: usize, class: Class) {
        let epoch = self.epoch;
        let same = |one: &&mut Pending| (one.endpoint, one.to, one.class) == (endpoint, to, class);
        match self.pending.iter_mut().find(same) {
            Some(pending) => pending.unfenced = pending.unfenced.min(epoch),
            None => self.pending.push(Pending { endpoint, to, class, unfenced: epoch, oldest: epoch }),
        }
    }

    pub(super) fn fence(&mut self, endpoint: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.endpoint == endpoint) {
            pending.unfenced = u32::MAX;
        }
        self.epoch += 1;
    }

    /// Completes the puts for which `is_meant(endpoint, target PE)` is true.
    pub(super) fn quiet(&mut self, is_meant: impl Fn(u32, usize) -> bool) {
        self.pending.retain(|pending| !is_meant(pending.endpoint, pending.to));
        self.epoch += 1;
    }

    /// Returns the clock that this PE's next operation passes on, and begins a new epoch. For an operation on a word,
    /// `to` is its endpoint and target PE: puts through this endpoint to this PE count if a fence has followed. For a
    /// collective, `to` is `None`: only puts that a quiet has completed count.
    pub(super) fn pass_on(&mut self, to: Option<(u32, usize)>) -> Clock {
        let (mut clock, me, now) = (self.clock, self.me, self.epoch);
        clock.0[me] = [[Known::up_to(now); MOST_PES]; CLASSES];
        for one in &self.pending {
            let missing = if to == Some((one.endpoint, one.to)) { one.unfenced } else { one.oldest };
            let known = &mut clock.0[me][one.class.0 as usize][one.to];
            *known = Known::up_to(known.low.min(missing - 1));
        }
        self.epoch += 1;
        clock
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const PUT: Class = Class::put(0, false);

    /// Whether `clock` knows puts of PE 0 through endpoint 0 to PE 1 in `epoch`.
    fn knows(clock: &Clock, epoch: u32) -> bool {
        clock.knows(PUT, 0, 1, epoch)
    }

    #[test]
    fn a_flag_passes_on_what_a_fence_is_behind() {
        let mut own = Own::new(0);
        let epoch = own.epoch;
        own.put(0, 1, PUT);
        assert!(!knows(&own.pass_on(Some((0, 1))), epoch), "no fence");
        own.fence(0);
        assert!(knows(&own.pass_on(Some((0, 1))), epoch));
        assert!(!knows(&own.pass_on(Some((0, 2))), epoch), "a fence orders for one PE only");
        assert!(!knows(&own.pass_on(Some((1, 1))), epoch), "and for one context");
        assert!(!knows(&own.pass_on(None), epoch), "and for nobody else");
        own.quiet(|endpoint, _| endpoint == 0);
        assert!([Some((0, 2)), Some((1, 1)), None].into_iter().all(|to| knows(&own.pass_on(to), epoch)));
    }

    #[test]
    fn what_is_fenced_stays_so_while_more_is_sent() {
        let mut own = Own::new(0);
        let first = own.epoch;
        own.put(0, 1, PUT);
        own.fence(0);
        own.put(0, 1, PUT);
        let (clock, second) = (own.pass_on(Some((0, 1))), own.epoch - 1);
        assert!(knows(&clock, first) && !knows(&clock, second));
        // What goes elsewhere, and through other contexts, does not matter.
        let mut own = Own::new(0);
        own.put(1, 1, Class::put(1, false));
        own.put(0, 2, PUT);
        let epoch = own.epoch;
        own.put(0, 1, PUT);
        own.fence(0);
        assert!(knows(&own.pass_on(Some((0, 1))), epoch));
    }

    const SIGNALLED: Class = Class::put(0, true);

    #[test]
    fn a_signal_passes_on_what_a_fence_is_behind_and_no_data_of_other_signals() {
        let knows = |clock: &Clock, epoch| clock.knows(SIGNALLED, 0, 1, epoch);
        let mut own = Own::new(0);
        let first = own.epoch;
        own.put(0, 1, SIGNALLED);
        assert!(!knows(&own.pass_on(Some((0, 1))), first), "its word says so of its own data");
        let second = own.epoch;
        own.put(0, 1, SIGNALLED);
        let mut clock = own.pass_on(Some((0, 1)));
        clock.learn(SIGNALLED, 0, 1, second);
        assert!(knows(&clock, second) && !knows(&clock, first));
        own.fence(0);
        assert!(knows(&own.pass_on(Some((0, 1))), second));
    }

    proptest! {
        #[test]
        fn what_is_known_with_gaps_is_a_set(
            some in proptest::collection::btree_set(1..30_u32, 0..30),
            others in proptest::collection::btree_set(1..30_u32, 0..30),
        ) {
            let known = |set: &BTreeSet<u32>| {
                let mut known = Known::NONE;
                set.iter().rev().for_each(|epoch| known.add(*epoch));
                known
            };
            let all = |known: Known| (1..60).filter(|epoch| known.has(*epoch)).collect::<BTreeSet<_>>();
            let mut joined = known(&some);
            prop_assert_eq!(all(joined), some.clone());
            joined.join(known(&others));
            prop_assert_eq!(all(joined), &some | &others);
        }

        #[test]
        fn what_is_known_is_never_forgotten(epochs in proptest::collection::vec(1..300_u32, 0..100)) {
            let mut known = Known::NONE;
            for (at, epoch) in epochs.iter().enumerate() {
                known.add(*epoch);
                prop_assert!(epochs[..=at].iter().all(|epoch| known.has(*epoch)));
                prop_assert!(!known.has(epochs[..=at].iter().max().unwrap() + 1));
            }
        }
    }
}
