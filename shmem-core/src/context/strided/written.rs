//! What `strided!` expands to.
//!
//! The expansion gives the regions of both sides as constants of a type ([`Written`]) and calls [`put`]
//! or [`get`] with the objects. The plan is a constant of that type and of the types of the objects, so
//! the compiler computes it, and what is called here folds to the loop that is left. Where a region has
//! bounds or strides marked `dyn`, the same functions run in [`put_later`] and [`get_later`].
//!
//! Constants of generic types are evaluated in a full build only. So for objects that a constant can
//! name, which are statics, the expansion has a constant of its own, made by [`region`] and [`agree`], and
//! `cargo check` shows what is wrong at the user's brackets. Nothing rests on that one: whatever an
//! expansion says, what is moved was checked here against the dimensions that the objects' types have,
//! or, for slices, against their lengths.

use core::marker::PhantomData;
use core::panic::Location;

use super::elements::SameElements;
use super::object::{Destination, Lent, Object, Remote, Source};
use super::planned::Planned;
use super::region::{Side, fits, indexed, is_apart, matched, outermost, refuse};
use super::{Place, get_planned, put_planned};
use crate::data::PlainData;
use crate::pe::Pe;
use crate::strided::{Advice, Algorithm, Layout, Pattern, Plan, Thresholds, settings};

pub use super::elements::{Run, field, run};
pub use super::lend::Lend;
pub use super::region::Region;
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

/// A transfer whose counts and strides are constants.
pub trait Written {
    /// The destination.
    const TO: Region<'static>;
    /// The source.
    const FROM: Region<'static>;
    /// How it is carried out, if that is fixed.
    const ALGORITHM: Option<Algorithm>;
}

/// Writes a region of `from` to one of `to` on `pe`. The source is borrowed for as long as the token asks.
/// `indices` are those that only the run knows, of
/// either side, in the order of the axes. The closures name the fields of an element; they are never
/// called.
///
/// # Panics
///
/// If an index is beyond its dimension, if a slice has another length than the other side wants, or if
/// the regions are of one object, on this PE, and overlap.
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn put<'b, W, D, S, To, From, ToField, FromField, const N: usize, const M: usize>(
    through: Through<'_, 'b>,
    to: &D,
    pe: Pe,
    from: &'b S,
    to_indices: [usize; N],
    from_indices: [usize; M],
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    W: Written,
    D: Remote<Element = To> + ?Sized,
    S: Source<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    const { require_indices::<W, N, M>() }
    let Through { endpoint, .. } = through;
    let (segment, offset) = to.place_on(pe);
    let is_one = pe == endpoint.me() && from.place(endpoint) == Some(offset);
    let further = (indexed(&W::TO, to, &to_indices), indexed(&W::FROM, from, &from_indices));
    let source = from.start(endpoint);
    let computed = Constant::<W, D, S>::COMPUTED;
    if computed.is_open {
        let sides = ((&W::TO, to), (&W::FROM, from));
        let Some(run) = planned(sides.0, sides.1, further, is_one, W::ALGORITHM) else { return };
        let place = Place { pe, segment, offset };
        // SAFETY: `planned` checked both regions against their objects.
        return unsafe { run.put(endpoint, place, to.pieces(), source, from.pieces(), through.family) };
    }
    let Some((a, b)) = computed.offsets::<W, D, S>(to, from, further, is_one) else { return };
    let (plan, location) = (&computed.plan, Location::caller());
    let (to, from) = (Place { pe, segment, offset: offset + a }, source.wrapping_add(b));
    // SAFETY: `offsets` checked both regions against their objects.
    unsafe { put_planned(endpoint, to, from, plan, through.family, location) };
}

/// Reads a region of `from` on `pe` into one of `to`; see [`put`].
///
/// # Panics
///
/// As [`put`].
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get<'b, W, D, S, To, From, ToField, FromField, const N: usize, const M: usize>(
    through: Through<'_, 'b>,
    mut to: D,
    from: &S,
    pe: Pe,
    to_indices: [usize; N],
    from_indices: [usize; M],
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    W: Written,
    D: Destination<Element = To> + Lent + 'b,
    S: Remote<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    const { require_indices::<W, N, M>() }
    let Through { endpoint, .. } = through;
    let (segment, offset) = from.place_on(pe);
    let is_one = pe == endpoint.me() && to.place(endpoint) == Some(offset);
    let further = (indexed(&W::TO, &to, &to_indices), indexed(&W::FROM, from, &from_indices));
    let computed = Constant::<W, D, S>::COMPUTED;
    if computed.is_open {
        let sides = ((&W::TO, &to), (&W::FROM, from));
        let Some(run) = planned(sides.0, sides.1, further, is_one, W::ALGORITHM) else { return };
        let (into, place) = (to.start_mut(endpoint), Place { pe, segment, offset });
        // SAFETY: `planned` checked both regions against their objects.
        return unsafe { run.get(endpoint, into, to.pieces(), place, from.pieces(), through.family) };
    }
    let Some((a, b)) = computed.offsets::<W, D, S>(&to, from, further, is_one) else { return };
    let (plan, location) = (&computed.plan, Location::caller());
    let (into, place) = (to.start_mut(endpoint).wrapping_add(a), Place { pe, segment, offset: offset + b });
    // SAFETY: `offsets` checked both regions against their objects.
    unsafe { get_planned(endpoint, into, place, plan, through.family, location) };
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
pub fn put_later<'b, D, S, To, From, ToField, FromField>(
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
    S: Source<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    let Through { endpoint, .. } = through;
    to_region.require_indices(0);
    from_region.require_indices(0);
    let (segment, offset) = to.place_on(pe);
    let is_one = pe == endpoint.me() && from.place(endpoint) == Some(offset);
    let sides = ((to_region, to), (from_region, from));
    let Some(run) = planned(sides.0, sides.1, (0, 0), is_one, algorithm) else { return };
    let (source, place) = (from.start(endpoint), Place { pe, segment, offset });
    // SAFETY: `planned` checked both regions against their objects.
    unsafe { run.put(endpoint, place, to.pieces(), source, from.pieces(), through.family) };
}

/// As [`get`], for regions that only the run knows; see [`put_later`].
///
/// # Panics
///
/// As [`put_later`].
#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get_later<'b, D, S, To, From, ToField, FromField>(
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
    D: Destination<Element = To> + Lent + 'b,
    S: Remote<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    let Through { endpoint, .. } = through;
    to_region.require_indices(0);
    from_region.require_indices(0);
    let (segment, offset) = from.place_on(pe);
    let is_one = pe == endpoint.me() && to.place(endpoint) == Some(offset);
    let sides = ((to_region, &to), (from_region, from));
    let Some(run) = planned(sides.0, sides.1, (0, 0), is_one, algorithm) else { return };
    let (into, place) = (to.start_mut(endpoint), Place { pe, segment, offset });
    // SAFETY: `planned` checked both regions against their objects.
    unsafe { run.get(endpoint, into, to.pieces(), place, from.pieces(), through.family) };
}

/// Panics unless the two sides have `N` and `M` indices that only the run knows: one without a number would
/// be taken for 0, which an empty slice does not have.
const fn require_indices<W: Written, const N: usize, const M: usize>() {
    W::TO.require_indices(N);
    W::FROM.require_indices(M);
}

/// What the compiler computes of a transfer: one constant, so that it says once what is wrong.
struct Computed {
    to: Layout,
    from: Layout,
    plan: Plan,
    /// What the program could do to make it faster.
    advice: Option<Advice>,
    /// Neither side knows how much there is before the program runs.
    is_open: bool,
    /// Blocks along the outermost axis of the destination, if only the source says how many.
    to_count: usize,
    /// The same of the source.
    from_count: usize,
    /// The two regions share nothing even if they are of one object on one PE.
    is_disjoint: bool,
}

/// [`Computed`] for a transfer between a `D` and an `S`.
struct Constant<W, D: ?Sized, S: ?Sized>(PhantomData<(W, *const D, *const S)>);

impl<W: Written, D: Object + ?Sized, S: Object + ?Sized> Constant<W, D, S> {
    const COMPUTED: &'static Computed = &if D::IS_LATER || S::IS_LATER {
        Computed::LATER
    } else {
        let (to, from) = matched(Side::of::<D>(&W::TO), Side::of::<S>(&W::FROM));
        let algorithm = match W::ALGORITHM {
            Some(algorithm) => algorithm,
            None => Algorithm::Auto,
        };
        let is_open = to.is_open() && from.is_open();
        let is_known = !W::TO.has_indices() && !W::FROM.has_indices() && !to.is_open() && !from.is_open();
        let plan = if is_open {
            Plan::of(Pattern::blocks(0, 0, 0, 0), 1, algorithm, &Thresholds::DEFAULT)
        } else {
            Plan::new(&to, &from, algorithm, &Thresholds::DEFAULT)
        };
        Computed {
            to,
            from,
            plan,
            advice: Advice::of(plan.pattern()),
            is_open,
            to_count: outermost(&to, &from),
            from_count: outermost(&from, &to),
            is_disjoint: is_known && to.is_disjoint(&from),
        }
    };
}

impl Computed {
    /// Nothing: all is left to the run.
    const LATER: Self = {
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

    /// Bytes from the start of each object to its first block, after all that was left to be checked; none
    /// if nothing is to be moved.
    #[inline(always)]
    #[track_caller]
    fn offsets<W: Written, D: Object + ?Sized, S: Object + ?Sized>(
        &self,
        to: &D,
        from: &S,
        further: (usize, usize),
        is_one: bool,
    ) -> Option<(usize, usize)> {
        if !fits(&W::TO, &self.to, self.to_count, to) || !fits(&W::FROM, &self.from, self.from_count, from) {
            refuse((&W::TO, to), (&W::FROM, from));
        }
        if !self.is_disjoint && is_one && !is_apart((&W::TO, to), (&W::FROM, from), further) {
            return None;
        }
        if let Some(advice) = &self.advice {
            advice.give();
        }
        Some((self.to.offset() + further.0, self.from.offset() + further.1))
    }
}

/// The plan for two regions, checked against their objects; nothing if nothing is to be moved.
#[inline]
#[track_caller]
fn planned<D: Object + ?Sized, S: Object + ?Sized>(
    to: (&Region<'_>, &D),
    from: (&Region<'_>, &S),
    further: (usize, usize),
    is_one: bool,
    algorithm: Option<Algorithm>,
) -> Option<Planned> {
    if is_one && !is_apart(to, from, further) {
        return None;
    }
    let (to, from) = matched(Side::of_object(to.0, to.1), Side::of_object(from.0, from.1));
    let settings = settings();
    let algorithm = algorithm.unwrap_or(settings.algorithm);
    let plan = Plan::new(&to, &from, algorithm, &settings.thresholds);
    if let Some(advice) = Advice::of(plan.pattern()) {
        advice.give();
    }
    Some(Planned { plan, algorithm, to: to.offset() + further.0, from: from.offset() + further.1 })
}
