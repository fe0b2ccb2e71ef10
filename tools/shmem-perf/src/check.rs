//! `shmem-perf check`: a regression test. It measures the guarded cases, repeats those that miss their bounds, and prints verdicts.
//!
//! Bounds are ratios (library to baseline) with room for any processor, so only a defect of an operation exceeds them. Most bounds
//! are the case's [`Goal`] times an *allowance*: 1.5 where the baseline copies the same bytes between the same cores; 2 where it
//! copies them once, and the library twice in parallel; 3 where library and baseline are the same few instructions, or use the same
//! memory; 4 where a cache line travels between cores, threads are waited for, or neighbours use the same memory.
//!
//! A line `guard: command line | case | cores | bound` of `cases_goals_guards.txt` guards the cases that it names (`{8,64}` means 8
//! or 64). `cores` is the least number of cores. `bound` is a goal, or `goal x3`: three times the case's goal. A case fails after
//! [`ATTEMPTS`] misses.

use clap::Args;
use shmem_core::text_table::Columns;

use crate::bench::Done;
use crate::case::Case;
use crate::command::{self, Arguments};
use crate::goal::Goal;
use crate::measure::{self, MEASURES, Measure};
use crate::pattern::expanded;
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::table;

const ATTEMPTS: usize = 5;

/// Number of jobs in an attempt, unless the guard's command has `--jobs`. Few are enough, as missed cases are measured again.
const JOBS: usize = 3;

#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Check only the cases of these measures; without any, all are checked.
    #[arg(value_name = "MEASURE")]
    measures: Vec<String>,
    /// A factor for all bounds, more than 1 on a machine with other load.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    allowance: f64,
}

struct Trial {
    name: String,
    possible: fn() -> Result<(), String>,
    command: &'static str,
    cores: usize,
    bound: &'static str,
    /// Results of each attempt, with the bound of the case.
    measured: Vec<(Case, Goal)>,
    skipped: Option<String>,
}

impl Trial {
    fn all_of(measure: &'static Measure) -> impl Iterator<Item = Self> {
        measure.guards().flat_map(move |line| {
            let [command, names, cores, bound] = [0, 1, 2, 3].map(|at| line.part(at));
            let cores = cores.parse().unwrap_or_else(|error| unreachable!("{names}: {error}"));
            let trial = move |name| {
                let (possible, measured, skipped) = (measure.possible, Vec::new(), None);
                Self { name, possible, command, cores, bound, measured, skipped }
            };
            expanded(names).into_iter().map(trial)
        })
    }

    fn parts(&self) -> (&str, &str) {
        self.name.split_once(' ').unwrap_or_default()
    }

    /// Adds the result of an attempt, unless PEs shared cores in a case that needs more than one core.
    fn add(&mut self, case: Case, allowance: f64) {
        let goal = match self.bound.strip_prefix("goal x") {
            Some(times) => measure::goal(&case).map(|goal| goal.eased(times.parse().unwrap_or(1.0))),
            None => Some(self.bound.parse().unwrap_or_else(|why| unreachable!("{}: {why}", self.name))),
        };
        let goal: Option<Goal> = goal.filter(|_| self.cores == 1 || !case.shared_cores);
        self.skipped = goal.is_none().then(|| "its PEs shared cores".to_owned());
        self.measured.extend(goal.map(|goal| (case, goal.eased(allowance))));
    }

    fn verdict(&self) -> (&'static str, String) {
        let Self { name, command, measured, .. } = self;
        if let Some(why) = &self.skipped {
            return ("skipped", why.clone());
        }
        let Some((last, bound)) = measured.last() else {
            let why = "is guarded, but was not measured: the measure has no such case";
            return ("missing", format!("{name} {why}; see `shmem-perf {command}`"));
        };
        if measured.iter().any(|(case, bound)| bound.is_met(case)) {
            return ("held", String::new());
        }
        let ratios = measured.iter().map(|(case, _)| table::ratio(case)).collect::<Vec<_>>().join(" and ");
        let (times, compared) = (measured.len(), last.compared());
        let why = format!(
            "{name} is too slow: {ratios} times its limit in {times} measurements, allowed is {bound} ({compared}); look at \
             `shmem-perf {command}` on a quiet machine, before and after the change"
        );
        ("too slow", why)
    }

    /// Returns whether the case must be measured again.
    fn is_open(&self) -> bool {
        matches!(self.verdict().0, "missing" | "too slow")
    }
}

pub(crate) fn check(Options { measures, allowance }: &Options) -> Done {
    let mut trials: Vec<_> = MEASURES.iter().flat_map(Trial::all_of).collect();
    let mut all: Vec<_> = trials.iter().map(|trial| trial.parts().0).collect();
    all.dedup();
    if let Some(unknown) = measures.iter().find(|measure| !all.contains(&measure.as_str())) {
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(*allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    trials.retain(|trial| measures.is_empty() || measures.iter().any(|one| one == trial.parts().0));
    for trials in trials.chunk_by_mut(|one, next| one.command == next.command) {
        attempt(trials, *allowance)?;
    }
    show(&trials);
    let of = |verdict| trials.iter().filter(|trial| trial.verdict().0 == verdict).count();
    for trial in trials.iter().filter(|trial| trial.is_open()) {
        eprintln!("shmem-perf: {}", trial.verdict().1);
    }
    // A run in which every case was skipped fails.
    let (held, skipped) = (of("held"), of("skipped"));
    let refused = trials.len() - held - skipped;
    let counted = format!("{held} of {} cases are held, {refused} refused, {skipped} skipped", trials.len());
    if refused == 0 && held > 0 {
        eprintln!("shmem-perf: {counted}");
        return Ok(());
    }
    let advice = "; nothing was measured: take a release build, on two cores or more";
    Err(format!("{counted}{}", if held + refused == 0 { advice } else { "" }).into())
}

/// Measures the cases of one command until each has met its bound, at most [`ATTEMPTS`] times. Skips cases that this build or
/// machine cannot measure.
fn attempt(trials: &mut [Trial], allowance: f64) -> Done {
    let cores = std::thread::available_parallelism()?.get();
    for trial in &mut *trials {
        trial.skipped = match trial.cores {
            _ if cfg!(debug_assertions) => Some("a debug build says nothing of speed".to_owned()),
            wanted if cores < wanted => Some(format!("needs {wanted} cores, and there is {cores}")),
            _ => None,
        };
    }
    if let Some(Err(why)) = trials.iter().find(|trial| trial.is_open()).map(|trial| (trial.possible)()) {
        trials.iter_mut().for_each(|trial| _ = trial.skipped.get_or_insert(why.clone()));
    }
    for _ in 0..ATTEMPTS {
        let open = trials.iter().filter(|trial| trial.is_open());
        let cases: Vec<_> = open.map(|trial| trial.name.clone()).collect();
        if cases.is_empty() {
            break;
        }
        let asked = Arguments { repetitions: FEWEST, jobs: JOBS, cases, ..Arguments::default() };
        let mut runner = Runner::keeping(asked);
        command::perform(&mut runner, trials[0].command)?;
        for record in runner.take().records {
            let trial = trials.iter_mut().find(|trial| trial.name == record.name);
            trial.into_iter().for_each(|trial| trial.add(record.case(), allowance));
        }
    }
    Ok(())
}

fn show(trials: &[Trial]) {
    let mut columns = Columns::new(["measure", "case", "ratio", "bound", "measured", "verdict"], &[2, 3, 4]);
    for trial in trials {
        let (measured, (measure, case), (verdict, why)) = (&trial.measured, trial.parts(), trial.verdict());
        let last = measured.last().map(|(case, bound)| (table::ratio(case), bound.to_string()));
        let (ratio, bound) = last.unwrap_or_default();
        let said = if verdict == "skipped" { format!("{verdict}: {why}") } else { verdict.to_owned() };
        columns.push([measure.to_owned(), case.to_owned(), ratio, bound, measured.len().to_string(), said]);
    }
    print!("{columns}");
}
