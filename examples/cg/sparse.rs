//! The same operator as a sparse matrix, which could be that of any mesh: it says nothing of a grid, so which elements of a
//! vector come from where follows from its columns.

use shmem::Plan;
use shmem::prelude::*;
use shmem_examples::rows::Rows;
use shmem_examples::shares::{owner, share};

/// The rows of the matrix for the calling PE's points.
pub(crate) struct Sparse {
    rows: Rows,
    /// The vector that is multiplied, as others see it.
    vector: SymBox<[f64]>,
    /// By which each element comes once, sent by who has it; without one they are read for each entry, one by one.
    plan: Option<Plan<f64>>,
    /// Where the element for each entry is among those that have come.
    places: Vec<u32>,
}

impl Sparse {
    /// That of a square with `n` points along each side, dealt out by rows of points. Collective.
    ///
    /// # Errors
    ///
    /// If there is no room for the vector, or for the plan.
    pub(crate) fn new(world: &World, n: usize, is_planned: bool) -> Result<Self> {
        let (me, pes) = (world.my_pe(), world.n_pes());
        // As many elements on every PE, of which those with fewer points leave some out.
        let room = share(n, pes, 0).len() * n;
        let column = |[i, j]: [usize; 2]| {
            let pe = owner(n, pes, i);
            pe * room + (i - share(n, pes, pe).start) * n + j
        };
        let mut rows = Rows::default();
        for [i, j] in share(n, pes, me).flat_map(|i| (0..n).map(move |j| [i, j])) {
            let around = [
                j.checked_sub(1).map(|left| [i, left]),
                (j + 1 < n).then_some([i, j + 1]),
                i.checked_sub(1).map(|above| [above, j]),
                (i + 1 < n).then_some([i + 1, j]),
            ];
            let around = around.into_iter().flatten().map(|point| (column(point), -1.0));
            rows.push([(column([i, j]), 4.0)].into_iter().chain(around));
        }
        let vector = world.alloc(shmem::zeroed::<f64>(room))?;
        let list = rows.columns();
        let plan =
            if is_planned { Some(world.plan(vector.over(world.team(), Block).at(list))?) } else { None };
        let places = match &plan {
            Some(plan) => plan.places().to_vec(),
            None => (0..list.len() as u32).collect(),
        };
        Ok(Self { rows, vector, plan, places })
    }

    /// The operator times a vector. Collective.
    pub(crate) fn times(&mut self, world: &mut World, band: &[f64]) -> Vec<f64> {
        let Self { rows, vector, plan, places } = self;
        if let Some(plan) = plan {
            return rows.times(places, plan.bring_from(world, band));
        }
        // All have read the elements of the step before where the phase begins, and all have written theirs where it ends.
        world.local(&*vector, |elements| elements[..band.len()].copy_from_slice(band));
        let elements = vector.over(world.team(), Block);
        let entries: Vec<f64> =
            rows.columns().iter().map(|column| world.g(elements.locate(*column))).collect();
        rows.times(places, &entries)
    }
}
