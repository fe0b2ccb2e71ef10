//! The tool's command line: a subcommand for each benchmark, `check`, and `report`.

use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::bench::Done;
use crate::measure::{self, MEASURES, Measure, USUAL};
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::{check, report};

/// Measures what operations cost, in turn with a limit: what the machine or another program needs for the same.
///
/// Ratios are costs over the limit's cost: smaller is better everywhere. Without a subcommand, the usual measures run.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "shmem-perf", version)]
pub(crate) struct Arguments {
    /// Print one line of JSON for each case.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Pairs of samples for each case.
    #[arg(long, global = true, default_value = "31", value_parser = RangedU64ValueParser::<usize>::new().range(FEWEST as u64..))]
    pub(crate) repetitions: usize,
    /// Jobs that measure each case. Several are needed, because pages and other load differ from job to job.
    #[arg(long, global = true, default_value = "15", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) jobs: usize,
    /// Only the cases that match a pattern, such as `put 8|4096` or `micro */8/**`; may be given several times.
    #[arg(long, global = true, value_name = "PATTERN")]
    pub(crate) cases: Vec<String>,
    /// Fewer sizes and layouts, smaller payloads, and no peer that takes minutes to build.
    #[arg(long, global = true)]
    pub(crate) quick: bool,
    /// The provider of libfabric, in measures over libfabric [default: tcp;ofi_rxm].
    #[arg(long, global = true, value_name = "PROVIDER")]
    pub(crate) provider: Vec<String>,
}

// Subcommands that run several benchmarks. Not a doc comment, because clap would show it as the first line of `shmem-perf --help`.
#[derive(Clone, Debug, Subcommand)]
enum Tool {
    /// Compares some cases of all measures with generous bounds, in less than a minute; fails if a case is too slow.
    Check(check::Options),
    /// Measures every claim of the documentation, beside other libraries; writes an HTML page, and its data beside it. Takes up to
    /// twenty minutes.
    Report(report::Options),
    /// Runs a PE of a measure: the name of its task, and its arguments as JSON.
    #[command(hide = true)]
    Pe {
        task: String,
        #[arg(default_value = "{}")]
        given: String,
    },
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    match run(&command().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shmem-perf: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> clap::Command {
    let measures = MEASURES.iter().map(Measure::subcommand);
    Tool::augment_subcommands(Arguments::command().subcommands(measures)).subcommand_required(false)
}

fn run(matches: &ArgMatches) -> Done {
    let asked = Arguments::from_arg_matches(matches)?;
    let (quick, mut runner) = (asked.quick, Runner::printing(asked));
    let Some((name, _)) = matches.subcommand() else {
        return MEASURES[..USUAL].iter().try_for_each(|measure| perform(&mut runner, measure.name));
    };
    if MEASURES.iter().any(|measure| measure.name == name) {
        return runner.measure(matches);
    }
    let is_given = |option: &&clap::Arg| {
        let given = matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
        given && (name, option.get_id().as_str()) != ("report", "quick")
    };
    if let Some(option) = Arguments::command().get_arguments().find(is_given) {
        return Err(format!("`{name}` does not take --{}, which is for measures", option.get_id()).into());
    }
    match Tool::from_arg_matches(matches)? {
        Tool::Check(options) => check::check(&options),
        Tool::Report(options) => report::report(&options, quick),
        Tool::Pe { task, given } => measure::pe(&task, &serde_json::from_str(&given)?),
    }
}

/// Runs a benchmark by a command line, with single quotes as in a shell. Options that are not given are those of `runner`.
pub(crate) fn perform(runner: &mut Runner, line: &str) -> Done {
    let words = line.split('\'').enumerate().flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    let matches = command().try_get_matches_from(["shmem-perf"].into_iter().chain(words))?;
    let said = Arguments::from_arg_matches(&matches)?;
    let (before, asked) = (runner.asked.clone(), &mut runner.asked);
    if matches.value_source("jobs") == Some(ValueSource::CommandLine) {
        asked.jobs = said.jobs;
    }
    if asked.cases.is_empty() {
        asked.cases = said.cases;
    }
    asked.quick |= said.quick;
    asked.provider.extend(said.provider);
    let done = runner.measure(&matches);
    runner.asked = before;
    done
}
