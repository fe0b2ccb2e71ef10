//! One exchange of ghost cells ([`HaloExchange`]), and the tokens through which a halo is exchanged ([`HaloToken`], [`OpenPhase`]).

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
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::strided::PartOfSlice;
use crate::symmetric_data::PlainData;
use crate::sync::{Doorbell, Turn};
use crate::text::counted;
use crate::transport::{AtomicOp, Width, atomic_op, shm};

impl<T: PlainData> Halo<T> {
    /// Begins an exchange. All PEs begin the same number of exchanges, but a PE may be one exchange ahead of its neighbours.
    ///
    /// The returned exchange, and the ghost cells that it returns, borrow the halo and the token.
    ///
    /// # Panics
    ///
    /// If the previous exchange was not finished, or the halo belongs to another PE (possible only if PEs are threads).
    #[inline]
    #[track_caller]
    pub fn begin<'h, I: HaloToken + ?Sized>(&'h mut self, token: &'h I) -> HaloExchange<'h, T, I> {
        assert!(self.me == token.__endpoint().me(), "this is the halo of PE {}: make one here", self.me);
        token.__endpoint().require_open(Location::caller());
        match self.turns.begin() {
            Some(turn) => {
                self.begun = Some(Location::caller());
                HaloExchange::new(self, token, turn)
            }
            None => self.refuse(),
        }
    }
}

/// An exchange that has begun. Send each edge once, in any order, then [`finish`](Self::finish) for the ghost cells.
///
/// The caller may change its cells as soon as a send returns. Sending an edge without a neighbour does nothing.
///
/// Dropping the value finishes the exchange, also if `?` returns early. The drop panics if an edge was not sent, because the
/// neighbour waits for this edge. If the value is forgotten, or dropped in a panic, the exchange is never finished: cells that were
/// sent arrive, but no other exchange can follow.
#[must_use = "send each edge, and then `finish`, which gives the ghost cells"]
pub struct HaloExchange<'h, T, I: HaloToken + ?Sized> {
    halo: &'h mut Halo<T>,
    /// The token, and not only its endpoint, because the token's type decides whether the exchange is `Send`.
    token: &'h I,
    turn: Turn,
}

impl<'h, T: PlainData, I: HaloToken + ?Sized> HaloExchange<'h, T, I> {
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

    /// Sends contiguous cells over an edge.
    ///
    /// # Panics
    ///
    /// If there is no such edge, the edge was sent already, or the neighbour expects another number of cells.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, edge: usize, cells: &[T]) {
        let (token, turn) = (Through(self.token.__endpoint()), self.turn);
        let Some(link) = self.claim(edge, cells.len()) else { return };
        // SAFETY: the plan's cells have the halo's type, `T`, and the halo is borrowed while the place lives.
        let place = unsafe { link.cells(turn.message()) };
        if let Some((signal, bell)) = signal_on_node(token.0, turn, link) {
            turn.send(|| token.put(place, cells), |number| signal.store(number, Ordering::Release));
            bell.ring();
        } else {
            // SAFETY: the halo is borrowed while `signal` is used.
            let signal = unsafe { link.signal(turn.message()) };
            token.put_signal(place, cells, signal, SignalOp::Set(turn.number()));
        }
        link.sent = turn.number();
    }

    /// Sends a region of `cells`, a row-major array of `D` dimensions with lengths `shape`: for example a column, a face or a
    /// corner, without the ghost cells around it. [`Ghosts::unpack`] is the inverse. The documentation of `World::halo` shows both.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send), and if the length of `cells` is not that of the shape, or the region is not inside the shape.
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
        // Checked also for an edge without a neighbour. A program that is tested with one PE has only such edges.
        let part = PartOfSlice::new(cells.len(), shape, &region);
        let Some(link) = self.claim(edge, part.elements()) else { return };
        // SAFETY: the plan's cells have the halo's type, `T`, and the halo is borrowed while the place lives.
        let place = unsafe { link.cells(turn.message()) };
        if let Some((signal, bell)) = signal_on_node(token.0, turn, link) {
            let put = || put_part(token.0, place, cells, &part);
            turn.send(put, |number| signal.store(number, Ordering::Release));
            bell.ring();
        } else {
            // SAFETY: the halo is borrowed while `signal` is used.
            let signal = unsafe { link.signal(turn.message()) };
            put_part(token.0, place, cells, &part);
            token.fence();
            token.signal_set(signal, turn.number());
        }
        link.sent = turn.number();
    }

    /// Sends the items of an iterator as the cells of an edge.
    ///
    /// # Panics
    ///
    /// If there is no such edge, the edge was sent already, or the neighbour expects another number of cells.
    #[inline]
    #[track_caller]
    pub fn send_iter(&mut self, edge: usize, cells: impl IntoIterator<Item = T>) {
        let Some(expected) = self.halo.link(edge).as_ref().map(|link| link.theirs.cells) else { return };
        let mut staged = core::mem::take(&mut self.halo.staged);
        staged.clear();
        // One cell too many is enough for `send` to panic.
        staged.extend(cells.into_iter().take(expected.saturating_add(1)));
        self.send(edge, &staged);
        self.halo.staged = staged;
    }

    /// Whether all ghost cells have arrived, so that [`finish`](Self::finish) would not block.
    pub fn is_ready(&self) -> bool {
        let endpoint = self.token.__endpoint();
        if let Some(far) = endpoint.far_if_any() {
            far.transport.progress();
        }
        self.halo.links.iter().flatten().all(|link| has_arrived(endpoint, self.turn, link))
    }

    /// Blocks until the cells of all neighbours have arrived, and returns these ghost cells.
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
        // SAFETY: `this` is neither used after this line nor dropped, so the exclusive borrow `halo` is moved, not duplicated.
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
        // SAFETY: `receive` returned after the signals of all neighbours had arrived.
        unsafe { Ghosts::new(halo, endpoint, turn.message()) }
    }

    /// Returns the link of an edge for sending `cells` cells, or `None` without a neighbour. Panics as [`send`](Self::send).
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

impl<T, I: HaloToken + ?Sized> Drop for HaloExchange<'_, T, I> {
    /// Finishes the exchange, unless panicking. Panics if an edge with a neighbour was not sent.
    fn drop(&mut self) {
        let (token, turn) = (self.token, self.turn);
        ring(token, turn, &self.halo.links);
        // Returns without waiting, because a neighbour may have panicked too, and will then never send.
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

// SAFETY: `Through` lives only during a method of an exchange, which borrows a token or an `OpenPhase`. It writes only halo
// messages.
unsafe impl Initiator for Through<'_> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

impl Stores for Through<'_> {}

/// Upper limit on a waiting PE's sleep between two checks, because a missed wake-up is repeated only by `finish` or a drop.
const NAP: Duration = Duration::from_millis(1);

/// Wakes all neighbours on this node again, because a neighbour that was falling asleep may have missed an earlier wake-up.
#[inline(always)]
fn ring<I: HaloToken + ?Sized>(token: &I, turn: Turn, links: &[Option<Link>]) {
    let endpoint = token.__endpoint();
    turn.settle();
    for link in links.iter().flatten() {
        if let Some(slot) = endpoint.address(link.pe, 0) {
            // SAFETY: `slot` is the start of the neighbour's mapped slot on this node.
            unsafe { Endpoint::bell_at(slot) }.ring();
        }
    }
}

#[inline(always)]
fn receive<T>(halo: &Halo<T>, endpoint: &Endpoint, turn: Turn, location: &'static Location<'static>) {
    for (edge, link) in halo.links.iter().enumerate() {
        let Some(link) = link else { continue };
        if !endpoint.is_plain() || !has_arrived(endpoint, turn, link) {
            wait(endpoint, turn, (halo.operation, edge), link, location);
        }
    }
}

/// Returns the signal of a message to a neighbour on this node, and the neighbour's doorbell. The signal is set by a plain store,
/// so a neighbour that is falling asleep may miss the ring. The function [`ring`] wakes such a neighbour later.
#[inline(always)]
fn signal_on_node<'a>(
    endpoint: &'a Endpoint,
    turn: Turn,
    link: &Link,
) -> Option<(&'a AtomicU64, &'a Doorbell)> {
    let slot = endpoint.address(link.pe, 0)?;
    let word = slot.wrapping_add(link.theirs.signal_of(turn.message())).cast();
    // SAFETY: the plan reserved an aligned word at this offset. It is mapped while the halo lives, and all accesses are atomic.
    let signal = unsafe { AtomicU64::from_ptr(word) };
    // SAFETY: `slot` is the start of the neighbour's mapped slot on this node.
    Some((signal, unsafe { Endpoint::bell_at(slot) }))
}

/// Whether the cells of a neighbour have arrived and are visible.
#[inline(always)]
fn has_arrived(endpoint: &Endpoint, turn: Turn, link: &Link) -> bool {
    let signal = endpoint.mine(link.ours.signal_of(turn.message()));
    // SAFETY: the plan reserved an aligned word at this offset in this PE's slot. Exchanges of the neighbour change it atomically.
    turn.has_arrived(unsafe { atomic_op::apply(signal, Width::W8, AtomicOp::Fetch) })
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
    let done = || has_arrived(endpoint, turn, link);
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
        "the exchange begun at {begun} ends with edges that were not sent: {}; send each edge of an exchange, and then call \
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

/// A token through which halos are exchanged: any token that writes, or the [`OpenPhase`] that `World::local_with_exchanges` passes
/// to its closure.
///
/// # Safety
///
/// A value may exist only while operations are allowed, or during `World::local_with_exchanges`, in which PEs exchange only halos,
/// and items through an `Exchange` of `shmem-rt`. It must borrow the world or that call.
#[diagnostic::on_unimplemented(
    message = "a halo cannot be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "halos are exchanged through the `World`, a context bound to it, or what `local_with_exchanges` gives"
)]
pub unsafe trait HaloToken {
    /// The endpoint through which the halo is exchanged.
    #[doc(hidden)]
    fn __endpoint(&self) -> &Endpoint;
}

// SAFETY: a token exists only while operations are allowed, and borrows the world.
unsafe impl<I: Stores + ?Sized> HaloToken for I {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint()
    }
}

/// A call of `World::local_with_exchanges`. During the call, PEs exchange halos, and items through an `Exchange` of `shmem-rt`, and
/// issue no other operations.
///
/// Not `Send`, so that it stays in the thread that made the call.
pub struct OpenPhase<'x> {
    endpoint: &'x Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<'x> OpenPhase<'x> {
    /// # Safety
    ///
    /// For `'x`, all PEs must be in the same `World::local_with_exchanges`, in which no token exists.
    #[doc(hidden)]
    pub unsafe fn __new(endpoint: &'x Endpoint) -> Self {
        Self { endpoint, _thread: PhantomData }
    }
}

// SAFETY: an `OpenPhase` lives as long as the call (caller of `__new`), in which PEs exchange only halos and items.
unsafe impl HaloToken for OpenPhase<'_> {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint
    }
}
