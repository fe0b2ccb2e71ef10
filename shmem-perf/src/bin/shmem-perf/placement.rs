//! Where memory lies: here, or in a guest that has the nodes and the kinds of memory that this machine has not.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use shmem::launch::Bind;
use shmem::thread::Single;
use shmem_core::memory::Machine;
use shmem_core::topology::Topology;
use shmem_perf::jobs::Job;
use shmem_perf::placement::{self, Found, TRAITS};

use crate::Measure;
use crate::runner::Runner;

/// Of what one wants to know where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Arrays of each storage.
    Arrays,
    /// Partition 1, by its traits.
    Partitions,
}

/// What its PEs are started for.
pub(crate) const MEASURES: [Measure; 3] =
    [Measure::PlacedArrays, Measure::PlacedApart, Measure::PlacedPartition];

impl Subject {
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

impl Runner {
    /// Says where it lies on this machine.
    pub(crate) fn placement(&mut self, what: Option<Subject>) -> Result<(), Box<dyn Error>> {
        if what != Some(Subject::Partitions) {
            self.placed_arrays()?;
        }
        if what != Some(Subject::Arrays) {
            self.placed_partitions()?;
        }
        Ok(())
    }

    /// Says where it lies, on this machine if it has several nodes and kinds of memory, or else in a guest.
    pub(crate) fn placement_anywhere(
        &mut self,
        what: Subject,
        guest: Option<&Path>,
    ) -> Result<(), Box<dyn Error>> {
        let here = what.is_seen_on(&Machine::default().topology());
        let found = match guest.filter(|_| !here) {
            Some(guest) => self.in_guest(what, guest).map(Some),
            None => Ok(None),
        };
        match found {
            Ok(Some(found)) => return self.found(&found),
            Ok(None) if here => {}
            Ok(None) => self.remark(
                "this machine has not the NUMA nodes and kinds of memory that would make a difference, and no guest was \
                 run that has: --guest names a program like ci/numa-vm of the sources, which needs a Debian or Ubuntu on \
                 x86-64; a quick report runs none",
            ),
            // What this machine can show stays.
            Err(why) => self.remark(&format!("no guest has run, only this machine is shown: {why}")),
        }
        self.found(&[place("run on", "this machine")])?;
        self.placement(Some(what))
    }

    fn in_guest(&mut self, what: Subject, guest: &Path) -> Result<Vec<Found>, Box<dyn Error>> {
        let name = what.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut command = Command::new(guest);
        command.args(what.guest()).args(["--timeout", PATIENCE, "--"]).arg(std::env::current_exe()?);
        let output = command.args(["placement", &name, "--json"]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{} cannot be run: {error}", guest.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            let last = said.lines().last().unwrap_or_default();
            return Err(format!("{} ended with {}: {last}", guest.display(), output.status).into());
        }
        said.lines().for_each(|line| self.remark(line));
        let mut found = vec![place("run on", "an emulated machine")];
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            found.push(serde_json::from_str(line)?);
        }
        Ok(found)
    }

    fn placed_arrays(&mut self) -> Result<(), Box<dyn Error>> {
        let topology = Machine::default().topology();
        let Some(scale) = placement::scale(&topology) else {
            self.remark(
                "shmem-perf: this process has CPUs on one NUMA node: arrays of every storage lie there",
            );
            return Ok(());
        };
        let variables = placement::variables(scale);
        let one = self.job(Measure::PlacedArrays, 1, 1, &variables);
        let apart = self.job(Measure::PlacedApart, placement::pes(&topology), 1, &variables);
        let apart = Job { bind: Bind::Numa, ..apart };
        let mut found = vec![place("nodes", &topology.inventory())];
        for mut job in [one, apart] {
            job.args.extend(["--scale".to_owned(), scale.to_string()]);
            for line in self.run(&job)?.lines() {
                found.push(serde_json::from_str(line)?);
            }
        }
        let rows: Vec<_> = found.iter().map(|one: &Found| one.row.clone()).collect();
        found.sort_by_key(|one| rows.iter().position(|row| *row == one.row));
        self.found(&found)
    }

    fn placed_partitions(&mut self) -> Result<(), Box<dyn Error>> {
        let topology = Machine::default().topology();
        let mut found = vec![place("nodes", &topology.inventory())];
        for traits in TRAITS {
            let variables = placement::traits_variables(traits);
            let job = self.job(Measure::PlacedPartition, placement::pes(&topology), 1, &variables);
            match (Job { bind: Bind::Numa, ..job }).run() {
                Ok(printed) => {
                    for line in printed.results.lines() {
                        found.push(serde_json::from_str(line)?);
                    }
                }
                // A refusal is what some of them are asked for.
                Err(error) => found.push(placement::refused(traits, &error).ok_or(error)?),
            }
        }
        self.found(&found)
    }
}

/// Where all of it was found.
fn place(row: &str, value: &str) -> Found {
    Found::new("machine", row, "", value)
}

/// One PE of a job.
pub(crate) fn pe(measure: Measure, scale: u32) -> Result<(), Box<dyn Error>> {
    let world = &mut shmem::init::<Single>()?;
    let found = match measure {
        Measure::PlacedArrays => placement::arrays(world, scale)?,
        Measure::PlacedApart => placement::apart(world, scale)?,
        _ => placement::partition(world)?,
    };
    if world.my_pe() == 0 {
        for one in found {
            println!("{}", serde_json::to_string(&one)?);
        }
    }
    Ok(())
}
