//! Where memory lies: here, or in a guest that has the nodes and the kinds of memory that this machine has not. It is no measure,
//! and has no cases.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::{Args, FromArgMatches, ValueEnum};
use shmem::World;
use shmem::launch::Bind;
use shmem::thread::Single;
use shmem_core::memory::Machine;
use shmem_core::topology::Topology;

use crate::jobs::Asked;
use crate::measure::form::Measure;
use crate::placement::{self, Found, TRAITS};
use crate::runner::Runner;
use crate::task::{Done, Task};

/// Where memory lies.
pub const MEASURE: Measure = Measure {
    name: "placement",
    about: "Where memory lies, which is no measure: arrays of each storage, and partition 1 on each kind of memory in pages of \
            each size. As the kernel says, on the machine that this runs on",
    options: Options::augment_args,
    run: |runner, options| here(runner, Options::from_arg_matches(options)?.what),
    usual: false,
    tasks: &[PLACED_ARRAYS, PLACED_APART, PLACED_PARTITION],
    ..Measure::PLAIN
};

const PLACED_ARRAYS: Task =
    Task { name: "placed-arrays", pe: |given, _| pe(|world| placement::arrays(world, given.scale)) };
const PLACED_APART: Task =
    Task { name: "placed-apart", pe: |given, _| pe(|world| placement::apart(world, given.scale)) };
const PLACED_PARTITION: Task = Task { name: "placed-partition", pe: |_, _| pe(placement::partition) };

#[derive(Args, Clone, Debug)]
struct Options {
    /// Of what; not given: of everything.
    what: Option<Subject>,
}

/// Of what one wants to know where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Arrays of each storage.
    Arrays,
    /// Partition 1, by its traits.
    Partitions,
}

impl Subject {
    /// As it is given on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Arrays => "arrays",
            Self::Partitions => "partitions",
        }
    }

    /// The machine on which it makes a difference: of arrays four nodes, of which five pages cannot be shared out
    /// exactly; of partitions a kind of memory for each, and huge pages where they are asked for.
    const fn guest(self) -> [&'static str; 4] {
        match self {
            Self::Arrays => ["--nodes", "dram,dram,dram,dram", "--mem", "320M"],
            Self::Partitions => ["--nodes", "dram,dram,hbm,slow", "--hugepages", "2M:0:32,2M:1:32,2M:2:64"],
        }
    }

    /// Whether it makes a difference on a machine.
    fn is_seen_on(self, topology: &Topology) -> bool {
        match self {
            Self::Arrays => topology.homes().len() > 1,
            Self::Partitions => placement::has_kinds(topology),
        }
    }
}

/// Seconds that a guest may take.
const PATIENCE: &str = "120";

/// Says where it lies on this machine.
fn here(runner: &mut Runner, what: Option<Subject>) -> Done {
    if what != Some(Subject::Partitions) {
        placed_arrays(runner)?;
    }
    if what != Some(Subject::Arrays) {
        placed_partitions(runner)?;
    }
    Ok(())
}

/// Says where it lies, on this machine if it has several nodes and kinds of memory, or else in a guest.
pub(crate) fn anywhere(runner: &mut Runner, what: Subject, guest: Option<&Path>) -> Done {
    let is_here = what.is_seen_on(&Machine::default().topology());
    let found = match guest.filter(|_| !is_here) {
        Some(guest) => in_guest(runner, what, guest).map(Some),
        None => Ok(None),
    };
    match found {
        Ok(Some(found)) => return runner.found(&found),
        Ok(None) if is_here => {}
        Ok(None) => runner.remark(
            "this machine has not the NUMA nodes and kinds of memory that would make a difference, and no guest was \
             run that has: --guest names a program like ci/numa-vm of the sources, which needs a Debian or Ubuntu on \
             x86-64; a quick report runs none",
        ),
        // What this machine can show stays.
        Err(why) => runner.remark(&format!("no guest has run, only this machine is shown: {why}")),
    }
    runner.found(&[place("run on", "this machine")])?;
    here(runner, Some(what))
}

fn in_guest(runner: &mut Runner, what: Subject, guest: &Path) -> Result<Vec<Found>, Box<dyn Error>> {
    let mut command = Command::new(guest);
    command.args(what.guest()).args(["--timeout", PATIENCE, "--"]).arg(std::env::current_exe()?);
    let output = command.args(["placement", what.name(), "--json"]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", guest.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let last = said.lines().last().unwrap_or_default();
        return Err(format!("{} ended with {}: {last}", guest.display(), output.status).into());
    }
    said.lines().for_each(|line| runner.remark(line));
    let mut found = vec![place("run on", "an emulated machine")];
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        found.push(serde_json::from_str(line)?);
    }
    Ok(found)
}

fn placed_arrays(runner: &mut Runner) -> Done {
    let topology = Machine::default().topology();
    let Some(scale) = placement::scale(&topology) else {
        runner
            .remark("shmem-perf: this process has CPUs on one NUMA node: arrays of every storage lie there");
        return Ok(());
    };
    let variables = placement::variables(scale);
    let one = runner.job(&PLACED_ARRAYS, 1, &variables);
    let apart = runner.job(&PLACED_APART, placement::pes(&topology), &variables);
    let apart = Asked { bind: Bind::Numa, ..apart };
    let mut found = vec![place("nodes", &topology.inventory())];
    for job in [one, apart] {
        for line in runner.run(&job.scale(scale))?.lines() {
            found.push(serde_json::from_str(line)?);
        }
    }
    let rows: Vec<_> = found.iter().map(|one: &Found| one.row.clone()).collect();
    found.sort_by_key(|one| rows.iter().position(|row| *row == one.row));
    runner.found(&found)
}

fn placed_partitions(runner: &mut Runner) -> Done {
    let topology = Machine::default().topology();
    let mut found = vec![place("nodes", &topology.inventory())];
    for traits in TRAITS {
        let variables = placement::traits_variables(traits);
        let job = runner.job(&PLACED_PARTITION, placement::pes(&topology), &variables);
        match (Asked { bind: Bind::Numa, ..job }).run() {
            Ok(printed) => {
                for line in printed.results.lines() {
                    found.push(serde_json::from_str(line)?);
                }
            }
            // A refusal is what some of them are asked for.
            Err(error) => found.push(placement::refused(traits, &error).ok_or(error)?),
        }
    }
    runner.found(&found)
}

/// Where all of it was found.
fn place(row: &str, value: &str) -> Found {
    Found::new("machine", row, "", value)
}

/// One PE of a job.
fn pe(find: impl FnOnce(&mut World) -> shmem::Result<Vec<Found>>) -> Done {
    let world = &mut shmem::init::<Single>()?;
    let found = find(world)?;
    if world.my_pe() == 0 {
        for one in found {
            println!("{}", serde_json::to_string(&one)?);
        }
    }
    Ok(())
}
