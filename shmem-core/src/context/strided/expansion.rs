//! The functions that `strided!` expands to.
//!
//! The expansion passes the [`Region`]s of destination and source to [`Constant::new`] in a `const` block, and passes the result,
//! with the objects, to [`put`] or [`get`]. So the compiler computes the [`TransferPlan`], and the call becomes a loop. If bounds
//! or strides are marked `dyn`, the plan is computed at run time.
//!
//! `cargo check` does not evaluate `const` blocks. So for statics, the expansion also has a constant that calls [`region`] and
//! [`agree`], whose errors `cargo check` reports. Soundness does not depend on this constant: [`Constant::new`] checks regions
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

/// Checks a region of a static at compile time. `None` if an element has no such field, which rustc reports at the field.
///
/// # Panics
///
/// If the region is not inside the object.
#[track_caller]
pub const fn region<O: Object + ?Sized>(region: &Region<'_>, _: &O) -> Option<Layout> {
    if region.is_known::<O>() {
        Some(region.layout_of::<O>())
    } else {
        region.whole().layout_of::<O>();
        None
    }
}

/// Checks at compile time that two regions have the same shape. ([`SameElements`] checks the types of the elements.)
///
/// # Panics
///
/// If the shapes differ.
#[track_caller]
pub const fn agree(to: Option<Layout>, from: Option<Layout>) {
    let (Some(to), Some(from)) = (to, from) else { return };
    if to.block_bytes() == from.block_bytes() && !(to.is_open() && from.is_open()) {
        Pattern::join(&to, &from);
    }
}

/// A region of an object of type `O`, checked at compile time as far as the type determines the object's dimensions.
#[derive(Debug)]
pub struct Checked<O: ?Sized> {
    region: Region<'static>,
    /// The region's layout, or `None` if the object's dimensions are known at run time only.
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

/// Returns the PE of a transfer.
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
// These functions have the bounds of `put` and `get`, so that rustc reports a wrong type once.
roles! {
    /// Checks a region of the remote side.
    remote: Remote;
    /// Checks a region of the source of a put.
    source: Readable;
    /// Checks a region of the destination of a get.
    destination: Writable;
}

/// Writes a region of `from` to a region of `to` on `pe`. `from` is borrowed for `'b`: in a scope, for the lifetime of its
/// environment. `to_selected` and `from_selected` are the run-time indices. The closures only tell the compiler the types of
/// fields, and are never called.
///
/// # Panics
///
/// If an index is beyond its dimension, if the length of a slice does not match the other side, or if the regions overlap in one
/// object on this PE. For run-time regions, also for each error that the compiler reports for constant regions.
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
            // SAFETY: every PE has the object `to`. `Checked::new` and `find` checked that each region is inside its object, and
            // that the regions do not overlap. If `To` and `From` are the same number type, no field is selected, so both regions
            // consist of aligned numbers.
            unsafe { put_planned::<To, From>(endpoint, to, start.wrapping_add(b), plan, family, location) };
        }
        Some(Found::Planned(run)) => {
            let (origin, lies) = local(endpoint, from.pieces(), start.cast_mut());
            run.run((to.pieces(), Piece::whole(segment, offset)), lies, |to, from, plan| {
                let to = transport::Remote { pe, segment: to.segment, offset: to.offset };
                let from = origin.wrapping_add(from.offset);
                // SAFETY: `planned` checked that each block is inside its object (`layout_in`), and that the regions do not overlap
                // (`is_apart`). Every PE has the remote object. Each part is inside one piece of its object.
                unsafe { put_planned::<(), ()>(endpoint, to, from, plan, family, location) };
            });
        }
        None => {}
    }
}

/// Reads a region of `from` on `pe` into a region of `to`. Arguments are as for [`put`].
///
/// # Panics
///
/// If an index is beyond its dimension, if the length of a slice does not match the other side, or if the regions overlap in one
/// object on this PE. For run-time regions, also for each error that the compiler reports for constant regions.
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
            // SAFETY: every PE has the object `from`. `Checked::new` and `find` checked that each region is inside its object, and
            // that the regions do not overlap. If `To` and `From` are the same number type, no field is selected, so both regions
            // consist of aligned numbers.
            unsafe { get_planned::<To, From>(endpoint, to, from, plan, family, location) };
        }
        Some(Found::Planned(run)) => {
            let start = to.start_mut(endpoint);
            let (origin, lies) = local(endpoint, to.pieces(), start);
            run.run(lies, (from.pieces(), Piece::whole(segment, offset)), |to, from, plan| {
                let from = transport::Remote { pe, segment: from.segment, offset: from.offset };
                let to = origin.wrapping_add(to.offset);
                // SAFETY: `planned` checked that each block is inside its object (`layout_in`), and that the regions do not overlap
                // (`is_apart`). Every PE has the remote object. Each part is inside one piece of its object.
                unsafe { get_planned::<(), ()>(endpoint, to, from, plan, family, location) };
            });
        }
        None => {}
    }
}

/// Returns this PE's side of a transfer, and the address from which its offsets count: for an object of several pieces, the start
/// of this PE's slot. The offset of a single piece is its address, and counts from address 0.
#[inline(always)]
fn local<'p>(
    endpoint: &Endpoint,
    pieces: Option<&'p [Piece]>,
    start: *mut u8,
) -> (*mut u8, TransferSide<'p>) {
    let origin = if pieces.is_some() { endpoint.mine(0) } else { start.wrapping_sub(start.addr()) };
    (origin, (pieces, Piece::whole(0, start.addr())))
}

/// A transfer that passed the run-time checks.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Found<'c> {
    /// The plan computed at compile time, and the offsets of the first blocks in the destination and in the source.
    Constant(&'c TransferPlan, usize, usize),
    Planned(Planned),
}

/// The parts of a transfer that are computed at compile time.
#[derive(Debug)]
struct Computed {
    to: Layout,
    from: Layout,
    plan: TransferPlan,
    /// If the destination's outermost axis has no end: number of blocks along it, as many as the source requires.
    to_count: usize,
    /// If the source's outermost axis has no end: number of blocks along it, as many as the destination requires.
    from_count: usize,
    /// Whether the compiler found the regions disjoint, even if they are in the same object on the same PE.
    is_disjoint: bool,
}

/// The constant part of a transfer from an `S` to a `D`. `I` and `J` are the types of the run-time indices of `D` and of `S`.
#[derive(Debug)]
pub struct Constant<D: ?Sized, S: ?Sized, I, J> {
    to: Region<'static>,
    from: Region<'static>,
    algorithm: Option<Algorithm>,
    /// The plan, or `None` if it is computed at run time.
    computed: Option<Computed>,
    of: PhantomData<(*const D, *const S, *const (I, J))>,
}

impl<D: ?Sized, S: ?Sized, I: Selected, J: Selected> Constant<D, S, I, J> {
    /// Plans the transfer at compile time.
    ///
    /// # Panics
    ///
    /// If the regions differ in shape, or if the number of run-time indices in `I` or `J` is not that of its region. (A missing
    /// index would be taken as 0, which is out of range for an empty slice.)
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

    /// Returns the constant part of a transfer whose regions are computed at run time. `put` and `get` take these regions in place
    /// of run-time indices.
    pub const fn dynamic(algorithm: Option<Algorithm>) -> Self {
        let region = Region::new("", &[], &[]);
        Self { to: region, from: region, algorithm, computed: None, of: PhantomData }
    }

    /// Makes the run-time checks, and returns the transfer, or `None` if no bytes must be moved.
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
    /// Plans a transfer between two layouts. Returns `None` if the lengths of both sides are known at run time only. `is_known`
    /// says that there are no run-time indices.
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

/// Checks two regions against their objects, and returns the plan, or `None` if no bytes must be moved.
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

/// A plan computed at run time, as if each of the two objects were one contiguous range.
struct Planned {
    plan: TransferPlan,
    algorithm: Algorithm,
    /// Bytes from the start of the destination to its first block.
    to: usize,
    /// Bytes from the start of the source to its first block.
    from: usize,
}

/// One side of a transfer: the pieces of an object that has several, or `None` and the only piece of the object. (Beside several
/// pieces, the single one is not used.)
type TransferSide<'a> = (Option<&'a [Piece]>, Piece);

impl Planned {
    /// Calls `each` for parts of the transfer that are inside one piece of the destination and one of the source. Together the
    /// parts contain all blocks.
    #[inline(always)]
    fn run(&self, to: TransferSide<'_>, from: TransferSide<'_>, each: impl Fn(Spot, Spot, &TransferPlan)) {
        if to.0.is_none() && from.0.is_none() {
            let spot = |piece: Piece, at| Spot { segment: piece.segment, offset: piece.offset + at };
            each(spot(to.1, self.to), spot(from.1, self.from), &self.plan);
        } else {
            self.run_parts(to, from, each);
        }
    }

    #[inline(never)]
    fn run_parts(
        &self,
        to: TransferSide<'_>,
        from: TransferSide<'_>,
        each: impl Fn(Spot, Spot, &TransferPlan),
    ) {
        let (whole_to, whole_from) = ([to.1], [from.1]);
        let to = Pieced { pieces: to.0.unwrap_or(&whole_to), at: self.to };
        let from = Pieced { pieces: from.0.unwrap_or(&whole_from), at: self.from };
        each_part(self.plan.pattern(), to, from, |to, from, pattern| {
            // Offsets are relative to a slot or to address 0, which are aligned to more than any copy loop needs.
            let align = 1 << (to.offset | from.offset).trailing_zeros().min(usize::BITS - 1);
            each(to, from, &TransferPlan::of(pattern, align, self.algorithm, &settings().thresholds));
        });
    }
}
