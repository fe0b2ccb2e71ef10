//! What a barrier costs, and a collective allocation, which needs two of them.

use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "barrier",
    run: Some(|runner| [2, 16].into_iter().try_for_each(|pes| runner.jobs("barrier", pes))),
    tasks: &[("barrier", Task::Near(meet))],
    ..Measure::PLAIN
};

pub(crate) const ALLOC: Measure =
    Measure { name: "alloc", tasks: &[("alloc", Task::Near(allocations))], ..Measure::PLAIN };

/// Barriers in one sample while every PE has a core, and while PEs share cores: each is a round of sleeping and waking.
const SPINNING: usize = 500;
const SLEEPING: usize = 20;

fn meet(world: &mut World, bench: &Bench<'_>) -> Done {
    let (pes, first) = (world.n_pes(), world.my_pe() == 0);
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let words = words.on(world.pe(0)?);
    let name = format!("barrier {pes}");
    if pes == 2 && !bench.site.shared_cores {
        let line = word_at(world, words.index(0));
        bench.pairs(name, || barriers(world, SPINNING), || baseline::round_trip(line, first, SPINNING));
    } else {
        let barrier = FutexBarrier::on(world, words);
        bench.pairs(name, || barriers(world, SLEEPING), || each(SLEEPING, || barrier.wait(pes as u32)));
    }
    Ok(())
}

fn barriers(world: &World, count: usize) -> f64 {
    each(count, || world.barrier_all())
}

fn allocations(world: &mut World, bench: &Bench<'_>) -> Done {
    for bytes in [64, 4 << 10, 64 << 10, 1 << 20] {
        let both = || world.malloc(bytes).and_then(|block| world.free(block));
        // Says on all PEs whether there is room, so that the samples need not.
        both()?;
        let mut failed = Ok(());
        let cost = || each(100, || failed = both().and(std::mem::replace(&mut failed, Ok(()))));
        bench.pairs(format!("alloc {bytes}"), cost, || 2.0 * barriers(world, 100));
        failed?;
    }
    Ok(())
}
