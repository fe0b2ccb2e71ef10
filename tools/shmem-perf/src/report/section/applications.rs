//! Whole applications.

use super::{Plan, Section, Step, Topic};
use crate::measure::applications::{self, Application, Extent, Name, Problem, work_like};
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, GAIN, Headline, Scale, Series, Table};

/// Points of the same example stand side by side in the figure.
const ASIDE: f64 = 0.08;

pub(super) const SECTION: Section = Section {
    topic: Topic::Applications,
    title: "Applications",
    source: "plain code of one process, for heat2d, halo2d, RandomAccess (HPCC), an integer sort (ISx), histogram and index-gather (bale)",
    steps,
    headlines,
    show,
};

fn steps(plan: &Plan) -> Vec<Step> {
    let extent = plan.either(Extent::Whole, Extent::Quick);
    let processes = Step::new("processes alone", 3.0, applications::machine);
    let examples = Application::ALL.into_iter().map(|application| {
        let seconds = match application {
            Application::Gups => plan.either(30.0, 3.0),
            _ => plan.either(15.0, 1.0),
        };
        Step::new(application.name(), seconds, move |runner| {
            applications::measure(runner, application, extent)
        })
    });
    std::iter::once(processes).chain(examples).collect()
}

/// What the table of speedups is called.
const SPEEDUPS: &str = "applications-speedup";

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let headline = |entry: &Entry| {
        let asked = format!("{} by {} PEs, beside one process", entry.case.case, entry.case.pes);
        let gain = |entry| Cell::of(entry, Column::Ratio).over(1.0);
        Headline::new(asked, SPEEDUPS, GAIN, gain(Some(entry))).limit(gain(machine(evidence, entry)))
    };
    evidence.all(|name| matches!(name, Name::Application(..))).map(headline).collect()
}

/// What processes gain that do work like that of an example, and wait for nobody.
fn machine<'a>(evidence: View<'a>, entry: &Entry) -> Option<&'a Entry> {
    let (application, problem) = example(entry)?;
    let like = evidence.named().filter_map(|(name, entry)| match name {
        Name::Processes(work, bytes) if work == work_like(application) => Some((bytes, entry)),
        _ => None,
    });
    let far = |bytes: usize| bytes.max(1).ilog2().abs_diff(problem.bytes.max(1).ilog2());
    like.min_by_key(|(bytes, _)| far(*bytes)).map(|(_, entry)| entry)
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let examples: Vec<&Entry> = evidence.all(|name| matches!(name, Name::Application(..))).collect();
    let machine = |entry: &Entry| machine(evidence, entry);
    vec![
        Block::text(
            "The examples that a user would copy, against the same problem in one process: plain Rust on vectors, \
             with the same inner loops and without a call of the library. Both take turns in one job: all PEs, bound \
             to a core each, begin behind a barrier and end with one; then PE 0 computes alone while the others \
             sleep. What is prepared before (fields, tables, keys) is not part of the times. Neither \
             side asks for large pages. Speedup is the serial time over the parallel one: below 1, one process is faster \
             alone. Efficiency is the speedup over the number of PEs.",
        ),
        Block::text(
            "No program gains more than the machine has to give. Beside each example stands what as many processes gain \
             in this run that do nothing but work on memory and wait for nobody, with about as many bytes: \
             for the stencils and the sort by memcpy, for RandomAccess and the histogram by the processor's atomic exclusive ors of random words of one table, \
             for index-gather by plain ones in tables of their own. Where they gain \
             little, memory is what both wait for. Updates of gups and of the histogram are atomic, as they must be where several PEs \
             change one table, whose lines wander from core to core; those of one process need not be, and many of them \
             overlap in its core, which atomic ones do not. The last table has both kinds.",
        ),
        speedups(&examples, machine).into(),
        figure(&examples, machine).into(),
        below_one(&examples),
        Table::cases(
            "What the machine gains by as many processes",
            evidence.all(|name| matches!(name, Name::Processes(..))),
        )
        .under("Cost: all processes together. Limit: one that does the work of all. Milliseconds.")
        .into(),
    ]
}

/// The example of a case, and its problem.
fn example(entry: &Entry) -> Option<(Application, Problem)> {
    let Name::Application(application, problem) = entry.name()? else { return None };
    Some((application, application.problem(&problem, entry.case.pes)?))
}

fn speedups<'a>(examples: &[&Entry], machine: impl Fn(&Entry) -> Option<&'a Entry>) -> Table {
    let heads = [
        "example",
        "PEs",
        "all PEs, ms",
        "one process, ms",
        "ratio",
        "speedup",
        "quarters",
        "",
        "efficiency",
        "the machine's own speedup",
        "pairs",
    ];
    let mut table = Table::new("All PEs against one process", heads)
        .named(SPEEDUPS)
        .under("Ratio: the time of all PEs over that of one process, so that above 1 is slower than that.");
    for entry in examples {
        let of = |column| Cell::of(Some(entry), column);
        table.row([
            Cell::text(&entry.case.case),
            Cell::text(entry.case.pes.to_string()),
            of(Column::Value),
            of(Column::Limit),
            of(Column::Ratio),
            of(Column::Ratio).over(1.0),
            of(Column::RatioP75).over(1.0),
            of(Column::RatioP25).over(1.0),
            of(Column::Ratio).over(1.0 / entry.case.pes as f64),
            Cell::of(machine(entry), Column::Ratio).over(1.0),
            of(Column::Pairs),
        ]);
    }
    table
}

fn figure<'a>(examples: &[&Entry], machine: impl Fn(&Entry) -> Option<&'a Entry>) -> Figure {
    // There is room for a few letters under each.
    let name = |entry: &&Entry| {
        let (application, problem) = example(entry)?;
        Some(format!("{} {}M", application.name(), problem.bytes.div_ceil(1 << 20)))
    };
    let names = examples.iter().map(|entry| name(entry).unwrap_or_default()).collect();
    let mut measured = Series::new("the example");
    let mut limit = Series::beside("the machine's own");
    for (at, entry) in examples.iter().enumerate() {
        push(&mut measured, at as f64 - ASIDE, entry);
        machine(entry).into_iter().for_each(|machine| push(&mut limit, at as f64 + ASIDE, machine));
    }
    Figure::new("Speedup", ("", Scale::Names(names)), ("one process over all PEs", Scale::Linear))
        .with(measured)
        .with(limit)
        .under("Names are followed by the bytes that a problem moves through again and again.")
}

fn push(series: &mut Series, at: f64, entry: &Entry) {
    let speedup = |column: Column| column.read(entry).map(|ratio| 1.0 / ratio);
    if let Some(value) = speedup(Column::Ratio) {
        series.push(at, value, speedup(Column::RatioP75).zip(speedup(Column::RatioP25)));
    }
}

/// What several PEs make slower.
fn below_one(examples: &[&Entry]) -> Block {
    let slower: Vec<&str> = examples
        .iter()
        .filter(|entry| entry.case.ratio > 1.0)
        .map(|entry| entry.case.case.as_str())
        .collect();
    Block::text(match (examples.is_empty(), slower.is_empty()) {
        (true, _) => String::new(),
        (false, true) => "None of them is slower than one process alone.".to_owned(),
        (false, false) => format!("Slower with all PEs than by one process alone: {}.", slower.join(", ")),
    })
}
