//! Plans against element loops.

use proptest::prelude::*;

use super::*;
use crate::fixture::refusal;

/// The addresses of a region's elements, element by element: what `lower` must give.
fn elements(shape: &Shape, axes: &[Taken], part: Part) -> Vec<usize> {
    let mut found = vec![part.offset];
    for (dim, axis) in shape.dims().iter().zip(axes) {
        let numbers: Vec<usize> = match *axis {
            Taken::Index(i) => vec![i],
            Taken::Range { first, end, step, block } => {
                (first..end).step_by(step).flat_map(|i| i..i + block).collect()
            }
        };
        found = found.iter().flat_map(|at| numbers.iter().map(move |n| at + n * dim.stride)).collect();
    }
    found
}

#[derive(Clone, Copy, Debug)]
enum Taken {
    Index(usize),
    Range { first: usize, end: usize, step: usize, block: usize },
}

impl Taken {
    fn axis(self) -> Axis {
        match self {
            Self::Index(i) => Axis::index(i),
            Self::Range { first, end, step, block } => Axis::range(first, end).step(step).block(block),
        }
    }
}

prop_compose! {
    /// A region of a dimension that takes `count` blocks of `block` elements, and the dimension's length.
    fn taken(count: usize, block: usize)(first in 0..4_usize, step in block..block + 4, rest in 0..3_usize, beyond in 0..3_usize)
        -> (Taken, usize)
    {
        let end = if count == 0 { first } else { first + (count - 1) * step + block + rest.min(step - block) };
        (Taken::Range { first, end, step, block }, end + beyond + usize::from(count == 0))
    }
}

#[derive(Clone, Debug)]
struct Side {
    shape: Shape,
    axes: Vec<Taken>,
    part: Part,
}

/// A side whose region has these counts and blocks, in elements of some size.
fn side(counts: Vec<(usize, usize)>, bytes: usize) -> impl Strategy<Value = Side> {
    let axes: Vec<_> = counts
        .into_iter()
        .map(|(count, block)| {
            let index = (0..3_usize).prop_map(|i| (Taken::Index(i), i + 1));
            (prop::option::of(index), taken(count, block))
        })
        .collect();
    (axes, 0..3_usize, 0..9_usize).prop_map(move |(axes, pad, before)| {
        let mut shape = Shape::element(bytes + before + pad);
        let mut all = Vec::new();
        let mut stride = shape.element_bytes();
        for (index, axis) in axes.into_iter().rev() {
            for (taken, len) in index.into_iter().chain([axis]).rev() {
                shape = shape.array(len, stride);
                stride = stride * len + pad;
                all.push(taken);
            }
        }
        all.reverse();
        Side { shape, axes: all, part: Part { offset: before, bytes } }
    })
}

prop_compose! {
    fn sides()(counts in prop::collection::vec((0..5_usize, 1..4_usize), 0..3), bytes in 1..20_usize)
        (to in side(counts.clone(), bytes), from in side(counts, bytes)) -> (Side, Side)
    {
        (to, from)
    }
}

impl Side {
    fn layout(&self) -> Layout {
        let axes: Vec<Axis> = self.axes.iter().map(|axis| axis.axis()).collect();
        lower("SIDE", &self.shape, 1, &axes, self.part)
    }

    fn elements(&self) -> Vec<usize> {
        elements(&self.shape, &self.axes, self.part)
    }
}

/// Carries a plan out from a source of known bytes, and gives the destination, zeroed before.
fn moved(plan: &TransferPlan, to: &Layout, from: &Layout, source: &[u8]) -> Vec<u8> {
    let mut into = vec![0_u8; to.offset() + to.hull() + 16];
    // SAFETY: both buffers hold the hull of their side behind its offset.
    unsafe {
        execute::<()>(
            plan,
            into.as_mut_ptr().wrapping_add(to.offset()),
            source.as_ptr().wrapping_add(from.offset()),
        )
    };
    into
}

proptest! {
    #[test]
    fn every_algorithm_moves_what_an_element_loop_moves((to, from) in sides(), algorithm in 0..4_usize) {
        let (layout_to, layout_from) = (to.layout(), from.layout());
        let plan = TransferPlan::new(&layout_to, &layout_from, Algorithm::ALL[algorithm], &Thresholds::DEFAULT);
        let source: Vec<u8> = (0..layout_from.offset() + layout_from.hull()).map(|i| (i % 251) as u8 + 1).collect();
        let mut expected = vec![0; layout_to.offset() + layout_to.hull() + 16];
        for (a, b) in to.elements().into_iter().zip(from.elements()) {
            expected[a..a + to.part.bytes].copy_from_slice(&source[b..b + to.part.bytes]);
        }
        prop_assert_eq!(&moved(&plan, &layout_to, &layout_from, &source), &expected, "{}", plan);
        // By way of the blocks one behind the other.
        let dense = Layout::block(1, 1).repeated(plan.pattern().bytes(), 1);
        let of = |pattern| TransferPlan::of(pattern, 1, Algorithm::ALL[algorithm], &Thresholds::DEFAULT);
        let packed = moved(&of(plan.pattern().packed()), &dense, &layout_from, &source);
        let unpacked = moved(&of(plan.pattern().unpacked()), &layout_to, &dense, &packed);
        prop_assert_eq!(unpacked, expected);
    }

    /// A line is equivalent to the dense region, on either side, with its length known or not.
    #[test]
    fn a_line_takes_a_region_of_any_shape(
        (region, _) in sides(), first in 0..4_usize, is_open in any::<bool>(), packs in any::<bool>(),
    ) {
        let (elements, bytes) = (region.elements(), region.part.bytes);
        let count = elements.len();
        let line = |count: usize| {
            let shape = Shape::element(bytes).array(if is_open { Dim::DYNAMIC } else { first + count }, bytes);
            let axis = if is_open { Axis::from(first) } else { Axis::range(first, first + count) };
            lower("LINE", &shape, 1, &[axis], Part::whole(bytes))
        };
        let (there, here) = (region.layout(), line(count));
        let (to, from) = if packs { (here, there) } else { (there, here) };
        let plan = TransferPlan::new(&to, &from, Algorithm::Auto, &Thresholds::DEFAULT);
        let dense: Vec<usize> = (first..first + count).map(|i| i * bytes).collect();
        let (into, out) = if packs { (&dense, &elements) } else { (&elements, &dense) };
        let ends = |starts: &[usize]| starts.iter().max().map_or(0, |last| last + bytes);
        let source: Vec<u8> = (0..ends(out)).map(|i| (i % 251) as u8 + 1).collect();
        let (mut moved, mut expected) = (vec![0; ends(into)], vec![0; ends(into)]);
        for (a, b) in into.iter().zip(out) {
            expected[*a..a + bytes].copy_from_slice(&source[*b..b + bytes]);
        }
        // SAFETY: both buffers end behind the last element of their side.
        unsafe { execute::<()>(&plan, moved.as_mut_ptr().wrapping_add(to.offset()), source.as_ptr().wrapping_add(from.offset())) };
        prop_assert_eq!(moved, expected, "{}", plan);
        if !is_open {
            let longer = line(count + 1);
            let refused = std::panic::catch_unwind(|| Pattern::join(&longer, &there));
            prop_assert!(refused.is_err());
        }
    }

    #[test]
    fn no_overlap_is_missed((to, from) in sides(), shift in 0..64_usize) {
        let (a, b) = (to.layout(), from.layout());
        let bytes = |side: &Side, shift: usize| -> std::collections::BTreeSet<usize> {
            side.elements().into_iter().flat_map(|at| at + shift..at + shift + side.part.bytes).collect()
        };
        let shifted = a.shifted(shift);
        if shifted.is_disjoint(&b) {
            prop_assert!(bytes(&to, shift).is_disjoint(&bytes(&from, 0)));
        }
    }
}

/// The smaller distance at the destination is the inner loop, and loops that continue each other are one.
#[test]
fn loops_are_normal() {
    let field = Shape::slice_of::<[f64; 64]>(32);
    let column = lower("FIELD", &field, 64, &[Axis::all(), Axis::index(3)], Part::whole(8));
    let row = lower("ROW", &Shape::slice_of::<f64>(32), 8, &[Axis::all()], Part::whole(8));
    assert_eq!(Pattern::join(&column, &row).levels(), [Level { count: 32, to: 512, from: 8 }]);
    let cells = lower("FIELD", &field, 64, &[Axis::all().step(2), Axis::all().step(4)], Part::whole(8));
    assert_eq!(Pattern::join(&cells, &cells).levels().len(), 2);
    let every = lower("FIELD", &field, 64, &[Axis::all(), Axis::all().step(4)], Part::whole(8));
    assert_eq!(Pattern::join(&every, &every).levels(), [Level { count: 32 * 16, to: 32, from: 32 }]);
    let outer_small = Layout::block(8, 8).repeated(5, 16).repeated(7, 1024);
    assert_eq!(Pattern::join(&outer_small, &outer_small).levels()[1].to, 16);
    let rows = lower("FIELD", &field, 64, &[Axis::range(3, 5), Axis::all()], Part::whole(8));
    assert_eq!(Pattern::join(&rows, &rows), Pattern::contiguous(2 * 64 * 8));
}

#[test]
fn disjoint_regions_of_one_object_are_known() {
    const FIELD: Shape = Shape::slice_of::<[f64; 64]>(32);
    let take = |axes: &[Axis]| lower("FIELD", &FIELD, 64, axes, Part::whole(8));
    let column = |j| take(&[Axis::all(), Axis::index(j)]);
    assert!(column(0).is_disjoint(&column(63)) && !column(5).is_disjoint(&column(5)));
    let wide = |j| take(&[Axis::all(), Axis::range(j, j + 4)]);
    assert!(wide(0).is_disjoint(&wide(4)) && !wide(0).is_disjoint(&wide(3)));
    let row = |i| take(&[Axis::index(i), Axis::all()]);
    assert!(row(0).is_disjoint(&row(31)));
    let red = |i, j| take(&[Axis::from(i).step(2), Axis::from(j).step(2)]);
    assert!(red(0, 0).is_disjoint(&red(0, 1)) && red(0, 0).is_disjoint(&red(1, 0)));
}

#[test]
fn columns_are_as_wide_as_addresses_and_strides_allow() {
    let columns = |block, align| Columns::of(block, align).map(|c| (c.iput128, c.iput64, c.iput32));
    assert_eq!(columns(44, 16), Some((2, 1, 1)));
    assert_eq!(columns(44, 8), Some((0, 5, 1)));
    assert_eq!(columns(44, 4), Some((0, 0, 11)));
    assert_eq!((columns(44, 2), columns(42, 64)), (None, None));
}

/// Mistakes of programs: `misuse/strided.rs` of ui-tests, `ordered::regions` and `racing::strided` of shmem-rt.
#[test]
fn what_makes_no_plan_is_refused() {
    let grid = Shape::slice_of::<f64>(1024);
    let take = |axis: Axis| move || _ = lower("GRID", &grid, 64, &[axis], Part::whole(8));
    let side =
        |counts: &[usize]| counts.iter().fold(Layout::block(8, 8), |side, n| side.repeated(*n, 1 << 20));
    let line = |count| Layout::line(count, 8, 8);
    let join = |to: Layout, from: Layout| move || _ = Pattern::join(&to, &from);
    let block = Layout::block(8, 8);
    let columns = Method::Columns(Columns { iput128: 1, iput64: 0, iput32: 2 });
    let auto = |pattern, align| TransferPlan::of(pattern, align, Algorithm::Auto, &Thresholds::DEFAULT);
    let (far, near) = ([Piece::whole(0, usize::MAX)], [Piece::whole(0, 0)]);
    // Blocks of the first two axes there, of the last two here.
    let cube = |blocked: [bool; 6]| {
        let shape = (0..6).fold(Shape::element(1), |shape, depth: u32| shape.array(8, 16_usize.pow(depth)));
        let axes = blocked
            .map(|blocked| if blocked { Axis::range(0, 8).step(4).block(2) } else { Axis::range(0, 4) });
        lower("CUBE", &shape, 1, &axes, Part::whole(1))
    };
    let (t, f) = (true, false);
    let cubes = (cube([t, t, f, f, f, f]), cube([f, f, f, f, t, t]));
    let field = |offset| Field::new("field", offset, Fields::<[u32; 2]>::CONTENTS);
    let cell = Shape::element(16);
    let named = |offset| move || _ = select(&cell, &[field(offset)], &[&["field"]]);
    let behind = "field `field` would end behind its struct, which has 16 bytes";
    let cases: &[(&dyn Fn(), &str)] = &[
        (&take(Axis::from(1025)), "`GRID` has 1024 elements in dimension 0, but the region starts at 1025"),
        (&join(side(&[3, 4]), side(&[12])), "the destination is 3 x 4 elements, the source 12"),
        (
            &join(side(&[3, 4]), line(11)),
            "the destination is 3 x 4 elements, the source 11; those of the destination are 12",
        ),
        (&join(side(&[3]), line(4)), "the destination is 3 elements, the source 4"),
        (&join(line(13), side(&[Dim::DYNAMIC, 4])), "the destination is 13 elements, the source _ x 4"),
        (&join(Layout::block(4, 8), block), "the destination takes 4 bytes of each element, the source 8"),
        (
            &join(cubes.0, cubes.1),
            "the two regions make more than 8 loops: name fewer dimensions, or take fewer of them in blocks",
        ),
        (
            &|| _ = TransferPlan::by(Pattern::blocks(20, 3, 32, 32), columns),
            "columns of 24 bytes do not lie in blocks of 20",
        ),
        (&|| _ = Layout::block(8, 0), "an alignment is a power of two"),
        (&|| _ = auto(Pattern::contiguous(8), 0), "an alignment is a power of two"),
        (&|| _ = block.shifted(1).shifted(usize::MAX), "a layout starts beyond the last number"),
        (
            &|| {
                let (to, from) = (Pieced { pieces: &far, at: 1 }, Pieced { pieces: &near, at: 0 });
                each_part(&Pattern::contiguous(8), to, from, |_, _, _| ());
            },
            "byte 1 of the object lies further away than any memory reaches",
        ),
        (&named(9), behind),
        (&named(16), behind),
        (&named(usize::MAX), behind),
    ];
    for (make, said) in cases {
        assert_eq!(refusal(make), *said);
    }
    // What is just right.
    assert_eq!(select(&cell, &[field(8)], &[&["field"]]).1.offset, 8);
    assert_eq!(Pattern::join(&cubes.0, &cube([f; 6])).bytes(), 4096, "of eight");
    let columns = Method::Columns(Columns { iput128: 1, iput64: 0, iput32: 1 });
    assert_eq!(TransferPlan::by(Pattern::blocks(20, 3, 32, 32), columns).pattern().block(), 20);
    for (to, from) in [
        (line(12), side(&[Dim::DYNAMIC, 4])),
        (side(&[3, 1, 4]), side(&[1, 3, 4])),
        (side(&[3]), side(&[Dim::DYNAMIC])),
        (side(&[1]), side(&[Dim::DYNAMIC])),
    ] {
        Pattern::join(&to, &from);
    }
}

/// Numbers that are small, or near where sums and products of them are none.
fn number() -> impl Strategy<Value = usize> {
    (0..30_usize, 0..4_usize).prop_map(|(n, near)| [n, n, usize::MAX - n, usize::MAX / 8 + n][near])
}

proptest! {
    /// What an axis takes lies in its dimension, or is refused, whatever the numbers; and `fits` says so of slices.
    #[test]
    fn an_axis_takes_what_lies_in_its_dimension(
        kind in 0..5_usize, numbers in (number(), number(), number(), number()), len in 0..40_usize, other in 0..6_usize,
    ) {
        let (first, last, step, block) = numbers;
        let (step, block) = (step.max(1), block.clamp(1, step.max(1)));
        let (axis, first, end) = match kind {
            0 => (Axis::range(first, last), first, wide(last)),
            1 => (Axis::through(first, last), first, wide(last) + 1),
            2 => (Axis::from(first), first, wide(len)),
            3 => (Axis::all(), 0, wide(len)),
            _ => (Axis::index(first), first, wide(first) + 1),
        };
        let (axis, step, block) = if kind == 4 { (axis, 1, 1) } else { (axis.step(step).block(block), step, block) };
        let count = end.saturating_sub(wide(first)).div_ceil(wide(step));
        let behind = wide(first) + (count.max(1) - 1) * wide(step) + wide(block);
        let is_inside = wide(first) <= end && end <= wide(len) && (count == 0 || behind <= end);
        let object = Shape::element(8).array(len, 8);
        let layout = std::panic::catch_unwind(|| lower("OBJECT", &object, 8, &[axis], Part::whole(8))).ok();
        prop_assert_eq!(layout.is_some(), is_inside);
        prop_assert!(layout.is_none_or(|layout| layout.offset() + layout.hull() <= 8 * len));
        prop_assert_eq!(axis.fits(len, axis.count(len)), is_inside);
        prop_assert_eq!(axis.fits(len, other), is_inside && wide(other) == count);
    }
}

fn wide(number: usize) -> u128 {
    number as u128
}

/// Blocks of an open axis opposite a plain one: the length is that of the other side.
#[test]
fn blocks_of_an_open_axis_stand_opposite_one_run() {
    let mut open = Layout::block(8, 8).repeated(Dim::DYNAMIC, 32).repeated(2, 8);
    open.is_block[1] = true;
    let flat = Layout::block(8, 8).repeated(6, 8);
    let pattern = Pattern::join(&open, &flat);
    assert_eq!((pattern.block(), pattern.levels()), (16, &[Level { count: 3, to: 32, from: 16 }][..]));
    let pattern = Pattern::join(&flat, &open);
    assert_eq!((pattern.block(), pattern.levels()), (16, &[Level { count: 3, to: 16, from: 32 }][..]));
    let odd = Layout::block(8, 8).repeated(5, 8);
    let refused = refusal(move || _ = Pattern::join(&open, &odd));
    assert_eq!(refused, "the destination is _ elements, the source 5");
}

const TOO_LARGE: &str = "the blocks of a transfer have more bytes than there are numbers";

proptest! {
    /// Numbers of any size: a number of bytes that is right, or one refusal.
    #[test]
    fn patterns_of_any_numbers_are_right_or_refused(
        block in extreme(), levels in prop::collection::vec((extreme(), extreme(), extreme()), 0..5),
    ) {
        let levels: Vec<_> = levels.into_iter().map(|(count, to, from)| Level { count, to, from }).collect();
        // No bytes are no bytes, whatever else there are more of than numbers.
        let counts = || levels.iter().map(|level| level.count);
        let bytes = if block == 0 || counts().any(|count| count == 0) {
            Some(0)
        } else {
            counts().try_fold(block, usize::checked_mul)
        };
        let Some(bytes) = bytes else {
            prop_assert_eq!(refusal(|| Pattern::of_levels(block, &levels)), TOO_LARGE);
            if let [level] = levels[..] {
                prop_assert_eq!(refusal(|| Pattern::blocks(block, level.count, level.to, level.from)), TOO_LARGE);
            }
            return Ok(());
        };
        let mut patterns = vec![Pattern::of_levels(block, &levels)];
        if let [level] = levels[..] {
            patterns.push(Pattern::blocks(block, level.count, level.to, level.from));
        }
        for pattern in patterns {
            prop_assert_eq!((pattern.bytes(), pattern.packed().bytes(), pattern.unpacked().bytes()), (bytes, bytes, bytes));
            // These must come to an end, and do so without a sum that is no number.
            for algorithm in Algorithm::ALL {
                _ = TransferPlan::of(pattern, 8, algorithm, &Thresholds::DEFAULT).to_string();
            }
            _ = pattern.is_nested();
            if let (usize::MAX, _) | (_, usize::MAX) = pattern.hulls() {
                let further = "a pattern reaches further than any memory";
                prop_assert_eq!(refusal(|| pattern.each_block(|_, _| ())), further);
                prop_assert_eq!(refusal(|| each_fitting(&pattern, 8, |_, _, _| ())), further);
                let whole = [Piece::whole(0, 0)];
                let side = Pieced { pieces: &whole, at: 1 };
                prop_assert_eq!(refusal(|| each_part(&pattern, side, side, |_, _, _| ())), further);
            }
        }
    }

    #[test]
    fn layouts_of_any_numbers_are_right_or_refused(
        block in extreme(), runs in prop::collection::vec((extreme(), extreme()), 0..4), first in extreme(), stride in extreme(),
    ) {
        let layout = runs.iter().fold(Layout::block(block, 8), |layout, &(count, stride)| layout.repeated(count, stride));
        let hull = runs.iter().try_fold(wide(block), |bytes, &(count, stride)| {
            Some((wide(count.checked_sub(1)?) * wide(stride)).saturating_add(bytes))
        });
        let most = wide(usize::MAX);
        prop_assert_eq!(wide(layout.hull()), hull.unwrap_or(0).min(most));
        _ = layout.is_disjoint(&layout);
        let counted = runs.iter().filter(|run| run.0 != Dim::DYNAMIC).map(|run| run.0);
        let count = if counted.clone().any(|count| count == 0) {
            Some(0)
        } else {
            counted.into_iter().try_fold(1_usize, usize::checked_mul)
        };
        prop_assert_eq!(layout.count(), count.unwrap_or(usize::MAX));
        let shape = Shape::element(8).array(Dim::DYNAMIC, stride);
        let lowered = || lower("GRID", &shape, 8, &[Axis::from(first)], Part::whole(8));
        match first.checked_mul(stride) {
            Some(offset) => prop_assert_eq!(lowered().offset(), offset),
            None => prop_assert_eq!(
                refusal(lowered),
                format!(
                    "the region starts at element {first} of dimension 0 of `GRID`, which is further than any memory reaches"
                )
            ),
        }
    }
}

/// Numbers near the ends and near powers of two, and small ones.
fn extreme() -> impl Strategy<Value = usize> {
    let power = (0..usize::BITS, -1_isize..=1)
        .prop_map(|(exponent, more)| (1_usize << exponent).wrapping_add_signed(more));
    prop_oneof![0..5_usize, power, (0..3_usize).prop_map(|less| usize::MAX - less)]
}

#[test]
fn a_constant_plan_is_held_back_as_the_machine_wants_it() {
    // Crowded sets, more pages than a TLB has entries, and neither.
    for (count, stride) in [(1024, 8192), (4096, 8208), (256, 8256)] {
        let pattern = Pattern::blocks(8, count, stride, stride);
        let plan = |thresholds| TransferPlan::of(pattern, 1, Algorithm::Auto, thresholds);
        assert_eq!(plan(&Thresholds::DEFAULT).here(), plan(&settings().thresholds));
        let puts = TransferPlan::by(pattern, Method::Putmem);
        assert_eq!(puts.here(), puts, "what is asked for stays");
    }
}

/// Columns of one word and of two at short strides, blocks of 512 bytes, a row, and nothing.
#[test]
fn algorithm_3_asks_the_published_table() {
    let method = |block, count, to, from| {
        TransferPlan::of(Pattern::blocks(block, count, to, from), 8, Algorithm::Three, &Thresholds::DEFAULT)
            .method()
    };
    assert!(matches!(method(8, 100, 64, 64), Method::Columns(_)));
    assert!(matches!(method(16, 10, 24, 24), Method::Columns(_)));
    let others = [method(512, 50, 528, 528), method(800, 1, 8, 8), method(8, 0, 64, 64)];
    assert_eq!(others, [Method::Putmem, Method::Contiguous, Method::Nothing]);
}

#[test]
fn algorithms_are_those_that_macros_know() {
    let known = Algorithm::ALL.map(|algorithm| (algorithm.name(), format!("{algorithm:?}")));
    assert_eq!(known, shmem_grammar::ALGORITHMS.map(|(name, variant)| (name, variant.to_owned())));
}
