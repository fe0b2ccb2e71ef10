//! Collectives of two hosts; and the usual micro-benchmarks over libfabric, which are a part of `ofi`.

use std::sync::Arc;

use clap::{Args, FromArgMatches};
use shmem::thread::Single;

use super::collective::{self, CollectiveCase};
use super::ofi::case_of;
use super::{At, Cases, Measure, row};
use crate::bench::Records;
use crate::case::Record;
use crate::check::{Bound, Guard, held_by_two};
use crate::fabric::{self, Far, OPERATIONS, Operation, PROVIDER, State, over};
use crate::goal::Goal;
use crate::hosts::Hosts;
use crate::runner::Runner;
use crate::task::{Done, Task};

type Pair<'w> = fabric::Pair<'w, Single>;

/// What collectives ought to cost, in puts of as many bytes that come back.
const COLLECTIVES: &[(&str, At, Goal)] = &[
    ("network barrier/*/*", At::Anywhere, Goal::Ratio(0.9)),
    ("network broadcast/8/*", At::Anywhere, Goal::Ratio(0.9)),
    ("network broadcast/65536|1048576/*", At::Anywhere, Goal::Ratio(1.25)),
    ("network broadcast-direct/65536|1048576/*", At::Anywhere, Goal::Ratio(1.15)),
    ("network sum/8/*", At::Anywhere, Goal::Ratio(1.0)),
    ("network sum/65536|1048576/*", At::Anywhere, Goal::Ratio(2.5)),
    ("network sum-direct/65536|1048576/*", At::Anywhere, Goal::Ratio(2.3)),
    ("network fcollect-direct|alltoall-direct/65536|1048576/*", At::Anywhere, Goal::Ratio(2.1)),
    ("network fcollect|alltoall/8/*", At::Anywhere, Goal::Ratio(1.1)),
    ("network fcollect|alltoall/65536|1048576/*", At::Anywhere, Goal::Ratio(2.3)),
];

pub(crate) const MEASURE: Measure = Measure {
    name: "network",
    about: "Collectives of two hosts over libfabric, against a put of as many bytes by a bare program, and puts both ways",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { few, provider } = Options::from_arg_matches(options)?;
        runner.repeat(&over(runner, if few { &TOGETHER_FEW } else { &TOGETHER }, &provider))
    },
    usual: false,
    tasks: &[MICRO, MICRO_FEW, TOGETHER, TOGETHER_FEW, TOGETHER_GUARDED],
    rows: ROWS,
    // Large data on symmetric objects. What else there is depends on how two PEs and a kernel share two cores.
    guards: &[Guard {
        jobs: 1,
        possible: fabric::possible,
        ..Guard::of(
            "network",
            |runner| runner.repeat(&over(runner, &TOGETHER_GUARDED, PROVIDER)),
            || {
                let name = |operation| format!("network {operation}-direct/{}/{PROVIDER}", 1 << 20);
                GUARDED.map(|operation| held_by_two(&name(operation), Bound::Eased(1.5))).into()
            },
        )
    }],
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("network | operation/bytes/provider | the usual micro-benchmarks by size, 1 byte to 1 MiB: put, get, `bandwidth` (64 \
         puts in flight), `both-ways` (in both directions at once); fetch-add, add, swap, compare-swap | the same by the bare \
         program", &[]),
    row("network | collective/bytes/provider | barrier, broadcast, sum, fcollect, alltoall of two PEs; `broadcast-direct` ..: \
         on symmetric objects. What is given is written anew each time, on both sides | a put of as many bytes by the bare \
         program and its quiet: there and back", COLLECTIVES),
    row("network-both-ways | collective/bytes/provider | sum, fcollect, alltoall of two PEs; `sum-direct` .. | a put of as \
         many bytes by each PE at once by the bare program, behind whose quiets they meet",
        &[("network-both-ways */1048576/*", At::Anywhere, Goal::Ratio(1.25))]),
    row("network-bare | both-ways/bytes/provider; chunks/bytes/bytes of each/provider | that; and puts of so many bytes each, \
         and their quiet, by the bare program | one put of all by one PE and its quiet, by the bare program", &[]),
];

const GUARDED: [&str; 3] = ["broadcast", "fcollect", "alltoall"];

/// What is measured of a provider.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Small collectives only.
    #[arg(long)]
    few: bool,
    /// The provider of libfabric.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

const MICRO: Task = Task::far("ofi-micro", |far| of_all(far, false));
const MICRO_FEW: Task = Task::far("ofi-micro-few", |far| of_all(far, true));
const TOGETHER: Task =
    Task::far("network", |far| Ok(far.pair()?.measure(|pair| collectives(far, pair, false))));
const TOGETHER_FEW: Task =
    Task::far("network-few", |far| Ok(far.pair()?.measure(|pair| collectives(far, pair, true))));
const TOGETHER_GUARDED: Task = Task::far("network-guarded", |far| {
    let case = |operation| CollectiveCase { operation, bytes: 1 << 20 };
    Ok(far
        .pair()?
        .measure(|pair| GUARDED.into_iter().flat_map(|name| of_one(far, pair, case(name), true)).collect()))
});

/// Latencies, bandwidths, atomic operations and collectives by size.
pub(crate) fn micro(runner: &mut Runner, few: bool, hosts: Option<&Arc<Hosts>>, provider: &str) -> Done {
    runner.repeat(&over(runner, if few { &MICRO_FEW } else { &MICRO }, provider).on(hosts))
}

/// The usual micro-benchmarks.
fn of_all(far: &Far<'_, Single>, few: bool) -> Records {
    Ok(far.pair()?.measure(|pair| {
        let polling = Operation::micro(few).into_iter().map(|operation| (operation, State::Polling));
        let asleep =
            OPERATIONS.into_iter().filter(Operation::is_latency).map(|operation| (operation, State::Asleep));
        let one_sided = polling.chain(asleep).map(|(operation, state)| {
            let (name, compared) = case_of(far, "network", &operation, state);
            far.record(&name, &compared, pair.against_bare(&operation, state, far.repetitions))
        });
        let mut records: Vec<_> = one_sided.collect();
        pair.ready(State::Polling);
        for bytes in Operation::sizes(few) {
            let compared = "non-blocking puts with 64 in flight in both directions at once, against the bare \
                            program; time for each in one direction";
            let name = format!("network both-ways/{bytes}/{}", far.provider);
            records.push(far.record(&name, compared, pair.both_ways(bytes, far.repetitions)));
        }
        records.extend(collectives(far, pair, few));
        records
    }))
}

/// The collectives of two PEs: those of a node, and the longest of each family; in both forms where these differ.
fn collectives(far: &Far<'_, Single>, pair: &Pair<'_>, few: bool) -> Vec<Record> {
    let (mut records, provider) = (Vec::new(), &far.provider);
    for bytes in [64 << 10, 1 << 20].into_iter().filter(|_| !few) {
        let one = "one put of all by one PE and its quiet, by the bare program; what is put is written anew each time";
        let compared = format!(
            "a put of each PE at once by the bare program, behind whose quiets they meet, against {one}"
        );
        let name = format!("network-bare both-ways/{bytes}/{provider}");
        records.push(far.record(&name, &compared, pair.bare_both_ways(bytes, far.repetitions)));
        for each in [32 << 10, 64 << 10, 128 << 10].into_iter().filter(|each| *each < bytes) {
            let compared =
                format!("puts of {} KiB and their quiet by the bare program, against {one}", each >> 10);
            let name = format!("network-bare chunks/{bytes}/{each}/{provider}");
            records.push(far.record(&name, &compared, pair.bare_chunks(bytes, each, far.repetitions)));
        }
    }
    let longest = ["fcollect", "alltoall"].map(|operation| CollectiveCase { operation, bytes: 1 << 20 });
    for case in collective::cases().chain(longest).filter(|case| !few || case.bytes <= 4 << 10) {
        records.extend(of_one(far, pair, case, false));
        // Short data is not moved otherwise there.
        if case.bytes >= 64 << 10 {
            records.extend(of_one(far, pair, case, true));
        }
    }
    records
}

/// A collective against a put, and where so many bytes go both ways that what matters is how many go at a time, against as many puts.
fn of_one(far: &Far<'_, Single>, pair: &Pair<'_>, case: CollectiveCase, direct: bool) -> Vec<Record> {
    let CollectiveCase { operation, bytes } = case;
    let (suffix, form) = if direct { ("-direct", " on symmetric objects") } else { ("", "") };
    let name = format!("{operation}{suffix}/{bytes}/{}", far.provider);
    let compared = |what: &str| {
        format!(
            "a collective of two PEs{form}, against a put of as many bytes by {what}; what is given is written anew each time"
        )
    };
    let samples = pair.collective(case, direct, far.repetitions);
    let one = compared("the bare program and its quiet, there and back");
    let mut records = vec![far.record(&format!("network {name}"), &one, samples)];
    if matches!(operation, "sum" | "fcollect" | "alltoall") && bytes >= 64 << 10 {
        let samples = pair.collective_both_ways(case, direct, far.repetitions);
        let both = compared("each PE at once by the bare program, behind whose quiets they meet");
        records.push(far.record(&format!("network-both-ways {name}"), &both, samples));
    }
    records
}
