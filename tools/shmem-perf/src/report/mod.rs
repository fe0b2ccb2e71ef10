//! `shmem-perf report`: measures all sections, and writes a page.
//!
//! A [section](SECTIONS) is a topic of the literature. Its steps are command lines, which produce records (numbers) or facts
//! (texts, such as the NUMA nodes of pages). All results are [evidence](evidence), in numbered lines. Other lines of a section
//! define tables: [`show`] makes them for the [page](page). A step that fails is reported on the page.

mod evidence;
mod page;
mod show;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Instant;
use std::{fs, io};

use clap::Args;
use clap::builder::PossibleValuesParser;
use evidence::Results;

use crate::bench::{Done, TextResult};
use crate::command::{self, Arguments};
use crate::jobs::Named;
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::sheet::{Section, sections};

/// The sections of the report, which `sections.txt` defines.
static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| sections(include_str!("sections.txt")));

/// Returns the names of sections that measure something.
fn names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().filter(|section| section.of(&["step"]).next().is_some()).map(|section| section.name)
}

/// Options of the report. A quick report takes less than two minutes instead of twenty, but takes no fewer samples of each case.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// The directory of the page and its data. It is made if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Measure only these sections.
    #[arg(long, value_delimiter = ',', value_name = "SECTION", value_parser = PossibleValuesParser::new(names()))]
    only: Vec<String>,
    /// Measure nothing: draw the page again from `cases.csv`, `facts.csv` and `notes.csv` in the directory.
    #[arg(long, conflicts_with_all = ["no_peers", "hosts", "launcher"])]
    redraw: bool,
    /// Leave out other libraries.
    #[arg(long)]
    no_peers: bool,
    #[command(flatten)]
    hosts: Named,
}

pub(crate) fn report(options: &Options, quick: bool) -> Done {
    let chosen =
        |section: &&Section| options.only.is_empty() || options.only.iter().any(|one| one == section.name);
    let sections: Vec<&'static Section> = SECTIONS.iter().filter(chosen).collect();
    let page = options.out.join("index.html");
    if options.redraw {
        let evidence = Results::read(&options.out)?;
        fs::write(&page, page::html(&sections, &evidence))?;
        println!("{}: {} numbers, measured before", page.display(), evidence.cases.len());
        return Ok(());
    }
    // Writes a first page now, so that an error is found before twenty minutes of measuring.
    let place = |error| format!("the report cannot be written to {}: {error}", options.out.display());
    fs::create_dir_all(&options.out).map_err(place)?;
    fs::write(&page, "").map_err(place)?;

    // Network namespaces are made at the first step that needs two hosts.
    let mut hosts = None;
    let began = Instant::now();
    let mut evidence = Results::default();
    evidence.describe(quick);
    let write = |evidence: &Results| {
        evidence.write(&options.out)?;
        // The page is drawn from the written files, so that it agrees with them.
        let written = Results::read(&options.out).map_err(io::Error::other)?;
        fs::write(&page, page::html(&sections, &written))
    };
    for section in &sections {
        // A runner for each section, so that each section shows a remark once.
        let asked = Arguments { repetitions: FEWEST, jobs: 1, quick, ..Arguments::default() };
        let mut runner = Runner::keeping(asked);
        runner.others = !options.no_peers;
        let mut places = Vec::new();
        for step in section.of(&["step"]) {
            let (name, line) = (step.part(0), step.part(if quick { 2 } else { 1 }));
            if line.is_empty() {
                continue;
            }
            eprintln!("shmem-perf: {}: {name}", section.name);
            let started = Instant::now();
            if ["hosts", "network"].contains(&step.place) {
                match hosts.get_or_insert_with(|| options.hosts.find()) {
                    Ok(two) => runner.hosts = Some(two.clone()),
                    Err(why) => runner.remark(&format!("not measured between two hosts: {why}")),
                }
                let place = runner.hosts.as_ref().map(|hosts| hosts.describe());
                let place = place.unwrap_or_else(|| "one host, whose shared memory is not used".to_owned());
                if !places.contains(&step.place) {
                    runner.found(&[TextResult::new("place", step.place, "", place)])?;
                    places.push(step.place);
                }
            }
            let outcome = match step.place == "hosts" && runner.hosts.is_none() {
                true => Ok(()),
                false => command::perform(&mut runner, line),
            };
            runner.hosts = None;
            evidence.add(section.name, [name, step.place], runner.take(), outcome);
            eprintln!("shmem-perf:   {:.1} s", started.elapsed().as_secs_f64());
        }
        // Writes after each section, so that an early end keeps the results.
        write(&evidence).map_err(place)?;
    }
    evidence.ended(began.elapsed());
    write(&evidence).map_err(place)?;
    let (page, took) = (page.display(), began.elapsed().as_secs_f64());
    println!("{page}: {} numbers in {took:.0} s", evidence.cases.len());
    Ok(())
}
