//! What the number of partitions costs.

use std::error::Error;
use std::time::Duration;

use clap::Args;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{Atomic, PlainData, SymmetricData};
use shmem_core::object::{AtomicWord, NumberValue};
use shmem_perf::jobs::Job;
use shmem_perf::lookup::{self, Buffers, MOST_BYTES, PARTITIONS, SIZES, Transfer};
use shmem_perf::{Record, Samples, Site, affinity};

use crate::bench::{Bench, Records, print};
use crate::runner::Runner;
use crate::{Measure, fabric};

/// What PEs are started for here.
pub(crate) const MEASURES: [Measure; 3] = [Measure::Lookup, Measure::LookupPublished, Measure::LookupBySize];

/// How often PE 0 has measured.
#[symmetric]
static MEASURED: u64;

/// What operations on buffers in many partitions are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Published,
    Fair,
}

impl Form {
    const fn measure(self) -> &'static str {
        match self {
            Self::Published => "lookup-published",
            Self::Fair => "lookup",
        }
    }

    const fn compared(self) -> &'static str {
        match self {
            Self::Published => {
                "operations on buffers of random partitions, then quiet, against all on one buffer"
            }
            Self::Fair => {
                "operations on random buffers in a partition each, against the same in one partition"
            }
        }
    }
}

/// Which transfers, and between whom.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Both forms with puts and gets of these sizes, in bytes; not given: those that show most.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=MOST_BYTES as i64))]
    sizes: Vec<u32>,
    /// Between PEs that reach each other through this provider of libfabric; not given: through shared memory.
    #[arg(long, requires = "sizes")]
    provider: Option<String>,
}

impl Runner {
    pub(crate) fn lookup(&mut self, options: &Options) -> Result<(), Box<dyn Error>> {
        let numbers = || [1].into_iter().chain(PARTITIONS);
        if options.sizes.is_empty() {
            PARTITIONS.into_iter().try_for_each(|n| self.jobs(Measure::Lookup, 2, n))?;
            return numbers().try_for_each(|n| self.jobs(Measure::LookupPublished, 2, n));
        }
        let sizes: Vec<_> = options.sizes.iter().map(|&bytes| bytes as usize).collect();
        let provider = options.provider.as_deref();
        numbers().try_for_each(|n| self.repeat(&self.lookup_by_size(n, &sizes, provider)))
    }

    /// A job of both forms with so many partitions and transfers of these sizes; of PEs that reach each other
    /// through a provider if one is named.
    pub(crate) fn lookup_by_size(&self, partitions: usize, sizes: &[usize], provider: Option<&str>) -> Job {
        let far = provider.map(fabric::variables).unwrap_or_default();
        let variables = [lookup::variables(partitions), far].concat();
        let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
        let mut job = self.job(Measure::LookupBySize, 2, partitions, &variables);
        job.args.extend(["--sizes".into(), sizes.join(",")]);
        job
    }
}

/// One PE of a job.
pub(crate) fn pe(
    measure: Measure,
    partitions: usize,
    sizes: &[usize],
    repetitions: usize,
) -> Result<(), Box<dyn Error>> {
    let world = shmem::init::<Single>()?;
    let is_near = world.pes().all(|pe| pe.on_node().is_some());
    // Far away, threads that do what has come need cores, too.
    let cores = match is_near {
        true => affinity::take(world.my_pe(), world.n_pes())?,
        false => affinity::allowed()?.len(),
    };
    let bench = Bench { site: Site::of(&world, cores), world: &world, repetitions };
    let records = match measure {
        Measure::Lookup => bench.lookup(partitions),
        Measure::LookupPublished => bench.lookup_published(partitions),
        _ => bench.lookup_by_size(partitions, sizes),
    }?;
    print(&world, &records)
}

impl Bench<'_> {
    /// The fair form: handles, whose segment is known, and addresses, whose segment is looked for.
    fn lookup(&self, partitions: usize) -> Records {
        let mut records = self.typed::<u8>(partitions)?;
        records.extend(self.typed::<u64>(partitions)?);
        records.extend(self.typed::<[u64; 8]>(partitions)?);
        records.extend(self.typed::<[u64; 64]>(partitions)?);
        records.extend(self.typed::<[u64; 512]>(partitions)?);
        records.extend(self.of_forms(&[Form::Fair], partitions, &SIZES)?);
        Ok(records)
    }

    /// The published form, with words.
    fn lookup_published(&self, partitions: usize) -> Records {
        self.of_forms(&[Form::Published], partitions, &[8])
    }

    fn lookup_by_size(&self, partitions: usize, sizes: &[usize]) -> Records {
        // One partition against itself shows how sure the published form is.
        let forms = if partitions == 1 { &[Form::Published][..] } else { &[Form::Published, Form::Fair] };
        self.of_forms(forms, partitions, sizes)
    }

    /// Transfers of these sizes, and fetch-adds.
    fn of_forms(&self, forms: &[Form], partitions: usize, sizes: &[usize]) -> Records {
        let mut records = Vec::new();
        for &bytes in sizes {
            records.extend(self.transfers(forms, partitions, bytes)?);
        }
        records.extend(self.fetch_adds::<Atomic<u32>>(forms, partitions)?);
        records.extend(self.fetch_adds::<Atomic<u64>>(forms, partitions)?);
        Ok(records)
    }

    fn typed<T: PlainData>(&self, partitions: usize) -> Records {
        self.with_buffers::<T>(partitions, 1, |buffers| {
            let samples = lookup::typed(self.world, buffers, self.other(), self.repetitions);
            vec![self.of_form(Form::Fair, "typed", partitions, size_of::<T>(), samples)]
        })
    }

    fn transfers(&self, forms: &[Form], partitions: usize, bytes: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        self.with_buffers::<u8>(partitions, bytes, |buffers| {
            let both = forms.iter().flat_map(|form| Transfer::ALL.map(|transfer| (*form, transfer)));
            both.map(|(form, transfer)| {
                let (name, samples) = match form {
                    Form::Published => {
                        let samples = lookup::published(world, transfer, buffers, self.other(), repetitions);
                        (transfer.name(), samples)
                    }
                    Form::Fair => {
                        let name = if transfer == Transfer::Put { "raw" } else { transfer.name() };
                        (name, lookup::raw(world, transfer, buffers, self.other(), repetitions))
                    }
                };
                self.of_form(form, name, partitions, bytes, samples)
            })
            .collect()
        })
    }

    fn fetch_adds<W: AtomicWord<Value: NumberValue + From<u8>>>(
        &self,
        forms: &[Form],
        partitions: usize,
    ) -> Records {
        let Self { world, repetitions, .. } = *self;
        self.with_buffers::<W>(partitions, 1, |buffers| {
            let samples = forms.iter().map(|form| match form {
                Form::Published => lookup::published_fetch_add(world, buffers, self.other(), repetitions),
                Form::Fair => lookup::fetch_add(world, buffers, self.other(), repetitions),
            });
            let record =
                |(form, samples)| self.of_form(form, "fetch-add", partitions, size_of::<W>(), samples);
            forms.iter().copied().zip(samples).map(record).collect()
        })
    }

    fn with_buffers<T: SymmetricData>(
        &self,
        partitions: usize,
        len: usize,
        measure: impl FnOnce(&mut Buffers<T>) -> Vec<Record>,
    ) -> Records {
        let mut buffers = Buffers::allocate(self.world, partitions, len)?;
        let records = match self.site.transport.as_str() {
            "shm" => self.absent(|| measure(&mut buffers)),
            _ => self.alone(|| measure(&mut buffers)),
        };
        buffers.free(self.world)?;
        Ok(records)
    }

    /// Runs `measure` on PE 0 while the others sleep in their own code: updates would wake those that wait in the
    /// library.
    fn absent(&self, measure: impl FnOnce() -> Vec<Record>) -> Vec<Record> {
        let world = self.world;
        let next = MEASURED.here(world).load() + 1;
        world.barrier_all();
        let mut records = Vec::new();
        if world.my_pe() == 0 {
            records = measure();
            world.pes().for_each(|pe| world.p(MEASURED.on(pe), next));
        }
        while MEASURED.here(world).load() < next {
            std::thread::sleep(Duration::from_millis(1));
        }
        records
    }

    fn of_form(&self, form: Form, name: &str, partitions: usize, bytes: usize, samples: Samples) -> Record {
        self.record(form.measure(), format!("{name}/{partitions}/{bytes}"), form.compared(), samples)
    }
}
