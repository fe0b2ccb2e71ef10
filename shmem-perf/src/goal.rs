//! What each measure ought to reach.

use std::fmt;

use super::case::Case;

/// What a case ought to reach against its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At most so many times the limit.
    Ratio(f64),
    /// At most so many times the limit, or at most so much more, in the unit of the case.
    RatioOr(f64, f64),
    /// At most so many times the limit and so much more, in the unit of the case.
    RatioPlus(f64, f64),
    /// At most so many times the limit, and so many times faster than a loop of puts.
    Faster(f64, f64),
    /// So many times faster than a loop of puts, whatever the limit.
    OnlyFaster(f64),
    /// At most so much on average, and so much in 95 of 100 layouts.
    Tail(f64, f64),
    /// At least so many times what it is compared with.
    Beaten(f64),
}

impl Goal {
    /// The goal of a case, where there is one.
    pub fn of(case: &Case) -> Option<Self> {
        let mut parts = case.case.split('/');
        let first = parts.next().unwrap_or_default();
        match case.measure.as_str() {
            "put8-static" | "put8-quiet" => Some(Self::Ratio(1.2)),
            // 0.95 of the bandwidth.
            "put" | "get" => first
                .parse::<usize>()
                .is_ok_and(|bytes| (4096..=4 << 20).contains(&bytes))
                .then_some(Self::Ratio(1.0 / 0.95)),
            // Over a network, nothing that a lookup costs can be seen.
            "lookup" if case.transport != "shm" => None,
            "lookup" => {
                Some(if first == "typed" { Self::RatioOr(1.01, 0.05) } else { Self::RatioOr(1.02, 0.3) })
            }
            // Data that is larger, or that is read as well, is more than one line.
            "signal" => (case.case == "8" && !case.shared_cores).then_some(Self::Ratio(1.15)),
            "atomic" => Some(Self::Ratio(1.2)),
            "barrier" => match case.pes {
                2 if !case.shared_cores => Some(Self::Ratio(3.0)),
                16 if case.shared_cores => Some(Self::Ratio(2.0)),
                _ => None,
            },
            "threads" => (case.case == "2/private" && !case.shared_cores).then_some(Self::Ratio(1.05)),
            "tracking" => Self::of_tracking(&case.case),
            // Small ones: one meeting, and no more.
            "collective" => Self::is_small(&case.case).then_some(Self::Ratio(2.5)),
            "collective-oshmem" => Self::is_small(&case.case).then_some(Self::Ratio(1.0)),
            // Beyond what a TLB holds; 1.3 to 1.7 times faster is usual.
            "pages" => case
                .case
                .strip_prefix("column/")?
                .parse::<usize>()
                .is_ok_and(|n| n > 4096)
                .then_some(Self::Ratio(1.0 / 1.3)),
            // 0.8 of the speed.
            "placing" => Some(Self::Ratio(1.0 / 0.8)),
            "partitions" => (!case.case.ends_with("/1")).then_some(Self::Ratio(1.0)),
            "partitions-kept" => (first != "resident").then_some(Self::Ratio(1.0)),
            "array" => Self::of_array(&case.case),
            "halo" => Self::of_halo(case),
            "startup" => match case.case.as_str() {
                "4" => Some(Self::RatioPlus(3.0, 20.0)),
                "mpirun/64" => Some(Self::RatioPlus(1.5, 500.0)),
                _ => None,
            },
            "ofi" => Self::of_fabric(&case.case),
            "ofi-bare" => (first == "pingpong").then_some(Self::Ratio(1.1)),
            "ofi-strided" => Self::of_far_blocks(&case.case),
            // 0.85 of what the model predicts.
            "ofi-strided-model" => Some(Self::Beaten(0.85)),
            "mapping" => Self::of_mapping(&case.case),
            "strided" => Self::of_layout(&case.case),
            "strided-sweep" => Some(Self::Ratio(1.0)),
            "regret" => match case.case.as_str() {
                "auto/grid" => Some(Self::Tail(1.10, 1.4)),
                "auto/random" => Some(Self::Tail(1.2, 1.7)),
                "ideal12/grid" => Some(Self::Beaten(1.3)),
                "ideal12/random" => Some(Self::Beaten(1.2)),
                "published/grid" => Some(Self::Beaten(1.6)),
                _ => None,
            },
            "peers" => Self::of_peer(&case.case),
            "startup-resident" => (case.case == "4").then_some(Self::Ratio(1.0)),
            _ => None,
        }
    }

    /// The goal of an operation over libfabric: `put-asleep/8/tcp;ofi_rxm`.
    fn of_fabric(case: &str) -> Option<Self> {
        let mut parts = case.split('/');
        let (operation, bytes) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        match (operation, bytes) {
            ("put" | "get" | "fetch-add", 8) => Some(Self::Ratio(1.1)),
            ("put-asleep" | "get-asleep" | "fetch-add-asleep", 8) => Some(Self::Ratio(1.25)),
            // 0.9 of the rate, 0.95 of the bandwidth.
            ("put-rate", 8) => Some(Self::Ratio(1.0 / 0.9)),
            ("put" | "get", 65_536 | 1_048_576) => Some(Self::Ratio(1.0 / 0.95)),
            ("idle", _) => Some(Self::Ratio(1.0)),
            _ => None,
        }
    }

    /// The goal of blocks in one message beside a put for each: `64/256/asleep`.
    fn of_far_blocks(case: &str) -> Option<Self> {
        let mut parts = case.split('/');
        let (blocks, bytes) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        match (blocks, bytes) {
            ("16", _) => Some(Self::Ratio(1.0 / 2.5)),
            ("64", ..=256) => Some(Self::Ratio(1.0 / 9.0)),
            ("64", _) => Some(Self::Ratio(1.0 / 4.0)),
            _ => None,
        }
    }

    /// The goal of threads with contexts beside threads with endpoints: `context/2/8`. Where threads share an
    /// endpoint they wait for each other, and that is for comparison.
    fn of_mapping(case: &str) -> Option<Self> {
        let mut parts = case.split('/');
        match (parts.next()?, parts.next()?) {
            ("events" | "hybrid" | "domain" | "context" | "auto", "1") => Some(Self::Ratio(1.05)),
            // 0.95 of the rate.
            ("context" | "auto", "2") => Some(Self::Ratio(1.0 / 0.95)),
            _ => None,
        }
    }

    /// The goal of a design beside a counter for each context: `events/8`. Small operations pay for events, large
    /// ones do not notice.
    fn of_tracking(case: &str) -> Option<Self> {
        let (design, bytes) = case.split_once('/')?;
        match (design, bytes.parse::<usize>().ok()?) {
            ("events", ..=64) => Some(Self::Beaten(1.6)),
            ("events" | "hybrid" | "domain", 65_536..) => Some(Self::Ratio(1.05)),
            _ => None,
        }
    }

    /// Whether a collective moves no more than a line: `sum/8/2`.
    fn is_small(case: &str) -> bool {
        case.split('/').nth(1).and_then(|bytes| bytes.parse::<usize>().ok()).is_some_and(|bytes| bytes <= 64)
    }

    /// The goal of a loop over an array: `multi/index`, `single/iter/2`.
    fn of_array(case: &str) -> Option<Self> {
        let mut parts = case.split('/');
        let (storage, way, more) = (parts.next()?, parts.next()?, parts.next());
        let one_range = matches!(storage, "single" | "separate" | "cyclic");
        match (way, more) {
            ("index" | "par-index", None | Some("2" | "3")) if one_range => Some(Self::Ratio(1.05)),
            ("index" | "par-index", None) if storage == "multi" => Some(Self::Ratio(1.5)),
            ("iter" | "each" | "par-iter", None) if storage == "multi" => Some(Self::Ratio(1.05)),
            ("chunks" | "par-chunks", None) if storage == "multi" => Some(Self::Ratio(1.02)),
            _ => None,
        }
    }

    /// The goal of a stencil on two PEs: `32x32`, `late/256x256`.
    fn of_halo(case: &Case) -> Option<Self> {
        if case.shared_cores {
            return None;
        }
        match case.case.split('/').next()? {
            "16x16" | "32x32" | "late" => Some(Self::Ratio(1.0 / 1.2)),
            "256x256" => Some(Self::Ratio(1.0)),
            "exchange" => Some(Self::Ratio(1.3)),
            "interior" => Some(Self::Ratio(1.02)),
            _ => None,
        }
    }

    /// The goal of a strided layout: `column/1024/put`.
    fn of_layout(case: &str) -> Option<Self> {
        let (layout, direction) = case.rsplit_once('/')?;
        let limit = if direction == "get" { 1.15 } else { 1.1 };
        match layout.split('/').next()? {
            "column" => Some(Self::Faster(limit, 2.2)),
            "column4" => Some(Self::Faster(limit, 2.5)),
            "aos" if layout.starts_with("aos/24/8/") => Some(Self::Faster(limit, 3.0)),
            "checkerboard-f64" => Some(Self::Faster(limit, 3.0)),
            "checkerboard-f32" => Some(Self::OnlyFaster(10.0)),
            "column-pitch-8K" => Some(Self::OnlyFaster(1.8)),
            "constant" => Some(Self::RatioOr(1.0, 1.3)),
            "matrix" if layout.starts_with("matrix/row-") => Some(Self::OnlyFaster(0.95)),
            _ => None,
        }
    }

    /// The goal beside another library: `mpi/column/128`.
    fn of_peer(case: &str) -> Option<Self> {
        let mut parts = case.split('/');
        let (peer, shape, stride) = (parts.next()?, parts.next()?, parts.next()?);
        match (peer, stride) {
            ("mpi", "2") => Some(Self::Ratio(1.0 / 4.0)),
            // A power of two.
            ("mpi", "128") => Some(Self::Ratio(1.0 / 1.2)),
            ("mpi" | "a1", _) => Some(Self::Ratio(1.0)),
            ("oshmem", _) => (shape == "column").then_some(Self::Ratio(1.0 / 9.0)),
            _ => None,
        }
    }

    /// The same with an allowance: so many times less is asked.
    #[must_use]
    pub fn eased(self, times: f64) -> Self {
        match self {
            Self::Ratio(most) => Self::Ratio(most * times),
            Self::RatioOr(most, more) => Self::RatioOr(most * times, more * times),
            Self::RatioPlus(most, more) => Self::RatioPlus(most * times, more * times),
            Self::Faster(most, faster) => Self::Faster(most * times, faster / times),
            Self::OnlyFaster(faster) => Self::OnlyFaster(faster / times),
            Self::Tail(most, tail) => Self::Tail(most * times, tail * times),
            Self::Beaten(least) => Self::Beaten(least / times),
        }
    }

    /// Whether the case reaches it.
    pub fn is_met(self, case: &Case) -> bool {
        match self {
            Self::Ratio(most) => case.ratio <= most,
            Self::RatioOr(most, more) => case.ratio <= most || case.difference <= more,
            Self::RatioPlus(times, more) => case.value <= times * case.limit + more,
            Self::Faster(most, times) => {
                case.ratio <= most && case.vs_a1.is_some_and(|faster| faster >= times)
            }
            Self::OnlyFaster(times) => case.vs_a1.is_some_and(|faster| faster >= times),
            Self::Tail(most, tail) => case.ratio <= most && case.p95.is_some_and(|p95| p95 <= tail),
            Self::Beaten(times) => case.ratio >= times,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No more digits than were asked for, also with an allowance.
        let short = |number: f64| (number * 1e3).round() / 1e3;
        match *self {
            Self::Ratio(most) => write!(f, "{most:.2}"),
            Self::RatioOr(most, more) => write!(f, "{most:.2} or +{}", short(more)),
            Self::RatioPlus(times, more) => write!(f, "{times:.2} and +{}", short(more)),
            Self::Faster(most, times) => write!(f, "{most:.2}, {}x A1", short(times)),
            Self::OnlyFaster(times) => write!(f, "{}x A1", short(times)),
            Self::Tail(most, tail) => write!(f, "{most:.2}, p95 {}", short(tail)),
            Self::Beaten(times) => write!(f, "at least {}", short(times)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::case;

    #[test]
    fn goals_stand_at_the_cases_they_are_meant_for() {
        let of = |measure: &str, name: &str, pes, shared_cores| {
            Goal::of(&Case { pes, shared_cores, ..case(measure, name) })
        };
        assert_eq!(of("put8-static", "8", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("put8-quiet", "8", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("put", "512", 2, false), None);
        assert_eq!(of("halo", "late/256x256", 2, false), Some(Goal::Ratio(1.0 / 1.2)));
        assert_eq!(of("halo", "16x16", 2, true), None);
        assert_eq!(of("put", "4096", 2, false), of("get", "4194304", 2, false));
        assert!(of("put", "4096", 2, false).is_some());
        assert_eq!(of("lookup", "typed/7/8", 2, false), Some(Goal::RatioOr(1.01, 0.05)));
        assert_eq!(of("lookup", "raw/127/1", 2, false), Some(Goal::RatioOr(1.02, 0.3)));
        assert_eq!(of("lookup-published", "put/127/8", 2, false), None);
        assert_eq!(of("signal", "8", 2, false), Some(Goal::Ratio(1.15)));
        assert_eq!(of("signal", "8", 2, true), None);
        assert_eq!(of("signal", "8/read", 2, false), None);
        assert_eq!(of("atomic", "fetch-add/32", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("barrier", "2", 2, false), Some(Goal::Ratio(3.0)));
        assert_eq!(of("barrier", "2", 2, true), None);
        assert_eq!(of("barrier", "16", 16, true), Some(Goal::Ratio(2.0)));
        assert_eq!(of("collective", "sum/8/2", 2, false), Some(Goal::Ratio(2.5)));
        assert_eq!(of("collective", "sum/4096/2", 2, false), None);
        assert_eq!(of("collective-oshmem", "barrier/0/2", 2, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("collective-oshmem", "alltoall/65536/2", 2, false), None);
        assert_eq!(of("startup", "16/127/1G", 16, true), None);
        assert_eq!(of("threads", "2/private", 2, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("threads", "2/private", 2, true), None);
        assert_eq!(of("threads", "2/locked", 2, false), None);
        assert_eq!(of("tracking", "events/8", 1, false), Some(Goal::Beaten(1.6)));
        assert_eq!(of("tracking", "events/512", 1, false), None);
        assert_eq!(of("tracking", "hybrid/1048576", 1, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("tracking", "context/1048576", 1, false), None);
        assert_eq!(of("tracking", "events/quiet", 1, false), None);
        assert_eq!(of("pages", "column/4096", 2, false), None);
        assert_eq!(of("pages", "column/8192", 2, false), Some(Goal::Ratio(1.0 / 1.3)));
        assert_eq!(of("placing", "64M", 1, false), Some(Goal::Ratio(1.25)));
        assert_eq!(of("array", "cyclic/index/3", 1, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("array", "multi/par-index", 1, false), Some(Goal::Ratio(1.5)));
        assert_eq!(of("array", "multi/index/2", 1, false), None);
        assert_eq!(of("array", "multi/iter", 1, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("array", "multi/chunks", 1, false), Some(Goal::Ratio(1.02)));
        assert_eq!(of("array", "single/index/cache", 1, false), None);
        assert_eq!(of("array", "next-layer/multi/1024/2", 2, false), None);
        assert_eq!(of("partitions", "create/127", 4, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("partitions", "create/1", 4, false), None);
        assert_eq!(of("peers", "mpi/pack/2", 2, false), Some(Goal::Ratio(0.25)));
        assert_eq!(of("peers", "mpi/column4/128/same-sets", 2, false), Some(Goal::Ratio(1.0 / 1.2)));
        assert_eq!(of("peers", "mpi/pitch/8192/same-sets", 2, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("peers", "oshmem/column/129", 2, false), Some(Goal::Ratio(1.0 / 9.0)));
        assert_eq!(of("peers", "oshmem/column4/129", 2, false), None);
        assert_eq!(of("peers", "a1/column/2", 2, false), Some(Goal::Ratio(1.0)));
    }

    #[test]
    fn networks_have_the_goals_of_their_operations() {
        let of = |measure: &str, name: &str| Goal::of(&case(measure, name));
        assert_eq!(of("ofi", "put/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.1)));
        assert_eq!(of("ofi", "fetch-add-asleep/8/sockets"), Some(Goal::Ratio(1.25)));
        assert_eq!(of("ofi", "put-rate/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.0 / 0.9)));
        assert_eq!(of("ofi", "get/1048576/tcp;ofi_rxm"), Some(Goal::Ratio(1.0 / 0.95)));
        assert_eq!(of("ofi", "put-rate/64/tcp;ofi_rxm"), None);
        assert_eq!(of("ofi", "idle/0/tcp;ofi_rxm"), Some(Goal::Ratio(1.0)));
        assert_eq!(of("ofi-bare", "put/8/tcp;ofi_rxm"), None);
        assert_eq!(of("ofi-bare", "pingpong/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.1)));
        assert_eq!(of("ofi-strided", "16/4096/polling"), Some(Goal::Ratio(0.4)));
        assert_eq!(of("ofi-strided", "64/256/asleep"), Some(Goal::Ratio(1.0 / 9.0)));
        assert_eq!(of("ofi-strided", "64/4096/asleep"), Some(Goal::Ratio(0.25)));
        assert_eq!(of("ofi-strided-model", "64/8/polling"), Some(Goal::Beaten(0.85)));
        assert_eq!(of("mapping", "events/1/8"), Some(Goal::Ratio(1.05)));
        assert_eq!(of("mapping", "context/2/4096"), Some(Goal::Ratio(1.0 / 0.95)));
        assert_eq!((of("mapping", "domain/2/8"), of("mapping", "locked/2/8")), (None, None));
        let far = Case { transport: "ofi".into(), ..case("lookup", "raw/7/8") };
        assert_eq!(Goal::of(&far), None);
        assert_eq!(of("startup", "mpirun/64"), Some(Goal::RatioPlus(1.5, 500.0)));
    }

    #[test]
    fn strided_layouts_have_the_goals_of_their_kind() {
        let of = |measure: &str, name: &str| Goal::of(&case(measure, name));
        assert_eq!(of("strided", "column/1024/put"), Some(Goal::Faster(1.1, 2.2)));
        assert_eq!(of("strided", "column/1000/1032/get"), Some(Goal::Faster(1.15, 2.2)));
        assert_eq!(of("strided", "column4/1024/put"), Some(Goal::Faster(1.1, 2.5)));
        assert_eq!(of("strided", "aos/24/8/1k/get"), Some(Goal::Faster(1.15, 3.0)));
        assert_eq!(of("strided", "checkerboard-f32/1k/put"), Some(Goal::OnlyFaster(10.0)));
        assert_eq!(of("strided", "matrix/row-512/put"), Some(Goal::OnlyFaster(0.95)));
        assert_eq!(of("strided", "matrix/element/put"), None);
        assert_eq!(of("strided", "constant/8x4"), Some(Goal::RatioOr(1.0, 1.3)));
        assert_eq!(of("regret", "auto/random"), Some(Goal::Tail(1.2, 1.7)));
        assert_eq!(of("regret", "published/random"), None);
    }

    #[test]
    fn faster_is_more_and_a_tail_has_two_ends() {
        let strided = |ratio, vs_a1| Case { ratio, vs_a1, ..case("strided", "column/1024/put") };
        let goal = Goal::Faster(1.1, 2.2);
        assert!(goal.is_met(&strided(1.1, Some(2.2))));
        assert!(!goal.is_met(&strided(1.11, Some(9.0))) && !goal.is_met(&strided(0.5, Some(2.19))));
        assert!(!goal.is_met(&strided(0.5, None)));
        assert!(Goal::OnlyFaster(10.0).is_met(&strided(9.0, Some(10.0))));
        assert!(!Goal::OnlyFaster(10.0).is_met(&strided(0.1, Some(9.9))));
        let regret = |ratio, p95| Case { ratio, p95, ..case("regret", "auto/grid") };
        assert!(Goal::Tail(1.1, 1.4).is_met(&regret(1.1, Some(1.4))));
        assert!(!Goal::Tail(1.1, 1.4).is_met(&regret(1.11, Some(1.0))));
        assert!(!Goal::Tail(1.1, 1.4).is_met(&regret(1.0, Some(1.41))));
        assert!(
            Goal::Beaten(1.3).is_met(&regret(1.3, None)) && !Goal::Beaten(1.3).is_met(&regret(1.29, None))
        );
    }

    #[test]
    fn either_bound_is_enough_where_one_is() {
        let case =
            |ratio, difference, value, limit| Case { ratio, difference, value, limit, ..case("m", "c") };
        assert!(Goal::Ratio(1.2).is_met(&case(1.2, 9.0, 9.0, 1.0)));
        assert!(!Goal::Ratio(1.2).is_met(&case(1.21, 0.0, 0.0, 1.0)));
        let either = Goal::RatioOr(1.01, 0.05);
        assert!(either.is_met(&case(1.5, 0.05, 0.15, 0.1)));
        assert!(either.is_met(&case(1.01, 10.0, 1010.0, 1000.0)));
        assert!(!either.is_met(&case(1.02, 0.06, 3.06, 3.0)));
        assert!(Goal::RatioPlus(3.0, 20.0).is_met(&case(23.0, 22.0, 23.0, 1.0)));
        assert!(!Goal::RatioPlus(3.0, 20.0).is_met(&case(24.0, 23.0, 24.0, 1.0)));
    }
}
