//! Endpoints: streams of operations of a PE, and the tokens through which operations reach an endpoint.
//!
//! An [`Endpoint`] has the number of the calling PE, and the addresses at which the memory of all PEs of the node is mapped (the
//! arena). For PEs on other nodes it has a transport and a channel of the transport. A token ([`Initiator`]) borrows a value that
//! has an endpoint: the world, or a context. Operations are traits over tokens, in [`context`](crate::context).

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

/// An offset with which every address of the program becomes invalid, so that an access faults. It stands for the offset of a
/// static that has no memory yet, and is set in the addresses of a [`shut`](Endpoint::shut) endpoint. It has bits 62 and 55,
/// because some processors ignore the upper byte of an address, and thus bit 62. No processor ignores bit 55.
pub(crate) const POISON: usize = 1 << (usize::BITS - 2) | 1 << (usize::BITS - 9);

/// The route to PEs on other nodes.
#[derive(Clone)]
pub struct RemotePath {
    /// The transport to these PEs.
    pub transport: Arc<dyn Transport>,
    /// The endpoint's stream of operations on the transport.
    pub channel: Channel,
}

/// A stream of operations. See the [module](self).
pub struct Endpoint {
    base: *mut u8,
    stride: usize,
    mine: *mut u8,
    me: Pe,
    /// Operations access a PE's slot directly if the slot number in the [`Pe`] is below this. 0: the endpoint is shut. Otherwise
    /// [`Pe::OBSERVED`], a bit that is set in the slot numbers of PEs that are observed or on other nodes.
    slots: u32,
    far: Option<RemotePath>,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    number: u32,
    observer: Option<Arc<dyn Observer>>,
    is_plain: bool,
}

// SAFETY: the pointers are addresses of the arena, which outlives the endpoint (`new`), and any thread may use them. The other
// fields are `Send`, because all threads of a PE share its transports, segments and observers.
unsafe impl Send for Endpoint {}
// SAFETY: an endpoint does not change, and all that it refers to allows concurrent access: symmetric memory by atomics and assembly
// (`shared`), words of the runtime by atomics, transports and observers by thread-safe methods. A token ([`Initiator`]) proves that
// no reference to symmetric memory exists meanwhile. The kind of the context that has the endpoint decides which threads may use
// the endpoint at the same time.
unsafe impl Sync for Endpoint {}

impl Endpoint {
    /// Makes an endpoint of PE `me`.
    ///
    /// # Safety
    ///
    /// `base` must be the start of an arena, and `mine` the start of the calling PE's slot. If a [`Pe`] of the job has a slot `s`,
    /// this slot must be mapped at `base + s * stride`, and start with a [`SystemArea`], for as long as the endpoint exists. `far`,
    /// if given, must reach all PEs that have no slot.
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        far: Option<RemotePath>,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
    ) -> Self {
        let (slots, number, observer, is_plain) = (Pe::OBSERVED, 0, None, false);
        Self { base, stride, mine, me, slots, far, segments, waiting, number, observer, is_plain }.with_test()
    }

    /// Computes the value that [`is_plain`](Self::is_plain) returns.
    fn with_test(self) -> Self {
        Self { is_plain: self.far.is_none() && self.observer.is_none(), ..self }
    }

    /// Sets an observer of the operations. The job's PEs must be marked ([`Pe::observed`]), because most operations on other PEs
    /// bypass the observer.
    #[must_use]
    pub fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { observer, ..self }.with_test()
    }

    /// Returns an endpoint on the same memory, with the number `number` and the route `far` to other nodes.
    ///
    /// # Safety
    ///
    /// `far`, if given, must reach all PEs that have no slot.
    pub(crate) unsafe fn with_far(&self, number: u32, far: Option<RemotePath>) -> Self {
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        Self { far, number, segments, waiting, observer: self.observer.clone(), ..*self }.with_test()
    }

    /// Returns a shut endpoint, for the world during `World::local` or `World::frozen`. Each operation on it calls `refuses`, which
    /// panics with the reason. A shut endpoint reaches no slot and no other node. Addresses in its own slot fault.
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

    /// Whether the endpoint is [`shut`](Self::shut).
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.slots == 0
    }

    /// Panics if the endpoint is [`shut`](Self::shut). For calls that would otherwise notify the observer (which panics) too late,
    /// or never. `location` is the location of the call.
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

    /// The address of `offset` in the slot of `pe`, if the PE is on this node and there is no observer. If `None`, the operation
    /// must call a cold function, which notifies the observer and calls [`mapped`](Self::mapped).
    #[inline(always)]
    pub fn address(&self, pe: Pe, offset: usize) -> Option<*mut u8> {
        let slot = self.slot_of(pe)?;
        Some(self.start_of(slot).wrapping_add(offset))
    }

    /// The slot of `pe`, if operations may access it directly: the PE is on this node, and there is no observer.
    #[inline(always)]
    pub(crate) fn slot_of(&self, pe: Pe) -> Option<usize> {
        pe.slot_below(self.slots)
    }

    /// The address of `offset` in `pe`'s slot, if `pe` is on this node.
    /// Panics if the endpoint is shut, or `pe` was made by another PE of this process (PEs as threads).
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

    /// The table of segments, which is the same for the slots of all PEs.
    pub fn segments(&self) -> &Arc<Segments> {
        &self.segments
    }

    /// Settings and background operations of this PE's waits.
    pub fn waiting(&self) -> &Arc<Waiting> {
        &self.waiting
    }

    /// The observer, if there is one.
    #[inline(always)]
    pub fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// Whether there are neither other nodes nor an observer: one test for both.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Runs `operation`. Notifies the observer, if there is one, of `call` before and after it.
    pub fn tell<R>(&self, call: Call<'_>, operation: impl FnOnce() -> R) -> R {
        let call = Call { endpoint: self.number, ..call };
        let _observed = self.observer().map(|observer| Observed::begin(observer, call));
        operation()
    }

    /// The route to other nodes. Panics if there is none.
    #[cold]
    pub(crate) fn far(&self) -> &RemotePath {
        self.far
            .as_ref()
            .unwrap_or_else(|| unreachable!("a PE has no slot on this node, and there is no transport"))
    }

    #[inline(always)]
    pub(crate) fn far_if_any(&self) -> Option<&RemotePath> {
        self.far.as_ref()
    }

    /// Name of the transport to PEs on other nodes, if there are any.
    pub fn transport_name(&self) -> Option<&'static str> {
        Some(self.far.as_ref()?.transport.name())
    }

    /// The system area of the calling PE. Panics if the endpoint is shut.
    ///
    /// # Safety
    ///
    /// Every change must follow the protocol of the changed part (barriers, doorbell, record of the PE), because the soundness of
    /// `World::local` and `World::frozen` depends on it.
    #[inline]
    #[track_caller]
    pub unsafe fn system(&self) -> &SystemArea {
        self.require_open(Location::caller());
        // SAFETY: `mine` is the start of a mapped slot (`new`), because the endpoint is open. The slot starts with a system area,
        // which is valid if all bytes are zero, and is shared by atomics only.
        unsafe { &*self.mine.cast() }
    }

    /// The system area of a PE on this node.
    /// Panics if the endpoint is shut, or `pe` was made by another PE of this process (PEs as threads).
    ///
    /// # Safety
    ///
    /// Every change must follow the protocol of the changed part (barriers, doorbell, record of the PE), because the soundness of
    /// `World::local` and `World::frozen` depends on it.
    #[inline]
    #[track_caller]
    pub unsafe fn system_of(&self, pe: Pe) -> Option<&SystemArea> {
        let area = self.mapped(pe, 0)?;
        // SAFETY: every slot starts with a system area (`new`), which is valid if all bytes are zero, and shared by atomics only.
        Some(unsafe { &*area.cast() })
    }

    /// The doorbell of the calling PE. Panics if the endpoint is shut.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn bell(&self) -> &Doorbell {
        self.require_open(Location::caller());
        // SAFETY: `mine` is the start of a mapped slot (`new`), because the endpoint is open.
        unsafe { Self::bell_at(self.mine) }
    }

    /// The doorbell of the PE whose slot starts at `slot`.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of a mapped slot.
    #[inline(always)]
    pub(crate) unsafe fn bell_at<'a>(slot: *mut u8) -> &'a Doorbell {
        // SAFETY: `slot` is the start of a mapped slot (caller), and the doorbell is the first field of the system area.
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

    /// Returns a function from a slot's number to the slot's start. It does not borrow the endpoint.
    #[inline(always)]
    pub(crate) fn starts(&self) -> impl Fn(usize) -> *mut u8 + Copy + use<> {
        let (base, stride) = (self.base, self.stride);
        move |slot| base.wrapping_add(slot * stride)
    }
}

/// Notifies an observer of the end of a call, also if the call unwinds.
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

/// A token: proof that the job runs, that this thread may issue operations, and that the PE is not in `World::local` or
/// `World::frozen`. Implemented by the world, by contexts and sessions, and by references to these.
///
/// # Safety
///
/// A value may be borrowed only while operations are allowed: it must be the world, or borrow the world. So `World::local` and
/// `World::frozen`, which borrow the world exclusively, cannot be entered while a borrow of the value lives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations",
    label = "not a token",
    note = "operations need a token: the `World`, or a context bound to it"
)]
pub unsafe trait Initiator {
    /// The endpoint that issues the operations.
    #[doc(hidden)]
    fn endpoint(&self) -> &Endpoint;
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        // SAFETY: a reference to a token exists only while the token does.
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

/// A token that may write to other PEs: the world, and every context that was not made with the option NOSTORE. Puts, signals and
/// updates need such a token; gets, fetches, `fence` and `quiet` do not.
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
