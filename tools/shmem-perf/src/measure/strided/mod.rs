//! Strided transfers.
//!
//! ```text
//! constant    transfers by `strided!`, whose layouts the compiler knows
//! few         a few large blocks, where what is done before the first would be felt
//! ```

mod constant;
mod few;

use clap::{Args, FromArgMatches};
use shmem::strided::Algorithm;
use shmem::zeroed;

use crate::bench::{self, Bench, Records};
use crate::fact::Fact;
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::peers as others;
use crate::name::{Shape, listed, names, words};
use crate::peers::Peer;
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples};
use crate::strided::cases::{self as layouts, LayoutName};
use crate::strided::exchange::{self, Edges, Half};
use crate::strided::published::{self, Cell};
use crate::strided::{Direction, Sides, regret, sweep};
use crate::task::{Done, Task};

/// What strided transfers cost.
pub const MEASURE: Measure = Measure {
    name: "strided",
    about: "Strided transfers against loads and stores of the same lines, and against a loop of puts; then some 600 layouts \
            against a loop of puts",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    tasks: &[STRIDED, SWEEP, REGRET, REGRET_SAMPLE, PUBLISHED, EXCHANGE],
    cases: &[
        cases(
            &["strided"],
            "layout/direction",
            "`iputmem`, `igetmem`; constant `strided!`",
            "a load from each line of the source, then a store to each of the destination",
        ),
        cases(&["strided-few"], "blocks/bytes/gap", "the same for a few large blocks", "a loop of puts"),
        cases(
            &["strided-alias"],
            "blocks/bytes/gap",
            "the same where what is put looks like what is read next, by the low bits of addresses",
            "a loop of puts",
        ),
        cases(
            &["strided-sweep"],
            "share, worst",
            "the same for 610 layouts, 100 of them drawn",
            "a loop of puts",
        ),
        cases(&["regret"], "choice/layouts", "the kernel chosen", "the fastest of all"),
        cases(
            &["strided-published"],
            "way/direction/block/gap",
            "64 MiB by Algorithm 2, by 3, and by what is chosen here; `auto-best`: what is chosen here",
            "Algorithm 1; the better one of 1 and 2",
        ),
        cases(
            &["strided-exchange"],
            "algorithm/field/state",
            "two PEs exchange the edges of a field of 128 MiB",
            "the same by Algorithm 1",
        ),
    ],
    goal: |case| goal_of(case, goal),
    again: again::<Name>,
    guards: &[
        Guard {
            cases: || {
                let put = |layout, bound| Guarded::new(Name::Layout(layout, Direction::Put), bound);
                let get = |layout, bound| Guarded::new(Name::Layout(layout, Direction::Get), bound);
                // 1.6 to 3 times as fast as a loop of puts: too near to it to be told from it everywhere.
                let column = Bound::Own(Goal::Ratio(4.0));
                vec![
                    put(COLUMN, column),
                    get(COLUMN, column),
                    put(STRUCTS, BEATS_A_LOOP),
                    get(STRUCTS, BEATS_A_LOOP),
                    put(DOUBLES, BEATS_A_LOOP),
                    put(FLOATS, Bound::Own(Goal::OnlyFaster(2.0))),
                    Guarded::new(CONSTANT_COLUMN, Bound::Eased(3.0)),
                ]
                .into_iter()
                .chain(
                    few::all().chain(few::all_aliased()).map(|few| Guarded::new(few, Bound::Own(FEW_BOUND))),
                )
                .collect()
            },
            ..Guard::of("strided", |runner| runner.jobs(&STRIDED, 2))
        },
        Guard {
            jobs: 1,
            cases: || {
                vec![Guarded::new(
                    Name::Regret(Policy::Auto, Layouts::Sample),
                    Bound::Own(Goal::Tail(2.5, 5.0)),
                )]
            },
            ..Guard::of("strided --regret", regret_of_a_few)
        },
    ],
    ..Measure::PLAIN
};

/// A few large blocks: what is chosen for them must cost nothing beside the loop of puts that it replaces.
const FEW_BLOCKS: Goal = Goal::Ratio(1.05);

/// What the check of regions and the way to the PE may cost beside three short copies, on any processor: some nanoseconds, which
/// are more than half of what these take where copies are fast.
const FEW_BOUND: Goal = Goal::RatioOr(1.5, 12.0);

/// Small blocks with small gaps, which are moved 6 to 20 times as fast as by a loop of puts.
const BEATS_A_LOOP: Bound = Bound::Own(Goal::Faster(4.0, 2.0));

/// The layouts that are guarded.
const COLUMN: LayoutName = LayoutName::of("column/1024");
const STRUCTS: LayoutName = LayoutName::of("aos/24/8/1k");
const DOUBLES: LayoutName = LayoutName::of("checkerboard-f64/1k");
const FLOATS: LayoutName = LayoutName::of("checkerboard-f32/1k");

/// A short column that the compiler knows.
pub(crate) const CONSTANT_COLUMN: Name = Name::Constant;

const STRIDED: Task =
    Task { name: "strided", pe: |_, repetitions| bench::run(repetitions, |bench| bench.strided()) };
const SWEEP: Task = Task {
    name: "strided-sweep",
    pe: |given, repetitions| bench::run(repetitions, |bench| bench.sweep(given.seed)),
};
const REGRET: Task = Task {
    name: "strided-regret",
    pe: |given, repetitions| bench::run(repetitions, |bench| bench.regret(given.seed, given.most)),
};
const REGRET_SAMPLE: Task = Task {
    name: "regret-sample",
    pe: |_, repetitions| bench::run(repetitions, |bench| bench.regret_sample()),
};
const PUBLISHED: Task = Task {
    name: "strided-published",
    pe: |given, repetitions| bench::run(repetitions, |bench| bench.published_table(given.most)),
};
const EXCHANGE: Task = Task {
    name: "strided-exchange",
    pe: |given, repetitions| bench::run(repetitions, |bench| bench.exchange(given.most)),
};

names! {
    Constant = "strided": ["constant" / "8x4"];
    Layout(layout: LayoutName, direction: Direction) = "strided": [layout / direction];
    Few(count: usize, block: usize, gap: usize) = "strided-few": [count / block / gap];
    Aliased(count: usize, block: usize, gap: usize) = "strided-alias": [count / block / gap];
    Share(layouts: usize) = "strided-sweep": ["share" / layouts];
    Worst(layouts: usize) = "strided-sweep": ["worst" / layouts];
    Regret(policy: Policy, layouts: Layouts) = "regret": [policy / layouts];
    Published(way: Published, direction: Direction, block: usize, gap: usize) = "strided-published": [way / direction / block / gap];
    Exchange(algorithm: Algorithm, field: Shape, edges: Edges) = "strided-exchange": [algorithm / field / edges];
}

listed!(Algorithm, Algorithm::ALL);

words! {
    /// What chooses a kernel.
    Policy {
        /// This library.
        Auto = "auto",
        /// The published table.
        Published = "published",
        /// Whoever knows the better one of Algorithms 1 and 2.
        Ideal = "ideal12",
        /// Algorithm 1.
        AlwaysOne = "always1",
        /// Algorithm 2.
        AlwaysTwo = "always2",
    }
}

words! {
    /// Layouts that regret is measured at.
    Layouts { Grid = "grid", Random = "random", Sample = "sample" }
}

words! {
    /// What moves the payload of the published table, and beside what.
    Published {
        /// Algorithm 2 beside 1.
        Two = "2",
        /// Algorithm 3 beside 1.
        Three = "3",
        /// What is chosen here beside 1.
        Auto = "auto",
        /// What is chosen here beside the better one of 1 and 2.
        AutoOverBest = "auto-best",
    }
}

fn goal(name: Name) -> Option<Goal> {
    match name {
        Name::Constant => Some(Goal::RatioOr(1.0, 1.3)),
        Name::Layout(layout, direction) => of_layout(layout, direction),
        Name::Few(..) | Name::Aliased(..) => Some(FEW_BLOCKS),
        Name::Share(_) | Name::Worst(_) => Some(Goal::Ratio(1.0)),
        Name::Regret(Policy::Auto, Layouts::Grid) => Some(Goal::Tail(1.10, 1.4)),
        Name::Regret(Policy::Auto, Layouts::Random) => Some(Goal::Tail(1.2, 1.7)),
        Name::Regret(Policy::Ideal, Layouts::Grid) => Some(Goal::Beaten(1.3)),
        Name::Regret(Policy::Ideal, Layouts::Random) => Some(Goal::Beaten(1.2)),
        Name::Regret(Policy::Published, Layouts::Grid) => Some(Goal::Beaten(1.6)),
        _ => None,
    }
}

fn of_layout(layout: LayoutName, direction: Direction) -> Option<Goal> {
    let limit = if direction == Direction::Get { 1.15 } else { 1.1 };
    // Families of layouts begin alike.
    let name = layout.name();
    match name.split('/').next()? {
        "column" => Some(Goal::Faster(limit, 2.2)),
        "column4" => Some(Goal::Faster(limit, 2.5)),
        "aos" if name.starts_with("aos/24/8/") => Some(Goal::Faster(limit, 3.0)),
        "checkerboard-f64" => Some(Goal::Faster(limit, 3.0)),
        "checkerboard-f32" => Some(Goal::OnlyFaster(10.0)),
        "column-pitch-8K" => Some(Goal::OnlyFaster(1.8)),
        "matrix" if name.starts_with("matrix/row-") => Some(Goal::OnlyFaster(0.95)),
        _ => None,
    }
}

/// Room behind the last block: both sides begin anywhere in a page.
const MARGIN: usize = 2 << 12;

/// Bytes of a heap beside the sides of the published table: statics, and the margin.
const SPARE: usize = 4 << 20;

/// A share of layouts, in percent, that may be slower than a loop of puts by more than [`SLOW`].
const FEW: f64 = 2.0;

/// Slower than a loop of puts.
const SLOW: f64 = 1.1;

/// So slow that no layout may be.
const TOO_SLOW: f64 = 1.5;

/// Of how many layouts of each kind regret is measured in a quick run.
const SAMPLE: usize = 16;

/// What is measured of strided transfers.
#[derive(Args, Clone, Debug, Default)]
struct Options {
    /// How far what is chosen is from the best of all kernels. Takes some minutes.
    #[arg(long, group = "study")]
    regret: bool,
    /// The same transfers by Open MPI's MPI and OpenSHMEM, in turn with ours. What is not installed is
    /// said.
    #[arg(long, group = "study")]
    peers: bool,
    /// The published table: 64 MiB in blocks of 16 bytes to 16 KiB with gaps of 4 bytes to 4 KiB, by Algorithms 2 and 3
    /// and by what is chosen here, against Algorithm 1. Takes some minutes.
    #[arg(long, group = "study")]
    published: bool,
    /// The published assessment: the strided routines of each library against its own loop of puts or gets.
    #[arg(long, group = "study")]
    own: bool,
    /// The published halo exchange: two halves of a field of 128 MiB, whose columns go by Algorithms 2 and 3 and by what
    /// is chosen here, against Algorithm 1.
    #[arg(long, group = "study")]
    exchange: bool,
    /// Less of a study: a payload of 4 MiB, a field of 8 MiB, a few layouts.
    #[arg(long, requires = "study")]
    quick: bool,
    /// Draws the random layouts of an earlier run again; not given: new ones.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

impl Options {
    fn run(&self, runner: &mut Runner) -> Done {
        let &Self { regret, peers, published, own, exchange, quick, seed } = self;
        if peers {
            return others::beside(runner);
        }
        if own {
            return others::own_loops(runner, &Peer::STRIDED);
        }
        if published {
            return published_table(runner, quick);
        }
        if exchange {
            return published_exchange(runner, quick);
        }
        if regret {
            return regret_of(runner, seed, either(quick, usize::MAX, SAMPLE, SAMPLE));
        }
        orientations(runner)?;
        let seed = drawn_by(runner, seed);
        drawn(runner, &SWEEP, sweep::ROOM, seed, usize::MAX)
    }
}

/// As much as is measured by a whole run, by a quick one, and by a debug build: figures of a build without optimisation are
/// nobody's, there it is shown that the measure works.
fn either<T>(quick: bool, whole: T, part: T, debug: T) -> T {
    match (cfg!(debug_assertions), quick) {
        (true, _) => debug,
        (false, true) => part,
        (false, false) => whole,
    }
}

/// The layouts of applications.
pub(crate) fn orientations(runner: &mut Runner) -> Done {
    runner.jobs(&STRIDED, 2)
}

/// The published table.
pub(crate) fn published_table(runner: &mut Runner, quick: bool) -> Done {
    let payload = either(quick, published::PAYLOAD, 4 << 20, 64 << 10);
    let room = published::room(payload);
    for cell in Cell::all() {
        let (passes, Cell { block, gap }) = (cell.passes(payload, room).len(), cell);
        if passes > 1 {
            let passes = format!("{passes} passes over {} MiB", room >> 20);
            runner.fact(Fact::new("strided-published-passes", block.to_string(), gap.to_string(), passes));
        }
    }
    sized(runner, &PUBLISHED, payload, room + SPARE)
}

/// The published halo exchange.
pub(crate) fn published_exchange(runner: &mut Runner, quick: bool) -> Done {
    let field = either(quick, exchange::FIELD, 8 << 20, 128 << 10);
    sized(runner, &EXCHANGE, field, exchange::room(field))
}

/// Measures regret of predicates, for at most so many layouts of each kind.
pub(crate) fn regret_of(runner: &mut Runner, seed: Option<u64>, most: usize) -> Done {
    let seed = drawn_by(runner, seed);
    drawn(runner, &REGRET, regret::ROOM, seed, most)
}

/// The same at a few published layouts.
pub(crate) fn regret_of_a_few(runner: &mut Runner) -> Done {
    drawn(runner, &REGRET_SAMPLE, sweep::ROOM, 0, usize::MAX)
}

/// The seed that was asked for, or a new one, which is said.
fn drawn_by(runner: &mut Runner, asked: Option<u64>) -> u64 {
    let now = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.subsec_nanos().into());
    let seed = asked.unwrap_or_else(now);
    runner.remark(&format!("shmem-perf: random layouts are drawn with --seed {seed}"));
    seed
}

/// Runs one job that moves so many bytes and has so much heap.
fn sized(runner: &mut Runner, task: &Task, bytes: usize, heap: usize) -> Done {
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), heap.to_string());
    runner.once(&runner.job(task, 2, &[heap]).most(bytes))
}

/// Runs one job on layouts that are drawn, at most so many of a kind, with room for them.
fn drawn(runner: &mut Runner, task: &Task, room: usize, seed: u64, most: usize) -> Done {
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (2 * room).to_string());
    runner.once(&runner.job(task, 2, &[heap]).seed(seed).most(most))
}

impl Bench<'_> {
    /// The layouts of applications.
    fn strided(&self) -> Records {
        let object = self.world.alloc(zeroed::<u8>(layouts::room() + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut records = Vec::new();
            for layout in layouts::LAYOUTS {
                let mut sides = Sides::new(self.world, place).skewed(layout.skew);
                for &direction in Direction::ALL {
                    let costs = layouts::measure(&mut sides, &layout.spread, direction, self.repetitions);
                    let compared = "blocks by iputmem and igetmem, against a load and a store for each of their lines; vs_a1: how many times faster than a loop of puts";
                    records.push(costs.name(&self.site, &Name::Layout(layout.name, direction), compared));
                }
            }
            records.extend(self.constant());
            records.extend(self.few_blocks(|| Sides::new(self.world, place)));
            records
        }))
    }

    /// Many layouts against a loop of puts.
    fn sweep(&self, seed: u64) -> Records {
        let object = self.world.alloc(zeroed::<u8>(sweep::ROOM + MARGIN))?;
        let place = object.on(self.other());
        let repetitions = FEWEST;
        Ok(self.alone(|| {
            let mut sides = Sides::new(self.world, place).skewed(1024);
            let mut points = sweep::grid();
            points.extend(sweep::drawn(sweep::DRAWN, seed));
            if cfg!(debug_assertions) {
                eprintln!("shmem-perf: a debug build measures every tenth layout");
                points = points.into_iter().step_by(10).collect();
            }
            let (mut slow, mut worst) = (0, 0.0_f64);
            for point in &points {
                let mut ratio = sweep::against_loop_of_puts(&mut sides, point, repetitions);
                for _ in 0..sweep::AGAIN {
                    if ratio > SLOW {
                        ratio = ratio.min(sweep::against_loop_of_puts(&mut sides, point, repetitions));
                    }
                }
                if ratio > SLOW {
                    slow += 1;
                    eprintln!("shmem-perf: {:?} {} takes {ratio:.2} times a loop of puts", point.1, point.0);
                }
                worst = worst.max(ratio);
            }
            let mut share = Samples::new();
            share.push(100.0 * f64::from(slow) / points.len() as f64, FEW);
            let mut most = Samples::new();
            most.push(worst, TOO_SLOW);
            let n = points.len();
            let compared = format!("share of {n} layouts that take more than {SLOW} times a loop of puts, also in {} repetitions, against {FEW} %", sweep::AGAIN);
            let largest = format!("largest time of {n} layouts over that of a loop of puts, against {TOO_SLOW}");
            vec![
                self.record_in("%", &Name::Share(n), &compared, share),
                self.record_in("", &Name::Worst(n), &largest, most),
            ]
        }))
    }

    /// How far what is chosen is from the best, for at most so many layouts of each kind.
    fn regret(&self, seed: u64, most: usize) -> Records {
        let layouts = [(Layouts::Grid, regret::grid()), (Layouts::Random, regret::random(seed))];
        let layouts = layouts.map(|(name, mut points)| {
            if cfg!(debug_assertions) {
                eprintln!("shmem-perf: a debug build measures small layouts");
                points.retain(|(spread, _)| spread.hull() <= 64 << 10);
            }
            (name, regret::thinned(points, most))
        });
        self.regrets(regret::ROOM, &layouts)
    }

    /// The same at a few layouts.
    fn regret_sample(&self) -> Records {
        self.regrets(sweep::ROOM, &[(Layouts::Sample, regret::sample())])
    }

    fn regrets(&self, room: usize, layouts: &[(Layouts, Vec<sweep::Point>)]) -> Records {
        let object = self.world.alloc(zeroed::<u8>(room + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut sides = Sides::new(self.world, place).skewed(1024);
            let mut records = Vec::new();
            let thresholds = shmem_core::strided::settings().thresholds;
            for (name, points) in layouts {
                let all: Vec<_> =
                    points.iter().map(|point| regret::regrets(&mut sides, point, &thresholds, 7)).collect();
                let mut record = |policy, compared: &str, pair: fn(&regret::Regrets) -> (f64, f64)| {
                    let mut samples = Samples::new();
                    all.iter().map(pair).for_each(|(cost, limit)| samples.push(cost, limit));
                    let name = Name::Regret(policy, *name);
                    records.push(self.record_in("", &name, compared, samples).geometric());
                };
                record(
                    Policy::Auto,
                    "time of the kernel chosen over that of the best of all, for each layout",
                    |r| (r.auto, 1.0),
                );
                let beside = "the same of other choices, against auto's";
                record(Policy::Published, beside, |r| (r.published, r.auto));
                record(Policy::Ideal, beside, |r| (r.ideal, r.auto));
                record(Policy::AlwaysOne, beside, |r| (r.one, r.auto));
                record(Policy::AlwaysTwo, beside, |r| (r.two, r.auto));
            }
            records
        }))
    }

    /// The published table, for a payload of so many bytes.
    fn published_table(&self, payload: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        let heap = world.partitions().first().map_or(0, |heap| heap.spec.size as usize);
        let object = world.alloc(zeroed::<u8>(heap.saturating_sub(SPARE) + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut sides = Sides::new(world, place);
            let mut records = Vec::new();
            for &direction in Direction::ALL {
                for cell in Cell::all() {
                    let times = published::measure(&mut sides, cell, direction, payload, repetitions);
                    let sample = match times.parts {
                        1 => String::new(),
                        parts => format!(", of which a sample moves the next of {parts} parts"),
                    };
                    let mut record = |way, compared: &str, samples| {
                        let name = Name::Published(way, direction, cell.block, cell.gap);
                        let compared = format!("{compared}; time for {} KiB{sample}", payload >> 10);
                        records.push(self.record_in("ms", &name, &compared, samples));
                    };
                    record(Published::Two, "Algorithm 2 against Algorithm 1", times.two);
                    record(Published::Three, "Algorithm 3, the one of 1 and 2 that the published table chooses, against Algorithm 1", times.three);
                    record(Published::Auto, "what is chosen here, against Algorithm 1", times.auto);
                    record(Published::AutoOverBest, "what is chosen here, against the better one of Algorithms 1 and 2", times.auto_over_best);
                }
            }
            records
        }))
    }

    /// The published halo exchange, in a field of so many bytes.
    fn exchange(&self, bytes: usize) -> Records {
        let mut records = Vec::new();
        for [rows, columns] in exchange::shapes(bytes) {
            let half = Half::new(self.world, [rows, columns])?;
            for &edges in Edges::ALL {
                for (algorithm, samples) in half.measure(edges, self.repetitions) {
                    let name = Name::Exchange(algorithm, Shape([rows, columns]), edges);
                    let compared = "an exchange of the edges of two halves of a field, columns by an algorithm, against Algorithm 1";
                    records.push(self.record_in("us", &name, compared, samples));
                }
            }
            half.free()?;
        }
        Ok(records)
    }
}
