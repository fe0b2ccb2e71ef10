//! Cartesian grids of PEs: coordinates and neighbours. A grid is arithmetic on the ranks of a team, so making one sends nothing.

use std::fmt;
use std::sync::Arc;

use shmem_core::halo::Edge;
use shmem_core::pe::Pe;

use crate::error::{ErrorKind, Result};
use crate::group::Team;
use crate::members::Members;
use crate::pes::Pes;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The PEs of a job or of a team as a grid of `D` dimensions, as the calling PE sees it.
///
/// Ranks are in row-major order. Each PE makes a grid of its own; all PEs pass the same lengths.
///
/// Blocks of a field:
///
/// ```
/// use shmem::prelude::*;
///
/// /// Rows and columns of a block.
/// const BLOCK: [usize; 2] = [30, 40];
///
/// #[shmem::main]
/// fn main(world: &mut World) -> Result<()> {
///     // The field has no border above and below, and one on the left and on the right.
///     let grid = world.cubic_grid().periodic([true, false]);
///     let [row, column] = grid.coordinates();
///     let left = grid.neighbour(1, -1);
///     assert_eq!(left.is_none(), column == 0);
///
///     // An edge above or below the block has a cell for each column, and an edge on its left or right one for each row.
///     let mut halo = world.halo(&grid.edges([BLOCK[1], BLOCK[0]]))?;
///     let mut exchange = halo.begin(world);
///     exchange.send(0, &[row as f64; BLOCK[1]]);        // above
///     exchange.send(1, &[row as f64; BLOCK[1]]);        // below
///     exchange.send(2, &[column as f64; BLOCK[0]]);     // on the left
///     exchange.send(3, &[column as f64; BLOCK[0]]);     // on the right
///     let ghosts = exchange.finish();
///     let above = (row + grid.shape()[0] - 1) % grid.shape()[0];
///     assert_eq!(ghosts[0][7], above as f64);
///     Ok(())
/// }
/// ```
///
/// Source: MPI 4.1, section 8.5, `MPI_Cart_create`, `MPI_Dims_create` and `MPI_Cart_shift`.
#[derive(Clone)]
pub struct PeGrid<const D: usize> {
    shape: GridShape<D>,
    members: Arc<Members>,
    rank: usize,
}

impl<L: ThreadLevel> World<L> {
    /// Arranges all PEs as a grid with `lengths[d]` PEs in dimension `d`. The grid is not periodic, unless
    /// [`PeGrid::periodic`] joins its ends. Not collective.
    ///
    /// # Errors
    ///
    /// If the product of the lengths is not the number of PEs.
    #[track_caller]
    pub fn grid<const D: usize>(&self, lengths: [usize; D]) -> Result<PeGrid<D>> {
        self.team().grid(lengths)
    }

    /// Arranges all PEs as the grid nearest to a cube (a square, in two dimensions): the grid whose lengths have the
    /// least sum, with the largest length first. Not collective.
    pub fn cubic_grid<const D: usize>(&self) -> PeGrid<D> {
        self.team().cubic_grid()
    }
}

impl Team {
    /// Arranges the members of the team as a grid, by their ranks. Otherwise as [`World::grid`].
    ///
    /// # Errors
    ///
    /// If the product of the lengths is not the number of members.
    #[track_caller]
    pub fn grid<const D: usize>(&self, lengths: [usize; D]) -> Result<PeGrid<D>> {
        let count = self.size();
        match GridShape::new(lengths, count) {
            Some(shape) => Ok(PeGrid::new(self, shape)),
            None => Err(ErrorKind::Refused(format!(
                "a grid of {} PEs cannot be made of {count}: the product of its lengths is to be {count}; choose lengths by \
                 the number of PEs, or let `cubic_grid` choose them",
                GridShape::words(lengths)
            ))
            .into()),
        }
    }

    /// Arranges the members of the team as the grid nearest to a cube. Otherwise as [`World::cubic_grid`].
    pub fn cubic_grid<const D: usize>(&self) -> PeGrid<D> {
        PeGrid::new(self, GridShape::cubic(self.size()))
    }
}

impl<const D: usize> PeGrid<D> {
    fn new(team: &Team, shape: GridShape<D>) -> Self {
        Self { shape, members: Arc::clone(&team.members), rank: team.rank() }
    }

    /// Makes some dimensions periodic: there, the first and the last PE are neighbours, and a single PE is its own neighbour.
    #[must_use]
    pub fn periodic(self, dimensions: [bool; D]) -> Self {
        Self { shape: GridShape { periodic: dimensions, ..self.shape }, ..self }
    }

    /// The number of PEs in each dimension.
    pub fn shape(&self) -> [usize; D] {
        self.shape.lengths
    }

    /// The rank of the calling PE in the grid. In a grid of all PEs, the rank is the PE's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The coordinates of the calling PE, from 0.
    pub fn coordinates(&self) -> [usize; D] {
        self.shape.coordinates_of(self.rank)
    }

    /// The PEs, in the order of their ranks.
    pub fn pes(&self) -> Pes<'_> {
        Pes::new(&self.members)
    }

    /// The PE at `coordinates`.
    ///
    /// # Panics
    ///
    /// If a coordinate is not below the length of its dimension, even if the dimension is periodic.
    #[track_caller]
    pub fn pe(&self, coordinates: [usize; D]) -> Pe {
        self.members.member(self.rank_of(coordinates))
    }

    /// The rank of the PE at `coordinates`.
    ///
    /// # Panics
    ///
    /// As [`pe`](Self::pe).
    #[track_caller]
    pub fn rank_of(&self, coordinates: [usize; D]) -> usize {
        match self.shape.rank_of(coordinates) {
            Some(rank) => rank,
            None => panic!(
                "no PE is at {coordinates:?}: the grid has {} PEs, counted from 0",
                GridShape::words(self.shape())
            ),
        }
    }

    /// The coordinates of the PE with rank `rank`.
    ///
    /// # Panics
    ///
    /// If no PE of the grid has this rank.
    #[track_caller]
    pub fn coordinates_of(&self, rank: usize) -> [usize; D] {
        let count = self.members.size();
        assert!(
            rank < count,
            "no PE has rank {rank}: the grid has {count} ({}), counted from 0",
            GridShape::words(self.shape())
        );
        self.shape.coordinates_of(rank)
    }

    /// The PE `steps` away in one dimension: `neighbour(0, -1)` is the PE before, `neighbour(0, 1)` the PE after.
    /// `None` beyond the ends of a dimension that is not periodic.
    ///
    /// # Panics
    ///
    /// If `dimension` is not below `D`.
    #[track_caller]
    pub fn neighbour(&self, dimension: usize, steps: isize) -> Option<Pe> {
        assert!(dimension < D, "the grid has no dimension {dimension}: it has {D}, counted from 0");
        let mut by = [0; D];
        by[dimension] = steps;
        self.displaced(by)
    }

    /// The PE `steps` away in all dimensions: `displaced([-1, 1])` is across a corner. `None` beyond the ends of a
    /// dimension that is not periodic.
    pub fn displaced(&self, steps: [isize; D]) -> Option<Pe> {
        self.shape.displaced(self.coordinates(), steps).map(|rank| self.members.member(rank))
    }

    /// The edges of the calling PE's block for [`World::halo`]. In dimension `d`, edge `2 * d` leads to the previous PE, and the
    /// edge after it to the next PE. An edge is [`Edge::BORDER`] where no such PE exists. `cells[d]` is the number of ghost cells
    /// of an edge in dimension `d`: for a block of rows and columns, `cells` is the number of columns and the number of rows.
    pub fn edges(&self, cells: [usize; D]) -> Vec<Edge> {
        let sides = (0..D).flat_map(|dimension| [(dimension, -1, 1), (dimension, 1, 0)]);
        let edge = |(dimension, step, opposite)| {
            Edge::new(self.neighbour(dimension, step), 2 * dimension + opposite, cells[dimension])
        };
        sides.map(edge).collect()
    }
}

impl<const D: usize> fmt::Debug for PeGrid<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PEs, at {:?}", GridShape::words(self.shape()), self.coordinates())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GridShape<const D: usize> {
    lengths: [usize; D],
    periodic: [bool; D],
}

impl<const D: usize> GridShape<D> {
    /// Returns the shape with these lengths, if their product is `places`.
    fn new(lengths: [usize; D], places: usize) -> Option<Self> {
        const { assert!(D > 0, "a grid of PEs has at least one dimension") };
        let product = lengths.iter().try_fold(1_usize, |product, length| product.checked_mul(*length));
        (product == Some(places)).then_some(Self { lengths, periodic: [false; D] })
    }

    /// Returns the shape of `places` places (at least 1) whose lengths have the least sum; of several such shapes, the
    /// one whose largest length is smallest. The lengths are sorted, the largest first.
    fn cubic(places: usize) -> Self {
        const { assert!(D > 0, "a grid of PEs has at least one dimension") };
        // Candidates: lengths of the first dimensions, and the product of the remaining lengths.
        let mut begun = vec![([places; D], places)];
        for dimension in 0..D - 1 {
            let longer = |&(lengths, rest): &([usize; D], usize)| {
                let divisors = (1..=rest).filter(move |length| rest.is_multiple_of(*length));
                divisors.map(move |length| {
                    let mut lengths = lengths;
                    lengths[dimension] = length;
                    (lengths, rest / length)
                })
            };
            begun = begun.iter().flat_map(longer).collect();
        }
        let whole = begun.into_iter().map(|(mut lengths, rest)| {
            lengths[D - 1] = rest;
            lengths
        });
        let sorted = whole.filter(|lengths| lengths.is_sorted_by(|one, next| one >= next));
        let best = sorted.min_by_key(|lengths| (lengths.iter().sum::<usize>(), lengths[0]));
        Self { lengths: best.unwrap_or([places; D]), periodic: [false; D] }
    }

    fn coordinates_of(&self, rank: usize) -> [usize; D] {
        let (mut rest, mut coordinates) = (rank, [0; D]);
        for (coordinate, length) in coordinates.iter_mut().zip(&self.lengths).rev() {
            (rest, *coordinate) = (rest / length, rest % length);
        }
        coordinates
    }

    fn rank_of(&self, coordinates: [usize; D]) -> Option<usize> {
        let mut places = coordinates.iter().zip(&self.lengths);
        places.try_fold(0, |rank, (coordinate, length)| {
            (coordinate < length).then(|| rank * length + coordinate)
        })
    }

    /// Returns the rank of the PE `steps` away from valid coordinates, if such a PE exists.
    fn displaced(&self, from: [usize; D], steps: [isize; D]) -> Option<usize> {
        let mut to = from;
        for (dimension, step) in steps.into_iter().enumerate() {
            let (at, length) = (&mut to[dimension], self.lengths[dimension]);
            *at = match self.periodic[dimension] {
                // The cast is exact, because a length is at most the number of PEs.
                true => (*at + step.rem_euclid(length as isize) as usize) % length,
                false => at.checked_add_signed(step)?,
            };
        }
        self.rank_of(to)
    }

    fn words(lengths: [usize; D]) -> String {
        lengths.map(|length| length.to_string()).join(" x ")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let shape = GridShape::new(lengths, all.len()).unwrap();
            for (rank, coordinates) in all.iter().enumerate() {
                prop_assert_eq!(shape.coordinates_of(rank), *coordinates);
                prop_assert_eq!(shape.rank_of(*coordinates), Some(rank));
                let mut outside = *coordinates;
                outside[beyond] = lengths[beyond];
                prop_assert_eq!(shape.rank_of(outside), None);
            }
            prop_assert_eq!(GridShape::new(lengths, all.len() + 1), None);
        }

        #[test]
        fn neighbours_are_found_step_by_step(
            lengths in [1..5_usize, 1..5, 1..5], periodic: [bool; 3], steps in [-9..9_isize, -9..9, -9..9],
        ) {
            let shape = GridShape { periodic, ..GridShape::new(lengths, lengths.iter().product()).unwrap() };
            // A step wraps in a periodic dimension, and is lost at the end of another.
            let step = |at: isize, dimension: usize| {
                let (to, length) = (at + steps[dimension].signum(), lengths[dimension] as isize);
                match (0..length).contains(&to) {
                    true => Some(to),
                    false => periodic[dimension].then_some((to + length) % length),
                }
            };
            for from in all(lengths) {
                let along = |dimension: usize| {
                    let mut steps = 0..steps[dimension].unsigned_abs();
                    steps.try_fold(from[dimension] as isize, |at, _| step(at, dimension)).map(|at| at as usize)
                };
                let to = along(0).zip(along(1)).zip(along(2));
                let rank = to.and_then(|((plane, row), column)| shape.rank_of([plane, row, column]));
                prop_assert_eq!(shape.displaced(from, steps), rank);
            }
        }

        #[test]
        fn the_most_cubic_shape_is_the_best_of_all(places in 1..200_usize) {
            let lines = (1..=places).flat_map(|a| (1..=places).map(move |b| [a, b]));
            let squares = lines.clone().filter(|[a, b]| a >= b && a * b == places);
            let square = squares.min_by_key(|lengths| lengths.iter().sum::<usize>()).unwrap();
            prop_assert_eq!(GridShape::cubic(places).lengths, square);

            let cubes = lines.filter(|[a, b]| places.is_multiple_of(a * b)).map(|[a, b]| [a, b, places / (a * b)]);
            let cubes = cubes.filter(|[a, b, c]| a >= b && b >= c);
            let cube = cubes.min_by_key(|lengths| (lengths.iter().sum::<usize>(), lengths[0])).unwrap();
            prop_assert_eq!(GridShape::cubic(places).lengths, cube);
            prop_assert_eq!(GridShape::cubic(places).lengths, [places]);
        }
    }

    #[test]
    fn the_longest_lengths_and_steps_overflow_nothing() {
        assert_eq!(GridShape::new([usize::MAX, 2], usize::MAX.wrapping_mul(2)), None);
        assert_eq!(GridShape::new([0, 3], 3), None);
        let line = GridShape::new([3], 3).unwrap();
        assert_eq!([isize::MIN, isize::MAX].map(|step| line.displaced([1], [step])), [None, None]);
        let ring = GridShape { periodic: [true], ..line };
        assert_eq!(ring.displaced([1], [isize::MIN]), Some((1 + isize::MIN.rem_euclid(3) as usize) % 3));
    }
}
