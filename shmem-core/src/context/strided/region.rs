//! One side of a transfer as written in `strided!`: axes, fields, and the indices marked `dyn`, which are known at run time only.

use super::object::Object;
use crate::strided::{Axis, Field, Layout, MAX_DIMS, Pattern, Shape, has, lower, select};

/// One side of a transfer, as written in `strided!`.
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

    /// Whether `O` has the named fields.
    pub(super) const fn is_known<O: Object + ?Sized>(&self) -> bool {
        has(O::FIELDS, self.fields)
    }

    /// The same region of whole elements, without the fields.
    pub(super) const fn whole(&self) -> Self {
        Self { fields: &[], ..*self }
    }

    /// Panics unless `given` is the number of the region's run-time indices.
    #[track_caller]
    pub(super) const fn require_indices(&self, given: usize) {
        let (mut expected, mut i) = (0, 0);
        while i < self.axes.len() {
            expected += self.axes[i].is_dynamic() as usize;
            i += 1;
        }
        assert!(expected == given, "an index that only the run knows is not given");
    }

    /// Returns the region's layout in an object of type `O`.
    #[track_caller]
    pub(super) const fn layout_of<O: Object + ?Sized>(&self) -> Layout {
        self.layout(&O::SHAPE, O::FIELDS, O::ALIGN)
    }

    /// Returns the region's layout in `object`, with the dimensions that `object` has at run time.
    #[track_caller]
    pub(super) fn layout_in<O: Object + ?Sized>(&self, object: &O) -> Layout {
        self.layout(&object.shape(), O::FIELDS, O::ALIGN)
    }

    /// Returns the region's layout in an object of dimensions `shape`. Innermost axes that the region omits are whole.
    #[track_caller]
    const fn layout(&self, shape: &Shape, fields: &[Field], align: usize) -> Layout {
        let rank = shape.dims().len();
        // `[..]` selects the whole object, even an object without dimensions.
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

/// Whether a region fits the length of a slice, `object`. `count` is the number of blocks along an outermost axis without an end.
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

/// Returns the number of blocks along the outermost axis of `open`, if this axis has no end: the number with which both sides have
/// equally many blocks.
pub(super) const fn outermost(open: &Layout, other: &Layout) -> usize {
    match open.count() {
        0 => 0,
        inside => other.count() / inside,
    }
}

/// Returns the bytes that run-time indices add to the offset of a region of `object`. Panics if an index is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) fn indexed<O: Object + ?Sized>(region: &Region<'_>, object: &O, indices: &[usize]) -> usize {
    if indices.is_empty() {
        return 0;
    }
    let shape = object.shape();
    let (mut bytes, mut indices) = (0, indices.iter());
    for (number, (axis, dim)) in region.axes.iter().zip(shape.dims()).enumerate() {
        if axis.is_dynamic()
            && let Some(&index) = indices.next()
        {
            if index >= dim.len {
                beyond(region.name, number, dim.len, index);
            }
            bytes += index * dim.stride;
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

/// Panics with the reason why the regions, at the lengths of their objects, do not match.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn refuse<D, S>(to: (&Region<'_>, &D), from: (&Region<'_>, &S)) -> !
where
    D: Object + ?Sized,
    S: Object + ?Sized,
{
    Pattern::join(&to.0.layout_in(to.1), &from.0.layout_in(from.1));
    unreachable!("regions that fit were refused")
}

/// Returns `true` if two regions of one object on this PE are disjoint, and `false` if they are equal, so that no bytes must be
/// moved. Panics if they overlap only in part.
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
    let (to, from) =
        (to.layout_in(to_object).shifted(further.0), from.layout_in(from_object).shifted(further.1));
    if to.is_same(&from) {
        return false;
    }
    assert!(
        to.is_disjoint(&from),
        "the two regions of `{name}` overlap, and the PE is this one: it would write what it still has to read"
    );
    true
}

/// The part of a region that is known at run time only: its indices marked `dyn`, in the order of the axes, or the whole region.
pub trait Selected {
    /// Number of run-time indices.
    const INDICES: usize;

    /// The run-time indices.
    fn indices(&self) -> &[usize];

    /// Returns `constant` with these indices in its axes, which are stored in `room`. If `self` is a whole region, returns `self`.
    #[doc(hidden)]
    fn region<'r>(&'r self, constant: &Region<'static>, room: &'r mut [Axis; MAX_DIMS]) -> Region<'r>;
}

impl<const N: usize> Selected for [usize; N] {
    const INDICES: usize = N;

    #[inline(always)]
    fn indices(&self) -> &[usize] {
        self
    }

    #[inline(always)]
    fn region<'r>(&'r self, constant: &Region<'static>, room: &'r mut [Axis; MAX_DIMS]) -> Region<'r> {
        let Some(axes) = room.get_mut(..constant.axes.len()).filter(|_| N > 0) else {
            return *constant;
        };
        axes.copy_from_slice(constant.axes);
        for (axis, index) in axes.iter_mut().filter(|axis| axis.is_dynamic()).zip(self) {
            *axis = Axis::index(*index);
        }
        Region { axes, ..*constant }
    }
}

/// Returns the run-time indices of one side. This call checks their type, so that rustc's error points at the index.
#[inline(always)]
pub const fn indices<const N: usize>(indices: [usize; N]) -> [usize; N] {
    indices
}

impl Selected for &Region<'_> {
    const INDICES: usize = 0;

    fn indices(&self) -> &[usize] {
        &[]
    }

    #[inline(always)]
    fn region<'r>(&'r self, _: &Region<'static>, _: &'r mut [Axis; MAX_DIMS]) -> Region<'r> {
        **self
    }
}
