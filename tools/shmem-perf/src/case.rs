//! Results of a case: the samples as a PE prints them, and their statistics as a line of a report.

use serde::{Deserialize, Serialize};
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::Initiator;

use crate::bench::is_near;
use crate::measure;
use crate::samples::Samples;

/// Statistics of a case, rounded to four digits. Fields are the columns of `cases.csv`, in their order. Smaller is better
/// everywhere, because bandwidths are given as times per byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Line of `cases.csv`, counted from 1; 0 if there is no report.
    pub(crate) id: usize,
    /// Name of the report's section. `variant` is the place, if the section measures the same case in several places.
    pub(crate) section: String,
    pub(crate) variant: String,
    pub(crate) measure: String,
    /// Name of the case in its benchmark: a size, a number of PEs, or several parts such as `typed/127/8`.
    pub(crate) case: String,
    /// Unit of `value`, `limit`, their quartiles, and `difference`.
    pub(crate) unit: String,
    /// Median cost, followed by its quartiles.
    pub(crate) value: f64,
    pub(crate) p25: f64,
    pub(crate) p75: f64,
    /// Median cost of the baseline, followed by its quartiles.
    pub(crate) limit: f64,
    pub(crate) limit_p25: f64,
    pub(crate) limit_p75: f64,
    /// Median ratio of cost to the baseline's cost, taken pair by pair, followed by its quartiles.
    pub(crate) ratio: f64,
    pub(crate) ratio_p25: f64,
    pub(crate) ratio_p75: f64,
    pub(crate) difference: f64,
    /// Median speedup over a loop of puts (Algorithm 1), taken pair by pair. Only for strided transfers.
    pub(crate) vs_a1: Option<f64>,
    /// 95th percentile of the costs, if `value` and `ratio` are geometric means over many layouts.
    pub(crate) p95: Option<f64>,
    pub(crate) n: usize,
    pub(crate) pes: usize,
    pub(crate) transport: String,
    pub(crate) shared_cores: bool,
    /// Text on what was compared, in addition to the text of the case's [row](measure::Row).
    pub(crate) note: String,
}

/// Circumstances in which samples were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    pub(crate) pes: usize,
    pub(crate) transport: String,
    pub(crate) shared_cores: bool,
}

impl Site {
    pub(crate) fn near(pes: usize, cores: usize) -> Self {
        Self { pes, transport: "shm".into(), shared_cores: pes > cores }
    }

    pub(crate) fn of<L: ThreadLevel>(world: &World<L>, cores: usize) -> Self {
        let near = Self::near(world.n_pes(), cores);
        let transport = || world.endpoint().transport_name().unwrap_or("none").into();
        if is_near(world) { near } else { Self { transport: transport(), ..near } }
    }
}

/// Samples of one case, as PE 0 prints them for the tool. Its [row](measure::Row) has the unit, and what was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Name of the benchmark, a blank, name of the case: `put 4096`.
    pub(crate) name: String,
    pub(crate) site: Site,
    pub(crate) samples: Samples,
    /// Pairs of the cost, and the cost of a loop of puts.
    pub(crate) loop_of_puts: Option<Samples>,
    /// Whether samples are of different layouts. Then `value`, `limit` and `ratio` are geometric means, and not medians.
    pub(crate) geometric: bool,
    /// Text on what was compared, in addition to the row's: the name of a library, the part of a payload.
    pub(crate) note: String,
}

impl Record {
    pub(crate) fn new(site: &Site, name: impl Into<String>, samples: Samples) -> Self {
        let (name, site, note) = (name.into(), site.clone(), String::new());
        Self { name, site, samples, loop_of_puts: None, geometric: false, note }
    }

    /// Joins samples of the same case from several jobs. Cases keep the order of their first records.
    pub(crate) fn join(records: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut joined: Vec<Self> = Vec::new();
        for record in records {
            let Some(other) = joined.iter_mut().find(|other| other.name == record.name) else {
                joined.push(record);
                continue;
            };
            other.samples.0.extend(record.samples.0);
            let more = record.loop_of_puts.into_iter().flat_map(|more| more.0);
            other.loop_of_puts.iter_mut().zip([more]).for_each(|(puts, more)| puts.0.extend(more));
        }
        joined
    }

    pub(crate) fn case(&self) -> Case {
        let Self { name, site, samples, geometric, note, .. } = self.clone();
        let (measure, case) =
            name.split_once(' ').unwrap_or_else(|| unreachable!("`{name}` has a measure and a case"));
        let unit = measure::row_of(measure, case).map_or("ns", |row| row.unit);
        let rounded = |number: f64| format!("{number:.3e}").parse().unwrap_or(number);
        let of = |number: fn(f64, f64) -> f64| {
            let [low, middle, high] = samples.quarters(number);
            [low, if geometric { samples.geometric_mean(number) } else { middle }, high].map(rounded)
        };
        let [p25, value, p75] = of(|cost, _| cost);
        let [limit_p25, limit, limit_p75] = of(|_, limit| limit);
        let [ratio_p25, ratio, ratio_p75] = of(|cost, limit| cost / limit);
        Case {
            id: 0,
            section: String::new(),
            variant: String::new(),
            measure: measure.to_owned(),
            case: case.to_owned(),
            unit: unit.to_owned(),
            value,
            p25,
            p75,
            limit,
            limit_p25,
            limit_p75,
            ratio,
            ratio_p25,
            ratio_p75,
            difference: rounded(samples.quarters(|cost, limit| cost - limit)[1]),
            vs_a1: self.loop_of_puts.as_ref().map(|pairs| rounded(1.0 / pairs.ratio()[1])),
            p95: geometric.then(|| rounded(samples.cost_at(0.95))),
            n: samples.0.len(),
            pes: site.pes,
            transport: site.transport,
            shared_cores: site.shared_cores,
            note,
        }
    }
}

impl Case {
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        serde_json::to_value(self).ok()?.get(column)?.as_f64()
    }

    pub(crate) fn compared(&self) -> String {
        let sentence = |row: &measure::Row| format!("{}, against {}{}", row.operation, row.limit, self.note);
        measure::row_of(&self.measure, &self.case).map(sentence).unwrap_or_default()
    }
}
