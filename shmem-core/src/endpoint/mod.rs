//! One stream of operations, and the tokens that lend it out.
//!
//! An [`Endpoint`] knows where the arena is and who we are; for PEs off the node it has the transport and
//! a channel on it, and for all of them a way of [waiting](Waiting). A token ([`Initiator`]) is a borrow
//! of something that holds one: the world, a context. Handles need a token to do anything, so this lies
//! below them; the operations themselves are traits over tokens, in [`context`](crate::context).

mod stores;
mod waiting;

use std::sync::Arc;

pub use stores::Stores;
pub use waiting::{WaitReport, Waiting};

use crate::observe::{Call, Observer};
use crate::pe::Pe;
use crate::segment::Segments;
use crate::sync::Doorbell;
use crate::system::SystemArea;
use crate::transport::{Channel, Remote, Transport};

/// The way to PEs that are not on this node.
#[derive(Clone)]
pub struct Far {
    /// The transport.
    pub transport: Arc<dyn Transport>,
    /// This endpoint's stream of completions on it.
    pub channel: Channel,
}

/// One stream of operations. See the [module](self).
pub struct Endpoint {
    base: *mut u8,
    stride: usize,
    mine: *mut u8,
    me: Pe,
    far: Option<Far>,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    number: u32,
    observer: Option<Arc<dyn Observer>>,
    is_plain: bool,
}

// SAFETY: the pointers are addresses of the arena, which outlives the endpoint (`new`); every access
// through them is an atomic, or a copy whose races the phase rules bound. Which threads may use an
// endpoint is decided by the marker of the context that holds it.
unsafe impl Send for Endpoint {}
// SAFETY: as above; an endpoint has no interior state of its own.
unsafe impl Sync for Endpoint {}

impl Endpoint {
    /// # Safety
    ///
    /// `base` must be the start of an arena in which slot `s` is mapped at `base + s * stride` for
    /// every slot that a [`Pe`] of the job carries, each starting with a
    /// [`SystemArea`]; `mine` the start of the calling PE's place. All for as long as the endpoint
    /// exists.
    /// If any PE has no slot, `far` must be given and reach it.
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        far: Option<Far>,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
    ) -> Self {
        let is_plain = far.is_none();
        Self { base, stride, mine, me, far, segments, waiting, number: 0, observer: None, is_plain }
    }

    /// The endpoint with another number than 0, and with somebody who is told of what is issued.
    #[must_use]
    pub fn named(self, number: u32, observer: Option<Arc<dyn Observer>>) -> Self {
        let is_plain = self.far.is_none() && observer.is_none();
        Self { number, observer, is_plain, ..self }
    }

    /// Its number among the endpoints of this PE. The world's is 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The calling PE.
    #[inline(always)]
    pub fn me(&self) -> Pe {
        self.me
    }

    /// The address of `offset` in the place of `pe`, if an operation may use it straight away: if the PE is
    /// on this node, and nobody observes. Otherwise the operation goes on in a cold function, which tells
    /// the observer and asks [`mapped`](Self::mapped).
    #[inline(always)]
    pub fn address(&self, pe: Pe, offset: usize) -> Option<*mut u8> {
        let slot = pe.slot()?;
        Some(self.place(slot).wrapping_add(offset))
    }

    /// The address of `offset` in the place of `pe`, if it is on this node.
    #[inline]
    pub fn mapped(&self, pe: Pe, offset: usize) -> Option<*mut u8> {
        let slot = pe.on_node()?;
        Some(self.place(slot).wrapping_add(offset))
    }

    /// The address of `offset` in the calling PE's place.
    #[inline(always)]
    pub fn mine(&self, offset: usize) -> *mut u8 {
        self.mine.wrapping_add(offset)
    }

    /// Which parts of a place are memory.
    pub fn segments(&self) -> &Arc<Segments> {
        &self.segments
    }

    /// How this PE waits.
    pub fn waiting(&self) -> &Arc<Waiting> {
        &self.waiting
    }

    /// Who is told of operations, if anybody.
    #[inline(always)]
    pub fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// Whether there is nothing but this node, unobserved: one test for both.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Carries out an operation, and tells the observer, if there is one, before and behind it.
    pub fn tell<R>(&self, call: Call<'_>, operation: impl FnOnce() -> R) -> R {
        let call = Call { endpoint: self.number, ..call };
        let _told = self.observer().map(|observer| Told::begin(observer, call));
        operation()
    }

    /// The way to PEs off this node.
    #[cold]
    pub(crate) fn far(&self) -> &Far {
        self.far
            .as_ref()
            .unwrap_or_else(|| unreachable!("a PE has no slot on this node, and there is no transport"))
    }

    /// The way to PEs off this node, if there are any.
    pub fn far_if_any(&self) -> Option<&Far> {
        self.far.as_ref()
    }

    /// The system area of the calling PE.
    ///
    /// # Safety
    ///
    /// Its words are the runtime's: whoever changes them keeps to the protocols of barrier, doorbell
    /// and record, on which exclusive phases rest.
    #[inline]
    pub unsafe fn system(&self) -> &SystemArea {
        // SAFETY: every place starts with a system area (`new`), which all zeroes initialise and
        // which is shared by atomics only.
        unsafe { &*self.mine.cast() }
    }

    /// The system area of a PE on this node.
    ///
    /// # Safety
    ///
    /// As [`system`](Self::system).
    #[inline]
    pub unsafe fn system_of(&self, pe: Pe) -> Option<&SystemArea> {
        let area = self.mapped(pe, 0)?;
        // SAFETY: as in `system`.
        Some(unsafe { &*area.cast() })
    }

    /// The bell of the calling PE.
    #[inline(always)]
    pub(crate) fn bell(&self) -> &Doorbell {
        // SAFETY: `mine` is the start of a mapped place (`new`).
        unsafe { Self::bell_at(self.mine) }
    }

    /// The bell of the place that starts at `place`.
    ///
    /// # Safety
    ///
    /// `place` must be the start of a mapped place.
    #[inline(always)]
    pub(crate) unsafe fn bell_at<'a>(place: *mut u8) -> &'a Doorbell {
        // SAFETY: the caller's promise; the bell is the first field of the system area.
        unsafe { &*place.cast::<Doorbell>() }
    }

    /// The start of a slot's place.
    #[inline(always)]
    pub(crate) fn place(&self, slot: usize) -> *mut u8 {
        self.base.wrapping_add(slot * self.stride)
    }

    /// A part of a place, for a transport.
    #[inline(always)]
    pub(crate) fn remote(pe: Pe, segment: u32, offset: usize) -> Remote {
        Remote { pe, segment, offset }
    }
}

/// A call that an observer was told of, and will be told the end of, also when it is unwound.
struct Told<'a> {
    observer: &'a dyn Observer,
    call: Call<'a>,
    begun: u64,
}

impl<'a> Told<'a> {
    fn begin(observer: &'a dyn Observer, call: Call<'a>) -> Self {
        Self { observer, call, begun: observer.begin(&call) }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.observer.end(&self.call, self.begun);
    }
}

/// A token: proof that the job runs, that this thread may issue operations, and that no exclusive
/// phase is open. Implemented for what borrows the world.
///
/// # Safety
///
/// A value must exist only while operations are allowed: it must borrow the world, so that
/// `World::local`, which takes the world exclusively, cannot be entered while it lives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations",
    label = "not a token",
    note = "operations need a token: the `World`, or a context bound to it"
)]
pub unsafe trait Initiator {
    /// The stream that operations go through.
    fn endpoint(&self) -> &Endpoint;
}

// SAFETY: a reference to a token lives no longer than the token.
unsafe impl<I: Initiator + ?Sized> Initiator for &I {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        (**self).endpoint()
    }
}

// SAFETY: as above.
unsafe impl<I: Initiator + ?Sized> Initiator for &mut I {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        (**self).endpoint()
    }
}
