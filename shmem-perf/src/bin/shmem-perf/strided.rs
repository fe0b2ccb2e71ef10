//! Strided transfers, inside a PE.

use shmem::zeroed;
use shmem_perf::strided::{Direction, Sides, cases, regret, sweep};
use shmem_perf::{FEWEST, Record, Samples};

use crate::bench::{Bench, Records};

/// Room behind the last block: both sides begin anywhere in a page.
const MARGIN: usize = 2 << 12;

/// A share of layouts, in percent, that may be slower than a loop of puts by more than [`SLOW`].
const FEW: f64 = 2.0;

/// Slower than a loop of puts.
const SLOW: f64 = 1.1;

/// So slow that no layout may be.
const TOO_SLOW: f64 = 1.5;

impl Bench<'_> {
    /// The layouts of applications.
    pub(crate) fn strided(&self) -> Records {
        let object = self.world.alloc(zeroed::<u8>(cases::room() + MARGIN))?;
        let place = object.on(self.other());
        Ok(self.alone(|| {
            let mut records = Vec::new();
            for layout in cases::LAYOUTS {
                let mut sides = Sides::new(self.world, place).skewed(layout.skew);
                for (direction, name) in [(Direction::Put, "put"), (Direction::Get, "get")] {
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

    /// How far what is chosen is from the best.
    pub(crate) fn regret(&self, seed: u64) -> Records {
        self.regrets(regret::ROOM, &[("grid", regret::grid()), ("random", regret::random(seed))])
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
            }
            records
        }))
    }
}
