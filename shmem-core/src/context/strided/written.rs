//! What `strided!` expands to.
//!
//! The expansion gives the regions of both sides to [`Constant::new`], in a `const` block, and calls [`put`]
//! or [`get`] with that and the objects. So the compiler computes the plan, and what is called here folds to
//! the loop that is left. The types of the objects are inferred in the block, and it knows the parameters of the
//! function around it. Where a region has bounds or strides marked `dyn`, the same functions run in [`put_dyn`]
//! and [`get_dyn`]; where a variable behind `dyn` turns out to be a range, in [`put`] and [`get`].
//!
//! Such a block is evaluated in a full build only. So for objects that a constant can
//! name, which are statics, the expansion has a constant of its own, made by [`region`] and [`agree`], and
//! `cargo check` shows what is wrong at the user's brackets. It is there if no name in the region can be a
//! parameter, which a constant cannot name. Nothing rests on that one: whatever an
//! expansion says, what is moved was checked here against the dimensions that the objects' types have,
//! or, for slices, against their lengths.

use core::any::TypeId;
use core::marker::PhantomData;
use core::panic::Location;

use super::object::SameElements;
use super::object::{Lent, Object, Readable, Remote, Writable};
use super::planned::Planned;
use super::region::Selectors;
use super::region::{Side, fits, indexed, is_apart, matched, outermost, refuse};
use super::{get_planned, put_planned};
use crate::data::PlainData;
use crate::pe::{OnPe, Pe};
use crate::strided::{Advice, Algorithm, Axis, Layout, MAX_DIMS, Pattern, Plan, Thresholds, settings};
use crate::transport;

pub use super::object::Lend;
pub use super::object::{Run, field, run};
pub use super::region::Region;
pub use super::region::{Selector, axis, ranged, selected};
pub use super::token::{LoadingToken, StoringToken, Through, loading, storing};

/// A region of an object that a constant can name, while compiling. Nothing, if an element has no such
/// field: that is said where the field is named.
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn region<O: Object + ?Sized>(region: &Region<'_>, _: &O) -> Option<Side> {
    if region.is_known::<O>() {
        Some(Side::of::<O>(region))
    } else {
        Side::of::<O>(&region.whole());
        None
    }
}

/// Two regions, while compiling. (If it is their elements that differ, that is left to be said by
/// [`SameElements`].)
///
/// # Panics
///
/// If they differ in shape.
#[track_caller]
pub const fn agree(to: Option<Side>, from: Option<Side>) {
    let (Some(to), Some(from)) = (to, from) else { return };
    let (to, from) = matched(to, from);
    if to.block_bytes() == from.block_bytes() && !(to.is_open() && from.is_open()) {
        Pattern::join(&to, &from);
    }
}

/// A region of an `O`, checked while compiling as far as the type knows it.
#[derive(Debug)]
pub struct Checked<O: ?Sized> {
    region: Region<'static>,
    /// None, if only the run knows the dimensions.
    side: Option<Side>,
    of: PhantomData<*const O>,
}

impl<O: Object + ?Sized> Checked<O> {
    #[track_caller]
    const fn new(region: Region<'static>) -> Self {
        let side = if O::IS_DYNAMIC { None } else { Some(Side::of::<O>(&region)) };
        Self { region, side, of: PhantomData }
    }
}

/// The PE of a transfer.
#[inline(always)]
pub fn on(pe: impl OnPe) -> Pe {
    pe.pe()
}

/// Checks a region of the remote side. (Bounded as [`put`] and [`get`] are: a type that is no such object is refused once.).
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn remote<O: Remote + ?Sized>(region: Region<'static>) -> Checked<O> {
    Checked::new(region)
}

/// Checks a region of what a put copies from; see [`remote`].
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn source<O: Readable + ?Sized>(region: Region<'static>) -> Checked<O> {
    Checked::new(region)
}

/// Checks a region of what a get copies to; see [`remote`].
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn destination<O: Writable + ?Sized>(region: Region<'static>) -> Checked<O> {
    Checked::new(region)
}

/// Writes a region of `from` to one of `to` on `pe`. The source is borrowed for as long as the token asks.
/// `to_selectors` and `from_selectors` are those that only the run knows. The closures name the fields of an element; they
/// are never called.
///
/// # Panics
///
/// If an index is beyond its dimension, if a slice has another length than the other side wants, or if
/// the regions are of one object, on this PE, and overlap.
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn put<'b, D, S, To, From, ToField, FromField, I, J>(
    through: Through<'_, 'b>,
    to: &D,
    pe: Pe,
    from: &'b S,
    to_selectors: I,
    from_selectors: J,
    constant: &Constant<D, S, I, J>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Remote<Element = To> + ?Sized,
    S: Readable<Element = From> + ?Sized,
    To: PlainData,
    From: 'static,
    FromField: SameElements<ToField>,
    I: Selectors,
    J: Selectors,
{
    let Through { endpoint, .. } = through;
    let (segment, offset) = to.place_on(pe);
    let is_one = endpoint.is_mine(pe) && from.place(endpoint) == Some(offset);
    let source = from.start(endpoint);
    let computed = &constant.computed;
    if computed.is_open {
        let mut room = [[Axis::all(); MAX_DIMS]; 2];
        let [a, b] = &mut room;
        let sides = (constant.to.selected(&to_selectors, a), constant.from.selected(&from_selectors, b));
        let sides = ((&sides.0, to), (&sides.1, from));
        let Some(run) = planned(sides.0, sides.1, is_one, constant.algorithm) else { return };
        let place = transport::Remote { pe, segment, offset };
        // SAFETY: `planned` found both regions in their objects (`Side::of_object`), of which every PE has the
        // remote one, and that they share nothing (`is_apart`); `pieces` are those of the objects.
        return unsafe { run.put(endpoint, place, to.pieces(), source, from.pieces(), through.family) };
    }
    let further = (indexed(&constant.to, to, &to_selectors), indexed(&constant.from, from, &from_selectors));
    let Some((a, b)) = constant.offsets(to, from, further, is_one) else { return };
    let (plan, location) = (&computed.plan, Location::caller());
    let (to, from) = (transport::Remote { pe, segment, offset: offset + a }, source.wrapping_add(b));
    if is_same::<To, From>() {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found the region of `to` in the object that every PE has,
        // that of `from` in the source, and that they do not overlap; both are made of `To`s, since none of them is a field.
        unsafe { put_planned::<To>(endpoint, to, from, plan, through.family, location) };
    } else {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found the region of `to` in the object that every PE has,
        // that of `from` in the source, and that they do not overlap.
        unsafe { put_planned::<()>(endpoint, to, from, plan, through.family, location) };
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
    to_selectors: I,
    from_selectors: J,
    constant: &Constant<D, S, I, J>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Writable<Element = To> + Lent + 'b,
    S: Remote<Element = From> + ?Sized,
    To: PlainData,
    From: 'static,
    FromField: SameElements<ToField>,
    I: Selectors,
    J: Selectors,
{
    let Through { endpoint, .. } = through;
    let (segment, offset) = from.place_on(pe);
    let is_one = endpoint.is_mine(pe) && to.place(endpoint) == Some(offset);
    let computed = &constant.computed;
    if computed.is_open {
        let mut room = [[Axis::all(); MAX_DIMS]; 2];
        let [a, b] = &mut room;
        let sides = (constant.to.selected(&to_selectors, a), constant.from.selected(&from_selectors, b));
        let sides = ((&sides.0, &to), (&sides.1, from));
        let Some(run) = planned(sides.0, sides.1, is_one, constant.algorithm) else { return };
        let (into, place) = (to.start_mut(endpoint), transport::Remote { pe, segment, offset });
        // SAFETY: `planned` found both regions in their objects (`Side::of_object`), of which every PE has the
        // remote one, and that they share nothing (`is_apart`); `pieces` are those of the objects.
        return unsafe { run.get(endpoint, into, to.pieces(), place, from.pieces(), through.family) };
    }
    let further = (indexed(&constant.to, &to, &to_selectors), indexed(&constant.from, from, &from_selectors));
    let Some((a, b)) = constant.offsets(&to, from, further, is_one) else { return };
    let (plan, location) = (&computed.plan, Location::caller());
    let (into, place) =
        (to.start_mut(endpoint).wrapping_add(a), transport::Remote { pe, segment, offset: offset + b });
    if is_same::<To, From>() {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found the region of `from` in the object that every PE has,
        // that of `to` in the destination, and that they do not overlap; both are made of `To`s, since none of them is a field.
        unsafe { get_planned::<To>(endpoint, into, place, plan, through.family, location) };
    } else {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found the region of `from` in the object that every PE has,
        // that of `to` in the destination, and that they do not overlap.
        unsafe { get_planned::<()>(endpoint, into, place, plan, through.family, location) };
    }
}

/// As [`put`], for regions that only the run knows. Without an algorithm, that of the
/// [`settings`] is taken.
///
/// # Panics
///
/// As [`put`], and for all that a constant region is refused for by the compiler.
#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn put_dyn<'b, D, S, To, From, ToField, FromField>(
    through: Through<'_, 'b>,
    to: &D,
    pe: Pe,
    from: &'b S,
    to_region: &Region<'_>,
    from_region: &Region<'_>,
    algorithm: Option<Algorithm>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Remote<Element = To> + ?Sized,
    S: Readable<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    let Through { endpoint, .. } = through;
    let (segment, offset) = to.place_on(pe);
    let is_one = endpoint.is_mine(pe) && from.place(endpoint) == Some(offset);
    let sides = ((to_region, to), (from_region, from));
    let Some(run) = planned(sides.0, sides.1, is_one, algorithm) else { return };
    let (source, place) = (from.start(endpoint), transport::Remote { pe, segment, offset });
    // SAFETY: `planned` found both regions in their objects (`Side::of_object`), of which every PE has the
    // remote one, and that they share nothing (`is_apart`); `pieces` are those of the objects.
    unsafe { run.put(endpoint, place, to.pieces(), source, from.pieces(), through.family) };
}

/// As [`get`], for regions that only the run knows; see [`put_dyn`].
///
/// # Panics
///
/// As [`put_dyn`].
#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get_dyn<'b, D, S, To, From, ToField, FromField>(
    through: Through<'_, 'b>,
    mut to: D,
    from: &S,
    pe: Pe,
    to_region: &Region<'_>,
    from_region: &Region<'_>,
    algorithm: Option<Algorithm>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: Writable<Element = To> + Lent + 'b,
    S: Remote<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    let Through { endpoint, .. } = through;
    let (segment, offset) = from.place_on(pe);
    let is_one = endpoint.is_mine(pe) && to.place(endpoint) == Some(offset);
    let sides = ((to_region, &to), (from_region, from));
    let Some(run) = planned(sides.0, sides.1, is_one, algorithm) else { return };
    let (into, place) = (to.start_mut(endpoint), transport::Remote { pe, segment, offset });
    // SAFETY: `planned` found both regions in their objects (`Side::of_object`), of which every PE has the
    // remote one, and that they share nothing (`is_apart`); `pieces` are those of the objects.
    unsafe { run.get(endpoint, into, to.pieces(), place, from.pieces(), through.family) };
}

/// Whether the elements of both sides are of one type. If that is a number, what is moved is made of such numbers: they
/// have no fields.
#[inline(always)]
pub(super) fn is_same<To: 'static, From: 'static>() -> bool {
    TypeId::of::<To>() == TypeId::of::<From>()
}

/// What the compiler computes of a transfer.
#[derive(Debug)]
pub(super) struct Computed {
    to: Layout,
    from: Layout,
    pub(super) plan: Plan,
    /// What the program could do to make it faster.
    advice: Option<Advice>,
    /// Neither side knows how much there is before the program runs.
    pub(super) is_open: bool,
    /// Blocks along the outermost axis of the destination, if only the source says how many.
    to_count: usize,
    /// The same of the source.
    from_count: usize,
    /// The two regions share nothing even if they are of one object on one PE.
    is_disjoint: bool,
}

/// A transfer between a `D` and an `S` that has constants only, and the selectors `I` and `J` that only the run knows.
#[derive(Debug)]
pub struct Constant<D: ?Sized, S: ?Sized, I, J> {
    pub(super) to: Region<'static>,
    pub(super) from: Region<'static>,
    /// How it is carried out, if that is fixed.
    pub(super) algorithm: Option<Algorithm>,
    pub(super) computed: Computed,
    of: PhantomData<(*const D, *const S, *const (I, J))>,
}

impl<D: ?Sized, S: ?Sized, I: Selectors, J: Selectors> Constant<D, S, I, J> {
    /// Computes the transfer.
    ///
    /// # Panics
    ///
    /// If the regions differ in shape, or have other than as many selectors that only the run knows. (An index without a
    /// number would be taken for 0, which an empty slice does not have.)
    #[track_caller]
    pub const fn new(to: Checked<D>, from: Checked<S>, algorithm: Option<Algorithm>) -> Self {
        to.region.require_selectors(I::COUNT);
        from.region.require_selectors(J::COUNT);
        let computed = match (to.side, from.side) {
            (Some(to_side), Some(from_side)) if !I::HAS_RANGES && !J::HAS_RANGES => {
                let is_known = !to.region.has_selectors() && !from.region.has_selectors();
                Computed::new(matched(to_side, from_side), algorithm, is_known)
            }
            _ => Computed::DYNAMIC,
        };
        Self { to: to.region, from: from.region, algorithm, computed, of: PhantomData }
    }

    /// Bytes from the start of each object to its first block, after all that was left to be checked; none
    /// if nothing is to be moved.
    #[inline(always)]
    #[track_caller]
    pub(super) fn offsets(
        &self,
        to: &D,
        from: &S,
        further: (usize, usize),
        is_one: bool,
    ) -> Option<(usize, usize)>
    where
        D: Object,
        S: Object,
    {
        let Computed { to: to_layout, from: from_layout, to_count, from_count, .. } = &self.computed;
        if !fits(&self.to, to_layout, *to_count, to) || !fits(&self.from, from_layout, *from_count, from) {
            refuse((&self.to, to), (&self.from, from));
        }
        if !self.computed.is_disjoint && is_one && !is_apart((&self.to, to), (&self.from, from), further) {
            return None;
        }
        if let Some(advice) = &self.computed.advice {
            advice.give();
        }
        Some((to_layout.offset() + further.0, from_layout.offset() + further.1))
    }
}

impl Computed {
    /// Nothing: all is left to the run.
    const DYNAMIC: Self = {
        let nothing = Layout::block(0, 1);
        Self {
            to: nothing,
            from: nothing,
            plan: Plan::of(Pattern::contiguous(0), 1, Algorithm::Auto, &Thresholds::DEFAULT),
            advice: None,
            is_open: true,
            to_count: 0,
            from_count: 0,
            is_disjoint: false,
        }
    };

    /// Of two layouts; `is_known` says that no index of them is left to the run.
    #[track_caller]
    const fn new((to, from): (Layout, Layout), algorithm: Option<Algorithm>, is_known: bool) -> Self {
        let algorithm = match algorithm {
            Some(algorithm) => algorithm,
            None => Algorithm::Auto,
        };
        let is_open = to.is_open() && from.is_open();
        let is_known = is_known && !to.is_open() && !from.is_open();
        let plan = if is_open {
            Plan::of(Pattern::blocks(0, 0, 0, 0), 1, algorithm, &Thresholds::DEFAULT)
        } else {
            Plan::new(&to, &from, algorithm, &Thresholds::DEFAULT)
        };
        Self {
            to,
            from,
            plan,
            advice: Advice::of(plan.pattern()),
            is_open,
            to_count: outermost(&to, &from),
            from_count: outermost(&from, &to),
            is_disjoint: is_known && to.is_disjoint(&from),
        }
    }
}

/// The plan for two regions, checked against their objects; nothing if nothing is to be moved.
#[inline]
#[track_caller]
pub(super) fn planned<D: Object + ?Sized, S: Object + ?Sized>(
    to: (&Region<'_>, &D),
    from: (&Region<'_>, &S),
    is_one: bool,
    algorithm: Option<Algorithm>,
) -> Option<Planned> {
    if is_one && !is_apart(to, from, (0, 0)) {
        return None;
    }
    let (a, b) = matched(Side::of_object(to.0, to.1), Side::of_object(from.0, from.1));
    to.0.require_selectors(0);
    from.0.require_selectors(0);
    let settings = settings();
    let algorithm = algorithm.unwrap_or(settings.algorithm);
    let plan = Plan::new(&a, &b, algorithm, &settings.thresholds);
    if let Some(advice) = Advice::of(plan.pattern()) {
        advice.give();
    }
    Some(Planned { plan, algorithm, to: a.offset(), from: b.offset() })
}
