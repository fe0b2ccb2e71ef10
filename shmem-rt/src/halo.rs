//! Makes halos: memory for ghost cells.
//!
//! All PEs exchange their edges. So each PE checks that all edges match, and computes where its messages are stored at
//! its neighbours. The memory is a segment that raw addresses cannot reach.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::Initiator;
use shmem_core::halo::{Edge, Halo, HaloPlan};
use shmem_core::heap::{HeapError, MAX_ALIGN};
use shmem_core::memory::{Placement, Request};
use shmem_core::object::SymBox;
use shmem_core::partition::{Traits, show_size};
use shmem_core::symmetric_data::PlainData;
use shmem_core::text::Text;

use crate::caller::at;
use crate::dynamic_segments::{self, Wanted};
use crate::error::Result;
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Makes a halo: memory for ghost cells, and access to the neighbours' memory. Collective. Each PE passes its own
    /// edges. The number of an edge is its position in `edges`.
    ///
    /// A ring of rods:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// const CELLS: usize = 100;
    /// const STEPS: usize = 50;
    ///
    /// /// The edges of a rod.
    /// const WEST: usize = 0;
    /// const EAST: usize = 1;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let (west, east) = world.ring_neighbours();
    ///     let mut halo = world.halo(&[Edge::new(west, EAST, 1), Edge::new(east, WEST, 1)])?;
    ///
    ///     // Ordinary slices, which no other PE can reach.
    ///     let mut rod = vec![0.0; CELLS];
    ///     rod[CELLS / 2] = 100.0;
    ///     let mut next = rod.clone();
    ///     for _ in 0..STEPS {
    ///         let mut exchange = halo.begin(world);
    ///         exchange.send(WEST, &rod[..1]);
    ///         exchange.send(EAST, &rod[CELLS - 1..]);
    ///
    ///         // The interior, while the edges travel.
    ///         for i in 1..CELLS - 1 {
    ///             next[i] = (rod[i - 1] + rod[i] + rod[i + 1]) / 3.0;
    ///         }
    ///
    ///         // The rim, when the neighbours' cells are there.
    ///         let ghosts = exchange.finish();
    ///         next[0] = (ghosts[WEST][0] + rod[0] + rod[1]) / 3.0;
    ///         next[CELLS - 1] = (rod[CELLS - 2] + rod[CELLS - 1] + ghosts[EAST][0]) / 3.0;
    ///         std::mem::swap(&mut rod, &mut next);
    ///     }
    ///     let heat: f64 = rod.iter().sum();
    ///     assert!((heat - 100.0).abs() < 1e-9);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Cubes with a layer of ghost cells. Regions of a slice are sent and unpacked:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// /// A cube of 6 x 6 x 6 cells, with a layer of ghost cells around.
    /// const ALL: usize = 8;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let (west, east) = world.ring_neighbours();
    ///     let mut halo = world.halo(&[Edge::new(west, 1, 6 * 6), Edge::new(east, 0, 6 * 6)])?;
    ///
    ///     let mut cube = vec![world.my_pe() as f64; ALL * ALL * ALL];
    ///     let face = |x: usize| [1..7, 1..7, x..x + 1];
    ///     let mut exchange = halo.begin(world);
    ///     exchange.send_region(0, &cube, [ALL; 3], face(1));
    ///     exchange.send_region(1, &cube, [ALL; 3], face(6));
    ///     let ghosts = exchange.finish();
    ///     ghosts.unpack(0, &mut cube, [ALL; 3], face(0));
    ///     ghosts.unpack(1, &mut cube, [ALL; 3], face(7));
    ///     assert_eq!(cube[(ALL + 1) * ALL], west.number() as f64);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the edges of the PEs do not fit together, or memory is short. The error is the same on every PE.
    #[track_caller]
    pub fn halo<T: PlainData>(&self, edges: &[Edge]) -> Result<Halo<T>> {
        let location = Location::caller();
        let subject = || format!("cells of {}", show_size(size_of::<T>() as u64));
        let arguments = [size_of::<T>() as u64, align_of::<T>() as u64];
        let signature = CallSignature::of_memory("halo", &arguments, &subject);
        let (job, me) = (self.job(), self.me());
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        self.reclaim_for(&agreed);

        let tables: Vec<_> = agreed.gather(&Edge::encode(edges));
        let tables: Vec<_> = tables.iter().map(|table| Edge::decode(table)).collect();
        let plan = HaloPlan::new(me.number(), &tables, size_of::<T>(), align_of::<T>())?;
        if plan.align > MAX_ALIGN {
            return Err(HeapError::Alignment { align: plan.align }.into());
        }
        let page = job.site.base_page();
        // Rounds up to whole pages. The limit avoids an overflow.
        let bytes = plan.bytes.clamp(1, isize::MAX as usize).div_ceil(page) * page;
        let request = Request {
            what: format!("halo at {}", at(location)),
            bytes,
            traits: Traits::NONE,
            placement: Placement::system(),
            populate: true,
        };
        let name = Text::head("halo");
        let made =
            dynamic_segments::make(job, &agreed, Ok(Wanted::new(request, 0, name)), |_, _| Ok(Vec::new()))?;
        let block = dynamic_segments::enter_whole(job, &made, (0, name), bytes, plan.align)?;
        let (words, released) = (bytes / size_of::<u64>(), Arc::clone(&job.memory.released));
        // SAFETY: this PE's ledger has just reserved `words` words under `block.id`, in new memory, which is zeroed. The ledgers of
        // all other PEs have done the same, because a ledger depends only on the agreed calls so far, and all PEs have made the
        // same ones (guarantees 1 and 2 of `Agreed`). Only the drop of this box queues the id for release.
        let memory: SymBox<[u64]> =
            unsafe { SymBox::__new(block.id, made.index, block.offset, words, released) };
        let links = plan.links(memory.segment(), memory.offset(), |number| job.site.pes()[number]);
        // SAFETY: all PEs are in this call with cells of this size and alignment, and have computed the same plan from the
        // exchanged tables (guarantees 1 and 2 of `Agreed`). The segment was made in this call on all PEs, and is as large as the
        // plan requires (`dynamic_segments::make` compares its bytes). Raw addresses cannot reach it. It is zeroed, and starts on a
        // multiple of `MAX_ALIGN`, which the plan's alignment divides. The box is not shared, and keeps the segment until all PEs
        // have dropped theirs.
        Ok(unsafe { Halo::__new(memory, me, links) })
    }
}
