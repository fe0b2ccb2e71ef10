//! The guard: what must not become slower. Runs what measures the guarded cases, again where they miss their bounds, and says
//! what came of it.
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

use clap::Args;
use serde::Serialize;
use shmem_core::columns::Columns;

use crate::case::{Case, Record};
use crate::goal::Goal;
use crate::measure::{self, MEASURES};
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::table;
use crate::task::Done;

/// How often a case is measured before it is refused.
const ATTEMPTS: usize = 5;

/// What is to be held, and how generously.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Only the cases of these measures; not given: all.
    #[arg(value_name = "MEASURE")]
    measures: Vec<String>,
    /// A factor for all bounds: more than 1 for a machine that is never quiet.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    allowance: f64,
}

/// The most that a case may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// Its goal, with an allowance.
    Eased(f64),
    /// This, where there is no goal, or one that is not reached everywhere.
    Own(Goal),
}

/// A case that is guarded: its measure, what it is of that, the most that it may cost, and cores without which it says nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guarded {
    measure: String,
    case: String,
    bound: Bound,
    cores: usize,
}

/// A case, as it is written: `put 4096`.
pub(crate) fn held(name: &str, bound: Bound) -> Guarded {
    let (measure, case) =
        name.split_once(' ').unwrap_or_else(|| unreachable!("`{name}` has a measure and a case"));
    Guarded { measure: measure.to_owned(), case: case.to_owned(), bound, cores: 1 }
}

/// One whose PEs or threads run at the same time.
pub(crate) fn held_by_two(name: &str, bound: Bound) -> Guarded {
    Guarded { cores: 2, ..held(name, bound) }
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
    /// A run in a few jobs: fewer than for figures, since what misses is measured again.
    pub(crate) const fn of(
        command: &'static str,
        run: fn(&mut Runner) -> Done,
        cases: fn() -> Vec<Guarded>,
    ) -> Self {
        Self { command, jobs: 3, run, possible: || Ok(()), cases }
    }

    /// Runs it until none of its cases wants more.
    fn measure(&self, trials: &mut [Trial]) -> Done {
        for _ in 0..ATTEMPTS {
            let mut open: Vec<_> = trials.iter_mut().filter(|trial| trial.is_open()).collect();
            if open.is_empty() {
                break;
            }
            let mut runner = Runner::keeping(FEWEST, self.jobs);
            (self.run)(&mut runner)?;
            let cases: Vec<Case> = runner.take().records.iter().map(Record::case).collect();
            open.iter_mut().for_each(|trial| trial.add(&cases));
        }
        Ok(())
    }
}

/// A guarded case, and what has been measured of it so far.
#[derive(Clone, Debug)]
struct Trial {
    guarded: Guarded,
    command: &'static str,
    allowance: f64,
    measured: Vec<Case>,
    skipped: Option<String>,
}

/// What came of a guarded case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Held,
    /// It has missed its bound each time.
    Refused,
    /// Its measure was run, and has no such case.
    Missing,
    /// It was not measured, or what was measured says nothing.
    Skipped,
}

impl Trial {
    fn new(guarded: Guarded, command: &'static str, allowance: f64) -> Self {
        Self { guarded, command, allowance, measured: Vec::new(), skipped: None }
    }

    /// What a case is held against; nothing if its PEs had to share cores.
    fn bound(&self, case: &Case) -> Option<Goal> {
        match self.guarded.bound {
            _ if self.guarded.cores > 1 && case.shared_cores => None,
            Bound::Eased(own) => measure::goal(case).map(|goal| goal.eased(own * self.allowance)),
            Bound::Own(goal) => Some(goal.eased(self.allowance)),
        }
    }

    /// Takes what it needs out of what one run of its measure has brought.
    fn add(&mut self, cases: &[Case]) {
        let Guarded { measure, case, .. } = &self.guarded;
        let Some(found) = cases.iter().find(|found| found.measure == *measure && found.case == *case) else {
            return;
        };
        if self.bound(found).is_none() {
            self.skipped = Some("its PEs shared cores".to_owned());
        }
        self.measured.push(found.clone());
    }

    /// Whether it has to be measured, or measured again.
    fn is_open(&self) -> bool {
        self.measured.len() < ATTEMPTS && matches!(self.verdict(), Verdict::Missing | Verdict::Refused)
    }

    fn verdict(&self) -> Verdict {
        let reaches = |case: &Case| self.bound(case).is_some_and(|bound| bound.is_met(case));
        match &self.skipped {
            Some(_) => Verdict::Skipped,
            None if self.measured.is_empty() => Verdict::Missing,
            None if self.measured.iter().any(reaches) => Verdict::Held,
            None => Verdict::Refused,
        }
    }

    /// What it was held against, as text; empty if it was not measured.
    fn bound_said(&self) -> String {
        self.measured
            .last()
            .and_then(|case| self.bound(case))
            .map(|bound| bound.to_string())
            .unwrap_or_default()
    }

    /// What is wrong and what to do about it, in one line; nothing if nothing is wrong.
    fn complaint(&self) -> Option<String> {
        let (Guarded { measure, case, .. }, command) = (&self.guarded, self.command);
        match self.verdict() {
            Verdict::Held | Verdict::Skipped => None,
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
                    self.bound_said(),
                ))
            }
        }
    }
}

/// The ratio, and what stands beside it.
fn amount(case: &Case) -> String {
    format!("{:.3}{}", case.ratio, table::beside(case))
}

fn guards() -> impl Iterator<Item = &'static Guard> {
    MEASURES.iter().flat_map(|measure| measure.guards)
}

/// Tries the guarded cases: fails if a case is refused, or none was held.
pub(crate) fn check(Options { measures, allowance }: &Options, json: bool) -> Done {
    let allowance = *allowance;
    let all: Vec<Guarded> = guards().flat_map(|guard| (guard.cases)()).collect();
    let known = |measure: &String| all.iter().any(|guarded| guarded.measure == *measure);
    if let Some(unknown) = measures.iter().find(|measure| !known(measure)) {
        let mut all: Vec<_> = all.iter().map(|guarded| &*guarded.measure).collect();
        all.dedup();
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    let wanted = |guarded: &Guarded| measures.is_empty() || measures.contains(&guarded.measure);
    let mut trials = Vec::new();
    for guard in guards() {
        let cases = (guard.cases)().into_iter().filter(wanted);
        let mut tried: Vec<_> = cases.map(|guarded| Trial::new(guarded, guard.command, allowance)).collect();
        leave_out(guard, &mut tried)?;
        guard.measure(&mut tried)?;
        trials.extend(tried);
    }
    show(&trials, json)?;
    conclude(&trials)
}

/// Skips what this build or this machine says nothing about.
fn leave_out(guard: &Guard, trials: &mut [Trial]) -> Done {
    let cores = std::thread::available_parallelism()?.get();
    let is_due = |trial: &Trial| !cfg!(debug_assertions) && cores >= trial.guarded.cores;
    let possible = if trials.iter().any(is_due) { (guard.possible)() } else { Ok(()) };
    for trial in trials {
        let needed = trial.guarded.cores;
        trial.skipped = match &possible {
            _ if cfg!(debug_assertions) => Some("a debug build says nothing of speed".to_owned()),
            _ if cores < needed => Some(format!("needs {needed} cores, and there is {cores}")),
            possible => possible.clone().err(),
        };
    }
    Ok(())
}

/// A case of the guard, as JSON.
#[derive(Serialize)]
struct Line<'a> {
    measure: &'a str,
    case: &'a str,
    /// Of each measurement, in order.
    ratios: Vec<f64>,
    bound: String,
    verdict: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

fn show(trials: &[Trial], json: bool) -> Done {
    let mut columns = Columns::new(["measure", "case", "ratio", "bound", "measured", "verdict"], &[2, 3, 4]);
    for trial in trials {
        let Guarded { measure, case, .. } = &trial.guarded;
        let verdict = match trial.verdict() {
            Verdict::Held => "held",
            Verdict::Refused => "too slow",
            Verdict::Missing => "missing",
            Verdict::Skipped => "skipped",
        };
        if json {
            let why = trial.skipped.clone().or_else(|| trial.complaint());
            let ratios = trial.measured.iter().map(|case| case.ratio).collect();
            println!(
                "{}",
                serde_json::to_string(&Line {
                    measure,
                    case,
                    ratios,
                    bound: trial.bound_said(),
                    verdict,
                    why
                })?
            );
            continue;
        }
        let why = trial.skipped.iter().map(String::as_str);
        columns.push([
            measure.clone(),
            case.clone(),
            trial.measured.last().map(amount).unwrap_or_default(),
            trial.bound_said(),
            trial.measured.len().to_string(),
            [verdict].into_iter().chain(why).collect::<Vec<_>>().join(": "),
        ]);
    }
    if !json {
        print!("{columns}");
    }
    Ok(())
}

/// Says what is wrong, and how many cases were held. A guard that has seen nothing is not content.
fn conclude(trials: &[Trial]) -> Done {
    let complaints: Vec<_> = trials.iter().filter_map(Trial::complaint).collect();
    complaints.iter().for_each(|complaint| eprintln!("shmem-perf: {complaint}"));
    let count = |verdict| trials.iter().filter(|trial| trial.verdict() == verdict).count();
    let (held, refused, skipped) = (count(Verdict::Held), complaints.len(), count(Verdict::Skipped));
    let counted = format!("{held} of {} cases are held, {refused} refused, {skipped} skipped", trials.len());
    if refused == 0 && held > 0 {
        eprintln!("shmem-perf: {counted}");
        return Ok(());
    }
    let advice = "; nothing was measured: take a release build, on two cores or more";
    Err(format!("{counted}{}", if held + refused == 0 { advice } else { "" }).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::case;

    fn trial() -> Trial {
        Trial::new(held("put 512", Bound::Own(Goal::Ratio(1.5))), "put", 1.0)
    }

    /// Measures as long as the trial asks for it.
    fn tried(ratios: &[f64]) -> Trial {
        let (mut trial, mut left) = (trial(), ratios.iter());
        while trial.is_open() {
            trial.add(&[case("get", "512"), Case { ratio: *left.next().unwrap(), ..case("put", "512") }]);
        }
        trial
    }

    #[test]
    fn a_case_is_refused_if_and_only_if_all_its_measurements_miss() {
        for first in 0..=ATTEMPTS {
            let ratios: Vec<_> = (0..ATTEMPTS).map(|at| if at == first { 1.5 } else { 1.6 }).collect();
            let trial = tried(&ratios);
            assert_eq!(trial.measured.len(), (first + 1).min(ATTEMPTS));
            let is_refused = trial.verdict() == Verdict::Refused && trial.complaint().is_some();
            assert_eq!((is_refused, conclude(&[trial]).is_err()), (first == ATTEMPTS, first == ATTEMPTS));
        }
    }

    #[test]
    fn a_refusal_says_what_was_measured_what_is_allowed_and_what_to_do() {
        assert_eq!(
            tried(&[2.0, 2.5, 3.0, 3.5, 4.0]).complaint().unwrap(),
            "put 512 is too slow: 2.000 and 2.500 and 3.000 and 3.500 and 4.000 times its limit in 5 measurements, \
             allowed is 1.50 (a put against a store); look at `shmem-perf put` on a quiet machine, before and after the change"
        );
    }

    #[test]
    fn what_is_not_measured_is_not_held() {
        let missing = trial();
        assert!(missing.complaint().unwrap().contains("put 512 is guarded, but was not measured"));
        let skipped = Trial { skipped: Some("a debug build".to_owned()), ..trial() };
        assert!(!skipped.is_open() && skipped.complaint().is_none());
        let held = tried(&[1.0]);
        for (trials, passes) in [
            (vec![], false),
            (vec![skipped.clone()], false),
            (vec![held.clone(), skipped], true),
            (vec![held, missing], false),
        ] {
            assert_eq!(conclude(&trials).is_ok(), passes, "{trials:?}");
        }
    }

    /// Each case stands there once, has a bound that can be missed, and says nothing where PEs share cores; a larger allowance
    /// refuses nothing more.
    #[test]
    fn every_case_has_a_bound_that_can_be_missed() {
        let all: Vec<Guarded> = guards().flat_map(|guard| (guard.cases)()).collect();
        for guarded in &all {
            let of = |ratio: f64| Case {
                ratio,
                difference: 1e6 * ratio,
                value: ratio * 1e6,
                limit: 1.0,
                vs_a1: Some(1.0 / ratio),
                p95: Some(ratio),
                ..case(&guarded.measure, &guarded.case)
            };
            let verdict = |allowance, case: Case| {
                let mut trial = Trial::new(guarded.clone(), "", allowance);
                trial.add(&[case]);
                trial.verdict()
            };
            assert!(
                [1e4, 1e-4].map(|ratio| verdict(1.0, of(ratio))).contains(&Verdict::Refused),
                "{guarded:?} is always met"
            );
            for ratio in [1.0, 1.5, 2.0, 4.0] {
                assert!(
                    verdict(1.0, of(ratio)) != Verdict::Held || verdict(2.0, of(ratio)) == Verdict::Held,
                    "{guarded:?}"
                );
            }
            let shared = verdict(1.0, Case { shared_cores: true, ..of(1e6) });
            assert!(guarded.cores == 1 || shared == Verdict::Skipped, "{guarded:?}");
            let twice =
                all.iter().filter(|other| (&other.measure, &other.case) == (&guarded.measure, &guarded.case));
            assert_eq!(twice.count(), 1, "{guarded:?}");
        }
        for measure in [
            "put8-static",
            "put",
            "get",
            "lookup",
            "barrier",
            "signal",
            "atomic",
            "collective",
            "micro",
            "alloc",
            "threads",
            "tracking",
            "array",
            "halo",
            "strided",
            "regret",
            "startup",
            "ofi",
            "network",
        ] {
            assert!(all.iter().any(|guarded| guarded.measure == measure), "{measure}");
        }
    }
}
