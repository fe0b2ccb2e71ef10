//! What waiting costs a program that has just begun, by where its PEs run.

use std::error::Error;
use std::path::Path;

use shmem::launch::Bind;

use crate::affinity;
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::{names, words};
use crate::peers::{Peer, Programs, open_mpi};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::Done;

/// What waiting costs a program that has just begun.
pub const MEASURE: Measure = Measure {
    name: "waiting",
    about: "The first 2000 barriers, sums of 8 bytes and signals of a program in C, over 20 starts, by where its PEs run; the same \
            with Open MPI's OpenSHMEM where that is installed",
    run: |runner, _| measure(runner),
    usual: false,
    cases: &[
        cases(
            &["waiting"],
            "operation/placement",
            "the first 2000 `barrier`s, `sum`s of 8 bytes and `signal`s round all PEs: of 2 as `shmrun` starts them (`default`), not \
             bound (`unbound`) and on one CPU (`one-cpu`), of 4 on two (`two-a-cpu`); the median of 20 starts, and the `worst`",
            "2 PEs with a CPU each",
        ),
        cases(
            &["waiting"],
            "operation/placement/oshmem",
            "the same",
            "the same program with Open MPI's OpenSHMEM, which yields where PEs share CPUs",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Own(_, Placement::Default) => Some(Goal::Ratio(1.1)),
            Name::Worst(_) => Some(Goal::Ratio(2.0)),
            Name::Own(Operation::Barrier, Placement::OneCpu) => Some(Goal::AtMost(3000.0)),
            Name::Oshmem(_, Placement::OneCpu) => Some(Goal::Ratio(1.0)),
            Name::Own(..) | Name::Oshmem(..) => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

names! {
    Worst(operation: Operation) = "waiting": [operation / "worst"];
    Own(operation: Operation, placement: Placement) = "waiting": [operation / placement];
    Oshmem(operation: Operation, placement: Placement) = "waiting": [operation / placement / "oshmem"];
}

words! {
    /// What the program does, in the order in which it prints what that costs.
    Operation { Barrier = "barrier", Sum = "sum", Signal = "signal" }
}

words! {
    /// Where its PEs run.
    Placement {
        Bound = "bound",
        Default = "default",
        Unbound = "unbound",
        OneCpu = "one-cpu",
        TwoACpu = "two-a-cpu",
    }
}

/// Starts of a program for each placement.
const STARTS: usize = 20;

/// Nanoseconds of each operation in one start.
type Costs = Vec<f64>;

impl Placement {
    const fn pes(self) -> usize {
        if matches!(self, Self::TwoACpu) { 4 } else { 2 }
    }

    /// The arguments of the program: the CPUs that its PEs take when they have started.
    fn args(self, allowed: &[usize]) -> Vec<String> {
        let [first, second] = [allowed[0], allowed[1 % allowed.len()]].map(|cpu| cpu.to_string());
        match self {
            Self::Default | Self::Unbound => Vec::new(),
            Self::Bound => vec![first, second],
            Self::OneCpu => vec![first.clone(), first],
            Self::TwoACpu => vec![first.clone(), second.clone(), first, second],
        }
    }

    fn ours(self, program: &Path, allowed: &[usize]) -> Result<Costs, Box<dyn Error>> {
        let bind = if self == Self::Default { Bind::Share } else { Bind::None };
        let job =
            Asked { pes: self.pes(), args: self.args(allowed), variables: Vec::new(), bind, hosts: None };
        costs(&job.run_program(program)?.results)
    }

    fn theirs(self, program: &Path, allowed: &[usize]) -> Result<Costs, Box<dyn Error>> {
        let pes = self.pes().to_string();
        let mut options = vec!["-np", &*pes];
        if self != Self::Default {
            options.extend(["--bind-to", "none"]);
        }
        if matches!(self, Self::OneCpu | Self::TwoACpu) {
            options.extend(["--mca", "mpi_yield_when_idle", "1"]);
        }
        let directory = program.parent().unwrap_or(program);
        let output = open_mpi("oshrun", &options, program, directory).args(self.args(allowed)).output()?;
        costs(&String::from_utf8_lossy(&output.stdout))
    }
}

fn costs(printed: &str) -> Result<Costs, Box<dyn Error>> {
    let costs: Costs = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    if costs.len() != Operation::ALL.len() {
        return Err(format!("`{printed}` is not what a program prints that has measured its waits").into());
    }
    Ok(costs)
}

fn measure(runner: &mut Runner) -> Done {
    let Some(programs) = runner.programs(&[Peer::Waiting, Peer::OshmemWaiting])? else { return Ok(()) };
    let of = |peer| Programs::of(peer, programs.directory());
    let (Some(ours), theirs) = (of(Peer::Waiting), of(Peer::OshmemWaiting)) else { return Ok(()) };
    let allowed = affinity::allowed()?;
    let mut records = Vec::new();
    for _ in 0..STARTS {
        let bound = Placement::Bound.ours(&ours, &allowed)?;
        for &placement in Placement::ALL {
            let own = placement.ours(&ours, &allowed)?;
            let other = theirs.as_ref().map(|theirs| placement.theirs(theirs, &allowed)).transpose()?;
            let site = Site { shared_cores: placement.pes() > allowed.len(), ..Site::near(placement.pes()) };
            for (k, &operation) in Operation::ALL.iter().enumerate() {
                let mut beside = |name: Name, limit: f64, compared: &str| {
                    let mut samples = Samples::new();
                    samples.push(own[k], limit);
                    records.push(Record::new(&site, &name, "ns", compared, samples));
                };
                if placement != Placement::Bound {
                    let compared = "the first of a program against those of two PEs with a CPU each";
                    beside(Name::Own(operation, placement), bound[k], compared);
                }
                if let Some(other) = &other {
                    let compared = "the first of a program in C against Open MPI's OpenSHMEM";
                    beside(Name::Oshmem(operation, placement), other[k], compared);
                }
            }
        }
    }
    let mut records = Record::join(records);
    for &operation in Operation::ALL {
        let all = records.iter().find(|record| record.is(&Name::Own(operation, Placement::Default)));
        let mut samples = Samples::new();
        all.into_iter().for_each(|all| samples.push(all.samples.cost_at(1.0), all.samples.limit().median));
        let compared = "the slowest start against the median of those with a CPU each";
        records.push(Record::new(&Site::near(2), &Name::Worst(operation), "ns", compared, samples));
    }
    runner.show(records);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::undone;

    #[test]
    fn names_are_read_as_they_are_written() {
        undone([
            (Name::Worst(Operation::Sum), "sum/worst"),
            (Name::Own(Operation::Barrier, Placement::OneCpu), "barrier/one-cpu"),
            (Name::Oshmem(Operation::Signal, Placement::TwoACpu), "signal/two-a-cpu/oshmem"),
        ]);
    }

    #[test]
    fn every_operation_has_its_cost() {
        assert_eq!(costs("1.5 2.0 30.0 ").unwrap(), [1.5, 2.0, 30.0]);
        assert!(costs("1.5 2.0").is_err() && costs("").is_err() && costs("1 2 x").is_err());
    }
}
