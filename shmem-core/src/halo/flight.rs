//! One exchange of ghost cells ([`Flight`]), and the tokens through which it sends ([`HaloToken`], [`OpenPhase`]).

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::panic::Location;
use std::time::Duration;

use super::ghosts::Ghosts;
use super::plan::Link;
use super::{Halo, no_edge};
use crate::context::strided::put_part;
use crate::context::{Amo, Order, PutSignal, Rma, SignalOp, wait_for};
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::fixed_text::counted;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::strided::PartOfSlice;
use crate::symmetric_data::PlainData;
use crate::sync::{Doorbell, Turn};
use crate::transport::{AtomicOp, Width, atomic_op, shm};

impl<T: PlainData> Halo<T> {
    /// Begins an exchange. All PEs begin equally many exchanges, but not at the same time: a PE may be one exchange ahead of its
    /// neighbours.
    ///
    /// The flight, and then the ghost cells, borrow the halo and the token.
    ///
    /// # Panics
    ///
    /// If the previous exchange was not finished, or the halo is another PE's (possible only if PEs are threads of one
    /// process).
    #[inline]
    #[track_caller]
    pub fn begin<'h, I: HaloToken + ?Sized>(&'h mut self, token: &'h I) -> Flight<'h, T, I> {
        assert!(self.me == token.__endpoint().me(), "this is the halo of PE {}: make one here", self.me);
        token.__endpoint().require_open(Location::caller());
        match self.turns.begin() {
            Some(turn) => {
                self.begun = Some(Location::caller());
                Flight::new(self, token, turn)
            }
            None => self.refuse(),
        }
    }
}

/// An exchange that goes on: send each edge once, in any order, then wait for the ghost cells.
///
/// The caller may change its cells as soon as a method returns. An edge without a neighbour sends nothing.
///
/// Dropping a flight finishes the exchange, also if `?` returns early. The drop panics if an edge was not sent, since the neighbour waits
/// for it. If a flight is forgotten, or dropped in a panic, the exchange is never finished: sent cells arrive, but no exchange can
/// follow.
#[must_use = "send each edge, and then `finish`, which gives the ghost cells"]
pub struct Flight<'h, T, I: HaloToken + ?Sized> {
    halo: &'h mut Halo<T>,
    /// Kept instead of its endpoint, because the type of the token restricts the threads of the flight.
    token: &'h I,
    turn: Turn,
}

impl<'h, T: PlainData, I: HaloToken + ?Sized> Flight<'h, T, I> {
    #[inline(always)]
    pub(super) fn new(halo: &'h mut Halo<T>, token: &'h I, turn: Turn) -> Self {
        let endpoint = token.__endpoint();
        for link in halo.links.iter().flatten() {
            if let Some(slot) = endpoint.address(link.pe, 0) {
                let lines = link.theirs.first_lines(turn.message());
                lines.for_each(|line| shm::expect_write(slot.wrapping_add(line)));
            }
        }
        Self { halo, token, turn }
    }

    /// Sends contiguous cells.
    ///
    /// # Panics
    ///
    /// If there is no such edge, it was sent already, or the neighbour expects another number of cells.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, edge: usize, cells: &[T]) {
        let (token, turn) = (Through(self.token.__endpoint()), self.turn);
        let Some(link) = self.claim(edge, cells.len()) else { return };
        // SAFETY: `T` is the cell type of the halo, and the halo is borrowed.
        let place = unsafe { link.cells(turn.message()) };
        if let Some((signal, bell)) = signal_on_node(token.0, turn, link) {
            turn.send(|| token.put(place, cells), |number| signal.store(number, Ordering::Release));
            bell.ring();
        } else {
            // SAFETY: `T` is the cell type of the halo, and the halo is borrowed.
            let signal = unsafe { link.signal(turn.message()) };
            token.put_signal(place, cells, signal, SignalOp::Set(turn.number()));
        }
        link.sent = turn.number();
    }

    /// Sends a region of `cells`, an array of `D` dimensions of lengths `shape` in row-major order: a column, a
    /// face, an edge, or a corner, without the ghost cells around it. [`Ghosts::unpack`] is the inverse; `World::halo` shows both.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send), and if `cells` has another number of elements than the shape, or the region is not
    /// inside it.
    #[inline]
    #[track_caller]
    pub fn send_region<const D: usize>(
        &mut self,
        edge: usize,
        cells: &[T],
        shape: [usize; D],
        region: [Range<usize>; D],
    ) {
        let (token, turn) = (Through(self.token.__endpoint()), self.turn);
        // Checked at a border, too, because a program with one PE has no other edges.
        let part = PartOfSlice::new(cells.len(), shape, &region);
        let Some(link) = self.claim(edge, part.elements()) else { return };
        // SAFETY: `T` is the cell type of the halo, and the halo is borrowed.
        let place = unsafe { link.cells(turn.message()) };
        if let Some((signal, bell)) = signal_on_node(token.0, turn, link) {
            let put = || put_part(token.0, place, cells, &part);
            turn.send(put, |number| signal.store(number, Ordering::Release));
            bell.ring();
        } else {
            // SAFETY: `T` is the cell type of the halo, and the halo is borrowed.
            let signal = unsafe { link.signal(turn.message()) };
            put_part(token.0, place, cells, &part);
            token.fence();
            token.signal_set(signal, turn.number());
        }
        link.sent = turn.number();
    }

    /// Sends the items of an iterator.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    pub fn send_iter(&mut self, edge: usize, cells: impl IntoIterator<Item = T>) {
        let Some(expected) = self.halo.link(edge).as_ref().map(|link| link.theirs.cells) else { return };
        let mut staged = core::mem::take(&mut self.halo.staged);
        staged.clear();
        // `send` refuses one cell too many.
        staged.extend(cells.into_iter().take(expected.saturating_add(1)));
        self.send(edge, &staged);
        self.halo.staged = staged;
    }

    /// Whether all ghost cells have arrived, so that [`finish`](Self::finish) would not wait.
    pub fn is_ready(&self) -> bool {
        let endpoint = self.token.__endpoint();
        if let Some(far) = endpoint.far_if_any() {
            far.transport.progress();
        }
        self.halo.links.iter().flatten().all(|link| has_come(endpoint, self.turn, link))
    }

    /// Blocks until the cells of all neighbours have arrived, and returns them.
    ///
    /// # Panics
    ///
    /// If an edge with a neighbour was not sent.
    #[inline]
    #[track_caller]
    pub fn finish(self) -> Ghosts<'h, T> {
        ring(self.token, self.turn, &self.halo.links);
        let this = ManuallyDrop::new(self);
        let (token, turn) = (this.token, this.turn);
        // SAFETY: `this` is neither used later nor dropped, so this moves the borrow out.
        let halo = unsafe { core::ptr::read(&raw const this.halo) };
        let endpoint = token.__endpoint();
        if halo.links.iter().flatten().any(|link| link.sent != turn.number()) {
            not_sent(&halo.links, turn);
        }
        receive(halo, endpoint, turn, Location::caller());
        for link in halo.links.iter().flatten() {
            let lines = link.ours.first_lines(turn.message());
            lines.for_each(|line| shm::expect_read(endpoint.mine(line)));
        }
        halo.turns.finish();
        // SAFETY: the signals of all neighbours were seen just now.
        unsafe { Ghosts::new(halo, endpoint, turn.message()) }
    }

    /// The link of an edge, for sending `cells` cells; `None` without a neighbour. Panics if they cannot be sent.
    #[inline(always)]
    #[track_caller]
    fn claim(&mut self, edge: usize, cells: usize) -> Option<&mut Link> {
        let (edges, me) = (self.halo.links.len(), self.halo.me);
        let Some(link) = self.halo.links.get_mut(edge) else { no_edge(edge, edges) };
        let link = link.as_mut()?;
        if link.sent == self.turn.number() {
            sent_twice(edge, link);
        }
        if link.theirs.cells != cells {
            other_number(me, edge, link, cells);
        }
        Some(link)
    }
}

impl<T, I: HaloToken + ?Sized> Drop for Flight<'_, T, I> {
    /// Finishes the exchange, unless panicking. Panics if an edge with a neighbour was not sent.
    fn drop(&mut self) {
        let (token, turn) = (self.token, self.turn);
        ring(token, turn, &self.halo.links);
        // Does not wait then: a neighbour may have panicked, too, and never send.
        if std::thread::panicking() {
            return;
        }
        let begun = self.halo.begun.unwrap_or(Location::caller());
        if self.halo.links.iter().flatten().any(|link| link.sent != turn.number()) {
            dropped(&self.halo.links, turn, begun);
        }
        receive(self.halo, token.__endpoint(), turn, begun);
        self.halo.turns.finish();
    }
}

#[derive(Clone, Copy)]
struct Through<'e>(&'e Endpoint);

// SAFETY: it lives inside calls of a flight, which borrows a token or an open phase. It writes messages of halos only.
unsafe impl Initiator for Through<'_> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

impl Stores for Through<'_> {}

/// Upper limit on the sleep between polls, because a ring that a waiting PE has missed is repeated only in `finish` or a drop.
const NAP: Duration = Duration::from_millis(1);

/// Rings the bells of all neighbours on this node, for those that missed a ring while falling asleep.
#[inline(always)]
fn ring<I: HaloToken + ?Sized>(token: &I, turn: Turn, links: &[Option<Link>]) {
    let endpoint = token.__endpoint();
    turn.settle();
    for link in links.iter().flatten() {
        if let Some(slot) = endpoint.address(link.pe, 0) {
            // SAFETY: the start of a slot on this node.
            unsafe { Endpoint::bell_at(slot) }.ring();
        }
    }
}

#[inline(always)]
fn receive<T>(halo: &Halo<T>, endpoint: &Endpoint, turn: Turn, location: &'static Location<'static>) {
    for (edge, link) in halo.links.iter().enumerate() {
        let Some(link) = link else { continue };
        if !endpoint.is_plain() || !has_come(endpoint, turn, link) {
            wait(endpoint, turn, (halo.operation, edge), link, location);
        }
    }
}

/// The signal of a message to a neighbour on this node, and the neighbour's bell. A ring after a plain store may miss a neighbour that is
/// just falling asleep; [`ring`] wakes such a neighbour later.
#[inline(always)]
fn signal_on_node<'a>(
    endpoint: &'a Endpoint,
    turn: Turn,
    link: &Link,
) -> Option<(&'a AtomicU64, &'a Doorbell)> {
    let slot = endpoint.address(link.pe, 0)?;
    let word = slot.wrapping_add(link.theirs.signal_of(turn.message())).cast();
    // SAFETY: the plan has an aligned word there, which is accessed by atomics only, and mapped while the halo lives.
    let signal = unsafe { AtomicU64::from_ptr(word) };
    // SAFETY: the start of a slot on this node.
    Some((signal, unsafe { Endpoint::bell_at(slot) }))
}

/// Whether the cells of a neighbour have arrived, and are visible.
#[inline(always)]
fn has_come(endpoint: &Endpoint, turn: Turn, link: &Link) -> bool {
    let signal = endpoint.mine(link.ours.signal_of(turn.message()));
    // SAFETY: the plan has an aligned word there, in this PE's slot; flights of the neighbour change it.
    turn.has_come(unsafe { atomic_op::apply(signal, Width::W8, AtomicOp::Fetch) })
}

#[inline(never)]
fn wait(
    endpoint: &Endpoint,
    turn: Turn,
    (operation, edge): (&str, usize),
    link: &Link,
    location: &'static Location<'static>,
) {
    let signal = link.ours.signal_of(turn.message());
    let call = Call::new(Family::Halo, location)
        .at(endpoint.me(), 0, signal, size_of::<u64>())
        .word(Width::W8, AtomicOp::Fetch);
    let subject = || match operation == Family::Halo.name() {
        true => format!("edge {edge} from PE {}, exchange {}", link.pe, turn.number()),
        false => format!("values of PE {}, call {}", link.pe, turn.number()),
    };
    let done = || has_come(endpoint, turn, link);
    endpoint.tell(call, || wait_for(endpoint, operation, location, Some(NAP), done, subject));
}

#[cold]
#[inline(never)]
#[track_caller]
fn sent_twice(edge: usize, link: &Link) -> ! {
    panic!(
        "edge {edge} was sent already, and its cells are PE {}'s now: send each edge once in an exchange",
        link.pe
    )
}

#[cold]
#[inline(never)]
#[track_caller]
fn other_number(me: Pe, edge: usize, link: &Link, cells: usize) -> ! {
    let (there, expected) = (link.pe, counted(link.theirs.cells, "cell"));
    panic!(
        "edge {edge} of PE {me} leads to PE {there}, whose edge there takes {expected}, not {cells}: send as \
         many as the neighbour's `Edge::new` says"
    )
}

#[cold]
#[inline(never)]
#[track_caller]
fn not_sent(links: &[Option<Link>], turn: Turn) -> ! {
    panic!(
        "not sent: {}; each edge is sent once before `finish`, since the neighbour waits for it",
        missing(links, turn)
    )
}

#[cold]
#[inline(never)]
fn dropped(links: &[Option<Link>], turn: Turn, begun: &Location<'_>) -> ! {
    panic!(
        "the exchange begun at {begun} ends with edges that were not sent: {}; send each edge of a flight, and then call \
         `finish` on it",
        missing(links, turn)
    )
}

fn missing(links: &[Option<Link>], turn: Turn) -> String {
    let missing = links.iter().enumerate().filter_map(|(edge, link)| Some((edge, link.as_ref()?)));
    let missing = missing.filter(|(_, link)| link.sent != turn.number());
    let missing: Vec<_> = missing.map(|(edge, link)| format!("edge {edge} to PE {}", link.pe)).collect();
    missing.join(", ")
}

/// A token through which halos are exchanged: any token that writes, or an exclusive phase that allows exchanges.
///
/// # Safety
///
/// A value may exist only while operations are allowed, or in a phase in which PEs exchange halos and items only. It must borrow that
/// permission.
#[diagnostic::on_unimplemented(
    message = "a halo cannot be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "halos are exchanged through the `World`, a context bound to it, or what `local_with_exchanges` gives"
)]
pub unsafe trait HaloToken {
    /// The endpoint.
    #[doc(hidden)]
    fn __endpoint(&self) -> &Endpoint;
}

// SAFETY: a token exists only while operations are allowed.
unsafe impl<I: Stores + ?Sized> HaloToken for I {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint()
    }
}

/// An exclusive phase in which PEs exchange halos and items of an exchange, and send nothing else.
///
/// Not `Send`, so that it stays in the thread that has opened the phase.
pub struct OpenPhase<'x> {
    endpoint: &'x Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<'x> OpenPhase<'x> {
    /// # Safety
    ///
    /// All PEs must be in one phase, in which no token exists, for `'x`.
    #[doc(hidden)]
    pub unsafe fn __new(endpoint: &'x Endpoint) -> Self {
        Self { endpoint, _thread: PhantomData }
    }
}

// SAFETY: it lives as long as the phase (`__new`).
unsafe impl HaloToken for OpenPhase<'_> {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint
    }
}
