//! Collectives of two hosts; and the usual micro-benchmarks over libfabric, which are a part of `ofi`.

use std::sync::Arc;

use clap::{Args, FromArgMatches};

use super::Measure;
use super::collective::{self, Collective};
use super::ofi::against_bare;
use crate::bench::{Done, Given, Task};
use crate::check::Guard;
use crate::fabric::{self, Far, OPERATIONS, Operation, PROVIDER, Pair, State, Turn, over};
use crate::hosts::Hosts;
use crate::runner::Runner;

pub(crate) const MEASURE: Measure = Measure {
    name: "network",
    about: "Collectives of two hosts over libfabric, against a put of as many bytes by a bare program, and puts both ways",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { provider } = Options::from_arg_matches(options)?;
        runner.repeat(&over(runner, &TOGETHER, &provider, Given::default()))
    },
    usual: false,
    tasks: &[MICRO, MICRO_FEW, TOGETHER, TOGETHER_GUARDED],
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
    // Large data on symmetric objects. What else there is depends on how two PEs and a kernel share two cores.
    guards: &[Guard {
        jobs: 1,
        possible: fabric::possible,
        ..Guard::of(
            "network",
            |runner| runner.repeat(&over(runner, &TOGETHER_GUARDED, PROVIDER, Given::default())),
            &["network {broadcast,fcollect,alltoall}-direct/1048576/tcp;ofi_rxm | 2 | goal x1.5"],
        )
    }],
};

/// What is measured of a provider.
#[derive(Args, Clone, Debug)]
struct Options {
    /// The provider of libfabric.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

const MICRO: Task = Task::far("ofi-micro", |far| of_all(far, false));
const MICRO_FEW: Task = Task::far("ofi-micro-few", |far| of_all(far, true));
const TOGETHER: Task = Task::far("network", |far| {
    far.pair()?.measure(|pair| collectives(far, pair, false));
    Ok(())
});
const TOGETHER_GUARDED: Task = Task::far("network-guarded", |far| {
    far.pair()?.measure(|pair| {
        for operation in ["broadcast", "fcollect", "alltoall"] {
            of_one(far, pair, Collective { operation, bytes: 1 << 20, direct: true });
        }
    });
    Ok(())
});

/// Latencies, bandwidths, atomic operations and collectives by size.
pub(crate) fn micro(runner: &mut Runner, few: bool, hosts: Option<&Arc<Hosts>>, provider: &str) -> Done {
    let task = if few { &MICRO_FEW } else { &MICRO };
    runner.repeat(&over(runner, task, provider, Given::default()).on(hosts))
}

/// The usual micro-benchmarks.
fn of_all(far: &Far<'_>, few: bool) -> Done {
    far.pair()?.measure(|pair| {
        let polling = Operation::micro(few).into_iter().map(|operation| (operation, State::Polling));
        let latencies = OPERATIONS.into_iter().filter(|operation| operation.in_flight == 1);
        for (operation, state) in polling.chain(latencies.map(|operation| (operation, State::Asleep))) {
            against_bare(far, pair, "network", &operation, state);
        }
        pair.ready(State::Polling);
        for bytes in Operation::sizes(few) {
            let name = format!("network both-ways/{bytes}/{}", far.provider);
            let of = |turn| move || pair.together(turn, bytes);
            far.pairs(name, of(Turn::Exchange), of(Turn::BareExchange));
        }
        collectives(far, pair, few);
    });
    Ok(())
}

/// The collectives of two PEs: those of a node, and the longest of each family; in both forms where these differ.
fn collectives(far: &Far<'_>, pair: &Pair<'_>, few: bool) {
    let provider = &far.provider;
    for bytes in [64 << 10, 1 << 20].into_iter().filter(|_| !few) {
        let whole = || pair.bare_puts(bytes, bytes, bytes);
        let name = format!("network-bare both-ways/{bytes}/{provider}");
        far.pairs(name, || pair.together(Turn::BareSwap(1), bytes), whole);
        for each in [32 << 10, 64 << 10, 128 << 10].into_iter().filter(|each| *each < bytes) {
            let name = format!("network-bare chunks/{bytes}/{each}/{provider}");
            far.pairs(name, || pair.bare_puts(bytes, each, bytes), whole);
        }
    }
    let longest =
        ["fcollect", "alltoall"].map(|operation| Collective { operation, bytes: 1 << 20, direct: false });
    for case in collective::cases().chain(longest).filter(|case| !few || case.bytes <= 4 << 10) {
        of_one(far, pair, case);
        // Short data is not moved otherwise there.
        if case.bytes >= 64 << 10 {
            of_one(far, pair, Collective { direct: true, ..case });
        }
    }
}

/// A collective against a put, and where so many bytes go both ways that what matters is how many go at a time, against as many
/// puts.
fn of_one(far: &Far<'_>, pair: &Pair<'_>, case: Collective) {
    let Collective { operation, bytes, direct } = case;
    let name = format!("{operation}{}/{bytes}/{}", if direct { "-direct" } else { "" }, far.provider);
    let written = case.written(2, true) * size_of::<f64>();
    // A barrier is as of a word.
    let at_least = bytes.max(8);
    let collective = || pair.together(Turn::Collective(operation, direct), at_least);
    far.pairs(format!("network {name}"), collective, || pair.bare_puts(at_least, at_least, written));
    if matches!(operation, "sum" | "fcollect" | "alltoall") && bytes >= 64 << 10 {
        let swap = || pair.together(Turn::BareSwap(written / bytes), bytes);
        far.pairs(format!("network-both-ways {name}"), collective, swap);
    }
}
