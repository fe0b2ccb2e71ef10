//! What a measure is made of.

use clap::ArgMatches;

use crate::case::Case;
use crate::goal::Goal;
use crate::guard::Guard;
use crate::name::CaseName;
use crate::runner::Runner;
use crate::task::{Done, Task};

/// A measure.
pub struct Measure {
    /// Its subcommand.
    pub name: &'static str,
    /// What that does, for who asks for help.
    pub(crate) about: &'static str,
    /// Adds its options, if it has any.
    pub(crate) options: fn(clap::Command) -> clap::Command,
    /// What the subcommand runs.
    pub(crate) run: fn(&mut Runner, &ArgMatches) -> Done,
    /// Whether it is run where no subcommand is given.
    pub(crate) usual: bool,
    /// What PEs of its jobs do.
    pub(crate) tasks: &'static [Task],
    /// Its cases, as docs/performance.md lists them.
    pub cases: &'static [Cases],
    /// What a case ought to reach, if it is one of these.
    pub(crate) goal: fn(&Case) -> Option<Goal>,
    /// The case as it is written again when it has been read, if it is one of these.
    pub(crate) again: fn(&str, &str) -> Option<String>,
    /// What must not become slower.
    pub(crate) guards: &'static [Guard],
}

impl Measure {
    /// A measure whose subcommand has no options; what is not said is left out.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        about: "",
        options: |command| command,
        run: |_, _| Ok(()),
        usual: true,
        tasks: &[],
        cases: &[],
        goal: |_| None,
        again: |_, _| None,
        guards: &[],
    };

    /// Its subcommand, if it is not part of another one's.
    pub(crate) fn subcommand(&self) -> Option<clap::Command> {
        let command = || (self.options)(clap::Command::new(self.name)).about(self.about).long_about(None);
        (!self.about.is_empty()).then(command)
    }

    /// What its subcommand does where no option is given.
    pub(crate) fn run_plain(&self, runner: &mut Runner) -> Done {
        let Some(command) = self.subcommand() else { return Ok(()) };
        (self.run)(runner, &command.try_get_matches_from([self.name])?)
    }

    /// How its cases say what measure they are of.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.cases.iter().flat_map(|cases| cases.measures.iter().copied())
    }
}

/// A line of the table in docs/performance.md.
#[derive(Clone, Copy, Debug)]
pub struct Cases {
    /// How the measure is written: one word of JSON and CSV, or several that stand together.
    pub measures: &'static [&'static str],
    /// How its cases are: `partitions/bytes`.
    pub case: &'static str,
    /// What is measured.
    pub measured: &'static str,
    /// What beside.
    pub limit: &'static str,
}

/// A line of the table.
pub(crate) const fn cases(
    measures: &'static [&'static str],
    case: &'static str,
    measured: &'static str,
    limit: &'static str,
) -> Cases {
    Cases { measures, case, measured, limit }
}

/// The goal of the cases of one kind of names.
pub(crate) fn goal_of<N: CaseName>(case: &Case, goal: impl FnOnce(N) -> Option<Goal>) -> Option<Goal> {
    goal(N::parse(&case.measure, &case.case)?)
}

/// A case, read and written again.
pub(crate) fn again<N: CaseName>(measure: &str, case: &str) -> Option<String> {
    N::parse(measure, case).map(|name| name.to_string())
}
