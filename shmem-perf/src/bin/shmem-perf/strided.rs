//! Strided transfers: what is asked for, and what is measured inside a PE.

use std::error::Error;

use clap::Args;
use shmem::zeroed;
use shmem_perf::peers::Peer;
use shmem_perf::strided::exchange::{self, Edges, Half};
use shmem_perf::strided::published::{self, Cell};
use shmem_perf::strided::{Direction, Sides, cases, regret, sweep};
use shmem_perf::{FEWEST, Record, Samples};

use crate::Measure;
use crate::bench::{Bench, Records};
use crate::report::Fact;
use crate::runner::Runner;

/// Room behind the last block: both sides begin anywhere in a page.
const MARGIN: usize = 2 << 12;

/// Bytes of a heap beside the sides of the published table: statics, and the margin.
const SPARE: usize = 4 << 20;

/// The directions, and what they are called.
const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Put, "put"), (Direction::Get, "get")];

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
pub(crate) struct Options {
    /// How far what is chosen is from the best of all kernels. Takes some minutes.
    #[arg(long, group = "study")]
    pub(crate) regret: bool,
    /// The same transfers by Open MPI's MPI and OpenSHMEM, in turn with ours. What is not installed is
    /// said.
    #[arg(long, group = "study")]
    pub(crate) peers: bool,
    /// The published table: 64 MiB in blocks of 16 bytes to 16 KiB with gaps of 4 bytes to 4 KiB, by Algorithms 2 and 3
    /// and by what is chosen here, against Algorithm 1. Takes some minutes.
    #[arg(long, group = "study")]
    pub(crate) published: bool,
    /// The published assessment: the strided routines of each library against its own loop of puts or gets.
    #[arg(long, group = "study")]
    pub(crate) own: bool,
    /// The published halo exchange: two halves of a field of 128 MiB, whose columns go by Algorithms 2 and 3 and by what
    /// is chosen here, against Algorithm 1.
    #[arg(long, group = "study")]
    pub(crate) exchange: bool,
    /// Less of a study: a payload of 4 MiB, a field of 8 MiB, a few layouts.
    #[arg(long, requires = "study")]
    pub(crate) quick: bool,
    /// Draws the random layouts of an earlier run again; not given: new ones.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

impl Runner {
    pub(crate) fn strided(&mut self, options: &Options) -> Result<(), Box<dyn Error>> {
        let &Options { regret, peers, published, own, exchange, quick, seed } = options;
        let either = |whole, part, debug| match (cfg!(debug_assertions), quick) {
            // Figures of a build without optimisation are nobody's: there it is shown that the measure works.
            (true, _) => debug,
            (false, true) => part,
            (false, false) => whole,
        };
        if peers {
            return self.beside(Measure::StridedPeers, &Peer::STRIDED);
        }
        if own {
            return self.beside(Measure::StridedOwn, &Peer::STRIDED);
        }
        if published {
            let payload = either(published::PAYLOAD, 4 << 20, 64 << 10);
            let room = published::room(payload);
            for cell in Cell::all() {
                let (passes, Cell { block, gap }) = (cell.passes(payload, room).len(), cell);
                if passes > 1 {
                    let passes = format!("{passes} passes over {} MiB", room >> 20);
                    self.fact(Fact::new(
                        "strided-published-passes",
                        block.to_string(),
                        gap.to_string(),
                        passes,
                    ));
                }
            }
            return self.sized(Measure::StridedPublished, payload, room + SPARE);
        }
        if exchange {
            let field = either(exchange::FIELD, 8 << 20, 128 << 10);
            return self.sized(Measure::StridedExchange, field, exchange::room(field));
        }
        if regret {
            return self.regret(seed, either(usize::MAX, SAMPLE, SAMPLE));
        }
        self.jobs(Measure::Strided, 2, 1)?;
        let seed = self.seed(seed);
        self.drawn(Measure::StridedSweep, sweep::ROOM, seed, usize::MAX)
    }

    /// Measures regret of predicates, for at most so many layouts of each kind.
    pub(crate) fn regret(&mut self, seed: Option<u64>, most: usize) -> Result<(), Box<dyn Error>> {
        let seed = self.seed(seed);
        self.drawn(Measure::StridedRegret, regret::ROOM, seed, most)
    }

    /// The seed that was asked for, or a new one, which is said.
    fn seed(&mut self, asked: Option<u64>) -> u64 {
        let now = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.subsec_nanos().into());
        let seed = asked.unwrap_or_else(now);
        self.remark(&format!("shmem-perf: random layouts are drawn with --seed {seed}"));
        seed
    }

    /// Runs jobs beside the libraries that are there.
    pub(crate) fn beside(&mut self, measure: Measure, peers: &[Peer]) -> Result<(), Box<dyn Error>> {
        let programs = self.programs(peers)?;
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), "32M".to_owned());
        let mut job = self.job(measure, 2, 1, &[heap]);
        if let Some(programs) = &programs {
            job.args.extend(["--peers".into(), programs.directory().to_string_lossy().into_owned()]);
        } else if measure == Measure::StridedPeers {
            return Ok(());
        }
        self.repeat(&job)
    }

    /// Runs one job that moves so many bytes and has so much heap.
    fn sized(&mut self, measure: Measure, bytes: usize, heap: usize) -> Result<(), Box<dyn Error>> {
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), heap.to_string());
        let mut job = self.job(measure, 2, 1, &[heap]);
        job.args.extend(["--most".into(), bytes.to_string()]);
        self.once(&job)
    }

    /// Runs one job on layouts that are drawn, at most so many of a kind, with room for them.
    pub(crate) fn drawn(
        &mut self,
        measure: Measure,
        room: usize,
        seed: u64,
        most: usize,
    ) -> Result<(), Box<dyn Error>> {
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (2 * room).to_string());
        let mut job = self.job(measure, 2, 1, &[heap]);
        job.args.extend(["--seed".into(), seed.to_string(), "--most".into(), most.to_string()]);
        self.once(&job)
    }
}

impl Bench<'_> {
    /// The layouts of applications.
    pub(crate) fn strided(&self) -> Records {
        let object = self.world.alloc(zeroed::<u8>(cases::room() + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut records = Vec::new();
            for layout in cases::LAYOUTS {
                let mut sides = Sides::new(self.world, place).skewed(layout.skew);
                for (direction, name) in DIRECTIONS {
                    let costs = cases::measure(&mut sides, &layout.spread, direction, self.repetitions);
                    let compared = "blocks by iputmem and igetmem, against a load and a store for each of their lines; vs_a1: how many times faster than a loop of puts";
                    records.push(costs.name(&self.site, format!("{}/{name}", layout.name), compared));
                }
            }
            records.extend(self.constant());
            records
        }))
    }

    /// Many layouts against a loop of puts.
    pub(crate) fn sweep(&self, seed: u64) -> Records {
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
                Record::new(&self.site, "strided-sweep", format!("share/{n}"), "%", compared, share),
                Record::new(&self.site, "strided-sweep", format!("worst/{n}"), "", largest, most),
            ]
        }))
    }

    /// How far what is chosen is from the best, for at most so many layouts of each kind.
    pub(crate) fn regret(&self, seed: u64, most: usize) -> Records {
        let layouts = [("grid", regret::grid()), ("random", regret::random(seed))];
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
    pub(crate) fn regret_sample(&self) -> Records {
        self.regrets(sweep::ROOM, &[("sample", regret::sample())])
    }

    fn regrets(&self, room: usize, layouts: &[(&str, Vec<sweep::Point>)]) -> Records {
        let object = self.world.alloc(zeroed::<u8>(room + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut sides = Sides::new(self.world, place).skewed(1024);
            let mut records = Vec::new();
            let thresholds = shmem_core::strided::settings().thresholds;
            for (name, points) in layouts {
                let all: Vec<_> =
                    points.iter().map(|point| regret::regrets(&mut sides, point, &thresholds, 7)).collect();
                let mut record = |policy: &str, compared: &str, pair: fn(&regret::Regrets) -> (f64, f64)| {
                    let mut samples = Samples::new();
                    all.iter().map(pair).for_each(|(cost, limit)| samples.push(cost, limit));
                    let case = format!("{policy}/{name}");
                    records.push(Record::new(&self.site, "regret", case, "", compared, samples).geometric());
                };
                record(
                    "auto",
                    "time of the kernel chosen over that of the best of all, for each layout",
                    |r| (r.auto, 1.0),
                );
                let beside = "the same of other choices, against auto's";
                record("published", beside, |r| (r.published, r.auto));
                record("ideal12", beside, |r| (r.ideal, r.auto));
                record("always1", beside, |r| (r.one, r.auto));
                record("always2", beside, |r| (r.two, r.auto));
            }
            records
        }))
    }

    /// The published table, for a payload of so many bytes.
    pub(crate) fn published_table(&self, payload: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        let heap = world.partitions().first().map_or(0, |heap| heap.spec.size as usize);
        let object = world.alloc(zeroed::<u8>(heap.saturating_sub(SPARE) + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut sides = Sides::new(world, place);
            let mut records = Vec::new();
            for (direction, name) in DIRECTIONS {
                for cell in Cell::all() {
                    let times = published::measure(&mut sides, cell, direction, payload, repetitions);
                    let sample = match times.parts {
                        1 => String::new(),
                        parts => format!(", of which a sample moves the next of {parts} parts"),
                    };
                    let mut record = |way: &str, compared: &str, samples| {
                        let case = format!("{way}/{name}/{}/{}", cell.block, cell.gap);
                        let compared = format!("{compared}; time for {} KiB{sample}", payload >> 10);
                        records.push(Record::new(&self.site, "strided-published", case, "ms", compared, samples));
                    };
                    record("2", "Algorithm 2 against Algorithm 1", times.two);
                    record("3", "Algorithm 3, the one of 1 and 2 that the published table chooses, against Algorithm 1", times.three);
                    record("auto", "what is chosen here, against Algorithm 1", times.auto);
                    record("auto-best", "what is chosen here, against the better one of Algorithms 1 and 2", times.auto_over_best);
                }
            }
            records
        }))
    }

    /// The published halo exchange, in a field of so many bytes.
    pub(crate) fn exchange(&self, bytes: usize) -> Records {
        let mut records = Vec::new();
        for [rows, columns] in exchange::shapes(bytes) {
            let half = Half::new(self.world, [rows, columns])?;
            for (edges, state) in [(Edges::Cached, "cached"), (Edges::Evicted, "evicted")] {
                for (algorithm, samples) in half.measure(edges, self.repetitions) {
                    let case = format!("{}/{rows}x{columns}/{state}", algorithm.name());
                    let compared = "an exchange of the edges of two halves of a field, columns by an algorithm, against Algorithm 1";
                    records.push(Record::new(&self.site, "strided-exchange", case, "us", compared, samples));
                }
            }
            half.free()?;
        }
        Ok(records)
    }
}
