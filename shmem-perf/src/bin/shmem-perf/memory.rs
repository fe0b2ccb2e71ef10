//! Measures of memory: sizes of pages, numbers of partitions, placing.

use std::error::Error;

use shmem::partition::Pages;
use shmem::prelude::*;
use shmem::zeroed;
use shmem_perf::partitions::{self, Costs};
use shmem_perf::{Record, Samples, Site, affinity, pages, placing};

use crate::Measure;
use crate::bench::{Bench, Records, print};
use crate::runner::Runner;

impl Runner {
    pub(crate) fn pages(&mut self) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.job(Measure::Pages, 2, 1, &pages::variables()))
    }

    pub(crate) fn partitions(&mut self) -> Result<(), Box<dyn Error>> {
        self.partition_costs()?;
        self.later_partitions()?;
        self.placing(&placing::SIZES)
    }

    /// What needs no job is measured in this process.
    pub(crate) fn partition_costs(&mut self) -> Result<(), Box<dyn Error>> {
        let mut records = Vec::new();
        for n in partitions::PARTITIONS {
            let Costs { create, attach, register, mappings, descriptors, resident } =
                partitions::costs(n, self.repetitions)?;
            let mut push = |measure, what, unit, compared: &str, samples| {
                let case = format!("{what}/{n}");
                records.push(Record::new(&near(Costs::PES), measure, case, unit, compared, samples));
            };
            let time = "partitions of a PE made, mapped by a peer, and entered where addresses are found; time for each, against one alone";
            push("partitions", "create", "us", time, create);
            push("partitions", "attach", "us", time, attach);
            push("partitions", "register", "us", time, register);
            let kept = "what a process of a node keeps for the partitions of all its PEs, against one partition of each: mappings, descriptors handed over, KiB";
            push("partitions-kept", "mappings", "", kept, mappings);
            push("partitions-kept", "descriptors", "", kept, descriptors);
            push("partitions-kept", "resident", "KiB", kept, resident);
        }
        records.sort_by(|a, b| a.measure.cmp(&b.measure));
        self.show(records);
        Ok(())
    }

    pub(crate) fn later_partitions(&mut self) -> Result<(), Box<dyn Error>> {
        let mut numbers = partitions::LATER.into_iter();
        numbers.try_for_each(|n| self.repeat(&self.job(Measure::LaterPartitions, 2, n, &[])))
    }

    pub(crate) fn placing(&mut self, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
        let mut records = Vec::new();
        for &bytes in sizes {
            let samples = placing::placing(bytes, self.repetitions)?;
            let compared = "memory whose chunks have a node each, bound and populated, against a first touch by all CPUs";
            let case = format!("{}M", bytes >> 20);
            records.push(Record::new(&near(1), "placing", case, "ms", compared, samples));
        }
        self.show(records);
        Ok(())
    }
}

/// PEs of this host, of which one measures.
fn near(pes: usize) -> Site {
    Site { pes, transport: "shm".into(), shared_cores: false }
}

/// A stencil, and columns, in large and small pages.
pub(crate) fn pages(world: &mut World, repetitions: usize) -> Result<(), Box<dyn Error>> {
    let cores = affinity::take(world.my_pe(), world.n_pes())?;
    let large = world.partitions().into_iter().find(|partition| partition.spec.id == pages::LARGE);
    let grants = large.map(|partition| partition.grants).unwrap_or_default();
    let given = grants.iter().map(|grant| grant.pgsize).min();
    let said = |text: &str| {
        if world.my_pe() == 0 {
            eprintln!("shmem-perf: {text}");
        }
    };
    if given.is_none_or(|bytes| bytes < pages::LARGE_PAGE) {
        let reasons: Vec<_> = grants.iter().flat_map(|grant| &grant.downgrades).collect();
        said(&format!("no large pages to compare with: {reasons:?}"));
        return Ok(());
    }
    if grants.iter().any(|grant| grant.pages == Pages::Transparent) {
        said(
            "no pages of 2M are reserved: those that are measured are small ones that the kernel has merged",
        );
    }
    let stencil = pages::stencil(world, repetitions)?;
    let bench = Bench { site: Site::of(world, cores), world, repetitions };
    let mut records = bench.columns()?;
    let compared = "a step of a stencil whose columns go to both neighbours, in pages of 2 MiB against small ones; \
                    time for each cell";
    records.insert(0, bench.record("pages", format!("stencil/{}", pages::SIZE), compared, stencil));
    print(world, &records)
}

impl Bench<'_> {
    fn columns(&self) -> Records {
        let world = self.world;
        let small = world.partition(pages::SMALL)?.alloc(zeroed::<u64>(pages::WORDS))?;
        let large = world.partition(pages::LARGE)?.alloc(zeroed::<u64>(pages::WORDS))?;
        let (small, large) = (small.on(self.other()), large.on(self.other()));
        Ok(self.alone(|| {
            let column = |&touched: &usize| {
                let samples = pages::column(world, large, small, touched, self.repetitions);
                let compared =
                    "a column that touches so many small pages, in pages of 2 MiB against small ones";
                self.record("pages", format!("column/{touched}"), compared, samples)
            };
            pages::TOUCHED.iter().map(column).collect()
        }))
    }
}

/// Partitions made at run time.
pub(crate) fn later(world: &mut World, n: usize, repetitions: usize) -> Result<(), Box<dyn Error>> {
    let cores = std::thread::available_parallelism()?.get();
    let site = Site::of(world, cores);
    let samples: Samples = partitions::later(world, n, repetitions)?;
    let compared = "partitions made at run time and made known to all PEs; time for each, against one alone";
    print(world, &[Record::new(&site, "partitions-later", n.to_string(), "us", compared, samples)])
}
