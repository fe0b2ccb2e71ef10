//! One PE of a job: what measures have in common inside.

use shmem::prelude::*;
use shmem::thread::Single;

use crate::affinity;
use crate::beside::Beside;
use crate::case::{Record, Site};
use crate::name::CaseName;
use crate::samples::Samples;
use crate::task::{Done, Given};

/// What measures need, inside a PE. All PEs call every measure; what PE 0 returns counts.
pub(crate) struct Bench<'w> {
    pub(crate) world: &'w World,
    pub(crate) site: Site,
    pub(crate) repetitions: usize,
}

pub(crate) type Records = std::result::Result<Vec<Record>, Box<dyn std::error::Error>>;

/// A PE that takes a core for itself.
pub(crate) fn run(repetitions: usize, measure: impl FnOnce(&Bench<'_>) -> Records) -> Done {
    with_peers(&Given::NOTHING, repetitions, |bench, _| measure(bench))
}

/// The same, where PE 0 brings the peers whose programs it was given.
pub(crate) fn with_peers(
    given: &Given,
    repetitions: usize,
    measure: impl FnOnce(&Bench<'_>, Option<Beside>) -> Records,
) -> Done {
    let world = shmem::init::<Single>()?;
    // They take cores of their own accord, and could not once this process has taken one.
    let peers = given.peers.as_deref().filter(|_| world.my_pe() == 0).map(Beside::start);
    let cores = affinity::take(world.my_pe(), world.n_pes())?;
    let bench = Bench { site: Site::of(&world, cores), world: &world, repetitions };
    let records = measure(&bench, peers)?;
    print(&world, &records)
}

/// PE 0 prints for the tool.
pub(crate) fn print(world: &World, records: &[Record]) -> Done {
    if world.my_pe() == 0 {
        for record in records {
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    Ok(())
}

impl Bench<'_> {
    /// What was measured in nanoseconds.
    pub(crate) fn record(&self, name: &impl CaseName, compared: &str, samples: Samples) -> Record {
        self.record_in("ns", name, compared, samples)
    }

    /// The same in another unit.
    pub(crate) fn record_in(
        &self,
        unit: &str,
        name: &impl CaseName,
        compared: &str,
        samples: Samples,
    ) -> Record {
        Record::new(&self.site, name, unit, compared, samples)
    }

    /// The PE that is written and read.
    pub(crate) fn other(&self) -> Pe {
        self.world.ring_neighbours().1
    }

    /// Runs `measure` on PE 0 while the others sleep.
    pub(crate) fn alone(&self, measure: impl FnOnce() -> Vec<Record>) -> Vec<Record> {
        self.world.barrier_all();
        let records = if self.world.my_pe() == 0 { measure() } else { Vec::new() };
        self.world.barrier_all();
        records
    }
}
