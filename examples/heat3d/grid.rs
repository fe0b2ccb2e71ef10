//! The PEs as a box of cubes, one for each.

use shmem::prelude::*;

/// The sides of a cube: two for each axis. The opposite of a side is `side ^ 1`.
pub(crate) const SIDES: usize = 6;

/// How many PEs lie along each axis. The last axis is the one along which their numbers follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pes: [usize; 3],
}

impl Grid {
    /// The one that is most like a cube.
    pub(crate) fn new(pes: usize) -> Self {
        let divisors = |n: usize| (1..=n).filter(move |divisor| n.is_multiple_of(*divisor));
        let all = divisors(pes).flat_map(|a| divisors(pes / a).map(move |b| [a, b, pes / a / b]));
        let pes = all.min_by_key(|[a, b, c]| a * b + b * c + c * a).unwrap_or([1, 1, pes]);
        Self { pes }
    }

    /// How many PEs lie along each axis.
    pub(crate) fn pes(self) -> [usize; 3] {
        self.pes
    }

    /// Where a PE lies.
    pub(crate) fn place_of(self, pe: usize) -> [usize; 3] {
        let [_, b, c] = self.pes;
        [pe / c / b, pe / c % b, pe % c]
    }

    /// The PEs at the sides of the calling one, where it has no wall.
    pub(crate) fn neighbours(self, world: &World) -> [Option<Pe>; SIDES] {
        let (me, [_, b, c]) = (world.my_pe(), self.pes);
        std::array::from_fn(|side| {
            let (axis, distance) = (side / 2, [b * c, c, 1][side / 2]);
            let place = self.place_of(me)[axis];
            match side % 2 {
                0 => (place > 0).then(|| world.pes()[me - distance]),
                _ => (place + 1 < self.pes[axis]).then(|| world.pes()[me + distance]),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_like_cubes() {
        for (pes, expected) in
            [(1, [1, 1, 1]), (2, [1, 1, 2]), (4, [1, 2, 2]), (5, [1, 1, 5]), (12, [2, 2, 3]), (27, [3; 3])]
        {
            assert_eq!(Grid::new(pes).pes(), expected);
        }
    }
}
