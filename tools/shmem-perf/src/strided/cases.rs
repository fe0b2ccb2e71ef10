//! Layouts of applications.

use std::borrow::Cow;
use std::cell::RefCell;

use shmem_core::context::Stores;

use super::sides::{Direction, Sides};
use super::spread::Spread;
use crate::case::{Record, Site};
use crate::name::{self, CaseName, Part};
use crate::samples::{Samples, nanoseconds_each};

/// The name of a layout in cases. There are those of [`LAYOUTS`] and [`CONSTANT`], and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutName(&'static str);

/// Regions that the compiler knows.
pub const CONSTANT: [&str; 5] = [
    "matrix/element",
    "matrix/group-of-one-type",
    "matrix/group-of-several-types",
    "matrix/checkerboard",
    "matrix/column",
];

impl LayoutName {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        LAYOUTS.iter().map(|layout| layout.name).chain(CONSTANT.map(LayoutName))
    }

    /// One of them. In a constant, a name that there is not does not compile.
    ///
    /// # Panics
    ///
    /// If there is none of that name.
    pub const fn of(name: &'static str) -> Self {
        let mut found = false;
        let mut at = 0;
        while at < LAYOUTS.len() + CONSTANT.len() {
            let known = if at < LAYOUTS.len() { LAYOUTS[at].name.0 } else { CONSTANT[at - LAYOUTS.len()] };
            found |= is_same(known.as_bytes(), name.as_bytes());
            at += 1;
        }
        assert!(found, "there is no layout of that name");
        Self(name)
    }

    /// As it is written.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

impl Part for LayoutName {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        name::word(rest, Self::all().map(|layout| (layout, layout.name())))
    }

    fn show(&self) -> Cow<'static, str> {
        self.0.into()
    }
}

/// A layout with a name, and the directions it is measured in.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What it is in an application: `column/1024`.
    pub name: LayoutName,
    /// Its blocks.
    pub spread: Spread,
    /// Where the private side begins in its page: in a halo exchange columns do not start alike.
    pub skew: usize,
}

const fn layout(name: &'static str, spread: Spread, skew: usize) -> Layout {
    Layout { name: LayoutName(name), spread, skew }
}

/// The layouts, one behind the other those of each orientation.
///
/// Columns are of `f64`, 8 or 4 times 8 bytes wide; a pitch of 8256 is a row of 1024 with a line of pad, 8192
/// one without. `aos` is a field of 8 bytes in structs of 24; a checkerboard takes every other element.
pub const LAYOUTS: &[Layout] = &[
    layout("contiguous/64K", Spread::even(64 << 10, 1, 64 << 10), 0),
    layout("column/64", Spread::even(8, 64, 8256), 1016),
    layout("column/256", Spread::even(8, 256, 8256), 1016),
    layout("column/1024", Spread::even(8, 1024, 8256), 1016),
    layout("column/1000/1032", Spread::even(8, 1000, 1032), 1016),
    layout("column-pitch-8K/1024", Spread::even(8, 1024, 8192), 4080),
    layout("column-pack/1024", Spread { block: 8, count: 1024, to: 8, from: 8256 }, 0),
    layout("column-unpack/1024", Spread { block: 8, count: 1024, to: 8256, from: 8 }, 0),
    layout("column4/1024", Spread::even(32, 1024, 8256), 992),
    layout("column4-pitch-8K/1024", Spread::even(32, 1024, 8192), 4064),
    layout("blocks/4-of-128", Spread::even(32, 250, 1024), 0),
    layout("blocks/4-of-129", Spread::even(32, 250, 1032), 0),
    layout("aos/24/8/1k", Spread::even(8, 1000, 24), 0),
    layout("aos/24/8/100k", Spread::even(8, 100_000, 24), 0),
    layout("aos/48/16/10k", Spread::even(16, 10_000, 48), 16),
    layout("checkerboard-f64/1k", Spread::even(8, 1000, 16), 8),
    layout("checkerboard-f64/100k", Spread::even(8, 100_000, 16), 8),
    layout("checkerboard-f32/1k", Spread::even(4, 1000, 8), 4),
    layout("checkerboard-f32/100k", Spread::even(4, 100_000, 8), 4),
    layout("matrix/row-512", Spread::even(512, 256, 1536), 512),
    layout("matrix/row-1024", Spread::even(1024, 256, 1536), 512),
    layout("matrix/row-2048", Spread::even(2048, 256, 3072), 1024),
];

/// Most bytes that a side of a layout needs.
pub fn room() -> usize {
    LAYOUTS.iter().map(|layout| layout.spread.hull()).max().unwrap_or(0)
}

/// Bytes moved in one sample: some ten microseconds. A debug build is for tests of the tool.
const BYTES: usize = if cfg!(debug_assertions) { 16 << 10 } else { 256 << 10 };

/// Transfers of `spread` in one sample.
pub(super) fn transfers(spread: &Spread) -> usize {
    (BYTES / (spread.bytes() + 32 * spread.count)).clamp(1, 10_000)
}

/// What a transfer costs each way: the library's cost beside the [limit](Sides::limit)'s, and beside that
/// of a [loop of puts](Sides::loop_of_puts).
#[derive(Clone, Debug)]
pub struct Costs {
    limit: Samples,
    loop_of_puts: Samples,
}

impl Costs {
    /// Takes `repetitions` samples of `count` transfers each way, in turn.
    pub fn take(
        repetitions: usize,
        count: usize,
        mut ours: impl FnMut(),
        mut limit: impl FnMut(),
        mut loop_of_puts: impl FnMut(),
    ) -> Self {
        let mut costs = Self { limit: Samples::new(), loop_of_puts: Samples::new() };
        // What the one before left in the caches, or did not, is nobody's: each runs once untimed.
        fn time(count: usize, mut transfer: impl FnMut()) -> f64 {
            transfer();
            nanoseconds_each(count, || (0..count).for_each(|_| transfer()))
        }
        for round in 0..=repetitions {
            let ours = time(count, &mut ours);
            let limit = time(count, &mut limit);
            let puts = time(count, &mut loop_of_puts);
            if round > 0 {
                costs.limit.push(ours, limit);
                costs.loop_of_puts.push(ours, puts);
            }
        }
        costs
    }

    /// Them as a case.
    pub fn name(self, site: &Site, name: &impl CaseName, compared: &str) -> Record {
        Record::new(site, name, "ns", compared, self.limit).beside(self.loop_of_puts)
    }
}

/// Moves a layout `repetitions` times each way, in turn.
pub fn measure<I: Stores>(
    sides: &mut Sides<'_, I>,
    spread: &Spread,
    direction: Direction,
    repetitions: usize,
) -> Costs {
    let sides = RefCell::new(sides);
    Costs::take(
        repetitions,
        transfers(spread),
        || sides.borrow_mut().routine(spread, direction),
        || sides.borrow_mut().limit(spread, direction),
        || sides.borrow_mut().loop_of_puts(spread, direction),
    )
}
