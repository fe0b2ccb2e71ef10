//! What the size of pages does to a stencil, and to columns.
//!
//! The elements of a column whose stride is larger than a page each lie on a page of their own. Beyond
//! the number of pages that a core finds by its TLB, each element costs a walk through the page table,
//! which pages of 2 MiB do without.

use shmem::partition::Pages;
use shmem::thread::{Single, ThreadLevel};
use shmem::{Result, World, zeroed};
use shmem_core::context::{Order, Stores, Strided};
use shmem_core::object::On;
use shmem_core::partition::PARTITION_VARIABLE;

use crate::affinity;
use crate::bench::{Bench, Records, print};
use crate::case::Site;
use crate::goal::Goal;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::names;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::stencil::Stencil;
use crate::task::{Done, Task};

/// What the size of pages does.
pub const MEASURE: Measure = Measure {
    name: "pages",
    about: "Columns in pages of 2 MiB, against columns in small pages",
    run: |runner, _| measure(runner),
    tasks: &[PAGES],
    cases: &[
        cases(
            &["pages"],
            "stencil/n",
            "a step of a stencil on n x n cells of each PE whose columns go to both neighbours, in pages of 2 MiB",
            "the same in small pages",
        ),
        cases(
            &["pages"],
            "column/pages",
            "a column of `iput` that touches so many small pages, in pages of 2 MiB",
            "the same in small pages",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            // Beyond what a TLB holds; 1.3 to 1.7 times faster is usual.
            Name::Column(4097..) => Some(Goal::Ratio(1.0 / 1.3)),
            _ => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

const PAGES: Task = Task { name: "pages", pe: |_, repetitions| by_pages(repetitions) };

names! {
    Stencil(size: usize) = "pages": ["stencil" / size];
    Column(touched: usize) = "pages": ["column" / touched];
}

/// A stencil and columns.
pub(crate) fn measure(runner: &mut Runner) -> Done {
    runner.repeat(&runner.job(&PAGES, 2, &variables()))
}

/// A stencil, and columns, in large and small pages.
fn by_pages(repetitions: usize) -> Done {
    let world = &mut shmem::init::<Single>()?;
    let cores = affinity::take(world.my_pe(), world.n_pes())?;
    let large = world.partitions().into_iter().find(|partition| partition.spec.id == LARGE);
    let grants = large.map(|partition| partition.grants).unwrap_or_default();
    let given = grants.iter().map(|grant| grant.pgsize).min();
    let said = |text: &str| {
        if world.my_pe() == 0 {
            eprintln!("shmem-perf: {text}");
        }
    };
    if given.is_none_or(|bytes| bytes < LARGE_PAGE) {
        let reasons: Vec<_> = grants.iter().flat_map(|grant| &grant.downgrades).collect();
        said(&format!("no large pages to compare with: {reasons:?}"));
        return Ok(());
    }
    if grants.iter().any(|grant| grant.pages == Pages::Transparent) {
        said(
            "no pages of 2M are reserved: those that are measured are small ones that the kernel has merged",
        );
    }
    let samples = stencil(world, repetitions)?;
    let bench = Bench { site: Site::of(world, cores), world, repetitions };
    let mut records = bench.columns()?;
    let compared = "a step of a stencil whose columns go to both neighbours, in pages of 2 MiB against small ones; \
                    time for each cell";
    records.insert(0, bench.record(&Name::Stencil(SIZE), compared, samples));
    print(world, &records)
}

impl Bench<'_> {
    fn columns(&self) -> Records {
        let world = self.world;
        let small = world.partition(SMALL)?.alloc(zeroed::<u64>(WORDS))?;
        let large = world.partition(LARGE)?.alloc(zeroed::<u64>(WORDS))?;
        let (small, large) = (small.on(self.other()), large.on(self.other()));
        Ok(self.alone(|| {
            let column = |&touched: &usize| {
                let samples = column(world, large, small, touched, self.repetitions);
                let compared =
                    "a column that touches so many small pages, in pages of 2 MiB against small ones";
                self.record(&Name::Column(touched), compared, samples)
            };
            TOUCHED.iter().map(column).collect()
        }))
    }
}

/// Pages that a column touches.
pub const TOUCHED: [usize; 6] = [512, 2048, 4096, 8192, 16_384, 32_768];

/// From one element of a column to the next, in words: a small page and a line, so that elements fall into
/// different sets of a cache.
pub const STRIDE: usize = (4096 + 64) / 8;

/// Words of the longest column.
pub const WORDS: usize = TOUCHED[TOUCHED.len() - 1] * STRIDE;

/// Number of the partition in small pages.
pub const SMALL: u32 = 4;

/// Number of the partition in pages of 2 MiB.
pub const LARGE: u32 = 5;

/// Bytes of a large page.
pub const LARGE_PAGE: u64 = 2 << 20;

/// Elements that one sample writes at least.
const ELEMENTS: usize = 64 << 10;

/// The variables of a job with a partition in small pages and one in large ones.
pub fn variables() -> Vec<(String, String)> {
    let partition = |id, page| {
        let size = 8 * WORDS + (1 << 20);
        (format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={size}:PGSIZE={page}:POLICY=PREFERRED"))
    };
    vec![partition(SMALL, rustix::param::page_size() as u64), partition(LARGE, LARGE_PAGE)]
}

/// Rows and columns of the stencil on each PE: its two grids are larger than caches. A debug build is for tests of the
/// tool.
pub const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// A step of a stencil in large pages, against one in small pages: nanoseconds for each cell. All PEs call it.
///
/// # Errors
///
/// If there is no room.
///
/// # Panics
///
/// If they come to different cells.
pub fn stencil<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Samples>
where
    World<L>: Strided,
{
    let on = |id| move |world: &World<L>, words| world.partition(id)?.alloc(zeroed::<f64>(words));
    let mut large = Stencil::new(world, SIZE, on(LARGE))?;
    let mut small = Stencil::new(world, SIZE, on(SMALL))?;
    let mut samples = Samples::new();
    for repetition in 0..=repetitions {
        let mut step = |stencil: &mut Stencil| nanoseconds_each(SIZE * SIZE, || stencil.step(world));
        let cost = step(&mut large);
        let limit = step(&mut small);
        // The first pair pays for what is touched for the first time.
        if repetition > 0 {
            samples.push(cost, limit);
        }
    }
    assert!(large.is_like(&small, world), "both have come to the same cells");
    large.free(world)?;
    small.free(world)?;
    Ok(samples)
}

/// Writing a column of `touched` elements on another PE in large pages, against one in small pages:
/// nanoseconds for each element. Both places have [`WORDS`] words.
pub fn column<I: Stores>(
    token: &I,
    large: On<'_, [u64]>,
    small: On<'_, [u64]>,
    touched: usize,
    repetitions: usize,
) -> Samples {
    let row = vec![1_u64; touched];
    let passes = ELEMENTS.div_ceil(touched);
    let write = |to: On<'_, [u64]>| {
        nanoseconds_each(passes * touched, || {
            for _ in 0..passes {
                token.iput(to, &row, STRIDE, 1, touched);
            }
            token.quiet();
        })
    };
    Samples::alternate(repetitions, || write(large), || write(small))
}
