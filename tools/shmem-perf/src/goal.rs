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
    /// At most so much, in the unit of the case, whatever the limit.
    AtMost(f64),
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
    /// The same with an allowance: so many times less is asked.
    #[must_use]
    pub fn eased(self, times: f64) -> Self {
        match self {
            Self::Ratio(most) => Self::Ratio(most * times),
            Self::RatioOr(most, more) => Self::RatioOr(most * times, more * times),
            Self::RatioPlus(most, more) => Self::RatioPlus(most * times, more * times),
            Self::AtMost(most) => Self::AtMost(most * times),
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
            Self::AtMost(most) => case.value <= most,
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
            Self::AtMost(most) => write!(f, "at most {}", short(most)),
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
        assert!(Goal::AtMost(50.0).is_met(&case(9.0, 45.0, 50.0, 5.0)));
        assert!(!Goal::AtMost(50.0).is_met(&case(0.1, 0.0, 51.0, 500.0)));
        assert_eq!(Goal::AtMost(50.0).eased(2.0), Goal::AtMost(100.0));
    }
}
