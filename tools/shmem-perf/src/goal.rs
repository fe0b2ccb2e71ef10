//! Goals of cases, as texts in the [sheet](crate::measure::Row) and in tables.

use std::fmt;
use std::str::FromStr;

use crate::case::Case;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    form: &'static GoalForm,
    numbers: [f64; 2],
}

/// A form of goals: (text with gaps for numbers; for each number, 1 if a goal with a larger one is easier, else -1; whether a case
/// reaches the goal with these numbers).
type GoalForm = (&'static str, [i32; 2], fn(&Case, f64, f64) -> bool);

/// All forms of goals, in the order of parsing. Differences and values have the case's unit. `A1` is a loop of puts.
const FORMS: [GoalForm; 8] = [
    ("{} or +{}", [1, 1], |case, most, more| case.ratio <= most || case.difference <= more),
    ("{} and +{}", [1, 1], |case, times, more| case.value <= times * case.limit + more),
    // The second number is for the 95th percentile of the layouts.
    ("{}, p95 {}", [1, 1], |case, most, tail| case.ratio <= most && case.p95.is_some_and(|p95| p95 <= tail)),
    ("{}, {}x A1", [1, -1], |case, most, times| case.ratio <= most && case.vs_a1 >= Some(times)),
    ("at most {}", [1, 1], |case, most, _| case.value <= most),
    ("at least {}", [-1, 1], |case, least, _| case.ratio >= least),
    ("{}x A1", [-1, 1], |case, times, _| case.vs_a1 >= Some(times)),
    ("{}", [1, 1], |case, most, _| case.ratio <= most),
];

impl Goal {
    /// Returns a goal that is `times` times easier.
    pub(crate) fn eased(mut self, times: f64) -> Self {
        for (number, sign) in self.numbers.iter_mut().zip(self.form.1) {
            *number *= times.powi(sign);
        }
        self
    }

    pub(crate) fn is_met(self, case: &Case) -> bool {
        (self.form.2)(case, self.numbers[0], self.numbers[1])
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
        let read = |form: &'static GoalForm| {
            let (mut pieces, mut numbers) = (form.0.split("{}"), [0.0; 2]);
            let mut rest = text.strip_prefix(pieces.next()?)?;
            for (behind, into) in pieces.zip(&mut numbers) {
                let end = if behind.is_empty() { rest.len() } else { rest.find(behind)? };
                *into = number(&rest[..end])?;
                rest = &rest[end + behind.len()..];
            }
            rest.is_empty().then_some(Self { form, numbers })
        };
        FORMS.iter().find_map(read).ok_or_else(|| format!("`{text}` is no goal"))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.form.0.split("{}");
        f.write_str(pieces.next().unwrap_or_default())?;
        for (at, (behind, number)) in pieces.zip(self.numbers).enumerate() {
            // Ratios get two decimals, other numbers at most three.
            match at == 0 && self.form.0.starts_with("{}") && behind != "x A1" {
                true => write!(f, "{number:.2}{behind}")?,
                false => write!(f, "{}{behind}", (number * 1e3).round() / 1e3)?,
            }
        }
        Ok(())
    }
}
