//! The arithmetic of a grid: ranks and coordinates.

/// How many places there are in each dimension, and which dimensions have joined ends. Ranks run through it row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape<const D: usize> {
    lengths: [usize; D],
    periodic: [bool; D],
}

impl<const D: usize> Shape<D> {
    /// One of so many places, if these lengths have as many. None is periodic.
    pub(super) fn new(lengths: [usize; D], places: usize) -> Option<Self> {
        const { assert!(D > 0, "a grid of PEs has at least one dimension") };
        let product = lengths.iter().try_fold(1_usize, |product, length| product.checked_mul(*length));
        (product == Some(places)).then_some(Self { lengths, periodic: [false; D] })
    }

    /// The one of so many places, 1 or more, with the least sum of lengths, and of several such the one whose longest
    /// dimension is shortest. Lengths do not grow from one dimension to the next.
    pub(super) fn cubic(places: usize) -> Self {
        const { assert!(D > 0, "a grid of PEs has at least one dimension") };
        let divisors: Vec<usize> = (1..=places).filter(|length| places.is_multiple_of(*length)).collect();
        let (mut lengths, mut best) = ([1; D], [1; D]);
        best[0] = places;
        Self::choose(&divisors, places, 0, &mut lengths, &mut best);
        Self { lengths: best, periodic: [false; D] }
    }

    /// Tries all lengths of a dimension and of those behind it, which share out `rest`.
    fn choose(
        divisors: &[usize],
        rest: usize,
        dimension: usize,
        lengths: &mut [usize; D],
        best: &mut [usize; D],
    ) {
        let most = if dimension == 0 { rest } else { lengths[dimension - 1].min(rest) };
        if dimension == D - 1 {
            if rest <= most {
                lengths[dimension] = rest;
                let cost = |lengths: &[usize; D]| (lengths.iter().sum::<usize>(), lengths[0]);
                if cost(lengths) < cost(best) {
                    *best = *lengths;
                }
            }
            return;
        }
        let possible = divisors.iter().take_while(|length| **length <= most);
        for length in possible.filter(|length| rest.is_multiple_of(**length)) {
            lengths[dimension] = *length;
            Self::choose(divisors, rest / length, dimension + 1, lengths, best);
        }
    }

    pub(super) fn periodic(self, periodic: [bool; D]) -> Self {
        Self { periodic, ..self }
    }

    pub(super) fn lengths(&self) -> [usize; D] {
        self.lengths
    }

    /// Those of a rank that there is.
    pub(super) fn coordinates_of(&self, rank: usize) -> [usize; D] {
        let (mut rest, mut coordinates) = (rank, [0; D]);
        for (coordinate, length) in coordinates.iter_mut().zip(&self.lengths).rev() {
            (rest, *coordinate) = (rest / length, rest % length);
        }
        coordinates
    }

    /// The rank at some coordinates, if they are inside.
    pub(super) fn rank_of(&self, coordinates: [usize; D]) -> Option<usize> {
        let mut places = coordinates.iter().zip(&self.lengths);
        places.try_fold(0, |rank, (coordinate, length)| {
            (coordinate < length).then(|| rank * length + coordinate)
        })
    }

    /// The rank so many steps away from coordinates that are inside, if there is one.
    pub(super) fn displaced(&self, from: [usize; D], steps: [isize; D]) -> Option<usize> {
        let mut to = from;
        for (dimension, step) in steps.into_iter().enumerate() {
            let (at, length) = (&mut to[dimension], self.lengths[dimension]);
            *at = match self.periodic[dimension] {
                // No grid has as many places as an `isize` has values.
                true => (*at + step.rem_euclid(length as isize) as usize) % length,
                false => at.checked_add_signed(step)?,
            };
        }
        self.rank_of(to)
    }

    /// `4 x 2`
    pub(super) fn words(lengths: [usize; D]) -> String {
        lengths.map(|length| length.to_string()).join(" x ")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All coordinates, in the order of ranks.
    fn all(lengths: [usize; 3]) -> Vec<[usize; 3]> {
        let [planes, rows, columns] = lengths;
        let rows = move |plane| (0..rows).map(move |row| [plane, row]);
        let columns = move |[plane, row]: [usize; 2]| (0..columns).map(move |column| [plane, row, column]);
        (0..planes).flat_map(rows).flat_map(columns).collect()
    }

    proptest! {
        #[test]
        fn ranks_and_coordinates_are_those_of_a_list(lengths in [1..6_usize, 1..6, 1..6], beyond in 0..3_usize) {
            let all = all(lengths);
            let shape = Shape::new(lengths, all.len()).unwrap();
            for (rank, coordinates) in all.iter().enumerate() {
                prop_assert_eq!(shape.coordinates_of(rank), *coordinates);
                prop_assert_eq!(shape.rank_of(*coordinates), Some(rank));
                let mut outside = *coordinates;
                outside[beyond] = lengths[beyond];
                prop_assert_eq!(shape.rank_of(outside), None);
            }
            prop_assert_eq!(Shape::new(lengths, all.len() + 1), None);
        }

        #[test]
        fn neighbours_are_found_step_by_step(
            lengths in [1..5_usize, 1..5, 1..5], periodic: [bool; 3], steps in [-9..9_isize, -9..9, -9..9],
        ) {
            let all = all(lengths);
            let shape = Shape::new(lengths, all.len()).unwrap().periodic(periodic);
            for from in &all {
                // One step after the other: back at the other end of what is periodic, lost behind the end of what is not.
                let mut to = Some(from.map(|at| at as isize));
                for dimension in 0..3 {
                    let length = lengths[dimension] as isize;
                    for _ in 0..steps[dimension].unsigned_abs() {
                        to = to.and_then(|mut to| {
                            to[dimension] += steps[dimension].signum();
                            if periodic[dimension] && to[dimension] == length {
                                to[dimension] = 0;
                            } else if periodic[dimension] && to[dimension] < 0 {
                                to[dimension] = length - 1;
                            }
                            (0..length).contains(&to[dimension]).then_some(to)
                        });
                    }
                }
                let rank = to.map(|to| all.iter().position(|at| at.map(|at| at as isize) == to).unwrap());
                prop_assert_eq!(shape.displaced(*from, steps), rank);
            }
        }

        #[test]
        fn the_most_cubic_shape_is_the_best_of_all(places in 1..200_usize) {
            let lines = (1..=places).flat_map(|a| (1..=places).map(move |b| [a, b]));
            let squares = lines.clone().filter(|[a, b]| a >= b && a * b == places);
            let square = squares.min_by_key(|lengths| lengths.iter().sum::<usize>()).unwrap();
            prop_assert_eq!(Shape::cubic(places).lengths(), square);

            let cubes = lines.filter(|[a, b]| places.is_multiple_of(a * b)).map(|[a, b]| [a, b, places / (a * b)]);
            let cubes = cubes.filter(|[a, b, c]| a >= b && b >= c);
            let cube = cubes.min_by_key(|lengths| (lengths.iter().sum::<usize>(), lengths[0])).unwrap();
            prop_assert_eq!(Shape::cubic(places).lengths(), cube);
            prop_assert_eq!(Shape::cubic(places).lengths(), [places]);
        }
    }

    #[test]
    fn numbers_of_pes_that_programs_have() {
        assert_eq!(Shape::cubic(12).lengths(), [4, 3]);
        assert_eq!(Shape::cubic(7).lengths(), [7, 1]);
        assert_eq!(Shape::cubic(64).lengths(), [4, 4, 4]);
        assert_eq!(Shape::cubic(100_000).lengths(), [50, 50, 40]);
        assert_eq!(Shape::cubic(1).lengths(), [1, 1, 1, 1]);
    }

    #[test]
    fn lengths_that_are_too_many_to_multiply_fit_nothing() {
        assert_eq!(Shape::new([usize::MAX, 2], usize::MAX.wrapping_mul(2)), None);
        assert_eq!(Shape::new([0, 3], 3), None);
        assert_eq!(Shape::words([3, 2]), "3 x 2");
    }

    #[test]
    fn the_longest_steps_overflow_nothing() {
        let ring = Shape::new([3], 3).unwrap().periodic([true]);
        assert_eq!(ring.displaced([1], [isize::MIN]), Some((1 + isize::MIN.rem_euclid(3) as usize) % 3));
        let line = Shape::new([3], 3).unwrap();
        assert_eq!([isize::MIN, isize::MAX].map(|step| line.displaced([1], [step])), [None, None]);
    }
}
