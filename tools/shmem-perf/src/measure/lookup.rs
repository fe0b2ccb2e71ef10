//! What the number of partitions costs.

use std::time::Duration;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{Atomic, PlainData, SymmetricData};
use shmem_core::object::AtomicWord;

use crate::affinity;
use crate::bench::{Bench, Records, print};
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::jobs::Asked;
use crate::lookup::{self, Buffers, MOST_BYTES, PARTITIONS, SIZES, Transfer};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::ofi;
use crate::name::{names, words};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};

/// What the number of partitions costs.
pub const MEASURE: Measure = Measure {
    name: "lookup",
    about: "Operations on many partitions, against those on one",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    tasks: &[LOOKUP, LOOKUP_PUBLISHED, LOOKUP_BY_SIZE],
    cases: &[
        cases(
            &["lookup"],
            "kind/partitions/bytes",
            "typed puts, untyped puts (`raw`), `get` and `fetch-add` on random buffers, each in a partition of its own",
            "the same buffers at the same distances, all in one partition",
        ),
        cases(
            &["lookup-published"],
            "operation/partitions/bytes",
            "10,000 operations on random partitions, then quiet; fewer where they move more than 64 MiB, and 200 over a network",
            "the same on one buffer",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            // Over a network, nothing that a lookup costs can be seen.
            _ if case.transport != "shm" => None,
            Name::Fair(Fair::Typed, ..) => Some(Goal::RatioOr(1.01, 0.05)),
            Name::Fair(..) => Some(Goal::RatioOr(1.02, 0.3)),
            Name::Published(..) => None,
        })
    },
    again: again::<Name>,
    guards: &[
        Guard {
            cases: || {
                let bound = Bound::Own(Goal::RatioOr(3.0, 0.5));
                [Fair::Typed, Fair::Raw].map(|kind| Guarded::new(Name::Fair(kind, 127, 8), bound)).into()
            },
            ..Guard::of("lookup", |runner| runner.repeat(&of_partitions(runner, &LOOKUP, 127)))
        },
        Guard {
            // Against one buffer in the first of them: what looks from either end is seen. 1.00 to 1.02.
            cases: || {
                let bound = Bound::Own(Goal::Ratio(3.0));
                [Published::Put, Published::Get]
                    .map(|one| Guarded::new(Name::Published(one, 127, 8), bound))
                    .into()
            },
            ..Guard::of("lookup", |runner| runner.repeat(&of_partitions(runner, &LOOKUP_PUBLISHED, 127)))
        },
    ],
    ..Measure::PLAIN
};

const LOOKUP: Task =
    Task { name: "lookup", pe: |given, repetitions| pe(repetitions, |bench| bench.lookup(given.partitions)) };
const LOOKUP_PUBLISHED: Task = Task {
    name: "lookup-published",
    pe: |given, repetitions| pe(repetitions, |bench| bench.lookup_published(given.partitions)),
};
const LOOKUP_BY_SIZE: Task = Task {
    name: "lookup-by-size",
    pe: |given, repetitions| pe(repetitions, |bench| bench.lookup_by_size(given.partitions, &given.sizes)),
};

names! {
    Fair(kind: Fair, partitions: usize, bytes: usize) = "lookup": [kind / partitions / bytes];
    Published(operation: Published, partitions: usize, bytes: usize) = "lookup-published": [operation / partitions / bytes];
}

words! {
    /// Operations of the fair form. Whose segment is known, and whose is looked for.
    Fair {
        /// Puts through handles.
        Typed = "typed",
        /// Puts to addresses.
        Raw = "raw",
        /// Gets from addresses.
        Get = "get",
        /// Through handles.
        FetchAdd = "fetch-add",
    }
}

words! {
    /// Operations of the published form.
    Published {
        /// To addresses.
        Put = "put",
        /// From addresses.
        Get = "get",
        /// Through handles.
        FetchAdd = "fetch-add",
    }
}

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

impl Options {
    fn run(&self, runner: &mut Runner) -> Done {
        let numbers = || [1].into_iter().chain(PARTITIONS);
        if self.sizes.is_empty() {
            PARTITIONS.into_iter().try_for_each(|n| runner.repeat(&of_partitions(runner, &LOOKUP, n)))?;
            return numbers().try_for_each(|n| runner.repeat(&of_partitions(runner, &LOOKUP_PUBLISHED, n)));
        }
        let sizes: Vec<_> = self.sizes.iter().map(|&bytes| bytes as usize).collect();
        let provider = self.provider.as_deref();
        numbers().try_for_each(|n| runner.repeat(&of_sizes(runner, n, &sizes, provider)))
    }
}

fn of_partitions(runner: &Runner, task: &Task, partitions: usize) -> Asked {
    let variables = if partitions == 1 { Vec::new() } else { lookup::variables(partitions) };
    runner.job(task, 2, &variables).partitions(partitions)
}

/// A job of both forms with so many partitions and transfers of these sizes; of PEs that reach each other through a provider if
/// one is named.
pub(crate) fn of_sizes(runner: &Runner, partitions: usize, sizes: &[usize], provider: Option<&str>) -> Asked {
    let far = provider.map(ofi::variables).unwrap_or_default();
    let variables = [lookup::variables(partitions), far].concat();
    runner.job(&LOOKUP_BY_SIZE, 2, &variables).partitions(partitions).sizes(sizes)
}

/// One PE of a job.
fn pe(repetitions: usize, measure: impl FnOnce(&Bench<'_>) -> Records) -> Done {
    let world = shmem::init::<Single>()?;
    let is_near = world.pes().iter().all(|pe| pe.on_node().is_some());
    // Far away, threads that do what has come need cores, too.
    let cores = match is_near {
        true => affinity::take(world.my_pe(), world.n_pes())?,
        false => affinity::allowed()?.len(),
    };
    let bench = Bench { site: Site::of(&world, cores), world: &world, repetitions };
    let records = measure(&bench)?;
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
            vec![self.of_form(Form::Fair, Name::Fair(Fair::Typed, partitions, size_of::<T>()), samples)]
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
                        let operation = match transfer {
                            Transfer::Put => Published::Put,
                            Transfer::Get => Published::Get,
                        };
                        (Name::Published(operation, partitions, bytes), samples)
                    }
                    Form::Fair => {
                        let kind = if transfer == Transfer::Put { Fair::Raw } else { Fair::Get };
                        (
                            Name::Fair(kind, partitions, bytes),
                            lookup::raw(world, transfer, buffers, self.other(), repetitions),
                        )
                    }
                };
                self.of_form(form, name, samples)
            })
            .collect()
        })
    }

    fn fetch_adds<W: AtomicWord<Value: From<u8>>>(&self, forms: &[Form], partitions: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        self.with_buffers::<W>(partitions, 1, |buffers| {
            let samples = forms.iter().map(|form| match form {
                Form::Published => lookup::published_fetch_add(world, buffers, self.other(), repetitions),
                Form::Fair => lookup::fetch_add(world, buffers, self.other(), repetitions),
            });
            let name = |form| match form {
                Form::Published => Name::Published(Published::FetchAdd, partitions, size_of::<W>()),
                Form::Fair => Name::Fair(Fair::FetchAdd, partitions, size_of::<W>()),
            };
            let record = |(form, samples)| self.of_form(form, name(form), samples);
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
            world.pes().iter().for_each(|pe| world.p(MEASURED.on(pe), next));
        }
        while MEASURED.here(world).load() < next {
            std::thread::sleep(Duration::from_millis(1));
        }
        records
    }

    fn of_form(&self, form: Form, name: Name, samples: Samples) -> Record {
        self.record(&name, form.compared(), samples)
    }
}
