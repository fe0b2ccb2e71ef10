//! Collectives, as measures beside other libraries and over networks run them.

use super::*;

/// Collectives, as cases name them: `broadcast` from each PE in turn, `sum` of `f64`; `-direct`: on symmetric objects, in place,
/// and not on memory of the PEs' own. Requests to a peer do without that.
pub(crate) const OPERATIONS: [&str; 9] = [
    "barrier",
    "broadcast",
    "broadcast-direct",
    "sum",
    "sum-direct",
    "fcollect",
    "fcollect-direct",
    "alltoall",
    "alltoall-direct",
];

/// A collective and how much it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Collective {
    /// One of [`OPERATIONS`].
    pub(crate) operation: &'static str,
    /// Bytes that one PE contributes; of an alltoall, those for each PE.
    pub(crate) bytes: usize,
}

/// What collectives work on: memory of a PE's own, and symmetric objects.
pub(crate) struct Data {
    mine: Vec<f64>,
    all: Vec<f64>,
    objects: Option<[SymBox<[f64]>; 2]>,
}

impl Data {
    /// For all cases that are not direct, and direct ones whose objects have at most so many bytes. Collective.
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Result<Self> {
        let most = (1 << 20) / size_of::<f64>() * world.n_pes();
        let object = || world.alloc(zeroed::<f64>(bytes / size_of::<f64>()));
        let objects = if bytes > 0 { Some([object()?, object()?]) } else { None };
        Ok(Self { mine: vec![0.0; most], all: vec![0.0; most], objects })
    }
}

impl Collective {
    pub(crate) fn is_direct(self) -> bool {
        self.operation.ends_with("-direct")
    }

    /// What is done, on whatever memory.
    fn kind(self) -> &'static str {
        self.operation.trim_end_matches("-direct")
    }

    /// Elements that a PE contributes, and writes anew before each collective, as the peers do (`micro.h`): what never
    /// changes would lie in the caches of those who read it.
    pub(crate) fn written(self, pes: usize, is_root: bool) -> usize {
        let items = self.bytes / size_of::<f64>();
        match self.kind() {
            "barrier" => 0,
            "broadcast" => items * usize::from(is_root),
            "alltoall" => items * pes,
            _ => items,
        }
    }

    /// Nanoseconds of one of `times` collectives of all PEs, which call it.
    pub(crate) fn run<L: ThreadLevel>(self, world: &World<L>, data: &mut Data, times: usize) -> f64 {
        let (pes, me, items) = (world.n_pes(), world.my_pe(), self.bytes / size_of::<f64>());
        let roots: Vec<_> = world.pes().iter().collect();
        let written = [false, true].map(|is_root| self.written(pes, is_root));
        let mut turn = 0;
        // In turn, so that each waits for the data of the one before: otherwise the root would run ahead.
        let mut next = || {
            turn += 1;
            let root = roots[turn % pes];
            (root, written[usize::from(root.number() == me)], (turn % 100) as u8)
        };
        let Some([given, taken]) = data.objects.as_ref().filter(|_| self.is_direct()) else {
            let Data { mine, all, .. } = data;
            let given = if self.kind() == "alltoall" { items * pes } else { items };
            // Words are compared outside of what is measured.
            let one: fn(&World<L>, &mut [f64], &mut [f64], Pe) = match self.kind() {
                "barrier" => |world, _, _, _| world.barrier_all(),
                "broadcast" => |world, mine, _, root| world.broadcast(mine, root),
                "sum" => |world, mine, _, _| world.sum(mine),
                "fcollect" => |world, mine, all, _| world.fcollect(&*mine, all),
                _ => |world, mine, all, _| world.alltoall(&*mine, all),
            };
            return timed(world, times, || {
                let (root, written, byte) = next();
                bytemuck::cast_slice_mut(&mut mine[..written]).fill(byte);
                one(world, &mut mine[..given], &mut all[..items * pes], root);
            });
        };
        let (whole, all) = (given.here(world).index(..items * pes), taken.here(world).index(..items * pes));
        let one = given.here(world).index(..items);
        let own = near(given.on(roots[me]).index(..items * pes).ptr(world)).cast::<f64>();
        let kind = self.kind();
        timed(world, times, || {
            let (root, written, byte) = next();
            // SAFETY: the own copy has as many elements, of which any bytes are a value; other PEs read and write them
            // in collectives, between the meetings of which this PE is in one as well.
            unsafe { own.write_bytes(byte, written) };
            match kind {
                "broadcast" => world.broadcast(one, root),
                "sum" => world.sum(one),
                "fcollect" => world.fcollect(&one, all),
                _ => world.alltoall(&whole, all),
            }
        })
    }
}

/// Nanoseconds of one of so many. The PEs come together before, and the caches belonged to somebody else.
fn timed<L: ThreadLevel>(world: &World<L>, times: usize, mut collective: impl FnMut()) -> f64 {
    (0..4).for_each(|_| collective());
    world.barrier_all();
    each(times, collective)
}
