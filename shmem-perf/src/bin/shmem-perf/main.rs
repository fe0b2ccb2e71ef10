//! Measures what operations cost on this machine, each against a limit measured beside it.
//!
//! The tool starts its own program as PEs, with the hidden subcommand `pe`. PE 0 prints its samples as
//! JSON; the tool joins those of several jobs and shows what comes out. Several, because which pages
//! a job gets is luck, and caches make a difference of it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shmem::launch::{DEPUTY, deputy};
use shmem_perf::FEWEST;
use shmem_perf::peers::Peer;

use measure::{Asked, Measure};
use runner::Runner;

mod applications;
mod array;
mod bench;
mod calibrate;
mod check;
mod collective;
mod constant;
mod elsewhere;
mod fabric;
mod halo;
mod lookup;
mod mapping;
mod measure;
mod memory;
mod micro;
mod network;
mod peers;
mod placement;
mod report;
mod runner;
mod strided;
mod threads;
mod tracking;

/// Measures what operations cost, each against a limit that is measured beside it, in turn.
///
/// Ratios are costs over the limit's cost: smaller is better everywhere. Without a subcommand,
/// everything is measured.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one line of JSON for each case.
    #[arg(long, global = true)]
    json: bool,
    /// Pairs of samples for each case.
    #[arg(long, global = true, default_value_t = 31, value_parser = clap::value_parser!(u16).range(FEWEST as i64..))]
    repetitions: u16,
    /// Jobs that share out each case: which pages a job gets, and what else the machine does, is luck.
    #[arg(long, global = true, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Puts: of 8 bytes to a static against a store, of 1 byte to 4 MiB against `memcpy`.
    Put,
    /// Gets of 1 byte to 4 MiB, against `memcpy`.
    Get,
    /// Operations on many partitions, against those on one.
    Lookup(lookup::Options),
    /// Barriers: of 2 PEs against a round trip of a cache line, of 16 against a futex barrier.
    Barrier,
    /// Puts with a signal to a PE that waits for it, against a cache line that goes one way.
    Signal,
    /// Atomic operations on a word of another PE, against the same locked instructions.
    Atomic,
    /// Collectives, against a round trip of a cache line or memcpy; and in turn with those of Open MPI's
    /// OpenSHMEM where it is installed.
    Collective,
    /// Collective allocations, against the barriers that they need.
    Alloc,
    /// Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against
    /// objects in the heap. With the feature `rayon`, parallel loops, too.
    Array,
    /// Puts of 1 to 36 threads, with a context each, with one for all, and with one behind a lock, against as
    /// many threads that store.
    Threads(threads::Options),
    /// What it costs to know that operations are complete, by the design, on an interface that is none.
    Tracking,
    /// Columns in pages of 2 MiB, against columns in small pages.
    Pages,
    /// 1, 7, 8 and 127 partitions against one, at the start and at run time; placing memory against
    /// touching it.
    Partitions,
    /// Where memory lies, which is no measure: arrays of each storage, and partition 1 on each kind of memory in pages
    /// of each size. As the kernel says, on the machine that this runs on.
    Placement {
        /// Of what; not given: of everything.
        what: Option<placement::Subject>,
    },
    /// A stencil with a halo, against the same with a barrier in each step.
    Halo,
    /// The usual micro-benchmarks between two PEs, by the definitions of the OSU benchmarks: in turn with C over
    /// `mmap`, and with Open MPI's OpenSHMEM and MPI and the Rust crate lamellar where they are installed.
    Micro {
        /// Fewer sizes, and nothing is built that takes long.
        #[arg(long)]
        quick: bool,
        /// Beside these only: floor (C over `mmap`), oshmem-micro, mpi-micro, lamellar. Of the last one a first run
        /// builds some two hundred packages.
        #[arg(long, value_name = "PROGRAM", value_delimiter = ',', value_parser = micro::peer)]
        beside: Vec<Peer>,
    },
    /// Start and end of a job, against programs that do nothing.
    Startup,
    /// Examples (heat2d, halo2d, gups, isx) by as many PEs as have a core each, four at most, against plain code of
    /// one process; and what as many processes gain that only copy memory, or change random words. A minute with
    /// `--repetitions 11`.
    Applications,
    /// Operations over libfabric, against a bare program that calls it directly in the same way.
    Ofi {
        /// The bare program alone, beside `fi_pingpong` where that is installed.
        #[arg(long)]
        bare: bool,
        /// Blocks in one message, against a put for each, and against what the model predicts.
        #[arg(long, conflicts_with = "bare")]
        strided: bool,
        /// The numbers of the model of docs/scale.md: of a round trip, of a message, of a byte; and what it
        /// predicts of large jobs.
        #[arg(long, conflicts_with_all = ["bare", "strided"])]
        model: bool,
        /// Registration: of 1 to 127 regions by hand, of partitions made at run time, and of arrays made and freed.
        #[arg(long, conflicts_with_all = ["bare", "strided", "model"])]
        partitions: bool,
        /// The usual micro-benchmarks for 1 byte to 1 MiB: latencies, bandwidth one way and both ways, atomic operations,
        /// collectives.
        #[arg(long, conflicts_with_all = ["bare", "strided", "model", "partitions"])]
        micro: bool,
        /// Eight sizes instead of twenty-one.
        #[arg(long, requires = "micro")]
        few: bool,
        /// The provider of libfabric.
        #[arg(long, default_value = fabric::PROVIDER)]
        provider: String,
    },
    /// Threads with contexts, in each mapping of contexts to endpoints, against bare threads with endpoints.
    Mapping(mapping::Options),
    /// Strided transfers against loads and stores of the same lines, and against a loop of puts; then
    /// some 600 layouts against a loop of puts.
    Strided(strided::Options),
    /// Measures the thresholds of strided plans on this machine, in about a second, and leaves them in a
    /// file that jobs read at their start.
    Calibrate {
        /// The file; not given: `SHMEM_STRIDED_TABLE`, or else the one of this machine in the user's cache
        /// directory.
        #[arg(long, value_name = "FILE")]
        table: Option<PathBuf>,
        /// Measures what operations of this provider of libfabric cost, too, by which strided transfers to other
        /// nodes choose their way; may be given several times.
        #[arg(long, value_name = "PROVIDER")]
        provider: Vec<String>,
        /// Show what was measured, and leave no file.
        #[arg(long)]
        dry_run: bool,
    },
    /// Holds some cases of all measures against generous bounds, in less than a minute; fails if one of them is too slow.
    Check(check::Options),
    /// Measures everything that is claimed, beside other libraries, and writes a page that stands alone, with its raw
    /// data beside it. Takes up to twenty minutes.
    Report(report::Options),
    /// One PE of a measure.
    #[command(hide = true)]
    Pe(Asked),
}

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([DEPUTY]) {
        return ExitCode::from(deputy());
    }
    let arguments = Arguments::parse();
    let repetitions = usize::from(arguments.repetitions);
    let done = match arguments.command.clone() {
        Some(Command::Pe(asked)) => measure::pe(&asked, repetitions),
        Some(command) => Runner::new(&arguments).measure(command),
        None => {
            let mut runner = Runner::new(&arguments);
            use Command::{
                Alloc, Array, Atomic, Barrier, Collective, Get, Halo, Lookup, Pages, Partitions, Put, Signal,
                Startup, Threads, Tracking,
            };
            let strided = Command::Strided(strided::Options::default());
            let (lookup, threads) = (Lookup(Default::default()), Threads(Default::default()));
            [
                Put, Get, lookup, Barrier, Collective, Signal, Atomic, Halo, Alloc, threads, Tracking, Array,
                Pages, Partitions, Startup, strided,
            ]
            .into_iter()
            .try_for_each(|one| runner.measure(one))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shmem-perf: {error}");
            ExitCode::FAILURE
        }
    }
}
