//! The expansion of `strided!`.
//!
//! The expansion passes the regions of both sides to [`Constant::new`] in a `const` block, and calls [`put`] or [`get`] with the
//! result and the objects. So the compiler computes the plan, and the call folds to a loop. If bounds or strides are marked
//! `dyn`, the same functions run at run time.
//!
//! A `const` block is evaluated in a full build only. For statics, the expansion also has a constant by [`region`] and
//! [`agree`], so that `cargo check` reports errors. Soundness needs no such constant: [`Constant::new`] checks regions
//! against the types of the objects, and `put` and `get` check slice lengths.

use core::marker::PhantomData;
use core::panic::Location;

use super::object::SameElements;
use super::object::{Lent, Object, Readable, Remote, Writable};
use super::region::Selected;
use super::region::{fits, indexed, is_apart, outermost, refuse};
use super::{get_planned, put_planned};
use crate::endpoint::Endpoint;
use crate::pe::{OnPe, Pe};
use crate::strided::{
    Algorithm, Axis, Layout, MAX_DIMS, Pattern, Piece, Pieced, Spot, Thresholds, TransferPlan, each_part,
    settings,
};
use crate::symmetric_data::PlainData;
use crate::transport;

pub use super::object::Lend;
pub use super::object::{Run, field, run};
pub use super::region::{Region, indices};
pub use super::token::{LoadingToken, StoringToken, Through, loading, storing};

/// Checks a region of a static at compile time. `None` if an element has no such field, because that error is reported at
/// the field.
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn region<O: Object + ?Sized>(region: &Region<'_>, _: &O) -> Option<Layout> {
    if region.is_known::<O>() {
        Some(region.layout_of::<O>())
    } else {
        region.whole().layout_of::<O>();
        None
    }
}

/// Checks at compile time that two regions match. ([`SameElements`] reports elements that differ.)
///
/// # Panics
///
/// If they differ in shape.
#[track_caller]
pub const fn agree(to: Option<Layout>, from: Option<Layout>) {
    let (Some(to), Some(from)) = (to, from) else { return };
    if to.block_bytes() == from.block_bytes() && !(to.is_open() && from.is_open()) {
        Pattern::join(&to, &from);
    }
}

/// A region of an `O`, checked at compile time as far as the type determines it.
#[derive(Debug)]
pub struct Checked<O: ?Sized> {
    region: Region<'static>,
    /// `None` if the dimensions are known at run time only.
    layout: Option<Layout>,
    of: PhantomData<*const O>,
}

impl<O: Object + ?Sized> Checked<O> {
    #[track_caller]
    const fn new(region: Region<'static>) -> Self {
        let layout = if O::IS_DYNAMIC { None } else { Some(region.layout_of::<O>()) };
        Self { region, layout, of: PhantomData }
    }
}

/// The PE of a transfer.
#[inline(always)]
pub fn on(pe: impl OnPe) -> Pe {
    pe.pe()
}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// If the region does not lie in the object.
        #[track_caller]
        pub const fn $name<O: $bound + ?Sized>(region: Region<'static>) -> Checked<O> {
            Checked::new(region)
        }
    )*};
}
// The bounds of `put` and `get`, so that rustc reports a wrong type once.
roles! {
    /// Checks a region of the remote side.
    remote: Remote;
    /// Checks a region of the source of a put.
    source: Readable;
    /// Checks a region of the destination of a get.
    destination: Writable;
}

/// Writes a region of `from` to a region of `to` on `pe`. The source is borrowed for as long as the token requires.
/// `to_selected` and `from_selected` are the run-time indices. The closures name the fields of an element; they are never called.
///
/// # Panics
///
/// If an index is beyond its dimension, if a slice has another length than the other side needs, or if
/// the regions overlap in one object on this PE. For run-time regions, also for each error that the compiler
/// reports for constant regions.
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn put<'b, D, S, To, From, ToField, FromField, I, J>(
    through: Through<'_, 'b>,
    to: &D,
    pe: Pe,
    from: &'b S,
    to_selected: I,
    from_selected: J,
    constant: &Constant<D, S, I, J>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Remote<Element = To> + ?Sized,
    S: Readable<Element = From> + ?Sized,
    To: PlainData,
    From: 'static,
    FromField: SameElements<ToField>,
    I: Selected,
    J: Selected,
{
    let (Through { endpoint, family, .. }, location) = (through, Location::caller());
    let ((segment, offset), start) = (to.place_on(pe), from.start(endpoint));
    let is_one = pe.shares_slot(endpoint.me()) && from.place(endpoint) == Some(offset);
    match constant.find(to, from, (&to_selected, &from_selected), is_one) {
        Some(Found::Constant(plan, a, b)) => {
            let to = transport::Remote { pe, segment, offset: offset + a };
            // SAFETY: `constant` (`Checked::new`, of these types) and `find` found the region of `to` in the object that every PE
            // has, that of `from` in the source, and that they do not overlap. If both are of one type, none is a field.
            unsafe { put_planned::<To, From>(endpoint, to, start.wrapping_add(b), plan, family, location) };
        }
        Some(Found::Planned(run)) => {
            let (origin, lies) = local(endpoint, from.pieces(), start.cast_mut());
            run.run((to.pieces(), Piece::whole(segment, offset)), lies, |to, from, plan| {
                let to = transport::Remote { pe, segment: to.segment, offset: to.offset };
                let from = origin.wrapping_add(from.offset);
                // SAFETY: blocks of the regions that `planned` found in their objects (`layout_in`). Every PE has the
                // remote object, and the regions are disjoint (`is_apart`); the pieces are the objects'.
                unsafe { put_planned::<(), ()>(endpoint, to, from, plan, family, location) };
            });
        }
        None => {}
    }
}

/// Reads a region of `from` on `pe` into one of `to`; see [`put`].
///
/// # Panics
///
/// As [`put`].
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get<'b, D, S, To, From, ToField, FromField, I, J>(
    through: Through<'_, 'b>,
    mut to: D,
    from: &S,
    pe: Pe,
    to_selected: I,
    from_selected: J,
    constant: &Constant<D, S, I, J>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Writable<Element = To> + Lent + 'b,
    S: Remote<Element = From> + ?Sized,
    To: PlainData,
    From: 'static,
    FromField: SameElements<ToField>,
    I: Selected,
    J: Selected,
{
    let (Through { endpoint, family, .. }, location) = (through, Location::caller());
    let (segment, offset) = from.place_on(pe);
    let is_one = pe.shares_slot(endpoint.me()) && to.place(endpoint) == Some(offset);
    match constant.find(&to, from, (&to_selected, &from_selected), is_one) {
        Some(Found::Constant(plan, a, b)) => {
            let from = transport::Remote { pe, segment, offset: offset + b };
            let to = to.start_mut(endpoint).wrapping_add(a);
            // SAFETY: `constant` (`Checked::new`, of these types) and `find` found the region of `from` in the object that every PE
            // has, that of `to` in the destination, and that they do not overlap. If both are of one type, none is a field.
            unsafe { get_planned::<To, From>(endpoint, to, from, plan, family, location) };
        }
        Some(Found::Planned(run)) => {
            let start = to.start_mut(endpoint);
            let (origin, lies) = local(endpoint, to.pieces(), start);
            run.run(lies, (from.pieces(), Piece::whole(segment, offset)), |to, from, plan| {
                let from = transport::Remote { pe, segment: from.segment, offset: from.offset };
                let to = origin.wrapping_add(to.offset);
                // SAFETY: blocks of the regions that `planned` found in their objects (`layout_in`). Every PE has the
                // remote object, and the regions are disjoint (`is_apart`); the pieces are the objects'.
                unsafe { get_planned::<(), ()>(endpoint, to, from, plan, family, location) };
            });
        }
        None => {}
    }
}

/// The base of an object's piece offsets (the own slot, or 0), and its pieces.
#[inline(always)]
fn local<'p>(endpoint: &Endpoint, pieces: Option<&'p [Piece]>, start: *mut u8) -> (*mut u8, Lies<'p>) {
    let origin = if pieces.is_some() { endpoint.mine(0) } else { start.wrapping_sub(start.addr()) };
    (origin, (pieces, Piece::whole(0, start.addr())))
}

/// A checked transfer.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Found<'c> {
    /// The constant plan, and the offsets of its first blocks from the start of each object.
    Constant(&'c TransferPlan, usize, usize),
    Planned(Planned),
}

/// The parts of a transfer that are computed at compile time.
#[derive(Debug)]
struct Computed {
    to: Layout,
    from: Layout,
    plan: TransferPlan,
    /// Blocks along the outermost axis of the destination, if the source determines them.
    to_count: usize,
    /// Blocks along the outermost axis of the source, if the destination determines them.
    from_count: usize,
    /// Whether the regions are disjoint even in one object on one PE.
    is_disjoint: bool,
}

/// The constants of a transfer between a `D` and an `S`, with run-time indices `I` and `J`.
#[derive(Debug)]
pub struct Constant<D: ?Sized, S: ?Sized, I, J> {
    to: Region<'static>,
    from: Region<'static>,
    algorithm: Option<Algorithm>,
    /// `None` if everything is computed at run time.
    computed: Option<Computed>,
    of: PhantomData<(*const D, *const S, *const (I, J))>,
}

impl<D: ?Sized, S: ?Sized, I: Selected, J: Selected> Constant<D, S, I, J> {
    /// Computes the transfer.
    ///
    /// # Panics
    ///
    /// If the regions differ in shape, or `I` or `J` has another number of run-time indices than its region. (A missing
    /// index would be 0, which is out of range for an empty slice.)
    #[track_caller]
    pub const fn new(to: Checked<D>, from: Checked<S>, algorithm: Option<Algorithm>) -> Self {
        to.region.require_indices(I::INDICES);
        from.region.require_indices(J::INDICES);
        let computed = match (to.layout, from.layout) {
            (Some(to), Some(from)) => Computed::new(to, from, algorithm, I::INDICES + J::INDICES == 0),
            _ => None,
        };
        Self { to: to.region, from: from.region, algorithm, computed, of: PhantomData }
    }

    /// For run-time regions, which are passed in place of indices.
    pub const fn dynamic(algorithm: Option<Algorithm>) -> Self {
        let region = Region::new("", &[], &[]);
        Self { to: region, from: region, algorithm, computed: None, of: PhantomData }
    }

    /// Makes the run-time checks. `None` if nothing is to be moved.
    #[inline(always)]
    #[track_caller]
    fn find(
        &self,
        to: &D,
        from: &S,
        (to_selected, from_selected): (&I, &J),
        is_one: bool,
    ) -> Option<Found<'_>>
    where
        D: Object,
        S: Object,
    {
        let Some(Computed { to: to_layout, from: from_layout, plan, to_count, from_count, is_disjoint }) =
            &self.computed
        else {
            let [mut to_room, mut from_room] = [[Axis::all(); MAX_DIMS]; 2];
            let to_region = to_selected.region(&self.to, &mut to_room);
            let from_region = from_selected.region(&self.from, &mut from_room);
            let run = planned((&to_region, to), (&from_region, from), is_one, self.algorithm);
            return run.map(Found::Planned);
        };
        let further = (
            indexed(&self.to, to, to_selected.indices()),
            indexed(&self.from, from, from_selected.indices()),
        );
        if !fits(&self.to, to_layout, *to_count, to) || !fits(&self.from, from_layout, *from_count, from) {
            refuse((&self.to, to), (&self.from, from));
        }
        if !is_disjoint && is_one && !is_apart((&self.to, to), (&self.from, from), further) {
            return None;
        }
        Some(Found::Constant(plan, to_layout.offset() + further.0, from_layout.offset() + further.1))
    }
}

impl Computed {
    /// Computes a transfer between two layouts; `None` if no side's length is known at compile time. `is_known` says that there are no
    /// run-time indices.
    #[track_caller]
    const fn new(to: Layout, from: Layout, algorithm: Option<Algorithm>, is_known: bool) -> Option<Self> {
        if to.is_open() && from.is_open() {
            return None;
        }
        let algorithm = match algorithm {
            Some(algorithm) => algorithm,
            None => Algorithm::Auto,
        };
        let is_known = is_known && !to.is_open() && !from.is_open();
        Some(Self {
            to,
            from,
            plan: TransferPlan::new(&to, &from, algorithm, &Thresholds::DEFAULT),
            to_count: outermost(&to, &from),
            from_count: outermost(&from, &to),
            is_disjoint: is_known && to.is_disjoint(&from),
        })
    }
}

/// The plan for two regions, checked against their objects; `None` if nothing is to be moved.
#[inline]
#[track_caller]
fn planned<D: Object + ?Sized, S: Object + ?Sized>(
    to: (&Region<'_>, &D),
    from: (&Region<'_>, &S),
    is_one: bool,
    algorithm: Option<Algorithm>,
) -> Option<Planned> {
    if is_one && !is_apart(to, from, (0, 0)) {
        return None;
    }
    let (a, b) = (to.0.layout_in(to.1), from.0.layout_in(from.1));
    to.0.require_indices(0);
    from.0.require_indices(0);
    let settings = settings();
    let algorithm = algorithm.unwrap_or(settings.algorithm);
    let plan = TransferPlan::new(&a, &b, algorithm, &settings.thresholds);
    Some(Planned { plan, algorithm, to: a.offset(), from: b.offset() })
}

/// A plan between two objects, as if each were one range.
struct Planned {
    plan: TransferPlan,
    algorithm: Algorithm,
    /// Bytes from the start of the destination to its first block.
    to: usize,
    /// Bytes from the start of the source to its first block.
    from: usize,
}

/// One side of a transfer: its pieces if it has several, and the piece for an object of one range.
type Lies<'a> = (Option<&'a [Piece]>, Piece);

impl Planned {
    /// Calls `each` to move the blocks, in parts that are in one piece on each side.
    #[inline(always)]
    fn run(&self, to: Lies<'_>, from: Lies<'_>, each: impl Fn(Spot, Spot, &TransferPlan)) {
        if to.0.is_none() && from.0.is_none() {
            let spot = |piece: Piece, at| Spot { segment: piece.segment, offset: piece.offset + at };
            each(spot(to.1, self.to), spot(from.1, self.from), &self.plan);
        } else {
            self.run_parts(to, from, each);
        }
    }

    #[inline(never)]
    fn run_parts(&self, to: Lies<'_>, from: Lies<'_>, each: impl Fn(Spot, Spot, &TransferPlan)) {
        let (whole_to, whole_from) = ([to.1], [from.1]);
        let to = Pieced { pieces: to.0.unwrap_or(&whole_to), at: self.to };
        let from = Pieced { pieces: from.0.unwrap_or(&whole_from), at: self.from };
        each_part(self.plan.pattern(), to, from, |to, from, pattern| {
            // Slots have all relevant alignments.
            let align = 1 << (to.offset | from.offset).trailing_zeros().min(usize::BITS - 1);
            each(to, from, &TransferPlan::of(pattern, align, self.algorithm, &settings().thresholds));
        });
    }
}
