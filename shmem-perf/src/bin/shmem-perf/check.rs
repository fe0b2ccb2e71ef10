//! The guard: runs what measures the guarded cases, again where they miss their bounds, and says what came of it.

use std::error::Error;

use clap::Args;
use serde::Serialize;
use shmem_core::columns::Columns;
use shmem_perf::guard::{ATTEMPTS, GUARDED, Guarded, Tally, Trial, Verdict, amount};
use shmem_perf::strided::sweep;
use shmem_perf::{Case, FEWEST, Record, array, lookup, threads};

use crate::runner::Runner;
use crate::{Command, Measure, fabric};

/// Jobs that share out each case. Fewer than for figures: what misses is measured again.
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

type Done = Result<(), Box<dyn Error>>;

/// Measures, and what runs them.
struct Source {
    measures: &'static [&'static str],
    jobs: u16,
    run: fn(&mut Runner) -> Done,
}

const fn source(measures: &'static [&'static str], jobs: u16, run: fn(&mut Runner) -> Done) -> Source {
    Source { measures, jobs, run }
}

const SOURCES: &[Source] = &[
    source(&["put8-static", "put8-quiet", "put"], JOBS, |runner| runner.measure(Command::Put)),
    source(&["get"], JOBS, |runner| runner.measure(Command::Get)),
    source(&["lookup"], JOBS, |runner| runner.jobs(Measure::Lookup, 2, most_partitions())),
    source(&["lookup-published"], JOBS, |runner| runner.jobs(Measure::LookupPublished, 2, most_partitions())),
    source(&["atomic"], JOBS, |runner| runner.measure(Command::Atomic)),
    source(&["barrier"], JOBS, |runner| runner.jobs(Measure::Barrier, 2, 1)),
    source(&["signal"], JOBS, |runner| runner.measure(Command::Signal)),
    source(&["collective"], JOBS, |runner| runner.jobs(Measure::Collective, 2, 1)),
    source(&["alloc"], JOBS, |runner| runner.measure(Command::Alloc)),
    source(&["threads"], 1, |runner| {
        runner.repeat(&runner.job(Measure::Threads, 2, 1, &threads::variables()))
    }),
    source(&["tracking"], JOBS, |runner| runner.jobs(Measure::Tracking, 1, 1)),
    source(&["array"], 1, |runner| runner.repeat(&runner.job(Measure::Array, 1, 1, &array::variables()))),
    source(&["halo"], JOBS, |runner| runner.measure(Command::Halo)),
    source(&["strided"], JOBS, |runner| runner.jobs(Measure::Strided, 2, 1)),
    source(&["regret"], 1, |runner| runner.drawn(Measure::RegretSample, sweep::ROOM, 0, usize::MAX)),
    source(&["startup", "startup-resident"], JOBS, |runner| {
        runner.starts(4, "4", "the default heaps", &[], runner.repetitions)
    }),
    source(&["ofi"], 1, |runner| runner.ofi(false, fabric::PROVIDER)),
];

fn most_partitions() -> usize {
    lookup::PARTITIONS.into_iter().max().unwrap_or(1)
}

/// Tries the guarded cases.
///
/// # Errors
///
/// If there is no such measure, if a measure fails, or if a case is refused, or none was held.
pub(crate) fn check(Options { measures, allowance }: &Options, json: bool) -> Done {
    let allowance = *allowance;
    let known = |measure: &String| GUARDED.iter().any(|guarded| guarded.measure == measure);
    if let Some(unknown) = measures.iter().find(|measure| !known(measure)) {
        let mut all: Vec<_> = GUARDED.iter().map(|guarded| guarded.measure).collect();
        all.dedup();
        return Err(format!("no case of `{unknown}` is guarded; there are {}", all.join(", ")).into());
    }
    if !(allowance > 0.0 && allowance.is_finite()) {
        return Err(format!("an allowance is a factor above 0, such as 1.5, and not {allowance}").into());
    }
    let wanted = |measure: &str| measures.is_empty() || measures.iter().any(|wanted| wanted == measure);
    let guarded = GUARDED.iter().filter(|guarded| wanted(guarded.measure));
    let mut trials: Vec<_> = guarded.map(|guarded| Trial::new(*guarded, allowance)).collect();
    leave_out(&mut trials)?;
    for source in SOURCES {
        source.measure(&mut trials)?;
    }
    show(&trials, json)?;
    conclude(&trials)
}

/// Skips what this build or this machine says nothing about.
fn leave_out(trials: &mut [Trial]) -> Done {
    let cores = std::thread::available_parallelism()?.get();
    let is_fabric = |trial: &Trial| trial.guarded().measure == "ofi";
    let is_due = |trial: &Trial| !cfg!(debug_assertions) && cores >= trial.guarded().cores;
    let fabric = match trials.iter().any(|trial| is_fabric(trial) && is_due(trial)) {
        true => fabric::bare(fabric::PROVIDER, 8).map(drop),
        false => Ok(()),
    };
    for trial in trials {
        let needed = trial.guarded().cores;
        match &fabric {
            _ if cfg!(debug_assertions) => trial.skip("a debug build says nothing of speed"),
            _ if cores < needed => trial.skip(format!("needs {needed} cores, and there is {cores}")),
            Err(why) if is_fabric(trial) => trial.skip(why.to_string()),
            _ => {}
        }
    }
    Ok(())
}

impl Source {
    /// Runs it until none of its cases wants more.
    fn measure(&self, trials: &mut [Trial]) -> Done {
        let is_open =
            |trial: &&mut Trial| self.measures.contains(&trial.guarded().measure) && trial.is_open();
        for _ in 0..ATTEMPTS {
            let mut open: Vec<_> = trials.iter_mut().filter(is_open).collect();
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
        let Guarded { measure, case, .. } = *trial.guarded();
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
            measure.to_owned(),
            case.to_owned(),
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
