//! Benchmarks (*measures*). Each has a section of `cases_goals_guards.txt` with options, cases, baselines (*limits*), goals and
//! guards, and two functions, for the library's operation and for its baseline. Measures of a kind share a module. Imports here
//! serve all modules.
//!
//! To add a measure: write a section and a module, and add its name below, to the modules and to [`MEASURES`].

mod array;
mod contexts;
mod indexed;
mod micro;
mod ofi;
mod partition_lookup;
mod placement;
mod put;
mod startup;
mod stencil;
mod strided;
mod sync;
mod threads;

use std::cell::Cell;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, value_parser};
use shmem::launch::Bind;
use shmem::mapping::Design;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::partition::PARTITION_VARIABLE;
use shmem_launch::cpus;

use crate::baseline::{self, FutexBarrier, LIMIT_WORDS, LINES, WORDS_OF_LINE, near, word_at};
use crate::bench::{Bench, Done, PeArguments, Task, TextResult, alone, other, say, take_core};
use crate::case::{Case, Record};
use crate::fabric::{self, PROVIDER, Pair, TargetState, over};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::operation::{LESS, Operation};
use crate::pattern;
use crate::peers::{Peer, PeerError, PeerRequest, Programs, Running, built};
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples, each, median, milliseconds, nanoseconds_each, numbered};
use crate::sheet::{SHEET, Section, SheetLine, each_size, lines, sizes};

/// All measures, in the order of the tool's help. Without a subcommand, the first [`USUAL`] measures run.
pub(crate) const MEASURES: &[Measure] = &[
    put::PUT,
    put::GET,
    partition_lookup::MEASURE,
    sync::BARRIER,
    sync::SIGNAL,
    put::ATOMIC,
    indexed::MEASURE,
    sync::ALLOC,
    array::MEASURE,
    threads::MEASURE,
    stencil::PAGES,
    stencil::HALO,
    startup::MEASURE,
    strided::MEASURE,
    contexts::TRACKING,
    placement::MEASURE,
    micro::MICRO,
    micro::C,
    ofi::OFI,
    ofi::NETWORK,
    contexts::MAPPING,
];
pub(crate) const USUAL: usize = 14;

pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// Runs the subcommand. If `None`, the subcommand runs a job of two PEs for each task.
    pub(crate) run: Option<fn(&mut Runner) -> Done>,
    /// The tasks that PEs run, with their names on the command line.
    pub(crate) tasks: &'static [(&'static str, Task)],
    /// Returns an error if this machine cannot measure the guarded cases.
    pub(crate) possible: fn() -> Result<(), String>,
}

/// A line `cases` of `cases_goals_guards.txt`: operation, baseline and goals of the cases that match a pattern.
pub(crate) struct Row {
    pattern: &'static str,
    form: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) limit: &'static str,
    /// (pattern of the case's name; place of measurement for which the goal holds, or empty; goal).
    goals: Vec<(&'static str, &'static str, Goal)>,
    pub(crate) unit: &'static str,
}

static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| SHEET.iter().flat_map(|section| &section.lines).filter_map(Row::of).collect());

impl Measure {
    const PLAIN: Self = Self { name: "", run: None, tasks: &[], possible: || Ok(()) };

    fn section(&self) -> &'static Section {
        let section = SHEET.iter().find(|section| section.name == self.name);
        section.unwrap_or_else(|| unreachable!("cases_goals_guards.txt has no section {}", self.name))
    }

    pub(crate) fn guards(&self) -> impl Iterator<Item = &'static SheetLine> {
        lines(self.name, "guard")
    }

    pub(crate) fn subcommand(&self) -> clap::Command {
        let section = self.section();
        let rows: String = section.lines.iter().filter_map(Row::of).map(|row| row.line()).collect();
        let cases =
            if rows.is_empty() { rows } else { format!("Measure | case | operation | limit:\n{rows}") };
        let options: Vec<_> = section.of(&["option"]).map(option).collect();
        let alone = options.iter().filter(|option| matches!(option.get_action(), ArgAction::SetTrue));
        let alone = ArgGroup::new("alone").args(alone.map(|option| option.get_id().clone()));
        clap::Command::new(self.name).about(section.title).after_long_help(cases).args(options).group(alone)
    }
}

fn option(line: &SheetLine) -> Arg {
    let (help, mut words) = (line.part(1), line.part(0).split(' '));
    let mut next = || words.next().unwrap_or_default();
    let (name, takes, usual) = (next(), next(), next());
    let option = Arg::new(name).long(name).help(help);
    let option = match takes.split_once("..") {
        Some((low, high)) => {
            let range = low.parse().unwrap_or(0)..=high.parse().unwrap_or(u64::MAX);
            let numbers = value_parser!(u64).range(range);
            option.value_name("NUMBERS").value_delimiter(',').value_parser(numbers)
        }
        None if takes.is_empty() => option.action(ArgAction::SetTrue),
        None if takes.contains(',') => {
            let words = PossibleValuesParser::new(takes.split(','));
            option.value_name("NAMES").value_delimiter(',').value_parser(words)
        }
        None => option.value_name(takes),
    };
    if usual.is_empty() { option } else { option.default_value(usual) }
}

impl Row {
    fn of(line: &'static SheetLine) -> Option<Self> {
        let [pattern, form, operation, limit, goals, unit] = [0, 1, 2, 3, 4, 5].map(|at| line.part(at));
        let goals = goals.split("; ").filter(|goal| !goal.is_empty()).map(|written| {
            let (pieces, goal) = written.split_once(' ').unwrap_or_default();
            let place = goal.split_once(' ').filter(|(at, _)| ["apart", "shared", "near"].contains(at));
            let (at, goal) = place.unwrap_or(("", goal));
            (pieces, at, goal.parse().unwrap_or_else(|why| unreachable!("{pattern}: {why}")))
        });
        let unit = if unit.is_empty() { "ns" } else { unit.trim_matches('"') };
        (line.kind == "cases").then(|| Self { pattern, form, operation, limit, goals: goals.collect(), unit })
    }

    /// Returns what its cases compare, as a sentence, to be printed below a table of them.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}, against {}.", self.form, self.operation, self.limit)
    }

    fn line(&self) -> String {
        let Self { pattern, form, operation, limit, .. } = self;
        let measures = pattern.split(' ').next().unwrap_or_default();
        let measures = measures.split('|').map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        format!("  {measures} | {form} | {operation} | {limit}\n")
    }
}

pub(crate) fn row_of(measure: &str, case: &str) -> Option<&'static Row> {
    ROWS.iter().rfind(|row| pattern::find(row.pattern, measure, case).is_some())
}

pub(crate) fn goal(case: &Case) -> Option<Goal> {
    let counts = |at| match at {
        "apart" => !case.shared_cores,
        "shared" => case.shared_cores,
        "near" => case.transport == "shm",
        _ => true,
    };
    let mut goals = row_of(&case.measure, &case.case)?.goals.iter();
    let found = goals.find(|(pieces, ..)| pattern::find_pieces(pieces, &case.case).is_some());
    found.filter(|(_, at, _)| counts(*at)).map(|(.., goal)| *goal)
}

pub(crate) fn pe(name: &str, given: &PeArguments) -> Done {
    let mut tasks = MEASURES.iter().flat_map(|measure| measure.tasks);
    let found = tasks.find(|(task, _)| *task == name).ok_or_else(|| format!("there is no task {name}"))?;
    found.1.run(given)
}
