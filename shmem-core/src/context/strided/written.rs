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

use super::elements::SameElements;
use super::object::{Destination, Object, Own, Remote, Source};
use super::region::{Side, check_overlap, fits, indexed, matched, outermost, refuse};
use super::{Place, get_planned, put_planned};
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{SymBox, Symmetric};
use crate::pe::Pe;
use crate::strided::{Advice, Algorithm, Layout, Pattern, Plan, Thresholds, settings};

pub use super::elements::{Run, field, run};
pub use super::region::Region;

/// A region of an object that a constant can name, while compiling.
///
/// # Panics
///
/// If the region does not lie in the object.
#[track_caller]
pub const fn region<O: Object + ?Sized>(region: &Region<'_>, _: &O) -> Side {
    Side::of::<O>(region)
}

/// Two regions, while compiling. (If it is their elements that differ, that is left to be said by
/// [`SameElements`].)
///
/// # Panics
///
/// If they differ in shape.
#[track_caller]
pub const fn agree(to: Side, from: Side) {
    let (to, from) = matched(to, from);
    if to.block_bytes() == from.block_bytes() && !(to.is_open() && from.is_open()) {
        Pattern::join(&to, &from);
    }
}

/// The endpoint of the token that is the first argument.
#[inline(always)]
pub fn token<I: Initiator + ?Sized>(token: &I) -> &Endpoint {
    token.endpoint()
}

/// The destination of a get, borrowed by the rules of method calls: a variable is borrowed exclusively,
/// an exclusive reference is lent on, and of a symmetric object's handle a shared reference is enough.
pub trait Lend {
    /// An exclusive reference.
    #[doc(hidden)]
    #[inline(always)]
    fn __strided_into(&mut self) -> &mut Self {
        self
    }
}

impl<O: ?Sized> Lend for O {}

impl<T> Symmetric<T> {
    /// This PE's own copy, see [`Lend`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn __strided_into(&self) -> Own<'_, Self> {
        Own(self)
    }
}

impl<T: ?Sized> SymBox<T> {
    /// This PE's own copy, see [`Lend`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn __strided_into(&self) -> Own<'_, Self> {
        Own(self)
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

/// Writes a region of `from` to one of `to` on `pe`. `indices` are those that only the run knows, of
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
pub fn put<W, D, S, ToElement, FromElement, const TO: usize, const FROM: usize>(
    endpoint: &Endpoint,
    to: &D,
    pe: Pe,
    from: &S,
    to_indices: [usize; TO],
    from_indices: [usize; FROM],
    _: impl FnOnce(PhantomData<D::Element>) -> PhantomData<ToElement>,
    _: impl FnOnce(PhantomData<S::Element>) -> PhantomData<FromElement>,
) where
    W: Written,
    D: Remote + ?Sized,
    S: Source + ?Sized,
    FromElement: SameElements<ToElement>,
{
    let (segment, offset) = to.place_on(pe);
    let is_one = pe == endpoint.me() && from.place(endpoint) == Some(offset);
    let further = (indexed(&W::TO, to, &to_indices), indexed(&W::FROM, from, &from_indices));
    let source = from.start(endpoint);
    if Constant::<W, D, S>::IS_OPEN {
        let (to, from) = (Side::of_object(&W::TO, to), Side::of_object(&W::FROM, from));
        let (plan, a, b) = planned(W::TO.name, to, from, further, is_one, W::ALGORITHM);
        // SAFETY: `planned` checked both regions against their objects.
        return unsafe {
            put_planned(endpoint, Place { pe, segment, offset: offset + a }, source.wrapping_add(b), &plan)
        };
    }
    let (a, b) = Constant::<W, D, S>::offsets(to, from, further, is_one);
    let (plan, advice) = &Constant::<W, D, S>::PLAN;
    if let Some(advice) = advice {
        advice.give();
    }
    // SAFETY: `offsets` checked both regions against their objects.
    unsafe { put_planned(endpoint, Place { pe, segment, offset: offset + a }, source.wrapping_add(b), plan) };
}

/// Reads a region of `from` on `pe` into one of `to`; see [`put`].
///
/// # Panics
///
/// As [`put`].
#[inline(always)]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get<W, D, S, ToElement, FromElement, const TO: usize, const FROM: usize>(
    endpoint: &Endpoint,
    mut to: D,
    from: &S,
    pe: Pe,
    to_indices: [usize; TO],
    from_indices: [usize; FROM],
    _: impl FnOnce(PhantomData<D::Element>) -> PhantomData<ToElement>,
    _: impl FnOnce(PhantomData<S::Element>) -> PhantomData<FromElement>,
) where
    W: Written,
    D: Destination,
    S: Remote + ?Sized,
    FromElement: SameElements<ToElement>,
{
    let (segment, offset) = from.place_on(pe);
    let is_one = pe == endpoint.me() && to.place(endpoint) == Some(offset);
    let further = (indexed(&W::TO, &to, &to_indices), indexed(&W::FROM, from, &from_indices));
    if Constant::<W, D, S>::IS_OPEN {
        let sides = (Side::of_object(&W::TO, &to), Side::of_object(&W::FROM, from));
        let (plan, a, b) = planned(W::TO.name, sides.0, sides.1, further, is_one, W::ALGORITHM);
        let into = to.start_mut(endpoint).wrapping_add(a);
        // SAFETY: `planned` checked both regions against their objects.
        return unsafe { get_planned(endpoint, into, Place { pe, segment, offset: offset + b }, &plan) };
    }
    let (a, b) = Constant::<W, D, S>::offsets(&to, from, further, is_one);
    let (plan, advice) = &Constant::<W, D, S>::PLAN;
    if let Some(advice) = advice {
        advice.give();
    }
    let into = to.start_mut(endpoint).wrapping_add(a);
    // SAFETY: `offsets` checked both regions against their objects.
    unsafe { get_planned(endpoint, into, Place { pe, segment, offset: offset + b }, plan) };
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
pub fn put_later<D, S, ToElement, FromElement>(
    endpoint: &Endpoint,
    to: &D,
    pe: Pe,
    from: &S,
    to_region: &Region<'_>,
    from_region: &Region<'_>,
    algorithm: Option<Algorithm>,
    _: impl FnOnce(PhantomData<D::Element>) -> PhantomData<ToElement>,
    _: impl FnOnce(PhantomData<S::Element>) -> PhantomData<FromElement>,
) where
    D: Remote + ?Sized,
    S: Source + ?Sized,
    FromElement: SameElements<ToElement>,
{
    let (segment, offset) = to.place_on(pe);
    let is_one = pe == endpoint.me() && from.place(endpoint) == Some(offset);
    let sides = (Side::of_object(to_region, to), Side::of_object(from_region, from));
    let (plan, a, b) = planned(to_region.name, sides.0, sides.1, (0, 0), is_one, algorithm);
    let source = from.start(endpoint).wrapping_add(b);
    // SAFETY: `planned` checked both regions against their objects.
    unsafe { put_planned(endpoint, Place { pe, segment, offset: offset + a }, source, &plan) };
}

/// As [`get`], for regions that only the run knows; see [`put_later`].
///
/// # Panics
///
/// As [`put_later`].
#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
pub fn get_later<D, S, ToElement, FromElement>(
    endpoint: &Endpoint,
    mut to: D,
    from: &S,
    pe: Pe,
    to_region: &Region<'_>,
    from_region: &Region<'_>,
    algorithm: Option<Algorithm>,
    _: impl FnOnce(PhantomData<D::Element>) -> PhantomData<ToElement>,
    _: impl FnOnce(PhantomData<S::Element>) -> PhantomData<FromElement>,
) where
    D: Destination,
    S: Remote + ?Sized,
    FromElement: SameElements<ToElement>,
{
    let (segment, offset) = from.place_on(pe);
    let is_one = pe == endpoint.me() && to.place(endpoint) == Some(offset);
    let sides = (Side::of_object(to_region, &to), Side::of_object(from_region, from));
    let (plan, a, b) = planned(to_region.name, sides.0, sides.1, (0, 0), is_one, algorithm);
    let into = to.start_mut(endpoint).wrapping_add(a);
    // SAFETY: `planned` checked both regions against their objects.
    unsafe { get_planned(endpoint, into, Place { pe, segment, offset: offset + b }, &plan) };
}

/// What the compiler computes of a transfer between a `D` and an `S`.
struct Constant<W, D: ?Sized, S: ?Sized>(PhantomData<(W, *const D, *const S)>);

impl<W: Written, D: Object + ?Sized, S: Object + ?Sized> Constant<W, D, S> {
    const LAYOUTS: (Layout, Layout) = matched(Side::of::<D>(&W::TO), Side::of::<S>(&W::FROM));
    const TO: Layout = Self::LAYOUTS.0;
    const FROM: Layout = Self::LAYOUTS.1;

    /// Neither side knows how much there is before the program runs.
    const IS_OPEN: bool = Self::TO.is_open() && Self::FROM.is_open();

    const ALGORITHM: Algorithm = match W::ALGORITHM {
        Some(algorithm) => algorithm,
        None => Algorithm::Auto,
    };

    /// The plan, and what is to be said about it. One constant, so that one mistake is one error.
    const PLAN: (Plan, Option<Advice>) = {
        let plan = if Self::IS_OPEN {
            Plan::of(Pattern::blocks(0, 0, 0, 0), 1, Self::ALGORITHM, &Thresholds::DEFAULT)
        } else {
            Plan::new(&Self::TO, &Self::FROM, Self::ALGORITHM, &Thresholds::DEFAULT)
        };
        (plan, Advice::of(plan.pattern()))
    };

    /// Blocks along the outermost axis of the destination, if only the source says how many.
    const TO_COUNT: usize = outermost(&Self::TO, &Self::FROM);
    /// The same of the source.
    const FROM_COUNT: usize = outermost(&Self::FROM, &Self::TO);

    /// The two regions share nothing even if they are of one object on one PE.
    const IS_DISJOINT: bool = !W::TO.has_indices()
        && !W::FROM.has_indices()
        && !Self::TO.is_open()
        && !Self::FROM.is_open()
        && Self::TO.is_disjoint(&Self::FROM);

    /// Bytes from the start of each object to its first block, after all that was left to be checked.
    #[inline(always)]
    #[track_caller]
    fn offsets(to: &D, from: &S, further: (usize, usize), is_one: bool) -> (usize, usize) {
        let sides = || (Side::of_object(&W::TO, to), Side::of_object(&W::FROM, from));
        if !fits(&W::TO, &Self::TO, Self::TO_COUNT, to)
            || !fits(&W::FROM, &Self::FROM, Self::FROM_COUNT, from)
        {
            refuse(sides());
        }
        if !Self::IS_DISJOINT && is_one {
            check_overlap(W::TO.name, sides(), further);
        }
        (Self::TO.offset() + further.0, Self::FROM.offset() + further.1)
    }
}

/// The plan for two regions that were checked against their objects, and the bytes from the start of
/// each object to its first block.
#[inline]
#[track_caller]
fn planned(
    name: &str,
    to: Side,
    from: Side,
    further: (usize, usize),
    is_one: bool,
    algorithm: Option<Algorithm>,
) -> (Plan, usize, usize) {
    if is_one {
        check_overlap(name, (to, from), further);
    }
    let (to, from) = matched(to, from);
    let settings = settings();
    let plan = Plan::new(&to, &from, algorithm.unwrap_or(settings.algorithm), &settings.thresholds);
    if let Some(advice) = Advice::of(plan.pattern()) {
        advice.give();
    }
    (plan, to.offset() + further.0, from.offset() + further.1)
}
