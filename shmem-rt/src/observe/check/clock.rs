//! What a PE knows to have happened: clocks, and when a put counts.
//!
//! Every PE counts epochs of its own. A clock says for each PE up to which of its epochs its accesses are
//! known to have happened before. A put has not happened for anybody when its call returns, but when a
//! fence (for what its context sends to that PE afterwards) or a quiet (for everything) is behind it. So
//! what a PE passes on of its own puts depends on the context and the PE to which it passes it on, and a
//! clock counts puts for each PE, stream (a context, or several that share a number) and target.

/// Most PEs of a node that are checked together.
pub(super) const MOST_PES: usize = 16;

/// How many contexts of a PE are told apart.
const STREAMS: usize = 4;

/// Up to which epoch what happened is known. All zeroes: nothing.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Clock {
    /// Of puts: by whom, through which stream, to whom.
    puts: [[[u32; MOST_PES]; STREAMS]; MOST_PES],
    /// Of puts that a signal follows: the same.
    signalled: [[[u32; MOST_PES]; STREAMS]; MOST_PES],
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

/// The stream of an endpoint.
const fn stream(endpoint: u32) -> usize {
    endpoint as usize % STREAMS
}

impl Clock {
    pub(super) const ZERO: Self = Self {
        puts: [[[0; MOST_PES]; STREAMS]; MOST_PES],
        signalled: [[[0; MOST_PES]; STREAMS]; MOST_PES],
        rest: [0; MOST_PES],
    };

    /// Up to which epoch accesses of a class by `by` to memory of `to` are known.
    pub(super) fn known(&self, class: Class, by: usize, to: usize) -> u32 {
        let class = class.0 as usize;
        match class.checked_sub(1) {
            None => self.rest[by],
            Some(stream) if stream < STREAMS => self.puts[by][stream][to],
            Some(stream) => self.signalled[by][stream % STREAMS][to],
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
                    let (mine, theirs) =
                        (&mut self.signalled[by][stream][to], other.signalled[by][stream][to]);
                    *mine = theirs.max(*mine);
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
                    let (mine, theirs) =
                        (&mut self.signalled[by][stream][to], other.signalled[by][stream][to]);
                    *mine = theirs.min(*mine);
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
    /// Whether it is the signal behind a put.
    pub(super) is_signal_of_put: bool,
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
        clock.signalled[me] = [[now; MOST_PES]; STREAMS];
        for pending in &self.pending {
            let is_next = addressee.is_some_and(|to| (to.endpoint, to.pe) == (pending.endpoint, pending.to));
            let is_covered =
                pending.is_signalled && addressee.is_some_and(|to| is_next && to.is_signal_of_put);
            if is_covered {
                continue;
            }
            let missing = if is_next { pending.unfenced } else { pending.oldest };
            let rows = if pending.is_signalled { &mut clock.signalled } else { &mut clock.puts };
            let known = &mut rows[me][stream(pending.endpoint)][pending.to];
            *known = (*known).min(missing - 1);
        }
        self.epoch += 1;
        clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(endpoint: u32, pe: usize) -> Option<Addressee> {
        Some(Addressee { endpoint, pe, is_signal_of_put: false })
    }

    /// Whether puts of PE 0 through endpoint 0 to PE 1 in `epoch` are known to who gets `clock`.
    fn knows(clock: &Clock, epoch: u32) -> bool {
        clock.known(Class::put(0), 0, 1) >= epoch
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
    fn a_signal_passes_on_its_own_data_and_no_other() {
        let mut own = Own::new(0);
        let epoch = own.epoch();
        own.put(0, 1, false);
        own.put(0, 1, true);
        let clock = own.pass_on(Some(Addressee { endpoint: 0, pe: 1, is_signal_of_put: true }));
        assert!(clock.known(Class::signalled(0), 0, 1) >= epoch);
        assert!(!knows(&clock, epoch), "a put before it is not ordered by it");
    }

    #[test]
    fn knowledge_is_joined_and_what_all_know_is_the_least() {
        let (mut one, mut other) = (Own::new(0), Own::new(1));
        let (a, b) = (one.pass_on(None), other.pass_on(None));
        let mut both = a;
        both.join(&b, 2);
        assert_eq!((both.known(Class::REST, 0, 1), both.known(Class::REST, 1, 0)), (1, 1));
        both.meet(&a, 2);
        assert_eq!((both.known(Class::REST, 0, 1), both.known(Class::REST, 1, 0)), (1, 0));
    }
}
