//! What a case ought to reach, as it is written in [rows](crate::measure::Row) and shown in tables.

use std::fmt;
use std::str::FromStr;

use crate::case::Case;

/// What a case ought to reach against its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// `1.2`: at most so many times the limit.
    Ratio(f64),
    /// `1.01 or +0.05`: at most so many times the limit, or at most so much more, in the unit of the case.
    RatioOr(f64, f64),
    /// `3 and +20`: at most so many times the limit and so much more, in the unit of the case.
    RatioPlus(f64, f64),
    /// `at most 50`: in the unit of the case, whatever the limit.
    AtMost(f64),
    /// `1.1, 2.2x A1`: at most so many times the limit, and so many times faster than a loop of puts.
    Faster(f64, f64),
    /// `10x A1`: so many times faster than a loop of puts, whatever the limit.
    OnlyFaster(f64),
    /// `1.1, p95 1.4`: at most so much on average, and so much in 95 of 100 layouts.
    Tail(f64, f64),
    /// `at least 1.3`: so many times what it is compared with.
    Beaten(f64),
}

impl Goal {
    /// The same with an allowance: so many times less is asked.
    pub(crate) fn eased(self, times: f64) -> Self {
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
    pub(crate) fn is_met(self, case: &Case) -> bool {
        let is_faster = |times: f64| case.vs_a1.is_some_and(|faster| faster >= times);
        match self {
            Self::Ratio(most) => case.ratio <= most,
            Self::RatioOr(most, more) => case.ratio <= most || case.difference <= more,
            Self::RatioPlus(times, more) => case.value <= times * case.limit + more,
            Self::AtMost(most) => case.value <= most,
            Self::Faster(most, times) => case.ratio <= most && is_faster(times),
            Self::OnlyFaster(times) => is_faster(times),
            Self::Tail(most, tail) => case.ratio <= most && case.p95.is_some_and(|p95| p95 <= tail),
            Self::Beaten(times) => case.ratio >= times,
        }
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let decimal = |text: &str| text.parse::<f64>().ok();
        let number = |text: &str| match text.split_once('/') {
            Some((over, under)) => Some(decimal(over)? / decimal(under)?),
            None => decimal(text),
        };
        let two = |between: &str, of: fn(f64, f64) -> Self| {
            let (one, other) = text.strip_suffix("x A1").unwrap_or(text).split_once(between)?;
            Some(of(number(one)?, number(other)?))
        };
        let goal = match text {
            _ if text.contains(" or +") => two(" or +", Self::RatioOr),
            _ if text.contains(" and +") => two(" and +", Self::RatioPlus),
            _ if text.contains(", p95 ") => two(", p95 ", Self::Tail),
            _ if text.contains(", ") => two(", ", Self::Faster),
            _ => None
                .or_else(|| Some(Self::AtMost(number(text.strip_prefix("at most ")?)?)))
                .or_else(|| Some(Self::Beaten(number(text.strip_prefix("at least ")?)?)))
                .or_else(|| Some(Self::OnlyFaster(number(text.strip_suffix("x A1")?)?)))
                .or_else(|| number(text).map(Self::Ratio)),
        };
        goal.ok_or_else(|| format!("`{text}` is no goal"))
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
    use crate::case::tests::case;

    /// Each is written as it is shown, and has its ends.
    #[test]
    fn each_kind_of_goal_is_read_and_has_its_ends() {
        let of = |ratio, difference, value, limit| Case { ratio, difference, value, limit, ..case("m c") };
        let faster = |ratio, vs_a1| Case { ratio, vs_a1, ..case("m c") };
        let tail = |ratio, p95| Case { ratio, p95, ..case("m c") };
        for (goal, met, missed) in [
            ("1.20", of(1.2, 9.0, 9.0, 1.0), of(1.21, 0.0, 0.0, 1.0)),
            ("1.01 or +0.05", of(1.5, 0.05, 0.15, 0.1), of(1.02, 0.06, 3.06, 3.0)),
            ("1.01 or +0.05", of(1.01, 10.0, 1010.0, 1000.0), of(1.02, 0.06, 3.06, 3.0)),
            ("3.00 and +20", of(23.0, 22.0, 23.0, 1.0), of(24.0, 23.0, 24.0, 1.0)),
            ("at most 50", of(9.0, 45.0, 50.0, 5.0), of(0.1, 0.0, 51.0, 500.0)),
            ("1.10, 2.2x A1", faster(1.1, Some(2.2)), faster(1.11, Some(9.0))),
            ("1.10, 2.2x A1", faster(0.5, Some(2.3)), faster(0.5, None)),
            ("10x A1", faster(9.0, Some(10.0)), faster(0.1, Some(9.9))),
            ("1.10, p95 1.4", tail(1.1, Some(1.4)), tail(1.0, Some(1.41))),
            ("at least 1.3", tail(1.3, None), tail(1.29, None)),
        ] {
            let read: Goal = goal.parse().unwrap();
            assert_eq!(read.to_string(), goal);
            assert!(read.is_met(&met) && !read.is_met(&missed) && read.eased(2.0).is_met(&met), "{goal}");
        }
        assert_eq!("1/0.8".parse(), Ok(Goal::Ratio(1.25)));
        assert!(["", "fast", "1.2 or so", "x A1"].iter().all(|text| text.parse::<Goal>().is_err()));
    }
}
