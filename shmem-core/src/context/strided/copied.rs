//! What `strided!` expands to between two places of this PE's own memory: no PE, and no token.

use core::marker::PhantomData;

use super::object::SameElements;
use super::object::{Local, LocalMut};
use super::region::Selectors;
use super::region::{Region, indexed};
use super::written::{Constant, is_same, planned};
use crate::data::PlainData;
use crate::strided::{Algorithm, Axis, MAX_DIMS, execute, execute_dyn};

/// Copies a region of `from` to one of `to`; see [`put`](super::written::put).
///
/// # Panics
///
/// If an index is beyond its dimension, or if a slice has another length than the other side wants.
#[inline(always)]
#[track_caller]
pub fn copy<D, S, To, From, ToField, FromField, I, J>(
    mut to: D,
    from: &S,
    to_selectors: I,
    from_selectors: J,
    constant: &Constant<D, S, I, J>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: LocalMut<Element = To>,
    S: Local<Element = From> + ?Sized,
    To: PlainData,
    From: 'static,
    FromField: SameElements<ToField>,
    I: Selectors,
    J: Selectors,
{
    let computed = &constant.computed;
    if computed.is_open {
        let mut room = [[Axis::all(); MAX_DIMS]; 2];
        let [a, b] = &mut room;
        let sides = (constant.to.selected(&to_selectors, a), constant.from.selected(&from_selectors, b));
        let sides = ((&sides.0, &to), (&sides.1, from));
        let Some(run) = planned(sides.0, sides.1, false, constant.algorithm) else { return };
        let (into, start) = (to.first_mut().wrapping_add(run.to), from.first().wrapping_add(run.from));
        // SAFETY: `planned` found both regions in their objects (`Side::of_object`), each of which is one piece; they
        // have nothing in common, since `to` alone lends its memory.
        return unsafe { execute_dyn(&run.plan, into, start) };
    }
    let further = (indexed(&constant.to, &to, &to_selectors), indexed(&constant.from, from, &from_selectors));
    let Some((a, b)) = constant.offsets(&to, from, further, false) else { return };
    let (into, start) = (to.first_mut().wrapping_add(a), from.first().wrapping_add(b));
    if is_same::<To, From>() {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found both regions in their objects, which have
        // nothing in common, since `to` alone lends its memory; both are made of `To`s, since none of them is a field.
        unsafe { execute::<To>(&computed.plan, into, start) };
    } else {
        // SAFETY: `constant` (`Checked::new`, of these types) and `offsets` found both regions in their objects, which have
        // nothing in common, since `to` alone lends its memory.
        unsafe { execute::<()>(&computed.plan, into, start) };
    }
}

/// As [`copy`], for regions that only the run knows; see [`put_dyn`](super::written::put_dyn).
///
/// # Panics
///
/// As [`copy`], and for all that a constant region is refused for by the compiler.
#[inline]
#[track_caller]
pub fn copy_dyn<D, S, To, From, ToField, FromField>(
    mut to: D,
    from: &S,
    to_region: &Region<'_>,
    from_region: &Region<'_>,
    algorithm: Option<Algorithm>,
    _: impl FnOnce(PhantomData<To>) -> PhantomData<ToField>,
    _: impl FnOnce(PhantomData<From>) -> PhantomData<FromField>,
) where
    D: LocalMut<Element = To>,
    S: Local<Element = From> + ?Sized,
    To: PlainData,
    FromField: SameElements<ToField>,
{
    let sides = ((to_region, &to), (from_region, from));
    let Some(run) = planned(sides.0, sides.1, false, algorithm) else { return };
    let (into, start) = (to.first_mut().wrapping_add(run.to), from.first().wrapping_add(run.from));
    // SAFETY: `planned` found both regions in their objects (`Side::of_object`), each of which is one piece; they have
    // nothing in common, since `to` alone lends its memory.
    unsafe { execute_dyn(&run.plan, into, start) };
}
