//! What PEs are started for, and what they find that is no number.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use shmem::thread::Single;

use crate::bench::{self, Bench, Records};
use crate::fabric::Far;

/// What measuring ends with.
pub(crate) type Done = Result<(), Box<dyn Error>>;

/// What the PEs of a job are started for.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    /// On the command line of a PE.
    pub(crate) name: &'static str,
    pub(crate) pe: Pe,
}

/// What each PE does. All of them call it; what PE 0 returns counts.
#[derive(Clone, Copy)]
pub(crate) enum Pe {
    /// With a core of its own, where there are enough; PE 0 has the programs that it was given beside it.
    Near(fn(&mut Bench<'_>) -> Records),
    /// With a bare program over libfabric, and no core of its own: threads that do what has come need them, too.
    Far(fn(&Far<'_, Single>) -> Records),
    /// By itself.
    Own(fn(&Given, usize) -> Done),
}

impl Task {
    pub(crate) const fn near(name: &'static str, pe: fn(&mut Bench<'_>) -> Records) -> Self {
        Self { name, pe: Pe::Near(pe) }
    }

    pub(crate) const fn far(name: &'static str, pe: fn(&Far<'_, Single>) -> Records) -> Self {
        Self { name, pe: Pe::Far(pe) }
    }

    pub(crate) const fn own(name: &'static str, pe: fn(&Given, usize) -> Done) -> Self {
        Self { name, pe: Pe::Own(pe) }
    }

    /// Does it, as one PE of a job.
    pub(crate) fn run(&self, given: &Given, repetitions: usize) -> Done {
        match self.pe {
            Pe::Near(pe) => bench::run(given, repetitions, pe),
            Pe::Far(pe) => {
                let world = shmem::init::<Single>()?;
                bench::print(&world, &pe(&Far::new(&world, given, repetitions)?)?)
            }
            Pe::Own(pe) => pe(given, repetitions),
        }
    }
}

/// What a PE is given on its command line.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Given {
    /// The name of its task.
    pub(crate) task: String,
    /// Partitions, where a measure does not say how many.
    #[arg(long, default_value_t = 1)]
    pub(crate) partitions: usize,
    /// By which random layouts are drawn.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where the programs of other libraries are.
    #[arg(long)]
    pub(crate) peers: Option<PathBuf>,
    /// By which power of two arrays are smaller than those of their source.
    #[arg(long, default_value_t = 0)]
    pub(crate) scale: u32,
    /// Bytes of transfers, where a measure has no sizes of its own.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sizes: Vec<usize>,
    /// Numbers of threads, likewise.
    #[arg(long, value_delimiter = ',')]
    pub(crate) threads: Vec<usize>,
    /// How much is to be moved, or how many layouts; not given: everything.
    #[arg(long, default_value_t = usize::MAX)]
    pub(crate) most: usize,
}

/// What is found and is no number: a text with a place in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) value: String,
}

impl Fact {
    pub(crate) fn new(table: &str, row: &str, column: &str, value: impl Into<String>) -> Self {
        Self { table: table.to_owned(), row: row.to_owned(), column: column.to_owned(), value: value.into() }
    }
}
