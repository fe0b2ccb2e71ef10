//! What PEs of this program are started for, and which module measures it.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{array, bench, fabric, lookup, mapping, placement, threads};

/// What a PE is asked for, on its command line.
#[derive(Args, Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) measure: Measure,
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

/// What a job of PEs is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    Put,
    Get,
    Lookup,
    LookupPublished,
    LookupBySize,
    Barrier,
    Signal,
    Atomic,
    Collective,
    CollectivePeer,
    Alloc,
    Pages,
    LaterPartitions,
    PlacedArrays,
    PlacedApart,
    PlacedPartition,
    Array,
    ArrayBrief,
    ArrayParallel,
    ArrayApart,
    ArrayLayer,
    Threads,
    ThreadsBySize,
    Tracking,
    TrackingDomains,
    Halo,
    Micro,
    MicroQuick,
    Nothing,
    Footprint,
    Processes,
    Strided,
    StridedSweep,
    StridedRegret,
    RegretSample,
    StridedPeers,
    StridedPublished,
    StridedOwn,
    StridedExchange,
    Calibrate,
    Ofi,
    OfiBare,
    OfiStrided,
    OfiModel,
    OfiCosts,
    OfiPieces,
    OfiPartitions,
    OfiMicro,
    OfiMicroFew,
    OfiScale,
    Mapping,
    Quiet,
}

/// Measures, as one PE of a job.
pub(crate) fn pe(asked: &Asked, repetitions: usize) -> Result<(), Box<dyn Error>> {
    match asked.measure {
        Measure::Threads => threads::pe(repetitions),
        Measure::ThreadsBySize => threads::by_size(&asked.sizes, repetitions),
        measure if mapping::MEASURES.contains(&measure) => mapping::pe(measure, &asked.threads, repetitions),
        measure if fabric::MEASURES.contains(&measure) => fabric::pe(measure, repetitions),
        measure if array::MEASURES.contains(&measure) => array::pe(measure, &asked.sizes, repetitions),
        measure if placement::MEASURES.contains(&measure) => placement::pe(measure, asked.scale),
        measure if lookup::MEASURES.contains(&measure) => {
            lookup::pe(measure, asked.partitions, &asked.sizes, repetitions)
        }
        _ => bench::pe(asked, repetitions),
    }
}
