//! Cartesian grids of PEs: coordinates, and who is next to whom.
//!
//! A grid is arithmetic on ranks, and knows the PEs of its team. Nothing is sent when one is made, and it borrows nothing: a
//! struct may keep it across phases.

mod shape;

use std::fmt;
use std::sync::Arc;

use shmem_core::halo::Edge;
use shmem_core::pe::Pe;

use self::shape::Shape;
use crate::error::{ErrorKind, Result};
use crate::group::Team;
use crate::members::Members;
use crate::pes::Pes;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The PEs of a job or of a team as a grid of `D` dimensions, from the point of view of the calling PE.
///
/// Ranks run through it row by row: the last coordinate is that of neighbours in rank. Each PE that asks for a grid has one
/// of its own; all of them fit together where all give the same lengths.
///
/// Blocks of a field, each of which knows the cells next to it:
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
///     // Through an edge across the rows come as many cells as there are columns.
///     let mut halo = world.halo(&grid.edges([BLOCK[1], BLOCK[0]]))?;
///     let mut flight = halo.begin(world);
///     flight.send(0, &[row as f64; BLOCK[1]]);        // above
///     flight.send(1, &[row as f64; BLOCK[1]]);        // below
///     flight.send(2, &[column as f64; BLOCK[0]]);     // on the left
///     flight.send(3, &[column as f64; BLOCK[0]]);     // on the right
///     let ghosts = flight.finish();
///     let above = (row + grid.shape()[0] - 1) % grid.shape()[0];
///     assert_eq!(ghosts[0][7], above as f64);
///     Ok(())
/// }
/// ```
///
/// Source: MPI 4.1, section 8.5, `MPI_Cart_create`, `MPI_Dims_create` and `MPI_Cart_shift`; OpenSHMEM has no such routine.
#[derive(Clone)]
pub struct PeGrid<const D: usize> {
    shape: Shape<D>,
    /// By rank.
    members: Arc<Members>,
    /// The calling PE's.
    rank: usize,
}

impl<L: ThreadLevel> World<L> {
    /// All PEs as a grid with such lengths, without neighbours beyond its ends; [`PeGrid::periodic`] joins them. Not
    /// collective.
    ///
    /// # Errors
    ///
    /// If the product of the lengths is not the number of PEs.
    #[track_caller]
    pub fn grid<const D: usize>(&self, lengths: [usize; D]) -> Result<PeGrid<D>> {
        self.team().grid(lengths)
    }

    /// All PEs as the grid that comes nearest to a cube (a square, in two dimensions): the one with the least sum of
    /// lengths, which cuts a cube through the smallest area. The first length is the largest one. Not collective.
    pub fn cubic_grid<const D: usize>(&self) -> PeGrid<D> {
        self.team().cubic_grid()
    }
}

impl Team {
    /// The members as a grid, by their ranks; otherwise as [`World::grid`].
    ///
    /// # Errors
    ///
    /// If the product of the lengths is not the number of members.
    #[track_caller]
    pub fn grid<const D: usize>(&self, lengths: [usize; D]) -> Result<PeGrid<D>> {
        let count = self.size();
        match Shape::new(lengths, count) {
            Some(shape) => Ok(PeGrid::new(self, shape)),
            None => Err(ErrorKind::GridShape { shape: Shape::words(lengths), count }.into()),
        }
    }

    /// The members as the grid that comes nearest to a cube; otherwise as [`World::cubic_grid`].
    pub fn cubic_grid<const D: usize>(&self) -> PeGrid<D> {
        PeGrid::new(self, Shape::cubic(self.size()))
    }
}

impl<const D: usize> PeGrid<D> {
    fn new(team: &Team, shape: Shape<D>) -> Self {
        Self { shape, members: Arc::clone(team.members()), rank: team.rank() }
    }

    /// The grid with the ends of some dimensions joined: there, the first and the last PE are neighbours, and one alone
    /// is its own.
    #[must_use]
    pub fn periodic(self, dimensions: [bool; D]) -> Self {
        Self { shape: self.shape.periodic(dimensions), ..self }
    }

    /// The lengths: how many PEs there are in each dimension.
    pub fn shape(&self) -> [usize; D] {
        self.shape.lengths()
    }

    /// The rank of the calling PE: its number, in a grid of all PEs.
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

    /// The PE at some coordinates.
    ///
    /// # Panics
    ///
    /// If a coordinate is not below the length, in a periodic dimension as well.
    #[track_caller]
    pub fn pe(&self, coordinates: [usize; D]) -> Pe {
        self.members.member(self.rank_of(coordinates))
    }

    /// The rank of the PE at some coordinates.
    ///
    /// # Panics
    ///
    /// As [`pe`](Self::pe).
    #[track_caller]
    pub fn rank_of(&self, coordinates: [usize; D]) -> usize {
        match self.shape.rank_of(coordinates) {
            Some(rank) => rank,
            None => panic!("no PE is at {coordinates:?}: the grid has {} PEs, counted from 0", self.words()),
        }
    }

    /// The coordinates of the PE with a rank.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[track_caller]
    pub fn coordinates_of(&self, rank: usize) -> [usize; D] {
        let count = self.members.size();
        assert!(
            rank < count,
            "no PE has rank {rank}: the grid has {count} ({}), counted from 0",
            self.words()
        );
        self.shape.coordinates_of(rank)
    }

    /// The PE so many steps away in one dimension: `neighbour(0, -1)` is the one before, `neighbour(0, 1)` the one behind.
    /// `None` beyond the ends, unless the dimension is periodic.
    ///
    /// # Panics
    ///
    /// If there is no such dimension.
    #[track_caller]
    pub fn neighbour(&self, dimension: usize, steps: isize) -> Option<Pe> {
        assert!(dimension < D, "the grid has no dimension {dimension}: it has {D}, counted from 0");
        let mut by = [0; D];
        by[dimension] = steps;
        self.displaced(by)
    }

    /// The PE so many steps away in all dimensions at once: `displaced([-1, 1])` is a neighbour across a corner. `None`
    /// beyond the ends of a dimension, unless that is periodic.
    pub fn displaced(&self, steps: [isize; D]) -> Option<Pe> {
        self.shape.displaced(self.coordinates(), steps).map(|rank| self.members.member(rank))
    }

    /// The edges of a PE's block for [`World::halo`]: edge `2 * d` leads to the neighbour before it in dimension `d`, edge
    /// `2 * d + 1` to the one behind it. `cells` is how many ghost cells come through each edge of a dimension, which for a
    /// block of rows and columns is as many as it has columns, and as many as it has rows.
    ///
    /// Where nobody is on the other side, the edge is [`Edge::BORDER`].
    pub fn edges(&self, cells: [usize; D]) -> Vec<Edge> {
        let sides = (0..D).flat_map(|dimension| [(dimension, -1, 1), (dimension, 1, 0)]);
        let edge = |(dimension, step, opposite)| {
            Edge::new(self.neighbour(dimension, step), 2 * dimension + opposite, cells[dimension])
        };
        sides.map(edge).collect()
    }

    fn words(&self) -> String {
        Shape::words(self.shape())
    }
}

/// `4 x 2 PEs, at [1, 0]`
impl<const D: usize> fmt::Debug for PeGrid<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PEs, at {:?}", self.words(), self.coordinates())
    }
}
