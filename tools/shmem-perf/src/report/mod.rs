//! `shmem-perf report`: everything that is claimed, measured here and now, on one page.
//!
//! A [section](section) is a topic of the literature. It has steps, which are run one after the other, and each of
//! which delivers records (pairs of what something cost and what its limit cost) or facts (what is a text, like
//! the nodes that pages lie on). All of it is [evidence](evidence), with a number for each line. When everything
//! is measured, sections show figures and tables from it; the [page](page) carries the number of the line with
//! each figure that it shows, and the [files](files) have the lines.
//!
//! A step that fails, or lacks something, is said on the page; the report goes on.

mod evidence;
mod files;
mod machine;
mod page;
mod progress;
mod section;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use evidence::Evidence;
use progress::Progress;
use section::{Plan, SECTIONS, Section, Topic};

use crate::FEWEST;
use crate::elsewhere::Named;
use crate::runner::Runner;

/// What the report is to be.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// The directory of the page and its data; made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Fewer cases and smaller sizes, in less than two minutes instead of twenty; as many pairs for each number.
    #[arg(long)]
    quick: bool,
    /// These sections only.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SECTION")]
    only: Vec<Topic>,
    /// A program that runs a command on a machine with several NUMA nodes and kinds of memory, for placements that
    /// this machine does not have. Not given: `ci/numa-vm` of these sources, if they are there.
    #[arg(long, value_name = "PROGRAM")]
    guest: Option<PathBuf>,
    /// Measure nothing, and draw the page anew from `cases.csv`, `facts.csv` and `notes.csv` in the directory.
    #[arg(long, conflicts_with_all = ["quick", "samples", "guest", "no_peers", "hosts", "agent"])]
    redraw: bool,
    /// Leave all pairs of samples beside the page, too, in `samples.csv`.
    #[arg(long)]
    samples: bool,
    /// Leave other libraries out.
    #[arg(long)]
    no_peers: bool,
    #[command(flatten)]
    hosts: Named,
}

/// Measures, and writes the page.
pub(crate) fn report(options: &Options) -> Result<(), Box<dyn Error>> {
    let chosen = |section: &&Section| options.only.is_empty() || options.only.contains(&section.topic);
    let sections: Vec<&Section> = SECTIONS.iter().filter(chosen).collect();
    if options.redraw {
        let evidence = files::read(&options.out)?;
        let page = options.out.join("index.html");
        fs::write(&page, page::html(&sections, &evidence))?;
        println!("{}: {} numbers, measured before", page.display(), evidence.entries().len());
        return Ok(());
    }
    // Whoever cannot write there learns it now, and not in twenty minutes.
    let place = |error| format!("the report cannot be written to {}: {error}", options.out.display());
    fs::create_dir_all(&options.out).map_err(place)?;
    let page = options.out.join("index.html");
    fs::write(&page, "").map_err(place)?;

    let plan = Plan::new(options);
    let began = Instant::now();
    let mut evidence = Evidence::default();
    machine::describe(&mut evidence, options.quick);
    let steps = sections.iter().map(|section| (section.topic, (section.steps)(&plan))).collect::<Vec<_>>();
    let progress = Progress::new(steps.iter().flat_map(|(_, steps)| steps));
    let write = |evidence: &Evidence| {
        files::write(&options.out, evidence, options.samples)?;
        fs::write(&page, page::html(&sections, evidence))
    };
    for (topic, steps) in steps {
        // Jobs of one section say the same; another section says it again.
        let mut runner = Runner::keeping(FEWEST, 1);
        for step in steps {
            progress.begin(&step);
            let started = Instant::now();
            let outcome = (step.run)(&mut runner);
            evidence.add(topic, &step.name, step.variant, runner.take(), outcome.err());
            progress.end(step.seconds, started.elapsed());
        }
        // Whoever ends it early has what was measured by then.
        write(&evidence).map_err(place)?;
    }
    progress.finish();
    machine::ended(&mut evidence, began.elapsed());
    write(&evidence).map_err(place)?;
    println!("{}: {} numbers in {}", page.display(), evidence.entries().len(), minutes(began.elapsed()));
    Ok(())
}

fn minutes(time: Duration) -> String {
    format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
}
