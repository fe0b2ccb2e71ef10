//! One line of a report: a measure, one of its cases, and what came out.

use serde::{Deserialize, Serialize};
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::Initiator;

use crate::measure;
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
    #[serde(default)]
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
    /// PEs of this host, which has so many cores for them.
    pub(crate) fn near(pes: usize, cores: usize) -> Self {
        Self { pes, transport: "shm".into(), shared_cores: pes > cores }
    }

    /// Where a job runs whose PEs may use `cores` cores.
    pub(crate) fn of<L: ThreadLevel>(world: &World<L>, cores: usize) -> Self {
        let near = Self::near(world.n_pes(), cores);
        match world.pes().iter().all(|pe| pe.on_node().is_some()) {
            true => near,
            false => Self { transport: world.endpoint().transport_name().unwrap_or("none").into(), ..near },
        }
    }
}

/// The samples of one case, as they travel from PE 0 to the tool. What was compared, and in which unit, says its
/// [row](measure::Row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// `put 4096` is the case `4096` of the measure `put`.
    pub(crate) name: String,
    pub(crate) site: Site,
    pub(crate) samples: Samples,
    /// The same costs, each with that of a loop of puts.
    pub(crate) loop_of_puts: Option<Samples>,
    /// Whether each sample is of another layout, so that their geometric mean counts.
    pub(crate) geometric: bool,
    /// What was compared, beyond what the row says: the library, the part of a payload.
    pub(crate) note: String,
}

impl Record {
    pub(crate) fn new(site: &Site, name: impl Into<String>, samples: Samples) -> Self {
        let (name, site, note) = (name.into(), site.clone(), String::new());
        Self { name, site, samples, loop_of_puts: None, geometric: false, note }
    }

    /// Joins the samples of equal cases, which come from several jobs. The cases stay in the order in
    /// which they first come.
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

    /// What comes out.
    pub(crate) fn case(&self) -> Case {
        let Self { name, site, samples, geometric, note, .. } = self;
        let (measure, case) =
            name.split_once(' ').unwrap_or_else(|| unreachable!("`{name}` has a measure and a case"));
        let unit = measure::row_of(measure, case).map_or("ns", |row| row.unit);
        let [p25, cost, p75] = samples.quarters(|cost, _| cost);
        let middle = |number: fn(f64, f64) -> f64| match geometric {
            true => samples.geometric_mean(number),
            false => samples.quarters(number)[1],
        };
        Case {
            measure: measure.to_owned(),
            case: case.to_owned(),
            value: if *geometric { middle(|cost, _| cost) } else { cost },
            p25,
            p75,
            n: samples.0.len(),
            unit: unit.to_owned(),
            limit: middle(|_, limit| limit),
            ratio: middle(|cost, limit| cost / limit),
            pes: site.pes,
            transport: site.transport.clone(),
            shared_cores: site.shared_cores,
            difference: samples.quarters(|cost, limit| cost - limit)[1],
            compared: compared(measure, case, note),
            vs_a1: self.loop_of_puts.as_ref().map(|pairs| 1.0 / pairs.ratio()[1]),
            p95: geometric.then(|| samples.cost_at(0.95)),
        }
    }
}

/// What was compared with what, with what is said of a case beyond its row.
pub(crate) fn compared(measure: &str, case: &str, note: &str) -> String {
    let sentence = |row: &measure::Row| format!("{}, against {}{note}", row.operation, row.limit);
    measure::row_of(measure, case).map(sentence).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Pairs of a case that two PEs of a node have measured.
    pub(crate) fn record(name: &str, pairs: &[(f64, f64)]) -> Record {
        Record::new(&Site::near(2, 2), name, Samples(pairs.to_vec()))
    }

    /// A case of them that took 1.25 times its limit.
    pub(crate) fn case(name: &str) -> Case {
        record(name, &[(0.3125, 0.25); 31]).case()
    }

    #[test]
    fn equal_cases_of_several_jobs_become_one() {
        let of = |name, cost, puts| {
            let record = record(name, &[(cost, 2.0)]);
            Record { loop_of_puts: Some(Samples(vec![(cost, puts)])), ..record }
        };
        let all =
            [of("put 8", 1.0, 3.0), of("put 64", 9.0, 9.0), of("put 8", 3.0, 6.0), of("put 8", 2.0, 20.0)];
        let cases: Vec<Case> = Record::join(all).iter().map(Record::case).collect();
        assert_eq!(cases.iter().map(|case| case.case.as_str()).collect::<Vec<_>>(), ["8", "64"]);
        let Case { n, value, ratio, difference, vs_a1, p95, .. } = cases[0];
        assert_eq!((n, value, ratio, difference, p95), (3, 2.0, 1.0, 0.0, None));
        assert!((vs_a1.unwrap() - 3.0).abs() < 1e-12);
        let regret = Record { geometric: true, ..record("m c", &[(2.0, 1.0), (8.0, 4.0)]) }.case();
        assert!((regret.value - 4.0).abs() < 1e-12 && (regret.ratio - 2.0).abs() < 1e-12);
        assert!(regret.p95 > Some(7.0));
    }

    #[test]
    fn a_line_of_json_has_the_keys_in_order_and_comes_back_the_same() {
        let case = case("put 8");
        let line = serde_json::to_string(&case).unwrap();
        assert!(
            line.starts_with(
                r#"{"measure":"put","case":"8","value":0.3125,"p25":0.3125,"p75":0.3125,"n":31,"unit":"ns","limit":0.25,"ratio":1.25,"pes":2,"transport":"shm","shared_cores":false,"#
            ),
            "{line}"
        );
        assert!(case.compared.ends_with("against the C library's `memcpy` on the same bytes"), "{line}");
        assert_eq!(serde_json::from_str::<Case>(&line).unwrap(), case);
    }
}
