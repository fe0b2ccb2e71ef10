//! Collectives of two hosts; and the usual micro-benchmarks over libfabric, which are a part of `ofi`.

use super::collective::{Collective, OPERATIONS as COLLECTIVES};
use super::ofi::against_bare;
use super::*;
use crate::fabric::{OPERATIONS, Turn};

pub(crate) const MEASURE: Measure = Measure {
    name: "network",
    about: "Collectives of two hosts over libfabric, against a put of as many bytes by a bare program, and puts both ways",
    run: Some(|runner| runner.repeat(&over(runner, "network", Given::default()))),
    usual: false,
    tasks: &[
        ("ofi-micro", Task::Far(micro)),
        ("network", Task::Far(|bench, pair| collectives(bench, pair, 1 << 20))),
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

/// The usual micro-benchmarks by size; `quick`: fewer sizes, and no long collectives.
fn micro(bench: &Bench<'_>, pair: &Pair<'_>) -> Done {
    let sizes: Vec<usize> = match bench.given.quick {
        true => vec![4, 8, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20],
        false => (0..=20).map(|power| 1 << power).collect(),
    };
    let polling = Operation::micro(&sizes).into_iter().map(|operation| (operation, State::Polling));
    let latencies = OPERATIONS.into_iter().filter(|operation| operation.in_flight == 1);
    for (operation, state) in polling.chain(latencies.map(|operation| (operation, State::Asleep))) {
        against_bare(bench, pair, "network", &operation, state);
    }
    pair.ready(State::Polling);
    for bytes in sizes {
        let name = format!("network both-ways/{bytes}/{}", pair.provider);
        let of = |turn| move || pair.together(turn, bytes);
        bench.pairs(name, of(Turn::Exchange), of(Turn::BareExchange));
    }
    collectives(bench, pair, if bench.given.quick { 4 << 10 } else { 1 << 20 })
}

/// The collectives of two PEs, of at most so many bytes: against a put, and where so many bytes go both ways that what matters is
/// how many go at a time, against as many puts. Those of a node, in both forms where these differ.
fn collectives(bench: &Bench<'_>, pair: &Pair<'_>, most: usize) -> Done {
    let provider = &pair.provider;
    for bytes in [64 << 10, 1 << 20].into_iter().filter(|bytes| *bytes <= most) {
        let whole = || pair.bare_puts(bytes, bytes, bytes);
        let name = format!("network-bare both-ways/{bytes}/{provider}");
        bench.pairs(name, || pair.together(Turn::BareSwap(1), bytes), whole);
        for each in [32 << 10, 64 << 10, 128 << 10].into_iter().filter(|each| *each < bytes) {
            let name = format!("network-bare chunks/{bytes}/{each}/{provider}");
            bench.pairs(name, || pair.bare_puts(bytes, each, bytes), whole);
        }
    }
    let all = COLLECTIVES.into_iter().flat_map(|operation| {
        [0, 8, 4 << 10, 64 << 10, 1 << 20].map(|bytes| Collective { operation, bytes })
    });
    for case @ Collective { operation, bytes } in all.filter(|case| case.bytes <= most) {
        // Short data is not moved otherwise there.
        if (operation == "barrier") != (bytes == 0) || case.is_direct() && bytes < 64 << 10 {
            continue;
        }
        let (name, written) =
            (format!("{operation}/{bytes}/{provider}"), case.written(2, true) * size_of::<f64>());
        // A barrier is as of a word.
        let at_least = bytes.max(8);
        let collective = || pair.together(Turn::Collective(operation), at_least);
        bench.pairs(format!("network {name}"), collective, || pair.bare_puts(at_least, at_least, written));
        if bytes >= 64 << 10 && !operation.starts_with("broadcast") {
            let swap = || pair.together(Turn::BareSwap(written / bytes), bytes);
            bench.pairs(format!("network-both-ways {name}"), collective, swap);
        }
    }
    Ok(())
}
