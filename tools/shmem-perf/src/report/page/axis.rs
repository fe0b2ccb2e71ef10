//! Axes of figures: where numbers lie on them, and which are written there.

use crate::table::digits;

/// How the numbers of an axis are laid out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// By powers.
    Log,
    /// By powers of two, with K and M.
    Bytes,
    /// Names at 0, 1, 2, ..
    Names(Vec<String>),
}

/// An axis from one number to another.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    scale: Scale,
    /// Places, not numbers.
    ends: (f64, f64),
}

impl Axis {
    /// One that has room for all of these numbers.
    pub(super) fn around(scale: &Scale, numbers: impl Iterator<Item = f64>) -> Self {
        let places = numbers.map(|number| scale.place(number)).filter(|place| place.is_finite());
        let (low, high) =
            places.fold((f64::MAX, f64::MIN), |(low, high), place| (low.min(place), high.max(place)));
        let ends = match scale {
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
            _ if low > high => (0.0, 1.0),
            // Lengths are compared from zero on.
            Scale::Linear if low >= 0.0 => (0.0, if high > 0.0 { high * 1.08 } else { 1.0 }),
            _ => {
                let room = 0.05 * (high - low).max(0.2);
                (low - room, high + room)
            }
        };
        Self { scale: scale.clone(), ends }
    }

    /// The pixel of a place, on a line from one pixel to another.
    pub(super) fn pixel(&self, place: f64, (from, to): (i32, i32)) -> i32 {
        let part = (place - self.ends.0) / (self.ends.1 - self.ends.0);
        from + (part * f64::from(to - from)).round() as i32
    }

    /// The places of the numbers that are written, not many more than `most`.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        let (low, high) = self.ends;
        let whole = |step: f64| (0..).map(move |at| ((low / step).ceil() + f64::from(at)) * step);
        let every = |step: f64| whole(step).take_while(|place| *place <= high).collect::<Vec<_>>();
        match &self.scale {
            Scale::Names(_) => every(1.0),
            Scale::Bytes => every(((high - low) / most as f64).ceil().max(1.0)),
            Scale::Linear => every(round_step((high - low) / most as f64)),
            Scale::Log if high - low > 2.5 => every(((high - low) / most as f64).ceil()),
            Scale::Log => {
                let decades = low.floor() as i32..=high.ceil() as i32;
                let digits: &[f64] = match high - low {
                    ..0.3 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
                    ..1.2 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
                    _ => &[1.0, 2.0, 5.0],
                };
                let all = decades
                    .flat_map(|decade| digits.iter().map(move |digit| f64::from(decade) + digit.log10()));
                all.filter(|place| (low..=high).contains(place)).collect()
            }
        }
    }
}

/// 1, 2 or 5 times a power of ten, and not below `least`.
fn round_step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * decade >= least * (1.0 - 1e-9));
    decade * factor.unwrap_or(10.0)
}

impl Scale {
    /// Where a number lies on the axis.
    pub(super) fn place(&self, number: f64) -> f64 {
        match self {
            Self::Linear | Self::Names(_) => number,
            Self::Log => number.log10(),
            Self::Bytes => number.log2(),
        }
    }

    /// What is written at a place.
    pub(super) fn label(&self, place: f64) -> String {
        match self {
            // What is left of a step that cancels out is no number.
            Self::Linear => short(if place.abs() < 1e-9 { 0.0 } else { place }),
            Self::Log => short(10_f64.powf(place)),
            Self::Bytes => bytes(place.exp2()),
            Self::Names(names) => {
                let whole = place.fract().abs() < 1e-6 && place > -0.5;
                names.get(place as usize).filter(|_| whole).cloned().unwrap_or_default()
            }
        }
    }
}

/// As few digits as are not zero.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let text = digits(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        ..1024.0 => short(bytes),
        1024.0..1_048_576.0 => format!("{}K", short(bytes / 1024.0)),
        _ => format!("{}M", short(bytes / 1_048_576.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(scale: &Scale, numbers: &[f64]) -> Vec<String> {
        let axis = Axis::around(scale, numbers.iter().copied());
        axis.ticks(8).into_iter().map(|place| scale.label(place)).collect()
    }

    #[test]
    fn round_numbers_are_written_each_once() {
        assert_eq!(written(&Scale::Log, &[1.0, 90.0]), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(written(&Scale::Log, &[0.01, 1e6]).last().unwrap(), "1000000");
        assert_eq!(written(&Scale::Linear, &[0.0, 2.3]), ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!(written(&Scale::Linear, &[-30.0, 60.0]), ["-20", "0", "20", "40", "60"]);
        assert_eq!(written(&Scale::Bytes, &[8.0, 4096.0]), ["16", "64", "256", "1K", "4K"]);
        assert_eq!(written(&Scale::Bytes, &[8.0]), ["8"]);
        assert_eq!(written(&Scale::Names(vec!["put".into(), "get".into()]), &[]), ["put", "get"]);
    }

    #[test]
    fn places_stay_inside_the_axes_and_ticks_are_few() {
        for (scale, numbers) in [
            (Scale::Linear, vec![0.0]),
            (Scale::Linear, vec![-3.0, 5.0]),
            (Scale::Linear, vec![1e-9, 2e9]),
            (Scale::Log, vec![0.01, 1e6]),
            (Scale::Log, vec![7.0]),
            (Scale::Log, vec![7.0, 7.4]),
            (Scale::Log, vec![7.0, 70.0]),
            (Scale::Bytes, vec![1.0, 4_194_304.0]),
            (Scale::Names(vec!["a".into(), "b".into()]), vec![0.0, 1.0]),
        ] {
            let axis = Axis::around(&scale, numbers.iter().copied());
            let (low, high) = axis.ends;
            assert!(numbers.iter().all(|&number| (low..=high).contains(&scale.place(number))), "{axis:?}");
            assert!(low < high && axis.ticks(8).len() <= 12, "{axis:?}: {:?}", axis.ticks(8));
            assert_eq!((axis.pixel(low, (10, 110)), axis.pixel(high, (10, 110))), (10, 110));
        }
        assert_eq!(Axis::around(&Scale::Log, [0.0].into_iter()).ends, (0.0, 1.0));
    }

    #[test]
    fn names_stand_at_whole_places_only() {
        let scale = Scale::Names(vec!["put".into(), "get".into()]);
        assert_eq!(["put", "", "get", "", ""], [0.0, 0.5, 1.0, -1.0, 2.0].map(|place| scale.label(place)));
    }
}
