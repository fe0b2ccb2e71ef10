//! What must not become slower: cases, each with the most that it may cost, and what follows from measuring them.
//!
//! Bounds are ratios, so that they hold on any machine, and generous: they are to be missed when an operation has
//! lost a good part of its speed, never because a neighbour was busy. Most are the case's [`Goal`] with an
//! *allowance*, a factor:
//!
//! ```text
//! 1.5    where both sides are the same few instructions
//! 2      where a line travels between cores, which are near at times and far at times, threads are waited for, or
//!        neighbours use the same memory
//! ```
//!
//! A case that misses its bound is measured again, by another job: which pages a job gets, and what else the
//! machine does, is luck. It is refused when it has missed its bound [`ATTEMPTS`] times, and held as soon as it
//! reaches it once.

use super::case::Case;
use super::goal::Goal;

/// How often a case is measured before it is refused.
pub const ATTEMPTS: usize = 3;

/// The most that a case may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Its goal, with an allowance.
    Eased(f64),
    /// This, where there is no goal, or one that is not reached everywhere.
    Own(Goal),
}

/// A case that is guarded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarded {
    /// The measure: `put8-static`.
    pub measure: &'static str,
    /// Which of its cases: `typed/127/8`.
    pub case: &'static str,
    /// The most that it may cost.
    pub bound: Bound,
    /// Cores without which it says nothing.
    pub cores: usize,
}

impl Guarded {
    const fn new(measure: &'static str, case: &'static str, bound: Bound) -> Self {
        Self { measure, case, bound, cores: 1 }
    }

    /// A case whose PEs or threads run at the same time.
    const fn side_by_side(measure: &'static str, case: &'static str, bound: Bound) -> Self {
        Self { measure, case, bound, cores: 2 }
    }

    /// The bound of what was measured, with a further allowance; none if its PEs had to share cores.
    pub fn bound(&self, case: &Case, allowance: f64) -> Option<Goal> {
        match self.bound {
            _ if self.cores > 1 && case.shared_cores => None,
            Bound::Eased(own) => Goal::of(case).map(|goal| goal.eased(own * allowance)),
            Bound::Own(goal) => Some(goal.eased(allowance)),
        }
    }

    /// What measures it by itself: `lookup`, to be called as `shmem-perf lookup`.
    pub fn command(&self) -> &'static str {
        match self.measure {
            "put8-static" | "put8-quiet" => "put",
            "lookup-published" => "lookup",
            "regret" => "strided --regret",
            other => other,
        }
    }
}

use Bound::{Eased, Own};

/// The cases that are guarded.
pub const GUARDED: &[Guarded] = &[
    Guarded::new("put8-static", "8", Eased(1.5)),
    Guarded::new("put8-quiet", "8", Eased(1.5)),
    // A call more than `memcpy`: 1.0 to 1.15.
    Guarded::new("put", "8", Own(Goal::Ratio(1.6))),
    Guarded::new("put", "4096", Eased(1.5)),
    Guarded::new("put", "65536", Eased(1.5)),
    Guarded::new("get", "8", Own(Goal::Ratio(1.6))),
    Guarded::new("get", "4096", Eased(1.5)),
    Guarded::new("get", "65536", Eased(1.5)),
    Guarded::new("lookup", "typed/127/8", Eased(1.5)),
    Guarded::new("lookup", "raw/127/8", Eased(1.5)),
    // Against one buffer in the first of them: what looks from either end is seen. 1.00 to 1.02.
    Guarded::new("lookup-published", "put/127/8", Own(Goal::Ratio(1.5))),
    Guarded::new("lookup-published", "get/127/8", Own(Goal::Ratio(1.5))),
    Guarded::new("atomic", "fetch-add/64", Eased(1.5)),
    Guarded::new("atomic", "compare-swap/64", Eased(1.5)),
    // 1.2 where cores are near, 2.2 where they are far; 3.7 with one system call more.
    Guarded::side_by_side("barrier", "2", Eased(1.0)),
    Guarded::side_by_side("signal", "8", Eased(2.0)),
    Guarded::side_by_side("collective", "broadcast/8/2", Eased(2.0)),
    Guarded::side_by_side("collective", "sum/8/2", Eased(2.0)),
    Guarded::side_by_side("collective", "fcollect/8/2", Eased(2.0)),
    Guarded::side_by_side("collective", "alltoall/8/2", Eased(2.0)),
    // 2.3 where cores are far from each other, and 4 where they are near: then barriers cost less, and the rest does not.
    Guarded::side_by_side("alloc", "64", Own(Goal::Ratio(6.5))),
    Guarded::side_by_side("alloc", "65536", Own(Goal::Ratio(6.5))),
    Guarded::side_by_side("threads", "2/private", Eased(2.0)),
    Guarded::new("tracking", "events/8", Eased(1.25)),
    Guarded::new("tracking", "events/65536", Eased(1.5)),
    Guarded::new("tracking", "domain/8", Own(Goal::Ratio(1.5))),
    // As fast as memory, which neighbours use, too: up to 2.3 where they do.
    Guarded::new("array", "single/index", Eased(2.0)),
    Guarded::new("array", "separate/index", Eased(2.0)),
    Guarded::new("array", "cyclic/index", Eased(2.0)),
    Guarded::new("array", "multi/index", Eased(2.0)),
    Guarded::new("array", "multi/iter", Eased(2.0)),
    Guarded::new("array", "multi/chunks", Eased(2.0)),
    Guarded::side_by_side("halo", "16x16", Eased(2.0)),
    Guarded::side_by_side("halo", "256x256", Eased(1.5)),
    Guarded::side_by_side("halo", "exchange/16", Eased(2.0)),
    Guarded::side_by_side("halo", "interior/256x256", Eased(1.5)),
    Guarded::new("strided", "column/1024/put", Eased(1.5)),
    Guarded::new("strided", "column/1024/get", Eased(1.5)),
    Guarded::new("strided", "aos/24/8/1k/put", Eased(1.5)),
    Guarded::new("strided", "aos/24/8/1k/get", Eased(1.5)),
    Guarded::new("strided", "checkerboard-f64/1k/put", Eased(1.5)),
    Guarded::new("strided", "checkerboard-f32/1k/put", Eased(1.5)),
    Guarded::new("strided", "constant/8x4", Eased(2.0)),
    Guarded::new("regret", "auto/sample", Own(Goal::Tail(1.4, 2.5))),
    Guarded::new("startup", "4", Eased(1.5)),
    Guarded::new("startup-resident", "4", Eased(1.5)),
    Guarded::side_by_side("ofi", "put/8/tcp;ofi_rxm", Eased(1.5)),
    Guarded::side_by_side("ofi", "get/8/tcp;ofi_rxm", Eased(1.5)),
    Guarded::side_by_side("ofi", "fetch-add/8/tcp;ofi_rxm", Eased(1.5)),
    Guarded::side_by_side("ofi", "put-rate/8/tcp;ofi_rxm", Eased(1.5)),
];

/// What came of a guarded case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has reached its bound.
    Held,
    /// It has missed its bound each time.
    Refused,
    /// Its measure was run, and has no such case.
    Missing,
    /// It was not measured, or what was measured says nothing.
    Skipped(String),
}

/// A guarded case, and what has been measured of it so far.
#[derive(Clone, Debug)]
pub struct Trial {
    guarded: Guarded,
    allowance: f64,
    measured: Vec<Case>,
    skipped: Option<String>,
}

impl Trial {
    /// Nothing is measured yet. All bounds get a further `allowance`, a factor.
    pub fn new(guarded: Guarded, allowance: f64) -> Self {
        Self { guarded, allowance, measured: Vec::new(), skipped: None }
    }

    /// The case that is tried.
    pub fn guarded(&self) -> &Guarded {
        &self.guarded
    }

    /// It will not be measured.
    pub fn skip(&mut self, why: impl Into<String>) {
        self.skipped = Some(why.into());
    }

    /// Takes what it needs out of what one run of its measure has brought.
    pub fn add(&mut self, cases: &[Case]) {
        let Guarded { measure, case, .. } = self.guarded;
        let Some(found) = cases.iter().find(|found| found.measure == measure && found.case == case) else {
            return;
        };
        if self.guarded.bound(found, 1.0).is_none() {
            self.skip("its PEs shared cores");
        }
        self.measured.push(found.clone());
    }

    /// Whether it has to be measured, or measured again.
    pub fn is_open(&self) -> bool {
        self.skipped.is_none() && self.measured.len() < ATTEMPTS && !self.is_reached()
    }

    fn is_reached(&self) -> bool {
        self.measured.iter().any(|case| self.reaches(case))
    }

    fn reaches(&self, case: &Case) -> bool {
        self.guarded.bound(case, self.allowance).is_some_and(|bound| bound.is_met(case))
    }

    /// What came of it, when it has been measured as often as it is [open](Self::is_open).
    pub fn verdict(&self) -> Verdict {
        match &self.skipped {
            Some(why) => Verdict::Skipped(why.clone()),
            None if self.measured.is_empty() => Verdict::Missing,
            None if self.is_reached() => Verdict::Held,
            None => Verdict::Refused,
        }
    }

    /// What was measured, in order. The last one is what the verdict rests on, if it is held.
    pub fn measured(&self) -> &[Case] {
        &self.measured
    }

    /// What it was held against, as text; empty if it was not measured.
    pub fn bound(&self) -> String {
        let bound = self.measured.last().and_then(|case| self.guarded.bound(case, self.allowance));
        bound.map(|bound| bound.to_string()).unwrap_or_default()
    }

    /// What is wrong and what to do about it, in one line; nothing if nothing is wrong.
    pub fn complaint(&self) -> Option<String> {
        let Guarded { measure, case, .. } = self.guarded;
        let command = self.guarded.command();
        match self.verdict() {
            Verdict::Held | Verdict::Skipped(_) => None,
            Verdict::Missing => Some(format!(
                "{measure} {case} is guarded, but was not measured: the measure has no such case; see `shmem-perf {command}`"
            )),
            Verdict::Refused => {
                let ratios: Vec<_> = self.measured.iter().map(amount).collect();
                let compared = self.measured.last().map_or("", |case| &case.compared);
                Some(format!(
                    "{measure} {case} is too slow: {} times its limit in {} measurements, allowed is {} ({compared}); \
                     look at `shmem-perf {command}` on a quiet machine, before and after the change",
                    ratios.join(" and "),
                    self.measured.len(),
                    self.bound(),
                ))
            }
        }
    }
}

/// The ratio, and what stands beside it.
pub fn amount(case: &Case) -> String {
    format!("{:.3}{}", case.ratio, super::table::beside(case))
}

/// How many cases came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that have reached their bounds.
    pub held: usize,
    /// Cases that have missed them, or were not there.
    pub refused: usize,
    /// Cases that were not measured.
    pub skipped: usize,
}

impl Tally {
    /// Counts.
    pub fn of(trials: &[Trial]) -> Self {
        let mut tally = Self::default();
        for trial in trials {
            match trial.verdict() {
                Verdict::Held => tally.held += 1,
                Verdict::Refused | Verdict::Missing => tally.refused += 1,
                Verdict::Skipped(_) => tally.skipped += 1,
            }
        }
        tally
    }

    /// Whether the guard is content. It is not if it has seen nothing.
    pub fn passes(self) -> bool {
        self.refused == 0 && self.held > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::tests::case;

    const PUT: Guarded = Guarded::new("put", "4096", Own(Goal::Ratio(1.5)));

    fn put(ratio: f64) -> Case {
        Case { ratio, ..case("put", "4096") }
    }

    /// Measures as long as the trial asks for it.
    fn tried(ratios: &[f64]) -> (Trial, usize) {
        let mut trial = Trial::new(PUT, 1.0);
        let mut left = ratios.iter();
        while trial.is_open() {
            trial.add(&[case("get", "4096"), put(*left.next().unwrap())]);
        }
        let taken = ratios.len() - left.len();
        (trial, taken)
    }

    proptest! {
        #[test]
        fn a_case_is_refused_if_and_only_if_all_its_measurements_miss(
            ratios in proptest::collection::vec(1.0..2.0, ATTEMPTS),
        ) {
            let (trial, taken) = tried(&ratios);
            let first = ratios.iter().position(|ratio| *ratio <= 1.5);
            prop_assert_eq!(taken, first.map_or(ATTEMPTS, |at| at + 1));
            prop_assert_eq!(trial.verdict() == Verdict::Refused, first.is_none());
            prop_assert_eq!(trial.complaint().is_some(), first.is_none());
            prop_assert_eq!(Tally::of(&[trial]).passes(), first.is_some());
        }

        #[test]
        fn a_larger_allowance_refuses_nothing_more(ratio in 1.0..4.0, allowance in 1.0..3.0, index in 0..GUARDED.len()) {
            let guarded = GUARDED[index];
            let case = Case { ratio, vs_a1: Some(ratio), p95: Some(ratio), ..case(guarded.measure, guarded.case) };
            let reached = |allowance| {
                let mut trial = Trial::new(guarded, allowance);
                trial.add(std::slice::from_ref(&case));
                trial.verdict() == Verdict::Held
            };
            prop_assert!(!reached(1.0) || reached(allowance));
        }
    }

    #[test]
    fn a_refusal_says_what_was_measured_what_is_allowed_and_what_to_do() {
        let (trial, _) = tried(&[2.0, 2.5, 3.0]);
        assert_eq!(
            trial.complaint().unwrap(),
            "put 4096 is too slow: 2.000 and 2.500 and 3.000 times its limit in 3 measurements, allowed is 1.50 (a put \
             against a store); look at `shmem-perf put` on a quiet machine, before and after the change"
        );
    }

    #[test]
    fn what_is_not_measured_is_not_held() {
        let missing = Trial::new(PUT, 1.0);
        assert_eq!(missing.verdict(), Verdict::Missing);
        assert!(missing.complaint().unwrap().contains("put 4096 is guarded, but was not measured"));
        let mut skipped = Trial::new(PUT, 1.0);
        skipped.skip("a debug build");
        assert!(!skipped.is_open() && skipped.complaint().is_none());
        let (held, _) = tried(&[1.0]);
        assert_eq!(Tally::of(&[]), Tally::default());
        for (trials, passes) in [
            (vec![], false),
            (vec![skipped.clone()], false),
            (vec![held.clone(), skipped], true),
            (vec![held, missing], false),
        ] {
            assert_eq!(Tally::of(&trials).passes(), passes, "{trials:?}");
        }
    }

    #[test]
    fn pes_that_share_cores_are_not_held_against_a_core_each() {
        for guarded in GUARDED.iter().filter(|guarded| guarded.cores > 1) {
            let mut trial = Trial::new(*guarded, 1.0);
            trial.add(&[Case { ratio: 1e6, shared_cores: true, ..case(guarded.measure, guarded.case) }]);
            assert!(matches!(trial.verdict(), Verdict::Skipped(_)), "{guarded:?}");
        }
    }

    #[test]
    fn every_case_has_a_bound_that_can_be_missed() {
        for guarded in GUARDED {
            let case = |ratio| Case {
                ratio,
                difference: 1e6 * ratio,
                value: ratio * 1e6,
                limit: 1.0,
                vs_a1: Some(1.0 / ratio),
                p95: Some(ratio),
                ..case(guarded.measure, guarded.case)
            };
            let bound = guarded.bound(&case(1.0), 1.0);
            let Some(bound) = bound else { panic!("{guarded:?} has no bound") };
            assert!(!bound.is_met(&case(1e4)) || !bound.is_met(&case(1e-4)), "{guarded:?} is always met");
            let twice =
                GUARDED.iter().filter(|other| (other.measure, other.case) == (guarded.measure, guarded.case));
            assert_eq!(twice.count(), 1, "{guarded:?}");
        }
    }

    #[test]
    fn every_capability_is_guarded() {
        for measure in [
            "put8-static",
            "put",
            "get",
            "lookup",
            "barrier",
            "signal",
            "atomic",
            "collective",
            "alloc",
            "threads",
            "tracking",
            "array",
            "halo",
            "strided",
            "regret",
            "startup",
            "ofi",
        ] {
            assert!(GUARDED.iter().any(|guarded| guarded.measure == measure), "{measure}");
        }
    }
}
