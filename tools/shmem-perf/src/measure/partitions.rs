//! What the number of partitions costs at the start, and what it keeps.
//!
//! Published implementations register each partition with the system and the network. Here a PE's
//! partitions are one file and one mapping, so 127 of them cost little more than one.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), section 5.

use std::hint::black_box;
use std::time::Instant;

use shmem::thread::{Single, ThreadLevel};
use shmem::{ErrorKind, Result, World};
use shmem_core::memory::{Arena, Machine, SlotLayout};
use shmem_core::partition::{Origin, PartitionSpec, Traits};
use shmem_core::text::Text;
use shmem_core::topology::Topology;

use crate::bench::print;
use crate::case::{Record, Site};
use crate::footprint::Footprint;
use crate::goal::Goal;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::{ofi, placing};
use crate::name::names;
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};

/// What partitions cost.
pub const MEASURE: Measure = Measure {
    name: "partitions",
    about: "1, 7, 8 and 127 partitions against one, at the start and at run time; placing memory against touching it",
    run: |runner, _| {
        at_start(runner)?;
        at_run_time(runner)?;
        placing::measure(runner, &placing::SIZES)
    },
    tasks: &[LATER_PARTITIONS],
    cases: &[
        cases(
            &["partitions"],
            "step/partitions",
            "made at the start, mapped by a peer, entered in the table of segments; time for each partition",
            "one partition",
        ),
        cases(
            &["partitions-kept"],
            "what/partitions",
            "mappings and memory of a process of a node with 4 PEs, descriptors handed to each peer",
            "one partition for each PE",
        ),
        cases(&["partitions-later"], "partitions", "`create_partition`; time for each", "one alone"),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Create(n) | Name::Attach(n) | Name::Register(n) => (n > 1).then_some(Goal::Ratio(1.0)),
            Name::Mappings(_) | Name::Descriptors(_) => Some(Goal::Ratio(1.0)),
            Name::Resident(_) | Name::Later(_) => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

const LATER_PARTITIONS: Task = Task {
    name: "later-partitions",
    pe: |given, repetitions| made_at_run_time(given.partitions, repetitions),
};

names! {
    Create(partitions: usize) = "partitions": ["create" / partitions];
    Attach(partitions: usize) = "partitions": ["attach" / partitions];
    Register(partitions: usize) = "partitions": ["register" / partitions];
    Mappings(partitions: usize) = "partitions-kept": ["mappings" / partitions];
    Descriptors(partitions: usize) = "partitions-kept": ["descriptors" / partitions];
    Resident(partitions: usize) = "partitions-kept": ["resident" / partitions];
    Later(partitions: usize) = "partitions-later": [partitions];
}

/// What needs no job is measured in this process.
pub(crate) fn at_start(runner: &mut Runner) -> Done {
    let (mut times, mut kept_by_all) = (Vec::new(), Vec::new());
    for n in PARTITIONS {
        let Costs { create, attach, register, mappings, descriptors, resident } =
            costs(n, runner.repetitions)?;
        let record = |name, unit, compared: &str, samples| {
            Record::new(&Site::near(Costs::PES), &name, unit, compared, samples)
        };
        let time = "partitions of a PE made, mapped by a peer, and entered where addresses are found; time for each, against one alone";
        times.push(record(Name::Create(n), "us", time, create));
        times.push(record(Name::Attach(n), "us", time, attach));
        times.push(record(Name::Register(n), "us", time, register));
        let kept = "what a process of a node keeps for the partitions of all its PEs, against one partition of each: mappings, descriptors handed over, KiB";
        kept_by_all.push(record(Name::Mappings(n), "", kept, mappings));
        kept_by_all.push(record(Name::Descriptors(n), "", kept, descriptors));
        kept_by_all.push(record(Name::Resident(n), "KiB", kept, resident));
    }
    runner.show(times.into_iter().chain(kept_by_all).collect());
    Ok(())
}

/// Partitions that a job makes.
pub(crate) fn at_run_time(runner: &mut Runner) -> Done {
    LATER.into_iter().try_for_each(|n| runner.repeat(&runner.job(&LATER_PARTITIONS, 2, &[]).partitions(n)))
}

/// The same of PEs that reach each other through a provider.
pub(crate) fn at_run_time_over(runner: &mut Runner, provider: &str) -> Done {
    LATER.into_iter().try_for_each(|n| {
        let job = ofi::over(runner, &LATER_PARTITIONS, provider).partitions(n);
        runner.repeat(&job)
    })
}

/// One PE.
fn made_at_run_time(n: usize, repetitions: usize) -> Done {
    let world = &mut shmem::init::<Single>()?;
    let site = Site::of(world, std::thread::available_parallelism()?.get());
    let samples: Samples = later(world, n, repetitions)?;
    let compared = "partitions made at run time and made known to all PEs; time for each, against one alone";
    print(world, &[Record::new(&site, &Name::Later(n), "us", compared, samples)])
}

/// Numbers of partitions that are compared with one.
pub const PARTITIONS: [usize; 4] = [1, 7, 8, 127];

/// Numbers of partitions made at run time: beside those that every job has.
pub const LATER: [usize; 4] = [1, 7, 8, 124];

/// Bytes of each partition.
const BYTES: u64 = 1 << 20;

/// Places of a node.
const PES: usize = 4;

/// What `n` partitions cost and keep, against one.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// A PE makes and maps its partitions: microseconds for each of them.
    pub create: Samples,
    /// A PE maps those of another one: microseconds for each.
    pub attach: Samples,
    /// They are entered where addresses are found: microseconds for each.
    pub register: Samples,
    /// Ranges of addresses of a process that has those of [`PES`](Self::PES) PEs.
    pub mappings: Samples,
    /// Files that a PE hands to its peers.
    pub descriptors: Samples,
    /// KiB of memory of such a process.
    pub resident: Samples,
}

impl Costs {
    /// PEs of the node.
    pub const PES: usize = PES;
}

/// Measures `n` partitions of a node with [`Costs::PES`] PEs, in this process alone.
///
/// # Errors
///
/// If the machine does not have the addresses.
pub fn costs(n: usize, repetitions: usize) -> Result<Costs> {
    let mut costs = Costs::default();
    for repetition in 0..=repetitions {
        let (many, one) = (node(n)?, node(1)?);
        // The first pair pays for what is touched for the first time.
        if repetition > 0 {
            let pairs = [
                (&mut costs.create, 0),
                (&mut costs.attach, 1),
                (&mut costs.register, 2),
                (&mut costs.mappings, 3),
                (&mut costs.descriptors, 4),
                (&mut costs.resident, 5),
            ];
            pairs.into_iter().for_each(|(samples, k)| samples.push(many[k], one[k]));
        }
    }
    Ok(costs)
}

/// The costs of `n` partitions, in the order of [`Costs`].
fn node(n: usize) -> Result<[f64; 6]> {
    let layout = SlotLayout::new(&specs(n), 2 << 20, &Topology::default())?;
    let before = Footprint::now().map_err(of_footprint)?;
    let arena = Arena::reserve(layout.clone(), PES, Machine::default())?;
    let (mine, create) = timed(n, || arena.create(0));
    let mine = mine?;
    let descriptors = mine.descriptors.len() as f64;
    // What another process would do.
    let peers = Arena::reserve(layout.clone(), PES, Machine::default())?;
    let others = (1..PES).map(|slot| arena.create(slot)).collect::<std::result::Result<Vec<_>, _>>()?;
    let (attached, attach) = timed(n, || peers.attach(0, mine.descriptors, &mine.pieces));
    attached?;
    drop(peers);
    let (segments, register) = timed(n, || black_box(layout.segments()));
    drop((segments, others));
    let kept = Footprint::now().map_err(of_footprint)?.since(before);
    let resident = (kept.resident as f64 / 1024.0).max(1.0);
    Ok([create, attach, register, (kept.mappings as f64).max(1.0), descriptors, resident])
}

fn of_footprint(error: std::io::Error) -> shmem::Error {
    ErrorKind::Launcher(format!("the footprint of this process is not known: {error}")).into()
}

/// Runs `work` and says how many microseconds it took for each of `n`.
fn timed<R>(n: usize, work: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e6 / n as f64)
}

fn specs(n: usize) -> Vec<PartitionSpec> {
    (1..=n as u32)
        .map(|id| PartitionSpec {
            id,
            name: Text::head(&format!("partition{id}")),
            size: BYTES,
            traits: Traits::NONE,
            origin: Origin::BuiltIn,
            explicit: false,
            file: None,
        })
        .collect()
}

/// Making `n` partitions at run time, against making one; each is told to all PEs. Microseconds for each.
/// All PEs call it.
///
/// # Errors
///
/// If there is no room for them.
pub fn later<L: ThreadLevel>(world: &mut World<L>, n: usize, repetitions: usize) -> Result<Samples> {
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let many = making(world, n)?;
        samples.push(many, making(world, 1)?);
    }
    Ok(samples)
}

fn making<L: ThreadLevel>(world: &mut World<L>, n: usize) -> Result<f64> {
    let start = Instant::now();
    let ids = (0..n).map(|_| Ok(world.create_partition("SIZE=1M")?.id())).collect::<Result<Vec<_>>>()?;
    let time = start.elapsed().as_secs_f64() * 1e6 / n as f64;
    ids.into_iter().try_for_each(|id| world.drop_partition(id))?;
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partitions_of_a_node_are_one_file_and_few_mappings_of_each_pe() {
        // All mappings of the process are counted, and other tests have threads and memory of their own meanwhile.
        let found: Vec<Costs> = (0..10).map(|_| costs(127, 2).unwrap()).collect();
        assert!(found.iter().all(|costs| costs.descriptors.cost().median == 1.0));
        // A slot, and the addresses behind it.
        let few = |costs: &Costs| costs.mappings.cost().median <= (3 * PES) as f64;
        assert!(found.iter().any(few), "{:?}", found.iter().map(|costs| &costs.mappings).collect::<Vec<_>>());
    }
}
