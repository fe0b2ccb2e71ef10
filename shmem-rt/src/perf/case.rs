//! One line of a report: a measure, one of its cases, and what came out.

use serde::{Deserialize, Serialize};
use shmem_core::context::Initiator;

use super::samples::Samples;
use crate::thread::ThreadLevel;
use crate::world::World;

/// One case of a measure, as it is printed and as it travels from PE 0 to the tool.
///
/// `ratio` is the cost over the limit's cost: smaller is better everywhere, also where others would
/// give a bandwidth (those are times per byte).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The measure: `put8-static`, `barrier`.
    pub measure: String,
    /// Which of its cases: a size, a number of PEs, `typed/127/8`.
    pub case: String,
    /// Median of what it cost.
    pub value: f64,
    /// A quarter of the costs is not above it.
    pub p25: f64,
    /// Three quarters of the costs are not above it.
    pub p75: f64,
    /// Number of pairs.
    pub n: usize,
    /// Unit of `value`, `p25`, `p75`, `limit` and `difference`.
    pub unit: String,
    /// Median of what the limit cost.
    pub limit: f64,
    /// Median of cost over limit, pair by pair.
    pub ratio: f64,
    /// Number of PEs of the job.
    pub pes: usize,
    /// How the PEs reach each other.
    pub transport: String,
    /// Whether there were more PEs than cores.
    pub shared_cores: bool,
    /// Median of cost minus limit, pair by pair.
    pub difference: f64,
    /// What was compared with what.
    pub compared: String,
}

/// Under what circumstances samples were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Number of PEs.
    pub pes: usize,
    /// How they reach each other.
    pub transport: &'static str,
    /// Whether there are more PEs than cores.
    pub shared_cores: bool,
}

impl Site {
    /// Where a job runs whose PEs may use `cores` cores.
    pub fn of<L: ThreadLevel>(world: &World<L>, cores: usize) -> Self {
        let near = world.pes().all(|pe| pe.slot().is_some());
        let far = world.endpoint().far_if_any().map_or("none", |far| far.transport.name());
        Self {
            pes: world.n_pes(),
            transport: if near { "shm" } else { far },
            shared_cores: world.n_pes() > cores,
        }
    }

    /// The case that samples taken here make.
    ///
    /// # Panics
    ///
    /// If there are no samples.
    pub fn case(
        &self,
        measure: &str,
        case: impl Into<String>,
        unit: &str,
        compared: impl Into<String>,
        samples: &Samples,
    ) -> Case {
        let cost = samples.cost();
        Case {
            measure: measure.into(),
            case: case.into(),
            value: cost.median,
            p25: cost.p25,
            p75: cost.p75,
            n: samples.len(),
            unit: unit.into(),
            limit: samples.limit().median,
            ratio: samples.ratio().median,
            pes: self.pes,
            transport: self.transport.into(),
            shared_cores: self.shared_cores,
            difference: samples.difference().median,
            compared: compared.into(),
        }
    }
}
