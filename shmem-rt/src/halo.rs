//! Making halos.
//!
//! All PEs exchange their edges, so each checks that all match, and computes the places of its neighbours' messages. The memory
//! is a segment that no raw address finds.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::Initiator;
use shmem_core::fixed_text::Text;
use shmem_core::halo::{Edge, Halo, HaloPlan};
use shmem_core::heap::{HeapError, MAX_ALIGN};
use shmem_core::memory::{Placement, Request};
use shmem_core::object::SymBox;
use shmem_core::partition::{Traits, show_size};
use shmem_core::symmetric_data::PlainData;

use crate::caller::at;
use crate::dynamic_segments::{self, Wanted};
use crate::error::Result;
use crate::group::Purpose;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Makes a halo: memory for ghost cells, and access to the neighbours'. Collective; each PE passes its own edges, which are numbered
    /// by their position.
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
    ///         let mut flight = halo.begin(world);
    ///         flight.send(WEST, &rod[..1]);
    ///         flight.send(EAST, &rod[CELLS - 1..]);
    ///
    ///         // The interior, while the edges travel.
    ///         for i in 1..CELLS - 1 {
    ///             next[i] = (rod[i - 1] + rod[i] + rod[i + 1]) / 3.0;
    ///         }
    ///
    ///         // The rim, when the neighbours' cells are there.
    ///         let ghosts = flight.finish();
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
    ///     let mut flight = halo.begin(world);
    ///     flight.send_region(0, &cube, [ALL; 3], face(1));
    ///     flight.send_region(1, &cube, [ALL; 3], face(6));
    ///     let ghosts = flight.finish();
    ///     ghosts.unpack(0, &mut cube, [ALL; 3], face(0));
    ///     ghosts.unpack(1, &mut cube, [ALL; 3], face(7));
    ///     assert_eq!(cube[(ALL + 1) * ALL], west.number() as f64);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the edges of the PEs do not fit together, or there is no room: the same error on every PE.
    #[track_caller]
    pub fn halo<T: PlainData>(&self, edges: &[Edge]) -> Result<Halo<T>> {
        let location = Location::caller();
        let subject = || format!("cells of {}", show_size(size_of::<T>() as u64));
        let arguments = [size_of::<T>() as u64, align_of::<T>() as u64];
        let purpose = Purpose::of_memory("halo", &arguments, &subject);
        let (job, me) = (self.job(), self.me());
        let agreed = self.team().agree_on(self.endpoint(), &purpose);
        self.reclaim_for(&agreed);

        let tables: Vec<_> = agreed.gather(&Edge::encode(edges));
        let tables: Vec<_> = tables.iter().map(|table| Edge::decode(table)).collect();
        let plan = HaloPlan::new(me.number(), &tables, size_of::<T>(), align_of::<T>())?;
        if plan.align > MAX_ALIGN {
            return Err(HeapError::Alignment { align: plan.align }.into());
        }
        let page = job.site.base_page();
        // Whole pages, without overflow.
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
        // SAFETY: the ledger of this PE has just reserved the words under this number, in fresh memory, which is zeroed.
        // So have the ledgers of all PEs: these have made the same calls before, each agreed on, and are in
        // this one (`Agreed`, 1 and 2). Only the box queues the number.
        let memory: SymBox<[u64]> =
            unsafe { SymBox::__new(block.id, made.index, block.offset, words, released) };
        let links = plan.links(memory.segment(), memory.offset(), |number| job.site.pes()[number]);
        // SAFETY: all PEs are in this call for cells of this size and alignment (`Agreed`, 1), and have made the same
        // plan from the tables that each has sent in it (`Agreed`, 2). The segment was made in this call, on all of them,
        // with room for that plan (`segments::make` compares its bytes); it is hidden, fresh, thus zeroed, and starts on a
        // multiple of `MAX_ALIGN`, which the plan's alignment divides. The box keeps it until all PEs have dropped
        // their boxes, and was given to nobody else.
        Ok(unsafe { Halo::__new(memory, me, links) })
    }
}
