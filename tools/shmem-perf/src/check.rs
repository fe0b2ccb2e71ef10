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

use crate::bench::Done;
use crate::case::{Case, Record};
use crate::goal::Goal;
use crate::measure::{self, MEASURES};
use crate::pattern::expanded;
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::table;

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
    /// `case | cores | bound`: with alternatives of the case in braces; cores without which it says nothing, 2 where PEs or
    /// threads run at the same time; and a goal of its own, or `goal x3`: that of the case, with an allowance.
    pub(crate) cases: &'static [&'static str],
}

impl Guard {
    /// A run in a few jobs: fewer than for figures, since what misses is measured again.
    pub(crate) const fn of(
        command: &'static str,
        run: fn(&mut Runner) -> Done,
        cases: &'static [&'static str],
    ) -> Self {
        Self { command, jobs: 3, run, possible: || Ok(()), cases }
    }

    /// Its cases, of which nothing is known yet.
    fn trials(&self, allowance: f64) -> impl Iterator<Item = Trial> + use<'_> {
        self.cases.iter().flat_map(move |line| {
            let parts: Vec<_> = line.split(" | ").collect();
            let [names, cores, bound] = parts[..] else { unreachable!("`{line}` is no guarded case") };
            expanded(names).into_iter().map(move |name| Trial {
                name,
                bound,
                cores: cores.parse().unwrap_or_else(|error| unreachable!("{line}: {error}")),
                command: self.command,
                allowance,
                measured: Vec::new(),
                skipped: None,
            })
        })
    }

    /// Skips what this build or this machine says nothing about.
    fn leave_out(&self, trials: &mut [Trial]) -> Done {
        let cores = std::thread::available_parallelism()?.get();
        let is_due = |trial: &Trial| !cfg!(debug_assertions) && cores >= trial.cores;
        let possible = if trials.iter().any(is_due) { (self.possible)() } else { Ok(()) };
        for trial in trials {
            trial.skipped = match &possible {
                _ if cfg!(debug_assertions) => Some("a debug build says nothing of speed".to_owned()),
                _ if cores < trial.cores => {
                    Some(format!("needs {} cores, and there is {cores}", trial.cores))
                }
                possible => possible.clone().err(),
            };
        }
        Ok(())
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
            let records = runner.take().records;
            open.iter_mut().for_each(|trial| trial.add(&records));
        }
        Ok(())
    }
}

/// A guarded case, and what has been measured of it so far.
#[derive(Clone, Debug)]
struct Trial {
    name: String,
    bound: &'static str,
    cores: usize,
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
    fn measure(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// What a case is held against; nothing if its PEs had to share cores.
    fn bound(&self, case: &Case) -> Option<Goal> {
        let written = |text: &str| text.parse().unwrap_or_else(|why| unreachable!("{}: {why}", self.name));
        let goal = match self.bound.strip_prefix("goal x") {
            Some(times) => measure::goal(case).map(|goal| {
                goal.eased(times.parse().unwrap_or_else(|why| unreachable!("{}: {why}", self.name)))
            }),
            None => Some(written(self.bound)),
        };
        goal.filter(|_| self.cores == 1 || !case.shared_cores).map(|goal: Goal| goal.eased(self.allowance))
    }

    /// Takes what it needs out of what one run of its measure has brought.
    fn add(&mut self, records: &[Record]) {
        let Some(found) = records.iter().find(|record| record.name == self.name).map(Record::case) else {
            return;
        };
        if self.bound(&found).is_none() {
            self.skipped = Some("its PEs shared cores".to_owned());
        }
        self.measured.push(found);
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
        let bound = self.measured.last().and_then(|case| self.bound(case));
        bound.map(|bound| bound.to_string()).unwrap_or_default()
    }

    /// What is wrong and what to do about it, in one line; nothing if nothing is wrong.
    fn complaint(&self) -> Option<String> {
        let Self { name, command, measured, .. } = self;
        match self.verdict() {
            Verdict::Held | Verdict::Skipped => None,
            Verdict::Missing => Some(format!(
                "{name} is guarded, but was not measured: the measure has no such case; see `shmem-perf {command}`"
            )),
            Verdict::Refused => Some(format!(
                "{name} is too slow: {} times its limit in {} measurements, allowed is {} ({}); look at `shmem-perf {command}` \
                 on a quiet machine, before and after the change",
                measured.iter().map(table::ratio).collect::<Vec<_>>().join(" and "),
                measured.len(),
                self.bound_said(),
                measured.last().map_or("", |case| &case.compared),
            )),
        }
    }
}

fn guards() -> impl Iterator<Item = &'static Guard> {
    MEASURES.iter().flat_map(|measure| measure.guards)
}

/// Tries the guarded cases: fails if a case is refused, or none was held.
pub(crate) fn check(Options { measures, allowance }: &Options, json: bool) -> Done {
    let mut all: Vec<_> =
        guards().flat_map(|guard| guard.trials(1.0)).map(|trial| trial.measure().to_owned()).collect();
    all.dedup();
    if let Some(unknown) = measures.iter().find(|measure| !all.contains(measure)) {
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(*allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    let wanted = |trial: &Trial| measures.is_empty() || measures.iter().any(|one| one == trial.measure());
    let mut trials = Vec::new();
    for guard in guards() {
        let mut tried: Vec<_> = guard.trials(*allowance).filter(wanted).collect();
        guard.leave_out(&mut tried)?;
        guard.measure(&mut tried)?;
        trials.extend(tried);
    }
    show(&trials, json)?;
    conclude(&trials)
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
        let Trial { name, measured, skipped, .. } = trial;
        let (measure, case) = name.split_once(' ').unwrap_or_default();
        let verdict = match trial.verdict() {
            Verdict::Held => "held",
            Verdict::Refused => "too slow",
            Verdict::Missing => "missing",
            Verdict::Skipped => "skipped",
        };
        if json {
            let ratios = measured.iter().map(|case| case.ratio).collect();
            let (bound, why) = (trial.bound_said(), skipped.clone().or_else(|| trial.complaint()));
            println!("{}", serde_json::to_string(&Line { measure, case, ratios, bound, verdict, why })?);
        }
        columns.push([
            measure.to_owned(),
            case.to_owned(),
            measured.last().map(table::ratio).unwrap_or_default(),
            trial.bound_said(),
            measured.len().to_string(),
            skipped.as_ref().map_or(verdict.to_owned(), |why| format!("{verdict}: {why}")),
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
    use crate::case::tests::{case, record};

    fn trial(name: &str) -> Trial {
        let guard = Guard::of("put", |_| Ok(()), &["put {512,4096} | 1 | 1.5"]);
        guard.trials(1.0).find(|trial| trial.name == name).unwrap()
    }

    /// Measures as long as the trial asks for it.
    fn tried(ratios: &[f64]) -> Trial {
        let (mut trial, mut left) = (trial("put 512"), ratios.iter());
        while trial.is_open() {
            trial
                .add(&[record("get 512", &[(9.0, 1.0)]), record("put 512", &[(*left.next().unwrap(), 1.0)])]);
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
        let said = tried(&[2.0, 2.5, 3.0, 3.5, 4.0]).complaint().unwrap();
        let begin = "put 512 is too slow: 2.000 and 2.500 and 3.000 and 3.500 and 4.000 times its limit in 5 measurements, \
                     allowed is 1.50 (a put of a slice";
        assert!(
            said.starts_with(begin) && said.contains("; look at `shmem-perf put` on a quiet machine"),
            "{said}"
        );
    }

    #[test]
    fn what_is_not_measured_is_not_held() {
        let missing = trial("put 4096");
        assert!(missing.complaint().unwrap().contains("put 4096 is guarded, but was not measured"));
        let skipped = Trial { skipped: Some("a debug build".to_owned()), ..missing.clone() };
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
        let all: Vec<_> = guards().flat_map(|guard| guard.trials(1.0)).collect();
        for trial in &all {
            let of = |ratio: f64| {
                let (difference, value) = (1e6 * ratio, 1e6 * ratio);
                let (vs_a1, p95) = (Some(1.0 / ratio), Some(ratio));
                Case { ratio, difference, value, limit: 1.0, vs_a1, p95, ..case(&trial.name) }
            };
            let holds = |allowance, case: &Case| {
                Trial { allowance, ..trial.clone() }.bound(case).is_some_and(|bound| bound.is_met(case))
            };
            assert!([1e4, 1e-4].iter().any(|&ratio| !holds(1.0, &of(ratio))), "{trial:?} is always met");
            for ratio in [1.0, 1.5, 2.0, 4.0] {
                assert!(!holds(1.0, &of(ratio)) || holds(2.0, &of(ratio)), "{trial:?}");
            }
            let shared = trial.bound(&Case { shared_cores: true, ..of(1.0) });
            assert_eq!(shared.is_none(), trial.cores > 1, "{trial:?}");
            assert_eq!(all.iter().filter(|other| other.name == trial.name).count(), 1, "{trial:?}");
        }
        assert!(all.len() > 80, "{}", all.len());
    }
}
