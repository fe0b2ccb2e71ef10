//! A stencil with a halo, against the same with barriers.

use shmem::zeroed;
use shmem_perf::halo::{SIZES, Stencil};

use crate::bench::{Bench, Records};

impl Bench<'_> {
    pub(crate) fn halo(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let word = world.alloc(zeroed::<u64>(16))?;
        let word = word.on(world.pe(0)?).index(0);
        let mut records = Vec::new();
        for size in SIZES {
            let mut stencil = Stencil::new(world, size)?;
            let mut add =
                |case: String, compared, samples| records.push(self.record("halo", case, compared, samples));
            let samples = stencil.against_barrier(repetitions);
            add(format!("{size}x{size}"), "a step with a halo, against one with a barrier", samples);
            if size == SIZES[0] {
                let samples = stencil.against_round_trip(word, repetitions);
                let compared = "an exchange with two edges, against a round trip of a cache line";
                add(format!("exchange/{size}"), compared, samples);
            }
            if size == SIZES[2] {
                let samples = stencil.against_barrier_when_late(repetitions);
                let compared = "a step with a halo, against one with a barrier, while one PE is late";
                add(format!("late/{size}x{size}"), compared, samples);
                let samples = stencil.interior(repetitions);
                let compared = "relaxing the interior while edges travel, against the same slices alone";
                add(format!("interior/{size}x{size}"), compared, samples);
            }
        }
        Ok(records)
    }
}
