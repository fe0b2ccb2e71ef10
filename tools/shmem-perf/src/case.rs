//! One line of a report: a measure, one of its cases, and what came out.

use serde::{Deserialize, Serialize};
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::Initiator;

use crate::samples::Samples;

/// One case of a measure, as it is printed.
///
/// `ratio` is the cost over the limit's cost: smaller is better everywhere, also where others would
/// give a bandwidth (those are times per byte).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) measure: String,
    /// Which of its cases: a size, a number of PEs, `typed/127/8`.
    pub(crate) case: String,
    /// Median of what it cost, and the quarters around it.
    pub(crate) value: f64,
    pub(crate) p25: f64,
    pub(crate) p75: f64,
    /// Number of pairs.
    pub(crate) n: usize,
    /// Of `value`, `p25`, `p75`, `limit` and `difference`.
    pub(crate) unit: String,
    /// Median of what the limit cost.
    pub(crate) limit: f64,
    /// Median of cost over limit, pair by pair.
    pub(crate) ratio: f64,
    pub(crate) pes: usize,
    pub(crate) transport: String,
    pub(crate) shared_cores: bool,
    /// Median of cost minus limit, pair by pair.
    pub(crate) difference: f64,
    /// What was compared with what.
    pub(crate) compared: String,
    /// How many times faster than Algorithm 1, a loop of puts: median, pair by pair. For strided transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) vs_a1: Option<f64>,
    /// Where value and ratio are geometric means over many layouts: 95 of 100 costs are not above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p95: Option<f64>,
}

/// Under what circumstances samples were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    pub(crate) pes: usize,
    /// How they reach each other.
    pub(crate) transport: String,
    /// Whether there are more PEs than cores.
    pub(crate) shared_cores: bool,
}

impl Site {
    /// PEs of this host with a core each.
    pub(crate) fn near(pes: usize) -> Self {
        Self { pes, transport: "shm".into(), shared_cores: false }
    }

    /// Where a job runs whose PEs may use `cores` cores.
    pub(crate) fn of<L: ThreadLevel>(world: &World<L>, cores: usize) -> Self {
        let near = world.pes().iter().all(|pe| pe.on_node().is_some());
        let far = world.endpoint().transport_name().unwrap_or("none");
        Self {
            pes: world.n_pes(),
            transport: if near { "shm" } else { far }.into(),
            shared_cores: world.n_pes() > cores,
        }
    }
}

/// The samples of one case, as they travel from PE 0 to the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) measure: String,
    pub(crate) case: String,
    pub(crate) unit: String,
    pub(crate) compared: String,
    pub(crate) site: Site,
    pub(crate) samples: Samples,
    /// The same costs, each with that of a loop of puts.
    #[serde(default)]
    pub(crate) loop_of_puts: Option<Samples>,
    /// Whether each sample is of another layout, so that their geometric mean counts.
    #[serde(default)]
    pub(crate) geometric: bool,
}

impl Record {
    /// The samples of a case, in a unit: `put 4096` is the case `4096` of the measure `put`.
    pub(crate) fn new(site: &Site, name: &str, unit: &str, compared: &str, samples: Samples) -> Self {
        let (measure, case) =
            name.split_once(' ').unwrap_or_else(|| unreachable!("`{name}` has a measure and a case"));
        let [measure, case, unit, compared] = [measure, case, unit, compared].map(str::to_owned);
        Self {
            measure,
            case,
            unit,
            compared,
            site: site.clone(),
            samples,
            loop_of_puts: None,
            geometric: false,
        }
    }

    /// With the same costs beside those of a loop of puts.
    pub(crate) fn beside(self, loop_of_puts: Samples) -> Self {
        Self { loop_of_puts: Some(loop_of_puts), ..self }
    }

    /// With geometric means instead of medians: each sample is of another layout.
    pub(crate) fn geometric(self) -> Self {
        Self { geometric: true, ..self }
    }

    /// Joins the samples of equal cases, which come from several jobs. The cases stay in the order in
    /// which they first come.
    pub(crate) fn join(records: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut joined: Vec<Self> = Vec::new();
        for record in records {
            let same = |other: &&mut Self| other.measure == record.measure && other.case == record.case;
            match joined.iter_mut().find(same) {
                Some(other) => {
                    other.samples.append(&record.samples);
                    if let (Some(other), Some(more)) = (&mut other.loop_of_puts, &record.loop_of_puts) {
                        other.append(more);
                    }
                }
                None => joined.push(record),
            }
        }
        joined
    }

    /// What comes out.
    pub(crate) fn case(&self) -> Case {
        let Self { site, samples, .. } = self;
        let cost = samples.cost();
        let (value, limit, ratio) = match self.geometric {
            true => samples.geometric_means(),
            false => (cost.median, samples.limit().median, samples.ratio().median),
        };
        Case {
            measure: self.measure.clone(),
            case: self.case.clone(),
            value,
            p25: cost.p25,
            p75: cost.p75,
            n: samples.pairs().len(),
            unit: self.unit.clone(),
            limit,
            ratio,
            pes: site.pes,
            transport: site.transport.clone(),
            shared_cores: site.shared_cores,
            difference: samples.difference().median,
            compared: self.compared.clone(),
            vs_a1: self.loop_of_puts.as_ref().map(|pairs| 1.0 / pairs.ratio().median),
            p95: self.geometric.then(|| samples.cost_at(0.95)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::record;

    #[test]
    fn equal_cases_of_several_jobs_become_one() {
        let of = |case, cost| record("put", case, &[(cost, 2.0)]);
        let joined = Record::join([of("8", 1.0), of("64", 9.0), of("8", 3.0), of("8", 2.0)]);
        let cases: Vec<Case> = joined.iter().map(Record::case).collect();
        assert_eq!(cases.iter().map(|case| case.case.as_str()).collect::<Vec<_>>(), ["8", "64"]);
        assert_eq!((cases[0].n, cases[0].value, cases[0].ratio, cases[0].difference), (3, 2.0, 1.0, 0.0));
        assert_eq!((cases[0].vs_a1, cases[0].p95), (None, None));
    }

    #[test]
    fn a_loop_of_puts_stands_beside_the_limit_in_every_job() {
        let of = |cost, limit, puts| {
            record("m", "c", &[(cost, limit)]).beside(record("", "", &[(cost, puts)]).samples)
        };
        let case = Record::join([of(2.0, 2.0, 6.0), of(2.0, 1.0, 8.0), of(2.0, 4.0, 20.0)])[0].case();
        assert_eq!((case.ratio, case.vs_a1, case.p95), (1.0, Some(4.0), None));
        let regret = record("m", "c", &[(4.0, 2.0)]).geometric().case();
        assert!((regret.value - 4.0).abs() < 1e-12 && (regret.ratio - 2.0).abs() < 1e-12);
        assert_eq!(regret.p95, Some(4.0));
    }
}
