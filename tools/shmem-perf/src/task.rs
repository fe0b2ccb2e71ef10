//! What PEs are started for.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

/// What measuring ends with.
pub(crate) type Done = Result<(), Box<dyn Error>>;

/// What the PEs of a job are started for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// On the command line of a PE.
    pub(crate) name: &'static str,
    /// What each of them does.
    pub(crate) pe: fn(&Given, usize) -> Done,
}

/// What a PE is given on its command line.
#[derive(Args, Clone, Debug)]
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

impl Given {
    /// A PE that is given nothing.
    pub(crate) const NOTHING: Self = Self {
        task: String::new(),
        partitions: 1,
        seed: 0,
        peers: None,
        scale: 0,
        sizes: Vec::new(),
        threads: Vec::new(),
        most: usize::MAX,
    };
}
