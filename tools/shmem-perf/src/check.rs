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
//! A guarded case is a line `case | cores | bound`: with alternatives of the case in braces; cores without which it says nothing, 2
//! where PEs or threads run at the same time; and a goal of its own, or `goal x3`, that of the case with an allowance.
//!
//! A case that misses its bound is measured again, by another job: which pages a job gets, and what else the
//! machine does, is luck. It is refused when it has missed its bound [`ATTEMPTS`] times, and held as soon as it
//! reaches it once.

use clap::Args;
use serde_json::json;
use shmem_core::columns::Columns;

use crate::bench::Done;
use crate::case::Case;
use crate::command;
use crate::goal::Goal;
use crate::measure::{self, MEASURES, Measure};
use crate::pattern::expanded;
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::table;

/// How often a case is measured before it is refused.
const ATTEMPTS: usize = 5;

/// Jobs that share out a case, where its command does not say: fewer than for figures, since what misses is measured again.
const JOBS: u16 = 3;

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

/// A guarded case, and what has been measured of it so far.
#[derive(Clone, Debug)]
struct Trial {
    name: String,
    /// What measures it.
    command: &'static str,
    cores: usize,
    bound: &'static str,
    allowance: f64,
    measured: Vec<Case>,
    skipped: Option<String>,
}

impl Trial {
    /// The cases of a line, of which nothing is known yet.
    fn of(command: &'static str, line: &'static str, allowance: f64) -> impl Iterator<Item = Self> {
        let parts: Vec<_> = line.split(" | ").collect();
        let [names, cores, bound] = parts[..] else { unreachable!("`{line}` is no guarded case") };
        let cores = cores.parse().unwrap_or_else(|error| unreachable!("{line}: {error}"));
        let (measured, skipped) = (Vec::new(), None);
        let of = Self { name: String::new(), command, cores, bound, allowance, measured, skipped };
        expanded(names).into_iter().map(move |name| Self { name, ..of.clone() })
    }

    fn measure(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// What a case is held against; nothing if its PEs had to share cores.
    fn bound(&self, case: &Case) -> Option<Goal> {
        let goal = match self.bound.strip_prefix("goal x") {
            Some(times) => measure::goal(case)?.eased(times.parse().unwrap_or(1.0)),
            None => self.bound.parse().unwrap_or_else(|why| unreachable!("{}: {why}", self.name)),
        };
        (self.cores == 1 || !case.shared_cores).then(|| goal.eased(self.allowance))
    }

    /// What it was held against, as text; empty if it was not measured.
    fn bound_said(&self) -> String {
        let bound = self.measured.last().and_then(|case| self.bound(case));
        bound.map(|bound| bound.to_string()).unwrap_or_default()
    }

    /// What came of it, and why if it is not held: what was measured says nothing, or, with what to do about it, its measure has no
    /// such case, or it has missed its bound each time.
    fn verdict(&self) -> (&'static str, String) {
        let Self { name, command, measured, .. } = self;
        if let Some(why) = &self.skipped {
            return ("skipped", why.clone());
        }
        let Some(last) = measured.last() else {
            let why = "is guarded, but was not measured: the measure has no such case";
            return ("missing", format!("{name} {why}; see `shmem-perf {command}`"));
        };
        if measured.iter().any(|case| self.bound(case).is_some_and(|bound| bound.is_met(case))) {
            return ("held", String::new());
        }
        let ratios = measured.iter().map(table::ratio).collect::<Vec<_>>().join(" and ");
        let (times, bound, compared) = (measured.len(), self.bound_said(), last.compared());
        let why = format!(
            "{name} is too slow: {ratios} times its limit in {times} measurements, allowed is {bound} ({compared}); look at \
             `shmem-perf {command}` on a quiet machine, before and after the change"
        );
        ("too slow", why)
    }

    /// Whether nothing is known of it yet that would content a guard.
    fn is_open(&self) -> bool {
        matches!(self.verdict().0, "missing" | "too slow")
    }
}

/// The guarded cases of all measures, those of each command together.
fn guarded(allowance: f64) -> impl Iterator<Item = (&'static Measure, &'static str, Vec<Trial>)> {
    let of = move |measure: &'static Measure| {
        measure.guards.iter().map(move |(command, lines)| {
            let trials = lines.iter().flat_map(|line| Trial::of(command, line, allowance));
            (measure, *command, trials.collect())
        })
    };
    MEASURES.iter().flat_map(of)
}

/// Tries the guarded cases: fails if a case is refused, or none was held.
pub(crate) fn check(Options { measures, allowance }: &Options, json: bool) -> Done {
    let mut all: Vec<_> =
        guarded(1.0).flat_map(|(.., trials)| trials).map(|trial| trial.measure().to_owned()).collect();
    all.dedup();
    if let Some(unknown) = measures.iter().find(|measure| !all.contains(measure)) {
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(*allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    let wanted = |trial: &Trial| measures.is_empty() || measures.iter().any(|one| one == trial.measure());
    let mut tried = Vec::new();
    for (measure, command, mut trials) in guarded(*allowance) {
        trials.retain(wanted);
        leave_out(measure, &mut trials)?;
        attempt(command, &mut trials)?;
        tried.extend(trials);
    }
    show(&tried, json);
    // A guard that has seen nothing is not content.
    let complaints: Vec<_> = tried.iter().filter(|trial| trial.is_open()).collect();
    complaints.iter().for_each(|trial| eprintln!("shmem-perf: {}", trial.verdict().1));
    let count = |verdict| tried.iter().filter(|trial| trial.verdict().0 == verdict).count();
    let (held, refused, skipped) = (count("held"), complaints.len(), count("skipped"));
    let counted = format!("{held} of {} cases are held, {refused} refused, {skipped} skipped", tried.len());
    if refused == 0 && held > 0 {
        eprintln!("shmem-perf: {counted}");
        return Ok(());
    }
    let advice = "; nothing was measured: take a release build, on two cores or more";
    Err(format!("{counted}{}", if held + refused == 0 { advice } else { "" }).into())
}

/// Skips what this build or this machine says nothing about.
fn leave_out(measure: &Measure, trials: &mut [Trial]) -> Done {
    let cores = std::thread::available_parallelism()?.get();
    let is_due = |trial: &Trial| !cfg!(debug_assertions) && cores >= trial.cores;
    let possible = if trials.iter().any(is_due) { (measure.possible)() } else { Ok(()) };
    for trial in trials {
        trial.skipped = match &possible {
            _ if cfg!(debug_assertions) => Some("a debug build says nothing of speed".to_owned()),
            _ if cores < trial.cores => Some(format!("needs {} cores, and there is {cores}", trial.cores)),
            possible => possible.clone().err(),
        };
    }
    Ok(())
}

/// Measures until no case wants more.
fn attempt(command: &str, trials: &mut [Trial]) -> Done {
    for _ in 0..ATTEMPTS {
        let only: Vec<_> =
            trials.iter().filter(|trial| trial.is_open()).map(|trial| trial.name.clone()).collect();
        if only.is_empty() {
            break;
        }
        let mut runner = Runner::keeping(FEWEST, JOBS);
        runner.only = only;
        command::perform(&mut runner, command)?;
        for case in runner.take().records.iter().map(|record| record.case()) {
            let name = format!("{} {}", case.measure, case.case);
            let Some(trial) = trials.iter_mut().find(|trial| trial.name == name) else { continue };
            trial.skipped = trial.bound(&case).is_none().then(|| "its PEs shared cores".to_owned());
            trial.measured.push(case);
        }
    }
    Ok(())
}

fn show(trials: &[Trial], json: bool) {
    let mut columns = Columns::new(["measure", "case", "ratio", "bound", "measured", "verdict"], &[2, 3, 4]);
    for trial in trials {
        let measured = &trial.measured;
        let (measure, case) = trial.name.split_once(' ').unwrap_or_default();
        let (bound, (verdict, why)) = (trial.bound_said(), trial.verdict());
        if json {
            let ratios: Vec<_> = measured.iter().map(|case| case.ratio).collect();
            let why = (!why.is_empty()).then_some(&why);
            let line = json!({
                "measure": measure, "case": case, "ratios": ratios, "bound": bound, "verdict": verdict, "why": why
            });
            println!("{line}");
        }
        columns.push([
            measure.to_owned(),
            case.to_owned(),
            measured.last().map(table::ratio).unwrap_or_default(),
            bound,
            measured.len().to_string(),
            if verdict == "skipped" { format!("{verdict}: {why}") } else { verdict.to_owned() },
        ]);
    }
    if !json {
        print!("{columns}");
    }
}
