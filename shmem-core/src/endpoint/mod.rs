//! One stream of operations, and the tokens that lend it out.
//!
//! An [`Endpoint`] has the addresses of the arena and the number of the calling PE; for PEs off the node it has the transport and
//! a channel on it. A token ([`Initiator`]) borrows a value that holds an endpoint: the world, a context. Operations are traits over
//! tokens, in [`context`](crate::context).

mod background_work;
mod deadlock_detector;
mod waiting;

use core::panic::Location;
use std::sync::Arc;

pub use background_work::{Work, WorkStatus};
pub use deadlock_detector::Watch;
pub use waiting::Waiting;

use crate::observe::{Call, Family, Observer};
use crate::pe::Pe;
use crate::segment_table::Segments;
use crate::sync::Doorbell;
use crate::system_area::SystemArea;
use crate::transport::{Channel, Transport};

/// An offset outside of every arena. The sum of this offset and an address of the program is no valid address, so accesses fault: before
/// memory exists, and while the world is lent. It has two bits, because some processors ignore the upper byte of an address, which has
/// bit 62. None ignores bit 55.
pub(crate) const POISON: usize = 1 << (usize::BITS - 2) | 1 << (usize::BITS - 9);

/// The route to PEs on other nodes.
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
    /// Number of slots that operations may access directly: all, or none if the endpoint is shut.
    slots: u32,
    far: Option<Far>,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    number: u32,
    observer: Option<Arc<dyn Observer>>,
    is_plain: bool,
}

// SAFETY: the pointers are addresses of the arena, which outlives the endpoint (`new`), and no thread is special to them.
// Everything else in it is `Send`: transports, segments and observers are shared by all threads of a PE.
unsafe impl Send for Endpoint {}
// SAFETY: an endpoint does not change, and several threads access without a data race all that they reach through it: symmetric
// memory by atomics and assembly (`shared`), the words of the runtime by atomics, transports and observers by methods for many
// threads. A token ([`Initiator`]) proves that no reference to symmetric memory exists meanwhile. The marker of the context that
// holds an endpoint decides which threads may use its stream of operations at the same time.
unsafe impl Sync for Endpoint {}

impl Endpoint {
    /// # Safety
    ///
    /// `base` must be the start of an arena in which slot `s` is mapped at `base + s * stride` for
    /// every slot that a [`Pe`] of the job carries, each starting with a
    /// [`SystemArea`]; `mine` the start of the calling PE's slot. All for as long as the endpoint
    /// exists. `far`, if it is given, must reach all PEs that have no slot.
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        far: Option<Far>,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
    ) -> Self {
        let (slots, number, observer, is_plain) = (Pe::OBSERVED, 0, None, false);
        Self { base, stride, mine, me, slots, far, segments, waiting, number, observer, is_plain }.with_test()
    }

    /// Sets the test that [`is_plain`](Self::is_plain) returns.
    fn with_test(self) -> Self {
        Self { is_plain: self.far.is_none() && self.observer.is_none(), ..self }
    }

    /// Sets an observer of the operations. The job's PEs must be marked ([`Pe::observed`]), or most operations are unobserved.
    #[must_use]
    pub fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { observer, ..self }.with_test()
    }

    /// Returns an endpoint on the same memory, with its own number and route to other nodes.
    ///
    /// # Safety
    ///
    /// `far`, if it is given, must reach all PEs that have no slot.
    pub(crate) unsafe fn with_far(&self, number: u32, far: Option<Far>) -> Self {
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        Self { far, number, segments, waiting, observer: self.observer.clone(), ..*self }.with_test()
    }

    /// Returns a shut endpoint, to replace a lent one. `refuses` is notified of each operation, and panics with the reason. A
    /// shut endpoint reaches no slot and no node. Its own slot's addresses fault.
    #[must_use]
    pub fn shut(&self, refuses: Arc<dyn Observer>) -> Self {
        Self {
            // The bits are set, not added, because a shut endpoint can be shut again.
            mine: self.mine.map_addr(|mine| mine | POISON),
            slots: 0,
            far: None,
            segments: Arc::clone(&self.segments),
            waiting: Arc::clone(&self.waiting),
            observer: Some(refuses),
            ..*self
        }
        .with_test()
    }

    /// Whether it is [`shut`](Self::shut).
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.slots == 0
    }

    /// Refuses the call at `location` if the endpoint is [`shut`](Self::shut): for calls of which observers are not notified, or too
    /// late.
    ///
    /// # Panics
    ///
    /// If it is shut.
    #[inline]
    pub fn require_open(&self, location: &'static Location<'static>) {
        if self.is_shut() {
            self.tell(Call::new(Family::Quiet, location), || ());
        }
    }

    /// The endpoint's number on this PE. The world's is 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The calling PE.
    #[inline(always)]
    pub fn me(&self) -> Pe {
        self.me
    }

    /// The address of `offset` in the slot of `pe`, if the PE is on this node and there is no observer. Otherwise the operation calls
    /// a cold function, which notifies the observer and asks [`mapped`](Self::mapped).
    #[inline(always)]
    pub fn address(&self, pe: Pe, offset: usize) -> Option<*mut u8> {
        let slot = self.slot_of(pe)?;
        Some(self.start_of(slot).wrapping_add(offset))
    }

    /// The slot of `pe`, as [`address`](Self::address) uses it.
    #[inline(always)]
    pub(crate) fn slot_of(&self, pe: Pe) -> Option<usize> {
        pe.slot_below(self.slots)
    }

    /// The address of `offset` in `pe`'s slot, if `pe` is on this node.
    ///
    /// # Panics
    ///
    /// If it is shut, or `pe` is from another PE of this process (PEs as threads).
    #[inline]
    #[track_caller]
    pub fn mapped(&self, pe: Pe, offset: usize) -> Option<*mut u8> {
        self.require_open(Location::caller());
        if !pe.is_seen_with(self.me) {
            self.refuse(pe);
        }
        let slot = pe.on_node()?;
        Some(self.start_of(slot).wrapping_add(offset))
    }

    /// The address of `offset` in the calling PE's slot.
    #[inline(always)]
    pub fn mine(&self, offset: usize) -> *mut u8 {
        self.mine.wrapping_add(offset)
    }

    /// The segments of a slot.
    pub fn segments(&self) -> &Arc<Segments> {
        &self.segments
    }

    /// How this PE waits.
    pub fn waiting(&self) -> &Arc<Waiting> {
        &self.waiting
    }

    /// The observer, if there is one.
    #[inline(always)]
    pub fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// Whether there is no other node and no observer: one test for both.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Carries out an operation, and notifies the observer, if there is one, before and after it.
    pub fn tell<R>(&self, call: Call<'_>, operation: impl FnOnce() -> R) -> R {
        let call = Call { endpoint: self.number, ..call };
        let _observed = self.observer().map(|observer| Observed::begin(observer, call));
        operation()
    }

    /// The route to other nodes.
    #[cold]
    pub(crate) fn far(&self) -> &Far {
        self.far
            .as_ref()
            .unwrap_or_else(|| unreachable!("a PE has no slot on this node, and there is no transport"))
    }

    /// The route to other nodes, if there are any.
    #[inline(always)]
    pub(crate) fn far_if_any(&self) -> Option<&Far> {
        self.far.as_ref()
    }

    /// Name of the transport to PEs off this node, if there are any.
    pub fn transport_name(&self) -> Option<&'static str> {
        Some(self.far.as_ref()?.transport.name())
    }

    /// The system area of the calling PE.
    ///
    /// # Panics
    ///
    /// If it is shut.
    ///
    /// # Safety
    ///
    /// Changes must follow the protocols of barrier, doorbell and record, on which exclusive phases rest.
    #[inline]
    #[track_caller]
    pub unsafe fn system(&self) -> &SystemArea {
        self.require_open(Location::caller());
        // SAFETY: `mine` is the start of a mapped slot (`new`), since this is open. It starts with a system area, which all
        // zeroes initialise and which is shared by atomics only.
        unsafe { &*self.mine.cast() }
    }

    /// The system area of a PE on this node.
    ///
    /// # Panics
    ///
    /// As [`mapped`](Self::mapped).
    ///
    /// # Safety
    ///
    /// As [`system`](Self::system).
    #[inline]
    #[track_caller]
    pub unsafe fn system_of(&self, pe: Pe) -> Option<&SystemArea> {
        let area = self.mapped(pe, 0)?;
        // SAFETY: every slot starts with a system area (`new`), which all zeroes initialise and which is
        // shared by atomics only.
        Some(unsafe { &*area.cast() })
    }

    /// The bell of the calling PE. Panics if it is shut.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn bell(&self) -> &Doorbell {
        self.require_open(Location::caller());
        // SAFETY: `mine` is the start of a mapped slot (`new`), since this is open.
        unsafe { Self::bell_at(self.mine) }
    }

    /// The bell of the slot that starts at `slot`.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of a mapped slot.
    #[inline(always)]
    pub(crate) unsafe fn bell_at<'a>(slot: *mut u8) -> &'a Doorbell {
        // SAFETY: the caller's promise; the bell is the first field of the system area.
        unsafe { &*slot.cast::<Doorbell>() }
    }

    #[cold]
    #[track_caller]
    fn refuse(&self, pe: Pe) -> ! {
        panic!(
            "PE {} was given PE {pe} by another PE of this process, which has slots of its own: send the number, and \
             ask `world.pe(number)` here",
            self.me
        )
    }

    #[inline(always)]
    pub(crate) fn start_of(&self, slot: usize) -> *mut u8 {
        self.starts()(slot)
    }

    /// A function from a slot to its start, by value.
    #[inline(always)]
    pub(crate) fn starts(&self) -> impl Fn(usize) -> *mut u8 + Copy + use<> {
        let (base, stride) = (self.base, self.stride);
        move |slot| base.wrapping_add(slot * stride)
    }
}

/// Notifies an observer of the end of a call, also when it is unwound.
struct Observed<'a> {
    observer: &'a dyn Observer,
    call: Call<'a>,
    begun: u64,
}

impl<'a> Observed<'a> {
    fn begin(observer: &'a dyn Observer, call: Call<'a>) -> Self {
        Self { observer, call, begun: observer.begin(&call) }
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        self.observer.end(&self.call, self.begun);
    }
}

/// A token: proof that the job runs, that this thread may issue operations, and that no exclusive
/// phase is open. Implemented by borrows of the world.
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
    #[doc(hidden)]
    fn endpoint(&self) -> &Endpoint;
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        // SAFETY: a reference to a token lives no longer than the token.
        unsafe impl<I: Initiator + ?Sized> Initiator for $reference {
            #[doc(hidden)]
            #[inline(always)]
            fn endpoint(&self) -> &Endpoint {
                (**self).endpoint()
            }
        }
    )*};
}
references!(&I &mut I);

/// A token that may write to other PEs: the world, and every context that was not made with the option
/// NOSTORE. Puts, signals and updates ask for it; gets, fetches, `fence` and `quiet` do not.
///
/// Source: OpenSHMEM 1.6, `SHMEM_CTX_NOSTORE`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations that write",
    label = "not a token that writes",
    note = "puts, signals and updates need a token: the `World`, or a context bound to it that is not of kind `NoStore<K>`"
)]
pub trait Stores: Initiator {}

impl<I: Stores + ?Sized> Stores for &I {}
impl<I: Stores + ?Sized> Stores for &mut I {}
