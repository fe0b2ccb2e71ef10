//! What a PE knows to have happened: clocks, and when a put counts.
//!
//! Every PE counts epochs of its own. A clock says for each PE up to which of its epochs its accesses are
//! known to have happened before. A put has not happened for anybody when its call returns, but when a
//! fence (for what its context sends to that PE afterwards) or a quiet (for everything) is behind it. So
//! what a PE passes on of its own puts depends on the context and the PE to which it passes it on, and a
//! clock counts puts for each PE, stream (a context, or several that share a number) and target. A put with a
//! signal is announced by that signal alone: which of these are known has gaps ([`Known`]), and who hears of one
//! stands in [`words`](super::words).

/// Most PEs of a node that are checked together.
pub(super) const MOST_PES: usize = 16;

/// How many contexts of a PE are told apart.
const STREAMS: usize = 4;

/// Epochs of which some are known and others are not. All zeroes: none is.
///
/// A put with a signal is ordered by its own signal whatever was put before, so what is known of these is no
/// "up to".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Known {
    /// Up to this one all are.
    low: u32,
    /// Bit `k`: the epoch `low + 1 + k` is.
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

    /// One more. If it is far ahead, those that are too far behind it count as known: doubt is silence.
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

    fn meet(&mut self, other: Self) {
        let low = self.low.min(other.low);
        let both = |bit: &u32| self.has(low + 1 + bit) && other.has(low + 1 + bit);
        let later = (0..u32::BITS).filter(both).map(|bit| 1 << bit).sum();
        *self = Self { low, later };
        self.settle();
    }

    fn raise(&mut self, low: u32) {
        if let Some(by) = low.checked_sub(self.low) {
            *self = Self { low, later: self.later.checked_shr(by).unwrap_or(0) };
        }
    }

    /// What is known without a gap belongs to `low`.
    fn settle(&mut self) {
        let run = self.later.trailing_ones();
        self.raise(self.low + run);
    }
}

/// Up to which epoch what happened is known. All zeroes: nothing.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Clock {
    /// Of puts: by whom, through which stream, to whom.
    puts: [[[u32; MOST_PES]; STREAMS]; MOST_PES],
    /// Of puts that a signal follows: the same.
    signalled: [[[Known; MOST_PES]; STREAMS]; MOST_PES],
    /// Of reads, and of what a PE writes to its own memory.
    rest: [u32; MOST_PES],
}

/// What kind of access it is, as far as it matters when it has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Class(u32);

impl Class {
    /// An access that has happened when its call returns.
    pub(super) const REST: Self = Self(0);

    /// A put through an endpoint.
    pub(super) const fn put(endpoint: u32) -> Self {
        Self(1 + stream(endpoint) as u32)
    }

    /// A put with a signal through an endpoint.
    pub(super) const fn signalled(endpoint: u32) -> Self {
        Self((1 + STREAMS + stream(endpoint)) as u32)
    }
}

impl Class {
    /// Whether it is a put with a signal.
    pub(super) const fn is_signalled(self) -> bool {
        self.0 as usize > STREAMS
    }
}

/// The stream of an endpoint.
const fn stream(endpoint: u32) -> usize {
    endpoint as usize % STREAMS
}

impl Clock {
    pub(super) const ZERO: Self = Self {
        puts: [[[0; MOST_PES]; STREAMS]; MOST_PES],
        signalled: [[[Known::NONE; MOST_PES]; STREAMS]; MOST_PES],
        rest: [0; MOST_PES],
    };

    /// Whether accesses of a class by `by` to memory of `to` in an epoch are known.
    pub(super) fn knows(&self, class: Class, by: usize, to: usize, epoch: u32) -> bool {
        let class = class.0 as usize;
        match class.checked_sub(1) {
            None => epoch <= self.rest[by],
            Some(stream) if stream < STREAMS => epoch <= self.puts[by][stream][to],
            Some(stream) => self.signalled[by][stream % STREAMS][to].has(epoch),
        }
    }

    /// Learns that the data of a put with a signal have come.
    pub(super) fn learn(&mut self, class: Class, by: usize, to: usize, epoch: u32) {
        if let Some(stream) = (class.0 as usize).checked_sub(1 + STREAMS) {
            self.signalled[by][stream % STREAMS][to].add(epoch);
        }
    }

    /// Learns what another clock of `pes` PEs knows.
    pub(super) fn join(&mut self, other: &Self, pes: usize) {
        for by in 0..pes {
            self.rest[by] = self.rest[by].max(other.rest[by]);
            for stream in 0..STREAMS {
                for to in 0..pes {
                    let (mine, theirs) = (&mut self.puts[by][stream][to], other.puts[by][stream][to]);
                    *mine = theirs.max(*mine);
                    self.signalled[by][stream][to].join(other.signalled[by][stream][to]);
                }
            }
        }
    }

    /// Forgets what `other` does not know.
    pub(super) fn meet(&mut self, other: &Self, pes: usize) {
        for by in 0..pes {
            self.rest[by] = self.rest[by].min(other.rest[by]);
            for stream in 0..STREAMS {
                for to in 0..pes {
                    let (mine, theirs) = (&mut self.puts[by][stream][to], other.puts[by][stream][to]);
                    *mine = theirs.min(*mine);
                    self.signalled[by][stream][to].meet(other.signalled[by][stream][to]);
                }
            }
        }
    }
}

/// A put that is not complete.
struct Pending {
    endpoint: u32,
    to: usize,
    is_signalled: bool,
    /// The epoch of the oldest one that no fence is behind; the largest number: there is none.
    unfenced: u32,
    /// The epoch of the oldest one.
    oldest: u32,
}

/// What to pass on is for.
#[derive(Clone, Copy)]
pub(super) struct Addressee {
    /// The endpoint through which it goes.
    pub(super) endpoint: u32,
    /// The PE that it goes to.
    pub(super) pe: usize,
}

/// What one PE has done and knows.
pub(super) struct Own {
    me: usize,
    epoch: u32,
    pub(super) clock: Clock,
    pending: Vec<Pending>,
}

impl Own {
    pub(super) fn new(me: usize) -> Self {
        Self { me, epoch: 1, clock: Clock::ZERO, pending: Vec::new() }
    }

    /// The epoch of what is done now.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A put is issued.
    pub(super) fn put(&mut self, endpoint: u32, to: usize, is_signalled: bool) {
        let epoch = self.epoch;
        let same =
            |one: &&mut Pending| (one.endpoint, one.to, one.is_signalled) == (endpoint, to, is_signalled);
        match self.pending.iter_mut().find(same) {
            Some(pending) => pending.unfenced = pending.unfenced.min(epoch),
            None => {
                self.pending.push(Pending { endpoint, to, is_signalled, unfenced: epoch, oldest: epoch });
            }
        }
    }

    /// What an endpoint has issued is ordered before what it issues from now on.
    pub(super) fn fence(&mut self, endpoint: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.endpoint == endpoint) {
            pending.unfenced = u32::MAX;
        }
        self.epoch += 1;
    }

    /// What these endpoints have issued to these PEs is complete.
    pub(super) fn quiet(&mut self, is_meant: impl Fn(u32, usize) -> bool) {
        self.pending.retain(|pending| !is_meant(pending.endpoint, pending.to));
        self.epoch += 1;
    }

    /// What somebody knows who sees what this PE does next; nothing is meant for one PE alone without an
    /// addressee. What is done later is another epoch.
    pub(super) fn pass_on(&mut self, addressee: Option<Addressee>) -> Clock {
        let (mut clock, me, now) = (self.clock, self.me, self.epoch);
        clock.rest[me] = now;
        clock.puts[me] = [[now; MOST_PES]; STREAMS];
        clock.signalled[me] = [[Known::up_to(now); MOST_PES]; STREAMS];
        for pending in &self.pending {
            let is_next = addressee.is_some_and(|to| (to.endpoint, to.pe) == (pending.endpoint, pending.to));
            let missing = if is_next { pending.unfenced } else { pending.oldest };
            let (stream, to, least) = (stream(pending.endpoint), pending.to, missing - 1);
            match pending.is_signalled {
                true => {
                    let known = &mut clock.signalled[me][stream][to];
                    *known = Known::up_to(known.low.min(least));
                }
                false => {
                    let known = &mut clock.puts[me][stream][to];
                    *known = (*known).min(least);
                }
            }
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

    fn to(endpoint: u32, pe: usize) -> Option<Addressee> {
        Some(Addressee { endpoint, pe })
    }

    /// Whether puts of PE 0 through endpoint 0 to PE 1 in `epoch` are known to who gets `clock`.
    fn knows(clock: &Clock, epoch: u32) -> bool {
        clock.knows(Class::put(0), 0, 1, epoch)
    }

    #[test]
    fn a_flag_passes_on_what_a_fence_is_behind() {
        let mut own = Own::new(0);
        let epoch = own.epoch();
        own.put(0, 1, false);
        assert!(!knows(&own.pass_on(to(0, 1)), epoch), "no fence");
        own.fence(0);
        assert!(knows(&own.pass_on(to(0, 1)), epoch));
        assert!(!knows(&own.pass_on(to(0, 2)), epoch), "a fence orders for one PE only");
        assert!(!knows(&own.pass_on(to(1, 1)), epoch), "and for one context");
        assert!(!knows(&own.pass_on(None), epoch), "and for nobody else");
        own.quiet(|endpoint, _| endpoint == 0);
        assert!([to(0, 2), to(1, 1), None].into_iter().all(|to| knows(&own.pass_on(to), epoch)));
    }

    #[test]
    fn what_is_fenced_stays_so_while_more_is_sent() {
        let mut own = Own::new(0);
        let first = own.epoch();
        own.put(0, 1, false);
        own.fence(0);
        own.put(0, 1, false);
        let (clock, second) = (own.pass_on(to(0, 1)), own.epoch() - 1);
        assert!(knows(&clock, first) && !knows(&clock, second));
        // What goes elsewhere, and through other contexts, does not matter.
        let mut own = Own::new(0);
        own.put(1, 1, false);
        own.put(0, 2, false);
        let epoch = own.epoch();
        own.put(0, 1, false);
        own.fence(0);
        assert!(knows(&own.pass_on(to(0, 1)), epoch));
    }

    #[test]
    fn a_signal_passes_on_what_a_fence_is_behind_and_no_data_of_other_signals() {
        let knows = |clock: &Clock, epoch| clock.knows(Class::signalled(0), 0, 1, epoch);
        let mut own = Own::new(0);
        let first = own.epoch();
        own.put(0, 1, true);
        assert!(!knows(&own.pass_on(to(0, 1)), first), "its word says so of its own data");
        let second = own.epoch();
        own.put(0, 1, true);
        let mut clock = own.pass_on(to(0, 1));
        clock.learn(Class::signalled(0), 0, 1, second);
        assert!(knows(&clock, second) && !knows(&clock, first));
        own.fence(0);
        assert!(knows(&own.pass_on(to(0, 1)), second));
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
            let (mut joined, mut met) = (known(&some), known(&some));
            prop_assert_eq!(all(joined), some.clone());
            joined.join(known(&others));
            prop_assert_eq!(all(joined), &some | &others);
            met.meet(known(&others));
            prop_assert_eq!(all(met), &some & &others);
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

    #[test]
    fn knowledge_is_joined_and_what_all_know_is_the_least() {
        let (mut one, mut other) = (Own::new(0), Own::new(1));
        let (a, b) = (one.pass_on(None), other.pass_on(None));
        let mut both = a;
        both.join(&b, 2);
        let of = |clock: &Clock| [(0, 1), (1, 0)].map(|(by, to)| clock.knows(Class::REST, by, to, 1));
        assert_eq!(of(&both), [true, true]);
        both.meet(&a, 2);
        assert_eq!(of(&both), [true, false]);
    }
}
