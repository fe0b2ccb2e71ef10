//! The guard: runs what measures the guarded cases, again where they miss their bounds, and says what came of it.

use clap::Args;
use serde::Serialize;
use shmem_core::columns::Columns;

use crate::case::{Case, Record};
use crate::guard::{ATTEMPTS, Guard, Guarded, Tally, Trial, Verdict, amount};
use crate::measure::{self, MEASURES};
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::task::Done;

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

/// Every guard.
fn guards() -> impl Iterator<Item = &'static Guard> {
    MEASURES.iter().flat_map(|measure| measure.guards)
}

/// Every case that is guarded.
pub fn guarded() -> Vec<Guarded> {
    guards().flat_map(|guard| (guard.cases)()).collect()
}

/// Tries the guarded cases.
///
/// # Errors
///
/// If there is no such measure, if a measure fails, or if a case is refused, or none was held.
pub(crate) fn check(Options { measures, allowance }: &Options, json: bool) -> Done {
    let allowance = *allowance;
    let all = guarded();
    let known = |measure: &String| all.iter().any(|guarded| guarded.measure == measure);
    if let Some(unknown) = measures.iter().find(|measure| !known(measure)) {
        let mut all: Vec<_> = all.iter().map(|guarded| guarded.measure).collect();
        all.dedup();
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    let wanted =
        |guarded: &Guarded| measures.is_empty() || measures.iter().any(|wanted| wanted == guarded.measure);
    let mut trials = Vec::new();
    for guard in guards() {
        let cases = (guard.cases)().into_iter().filter(wanted);
        let trial = |guarded| Trial::new(guarded, measure::goal, guard.command, allowance);
        let mut tried: Vec<_> = cases.map(trial).collect();
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
    let is_due = |trial: &Trial| !cfg!(debug_assertions) && cores >= trial.guarded().cores;
    let possible = if trials.iter().any(is_due) { (guard.possible)() } else { Ok(()) };
    for trial in trials {
        let needed = trial.guarded().cores;
        match &possible {
            _ if cfg!(debug_assertions) => trial.skip("a debug build says nothing of speed"),
            _ if cores < needed => trial.skip(format!("needs {needed} cores, and there is {cores}")),
            Err(why) => trial.skip(why),
            Ok(()) => {}
        }
    }
    Ok(())
}

impl Guard {
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
    let mut table = Columns::new(["measure", "case", "ratio", "bound", "measured", "verdict"], &[2, 3, 4]);
    for trial in trials {
        let Guarded { measure, case, .. } = trial.guarded();
        let verdict = trial.verdict();
        let name = match verdict {
            Verdict::Held => "held",
            Verdict::Refused => "too slow",
            Verdict::Missing => "missing",
            Verdict::Skipped(_) => "skipped",
        };
        let why = if let Verdict::Skipped(why) = verdict { Some(why) } else { trial.complaint() };
        if json {
            let ratios = trial.measured().iter().map(|case| case.ratio).collect();
            let line = Line { measure, case, ratios, bound: trial.bound(), verdict: name, why };
            println!("{}", serde_json::to_string(&line)?);
            continue;
        }
        let skipped = (name == "skipped").then_some(why).flatten();
        table.push([
            (*measure).to_owned(),
            case.clone(),
            trial.measured().last().map(amount).unwrap_or_default(),
            trial.bound(),
            trial.measured().len().to_string(),
            [Some(name.to_owned()), skipped].into_iter().flatten().collect::<Vec<_>>().join(": "),
        ]);
    }
    if !json {
        print!("{table}");
    }
    Ok(())
}

/// Says what is wrong, and how many cases were held.
fn conclude(trials: &[Trial]) -> Done {
    let complaints = trials.iter().filter_map(Trial::complaint);
    complaints.for_each(|complaint| eprintln!("shmem-perf: {complaint}"));
    let tally = Tally::of(trials);
    let Tally { held, refused, skipped } = tally;
    let counted = format!("{held} of {} cases are held, {refused} refused, {skipped} skipped", trials.len());
    if tally.passes() {
        eprintln!("shmem-perf: {counted}");
        return Ok(());
    }
    let advice = if held + refused == 0 {
        "; nothing was measured: take a release build, on two cores or more"
    } else {
        ""
    };
    Err(format!("{counted}{advice}").into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::tests::case;

    fn tried(guarded: &Guarded, allowance: f64) -> Trial {
        Trial::new(guarded.clone(), measure::goal, "", allowance)
    }

    proptest! {
        #[test]
        fn a_larger_allowance_refuses_nothing_more(ratio in 1.0..4.0, allowance in 1.0..3.0, index in 0..guarded().len()) {
            let guarded = guarded().swap_remove(index);
            let case = Case { ratio, vs_a1: Some(ratio), p95: Some(ratio), ..case(guarded.measure, &guarded.case) };
            let reached = |allowance| {
                let mut trial = tried(&guarded, allowance);
                trial.add(std::slice::from_ref(&case));
                trial.verdict() == Verdict::Held
            };
            prop_assert!(!reached(1.0) || reached(allowance));
        }
    }

    #[test]
    fn pes_that_share_cores_are_not_held_against_a_core_each() {
        for guarded in guarded().into_iter().filter(|guarded| guarded.cores > 1) {
            let mut trial = tried(&guarded, 1.0);
            trial.add(&[Case { ratio: 1e6, shared_cores: true, ..case(guarded.measure, &guarded.case) }]);
            assert!(matches!(trial.verdict(), Verdict::Skipped(_)), "{guarded:?}");
        }
    }

    #[test]
    fn every_case_has_a_bound_that_can_be_missed() {
        let all = guarded();
        for guarded in &all {
            let case = |ratio| Case {
                ratio,
                difference: 1e6 * ratio,
                value: ratio * 1e6,
                limit: 1.0,
                vs_a1: Some(1.0 / ratio),
                p95: Some(ratio),
                ..case(guarded.measure, &guarded.case)
            };
            let bound = tried(guarded, 1.0).bound_of(&case(1.0));
            let Some(bound) = bound else { panic!("{guarded:?} has no bound") };
            assert!(!bound.is_met(&case(1e4)) || !bound.is_met(&case(1e-4)), "{guarded:?} is always met");
            let twice =
                all.iter().filter(|other| (other.measure, &other.case) == (guarded.measure, &guarded.case));
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
        ] {
            assert!(guarded().iter().any(|guarded| guarded.measure == measure), "{measure}");
        }
    }
}
