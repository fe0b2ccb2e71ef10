//! What must not become slower: cases, each with the most that it may cost, and what follows from measuring them.
//!
//! Bounds are ratios, and so wide that all processors stay within, which differ in what a line costs on its way or one
//! instruction beside another: only an operation that does something else than it ought to misses them. How fast a good
//! one is, is the matter of figures and [goals](crate::measure::goal); its machine code is looked at (`tests/assembly.rs`). Most
//! bounds are the case's [`Goal`] with an *allowance*, a factor:
//!
//! ```text
//! 1.5    where C copies the same bytes between the same cores; 2 where it copies them once, and ours twice side by side
//! 3      where both sides are the same few instructions, or the same memory
//! 4      where a line travels between cores, which are near at times and far at times, threads are waited for, or
//!        neighbours use the same memory
//! ```
//!
//! A case that misses its bound is measured again, by another job: which pages a job gets, and what else the
//! machine does, is luck. It is refused when it has missed its bound [`ATTEMPTS`] times, and held as soon as it
//! reaches it once.

use crate::case::Case;
use crate::goal::Goal;
use crate::name::CaseName;
use crate::runner::Runner;
use crate::task::Done;

/// How often a case is measured before it is refused.
pub const ATTEMPTS: usize = 5;

/// The most that a case may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Its goal, with an allowance.
    Eased(f64),
    /// This, where there is no goal, or one that is not reached everywhere.
    Own(Goal),
}

/// A case that is guarded.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarded {
    /// The measure: `put8-static`.
    pub measure: &'static str,
    /// Which of its cases: `typed/127/8`.
    pub case: String,
    /// The most that it may cost.
    pub bound: Bound,
    /// Cores without which it says nothing.
    pub cores: usize,
}

impl Guarded {
    pub(crate) fn new(name: impl CaseName, bound: Bound) -> Self {
        Self { measure: name.measure(), case: name.to_string(), bound, cores: 1 }
    }

    /// A case whose PEs or threads run at the same time.
    pub(crate) fn side_by_side(name: impl CaseName, bound: Bound) -> Self {
        Self { cores: 2, ..Self::new(name, bound) }
    }

    /// The bound of what was measured, with a further allowance; none if its PEs had to share cores.
    fn bound(&self, case: &Case, goal: fn(&Case) -> Option<Goal>, allowance: f64) -> Option<Goal> {
        match self.bound {
            _ if self.cores > 1 && case.shared_cores => None,
            Bound::Eased(own) => goal(case).map(|goal| goal.eased(own * allowance)),
            Bound::Own(goal) => Some(goal.eased(allowance)),
        }
    }
}

/// Cases of a measure that one run brings, all of which are guarded.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// What runs it by itself: `strided --regret`, to be called as `shmem-perf strided --regret`.
    pub(crate) command: &'static str,
    /// Jobs that share it out.
    pub(crate) jobs: u16,
    pub(crate) run: fn(&mut Runner) -> Done,
    /// Why this machine cannot run it, if it cannot.
    pub(crate) possible: fn() -> Result<(), String>,
    pub(crate) cases: fn() -> Vec<Guarded>,
}

impl Guard {
    /// A run without cases, in a few jobs: fewer than for figures, since what misses is measured again.
    pub(crate) const fn of(command: &'static str, run: fn(&mut Runner) -> Done) -> Self {
        Self { command, jobs: 3, run, possible: || Ok(()), cases: Vec::new }
    }
}

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
    goal: fn(&Case) -> Option<Goal>,
    command: &'static str,
    allowance: f64,
    measured: Vec<Case>,
    skipped: Option<String>,
}

impl Trial {
    /// Nothing is measured yet. All bounds get a further `allowance`, a factor; some are made of the `goal` of a case. `command`
    /// is what measures it by itself.
    pub fn new(
        guarded: Guarded,
        goal: fn(&Case) -> Option<Goal>,
        command: &'static str,
        allowance: f64,
    ) -> Self {
        Self { guarded, goal, command, allowance, measured: Vec::new(), skipped: None }
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
        let Guarded { measure, case, .. } = &self.guarded;
        let Some(found) = cases.iter().find(|found| found.measure == *measure && found.case == *case) else {
            return;
        };
        if self.guarded.bound(found, self.goal, 1.0).is_none() {
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
        self.guarded.bound(case, self.goal, self.allowance).is_some_and(|bound| bound.is_met(case))
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

    /// What a case is held against.
    pub fn bound_of(&self, case: &Case) -> Option<Goal> {
        self.guarded.bound(case, self.goal, self.allowance)
    }

    /// What it was held against, as text; empty if it was not measured.
    pub fn bound(&self) -> String {
        let bound = self.measured.last().and_then(|case| self.guarded.bound(case, self.goal, self.allowance));
        bound.map(|bound| bound.to_string()).unwrap_or_default()
    }

    /// What is wrong and what to do about it, in one line; nothing if nothing is wrong.
    pub fn complaint(&self) -> Option<String> {
        let Guarded { measure, case, .. } = &self.guarded;
        let command = self.command;
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
    use crate::name::names;
    use crate::table::tests::case;

    names! {
        Put(bytes: usize) = "put": [bytes];
    }

    fn trial() -> Trial {
        Trial::new(Guarded::new(Name::Put(4096), Bound::Own(Goal::Ratio(1.5))), |_| None, "put", 1.0)
    }

    fn put(ratio: f64) -> Case {
        Case { ratio, ..case("put", "4096") }
    }

    /// Measures as long as the trial asks for it.
    fn tried(ratios: &[f64]) -> (Trial, usize) {
        let mut trial = trial();
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
    }

    #[test]
    fn a_refusal_says_what_was_measured_what_is_allowed_and_what_to_do() {
        let (trial, _) = tried(&[2.0, 2.5, 3.0, 3.5, 4.0]);
        assert_eq!(
            trial.complaint().unwrap(),
            "put 4096 is too slow: 2.000 and 2.500 and 3.000 and 3.500 and 4.000 times its limit in 5 measurements, \
             allowed is 1.50 (a put against a store); look at `shmem-perf put` on a quiet machine, before and after the change"
        );
    }

    #[test]
    fn what_is_not_measured_is_not_held() {
        let missing = trial();
        assert_eq!(missing.verdict(), Verdict::Missing);
        assert!(missing.complaint().unwrap().contains("put 4096 is guarded, but was not measured"));
        let mut skipped = trial();
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
}
