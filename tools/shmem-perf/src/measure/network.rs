//! Collectives of two hosts; and the usual micro-benchmarks over libfabric, which are a part of `ofi`.

use super::ofi::{asleep, compare};
use super::*;
use crate::fabric::{WORD_OPERATIONS, steadily};
use crate::operation::{COLLECTIVES, Data};

pub(crate) const MEASURE: Measure = Measure {
    name: "network",
    about: "Collectives of two hosts over libfabric, against a put of as many bytes by a bare program, and puts both ways",
    run: Some(|runner| runner.repeat(&over(runner, "network", Given::default()))),
    tasks: &[
        ("ofi-micro", Task::Far(micro)),
        ("network", Task::Far(|pair, bench| collectives(pair, bench, 1 << 20))),
    ],
    rows: &[
        // What collectives ought to cost, in puts of as many bytes that come back.
        "network ** | collective/bytes/provider | barrier, broadcast, sum, fcollect, alltoall of two PEs; `broadcast-direct` ..: \
         on symmetric objects. What is given is written anew each time, on both sides | a put of as many bytes by the bare \
         program and its quiet: there and back | barrier/** 0.9; broadcast/8/* 0.9; broadcast/65536|1048576/* 1.25; \
         broadcast-direct/65536|1048576/* 1.15; sum/8/* 1; sum/65536|1048576/* 2.5; sum-direct/65536|1048576/* 2.3; \
         fcollect-direct|alltoall-direct/65536|1048576/* 2.1; fcollect|alltoall/8/* 1.1; fcollect|alltoall/65536|1048576/* 2.3",
        "network put|get|bandwidth|both-ways|fetch-add|add|swap|compare-swap|put-asleep|get-asleep|fetch-add-asleep/** | \
         operation/bytes/provider | the usual micro-benchmarks by size, 1 byte to 1 MiB: put, get, `bandwidth` (64 puts in \
         flight), `both-ways` (in both directions at once); fetch-add, add, swap, compare-swap; `-asleep`: to a PE that sleeps \
         in its own code | the same by the bare program",
        "network-both-ways ** | collective/bytes/provider | sum, fcollect, alltoall of two PEs; `sum-direct` .. | a put of as \
         many bytes by each PE at once by the bare program, behind whose quiets they meet | */1048576/* 1.25",
        "network-bare ** | both-ways/bytes/provider; chunks/bytes/bytes of each/provider | that; and puts of so many bytes each, \
         and their quiet, by the bare program | one put of all by one PE and its quiet, by the bare program",
    ],
    possible: fabric::possible,
    // Large data on symmetric objects. What else there is depends on how two PEs and a kernel share two cores.
    guards: &[(
        "network --jobs 1",
        &["network {broadcast,fcollect,alltoall}-direct/1048576/tcp;ofi_rxm | 2 | goal x1.5"],
    )],
    ..Measure::PLAIN
};

/// The usual micro-benchmarks by size: latencies of puts, gets and atomic operations, and puts with 64 in flight, of one PE and of
/// both; `quick`: fewer sizes, and no long collectives.
fn micro(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    let sizes: Vec<usize> = match bench.quick {
        true => vec![4, 8, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20],
        false => (0..=20).map(|power| 1 << power).collect(),
    };
    let of = |(name, in_flight)| sizes.iter().map(move |bytes| Operation::timed(name, *bytes, in_flight));
    let sized = [("put", 1), ("get", 1), ("bandwidth", 64)].into_iter().flat_map(of);
    let words = WORD_OPERATIONS.map(|name| Operation::timed(name, 8, 1));
    let served = sized.chain(words).map(|operation| (operation, false));
    compare(pair, bench, "network", served.chain(asleep()))?;
    for &bytes in &sizes {
        let many = Operation::timed("bandwidth", bytes, 64);
        let library = || {
            pair.through(many);
            pair.world.barrier_all();
        };
        let bare = || {
            pair.by_hand(many);
            pair.meet_bare(1);
        };
        let (cost, limit) =
            (|| nanoseconds_each(many.count(), library), || nanoseconds_each(many.count(), bare));
        let name = format!("network both-ways/{bytes}/{}", pair.provider);
        bench.pairs(name, || pair.both(State::Library, cost), || pair.both(State::Bare, limit));
    }
    collectives(pair, bench, if bench.quick { 4 << 10 } else { 1 << 20 })
}

/// The collectives of two PEs, of at most so many bytes: against a put, and where so many bytes go both ways that what matters is
/// how many go at a time, against as many puts. Those of a node, in both forms where these differ.
fn collectives(pair: &Pair<'_>, bench: &Bench<'_>, most: usize) -> Done {
    let provider = &pair.provider;
    for bytes in [64 << 10, 1 << 20].into_iter().filter(|bytes| *bytes <= most) {
        let whole = || pair.bare_puts(bytes, bytes, bytes, false);
        let name = format!("network-bare both-ways/{bytes}/{provider}");
        bench.pairs(name, || pair.bare_puts(bytes, bytes, bytes, true), whole);
        for each in [32 << 10, 64 << 10, 128 << 10].into_iter().filter(|each| *each < bytes) {
            let name = format!("network-bare chunks/{bytes}/{each}/{provider}");
            bench.pairs(name, || pair.bare_puts(bytes, each, bytes, false), whole);
        }
    }
    let sizes = [0, 8, 4 << 10, 64 << 10, 1 << 20].into_iter().filter(|bytes| *bytes <= most);
    for (name, bytes) in
        COLLECTIVES.into_iter().flat_map(|name| sizes.clone().map(move |bytes| (name, bytes)))
    {
        // A barrier is as of a word.
        let operation = Operation::timed(name, bytes.max(8), 1);
        // Short data is not moved otherwise there.
        if (name == "barrier") != (bytes == 0) || operation.is_direct() && bytes < 64 << 10 {
            continue;
        }
        let (case, written) =
            (format!("{name}/{bytes}/{provider}"), operation.written(2, true) * size_of::<f64>());
        let collective = || {
            pair.both(State::Library, || {
                let data = Data::new(pair.world, if operation.is_direct() { 2 * bytes } else { 0 });
                let mut data = data.unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
                steadily(|| operation.together(pair.world, &mut data))
            })
        };
        let put = || pair.bare_puts(operation.bytes, operation.bytes, written, false);
        bench.pairs(format!("network {case}"), collective, put);
        if bytes >= 64 << 10 && !name.starts_with("broadcast") {
            let swap = || pair.bare_puts(bytes, bytes, written, true);
            bench.pairs(format!("network-both-ways {case}"), collective, swap);
        }
    }
    Ok(())
}
