//! One side of a transfer, as written: axes, fields, and what stands behind `dyn`.
//!
//! Selectors behind `dyn` are known when the program runs: an index, or a variable that is a range. Which of the two it is, its
//! type says. So with indices alone the plan stays a constant, and with a range it is made when the transfer runs.

use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::object::Object;
use crate::strided::{Axis, Field, Layout, MAX_DIMS, Pattern, Shape, has, lower, select};

/// One side of a transfer, as written.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    pub(super) name: &'a str,
    axes: &'a [Axis],
    fields: &'a [&'a [&'a str]],
}

impl<'a> Region<'a> {
    /// Selects `axes` of the object `name` and, in each element, the field at the path `fields`. The last step of the path may name
    /// several adjacent fields.
    pub const fn new(name: &'a str, axes: &'a [Axis], fields: &'a [&'a [&'a str]]) -> Self {
        Self { name, axes, fields }
    }

    /// Whether `O` has the fields that it names.
    pub(super) const fn is_known<O: Object + ?Sized>(&self) -> bool {
        has(O::FIELDS, self.fields)
    }

    /// The region without its fields: whole elements.
    pub(super) const fn whole(&self) -> Self {
        Self { fields: &[], ..*self }
    }

    /// Whether it takes several fields of each element.
    const fn is_run(&self) -> bool {
        match self.fields {
            [.., last] => last.len() > 1,
            [] => false,
        }
    }

    /// How many selectors it has that only the run knows.
    pub(super) const fn selectors(&self) -> usize {
        let (mut found, mut i) = (0, 0);
        while i < self.axes.len() {
            found += self.axes[i].is_dynamic() as usize;
            i += 1;
        }
        found
    }

    /// Panics unless `given` is the number of its selectors that only the run knows.
    #[track_caller]
    pub(super) const fn require_selectors(&self, given: usize) {
        assert!(self.selectors() == given, "an index that only the run knows is not given");
    }

    /// Its layout in an object of these dimensions. What it selects of the innermost ones may be left out: all.
    #[track_caller]
    const fn layout(&self, shape: &Shape, fields: &[Field], align: usize) -> Layout {
        let rank = shape.dims().len();
        // `[..]` is the whole object, even if that has no dimensions.
        if self.axes.len() > rank && !matches!(self.axes, [all] if all.is_all()) {
            return lower(self.name, shape, align, self.axes, select(shape, fields, &[]).1);
        }
        let mut axes = [Axis::all(); MAX_DIMS];
        let mut i = 0;
        while i < self.axes.len() && i < rank {
            axes[i] = self.axes[i];
            i += 1;
        }
        let (shape, part) = select(shape, fields, self.fields);
        lower(self.name, &shape, align, axes.split_at(shape.dims().len()).0, part)
    }
}

/// One side, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub(super) layout: Layout,
    is_run: bool,
}

impl Side {
    #[track_caller]
    const fn new(region: &Region<'_>, shape: &Shape, fields: &[Field], align: usize) -> Self {
        Self { layout: region.layout(shape, fields, align), is_run: region.is_run() }
    }

    /// In the dimensions of `O`.
    #[track_caller]
    pub(super) const fn of<O: Object + ?Sized>(region: &Region<'_>) -> Self {
        Self::new(region, &O::SHAPE, O::FIELDS, O::ALIGN)
    }

    /// In those of `object`, with the length that it has.
    #[track_caller]
    pub(super) fn of_object<O: Object + ?Sized>(region: &Region<'_>, object: &O) -> Self {
        Self::new(region, &object.shape(), O::FIELDS, O::ALIGN)
    }
}

/// Both layouts. Several fields of one type stand opposite as many elements of that type.
pub(super) const fn matched(to: Side, from: Side) -> (Layout, Layout) {
    let (mut a, mut b) = (to.layout, from.layout);
    let (to_bytes, from_bytes) = (a.block_bytes(), b.block_bytes());
    if to.is_run && !from.is_run && from_bytes != 0 && to_bytes > from_bytes && to_bytes % from_bytes == 0 {
        a = a.divided(from_bytes);
    } else if from.is_run
        && !to.is_run
        && to_bytes != 0
        && from_bytes > to_bytes
        && from_bytes % to_bytes == 0
    {
        b = b.divided(to_bytes);
    }
    (a, b)
}

/// Checks a region, of `count` blocks along an outermost axis that is open, against the length of a slice.
#[inline(always)]
pub(super) fn fits<O: Object + ?Sized>(
    region: &Region<'_>,
    layout: &Layout,
    count: usize,
    object: &O,
) -> bool {
    match region.axes.first() {
        Some(axis) if O::SHAPE.is_open() && layout.count() != 0 => {
            axis.fits(object.outermost_len(), if layout.is_open() { count } else { axis.count(0) })
        }
        _ => true,
    }
}

/// How many blocks of the outermost run of `open` make as many as the other side has.
pub(super) const fn outermost(open: &Layout, other: &Layout) -> usize {
    match open.count() {
        0 => 0,
        inside => other.count() / inside,
    }
}

/// Bytes that the indices which only the run knows add to the offset of a region of `object`.
///
/// # Panics
///
/// If one is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) fn indexed<O: Object + ?Sized, I: Selectors>(
    region: &Region<'_>,
    object: &O,
    indices: &I,
) -> usize {
    if I::COUNT == 0 {
        return 0;
    }
    let shape = object.shape();
    let (mut bytes, mut used) = (0, 0);
    for (number, (axis, dim)) in region.axes.iter().zip(shape.dims()).enumerate() {
        if axis.is_dynamic() {
            let index = indices.axis(used).first();
            if index >= dim.len {
                beyond(region.name, number, dim.len, index);
            }
            bytes += index * dim.stride;
            used += 1;
        }
    }
    bytes
}

#[cold]
#[inline(never)]
#[track_caller]
fn beyond(name: &str, number: usize, len: usize, index: usize) -> ! {
    panic!("`{name}` has {len} elements in dimension {number}, but the index is {index}")
}

/// Says why regions are not those that their constants promised.
///
/// # Panics
///
/// Always.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn refuse<D, S>(to: (&Region<'_>, &D), from: (&Region<'_>, &S)) -> !
where
    D: Object + ?Sized,
    S: Object + ?Sized,
{
    let (to, from) = matched(Side::of_object(to.0, to.1), Side::of_object(from.0, from.1));
    Pattern::join(&to, &from);
    unreachable!("regions that fit were refused")
}

/// Whether two regions of the object `name` on this PE lie apart. They do not if they are the same:
/// then there is nothing to move.
///
/// # Panics
///
/// If they overlap otherwise.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn is_apart<D, S>(
    (to, to_object): (&Region<'_>, &D),
    (from, from_object): (&Region<'_>, &S),
    further: (usize, usize),
) -> bool
where
    D: Object + ?Sized,
    S: Object + ?Sized,
{
    let name = to.name;
    let (to, from) = matched(Side::of_object(to, to_object), Side::of_object(from, from_object));
    let (to, from) = (to.shifted(further.0), from.shifted(further.1));
    if to.is_same(&from) {
        return false;
    }
    assert!(
        to.is_disjoint(&from),
        "the two regions of `{name}` overlap, and the PE is this one: it would write what it still has to read"
    );
    true
}

/// What selects elements of a dimension: an index, or a range of indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` selects nothing of a dimension",
    label = "neither a `usize` nor a range of `usize`",
    note = "behind `dyn` stands an index or a range of indices: `dyn i`, `dyn a..b`, or a variable that is a range"
)]
pub trait Selector: Clone {
    /// Whether it is a range.
    #[doc(hidden)]
    const IS_RANGE: bool;

    /// What it takes.
    #[doc(hidden)]
    fn axis(&self) -> Axis;
}

impl Selector for usize {
    const IS_RANGE: bool = false;

    #[inline(always)]
    fn axis(&self) -> Axis {
        Axis::index(*self)
    }
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        impl Selector for $range {
            const IS_RANGE: bool = true;

            #[inline(always)]
            fn axis(&self) -> Axis {
                ranged(self)
            }
        }
    )*};
}
ranges!(Range<usize> RangeInclusive<usize> RangeFrom<usize> RangeTo<usize> RangeToInclusive<usize> RangeFull);

/// A copy of a selector: a range is still there for the other side.
#[inline(always)]
pub fn selected<S: Selector>(selector: &S) -> S {
    selector.clone()
}

/// What a selector takes.
#[inline(always)]
pub fn axis(selector: &impl Selector) -> Axis {
    selector.axis()
}

/// What a range takes.
#[inline(always)]
pub fn ranged(range: &impl RangeBounds<usize>) -> Axis {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    match range.end_bound() {
        Bound::Included(last) => Axis::through(first, *last),
        Bound::Excluded(end) => Axis::range(first, *end),
        Bound::Unbounded => Axis::from(first),
    }
}

/// The selectors of a side that only the run knows, in the order of its axes: `(first, (second, ()))`.
pub trait Selectors {
    /// How many they are.
    const COUNT: usize;

    /// Whether there is a range among them.
    const HAS_RANGES: bool;

    /// What number `number` takes.
    fn axis(&self, number: usize) -> Axis;

    /// The region `constant` with these, its axes in `room`.
    #[doc(hidden)]
    #[inline(always)]
    fn region<'r>(&'r self, constant: &Region<'static>, room: &'r mut [Axis; MAX_DIMS]) -> Region<'r> {
        let Some(axes) = room.get_mut(..constant.axes.len()).filter(|_| constant.selectors() > 0) else {
            return *constant;
        };
        let mut used = 0;
        for (to, axis) in axes.iter_mut().zip(constant.axes) {
            *to = if axis.is_dynamic() { self.axis(used) } else { *axis };
            used += usize::from(axis.is_dynamic());
        }
        Region { axes, ..*constant }
    }
}

/// A whole region that only the run knows.
impl Selectors for &Region<'_> {
    const COUNT: usize = 0;
    const HAS_RANGES: bool = true;

    fn axis(&self, _: usize) -> Axis {
        unreachable!("a region is taken as it is")
    }

    #[inline(always)]
    fn region<'r>(&'r self, _: &Region<'static>, _: &'r mut [Axis; MAX_DIMS]) -> Region<'r> {
        **self
    }
}

impl Selectors for () {
    const COUNT: usize = 0;
    const HAS_RANGES: bool = false;

    #[inline(always)]
    fn axis(&self, _: usize) -> Axis {
        unreachable!("a region has as many selectors as it needs")
    }
}

impl<S: Selector, R: Selectors> Selectors for (S, R) {
    const COUNT: usize = 1 + R::COUNT;
    const HAS_RANGES: bool = S::IS_RANGE || R::HAS_RANGES;

    #[inline(always)]
    fn axis(&self, number: usize) -> Axis {
        if number == 0 { self.0.axis() } else { self.1.axis(number - 1) }
    }
}
