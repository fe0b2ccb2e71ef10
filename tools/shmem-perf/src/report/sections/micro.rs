//! The usual micro-benchmarks between two PEs of a node, beside other libraries, and between nodes.

use std::rc::Rc;
use std::sync::Arc;

use super::super::page::Column::{Limit, Ratio, Value};
use super::super::show::{Cases, Facts, Grid, Headline, Line, Of, Plot, Show};
use super::{Plan, Section, Step};
use crate::fabric::PROVIDER;
use crate::hosts::Hosts;
use crate::measure::{indexed, micro, network, signal};
use crate::peers::Peer;
use crate::runner::Runner;
use crate::task::Done;
use crate::task::Fact;

/// What users ask of a micro-benchmark.
macro_rules! asked {
    ($asked:literal, $case:literal) => {
        Headline::time(
            $asked,
            "micro-ratios",
            concat!("micro ", $case, "/*"),
            [
                concat!("micro ", $case, "/oshmem-micro"),
                concat!("micro ", $case, "/mpi-micro"),
                concat!("micro ", $case, "/lamellar"),
                concat!("micro ", $case, "/floor"),
            ],
        )
    };
}

/// The same of two hosts.
macro_rules! between {
    ($asked:literal, $case:literal) => {
        Headline {
            variant: "hosts",
            ..Headline::time(
                $asked,
                "network-ratios",
                concat!("network ", $case, "/*"),
                ["", "", "", concat!("network ", $case, "/*")],
            )
        }
    };
}

/// A figure of an operation by size.
macro_rules! by_size {
    ($title:literal, $operation:literal, $y:literal) => {
        Show::Plot(Plot {
            title: $title,
            variant: "",
            x: "bytes of a message",
            y: $y,
            lines: &[
                Line(concat!("micro ", $operation, "/{x}/floor"), Of::Cost, "ours"),
                Line(
                    concat!("micro ", $operation, "/{x}/{line:oshmem-micro|mpi-micro|lamellar}"),
                    Of::Theirs,
                    "",
                ),
                Line(concat!("micro ", $operation, "/{x}/floor"), Of::Limit, "C over mmap"),
            ],
        })
    };
}

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "micro",
    title: "Micro-benchmarks",
    source: "OSU Micro-Benchmarks, their definitions",
    steps,
    headlines: &[
        asked!("Write 8 bytes to the other PE, complete there", "put/8"),
        asked!("Write 1 MiB", "put/1048576"),
        asked!("Read 8 bytes", "get/8"),
        asked!("Read 1 MiB", "get/1048576"),
        asked!("Write 1 MiB again and again, 64 under way; a byte", "bandwidth/1048576"),
        asked!("Write 8 bytes again and again, 64 under way; each", "rate/8"),
        asked!("Add to a word of the other PE, and get what it was", "fetch-add/8"),
        asked!("Change a word of the other PE if it is as expected", "compare-swap/8"),
        asked!("A barrier of two PEs", "barrier/0"),
        asked!("Broadcast of 8 bytes", "broadcast/8"),
        asked!("Broadcast of 64 KiB", "broadcast/65536"),
        asked!("Sum of one double", "sum/8"),
        asked!("Sum of 64 KiB of doubles", "sum/65536"),
        asked!("Alltoall of 8 bytes", "alltoall/8"),
        asked!("Alltoall of 64 KiB", "alltoall/65536"),
        Headline::time("Put 8 bytes with a signal that the other PE waits for, one way", "micro-signals", "signal 8", ["", "",
            "", "signal 8"]),
        between!("Between hosts: write 8 bytes, complete there", "put/8"),
        between!("Between hosts: read 8 bytes", "get/8"),
        between!("Between hosts: add to a word, and get what it was", "fetch-add/8"),
        between!("Between hosts: write 1 MiB again and again, 64 under way; each", "bandwidth/1048576"),
    ],
    shows: &[
        Show::Heading("On one node"),
        Show::Text("Two PEs of one node with a core each, and beside them the same two processes of each other program; a \
             sample of ours, then one of each of the others, and again. A put is complete at its destination before the next \
             one begins, by shmem_quiet and MPI_Win_flush. C over mmap (floor) is no library but the least: memcpy or one \
             store, its quiet a full fence as ours is, its atomic operations the processor's, its collectives one meeting and \
             then a copy of what the other process has in shared memory. Broadcasts, sums and alltoalls of ours start from \
             private memory, those of OpenSHMEM and of the floor from symmetric memory, those of MPI from private memory; \
             -direct: of symmetric objects. Bandwidths: time for each byte; rate: for each message."),
        by_size!("Put and quiet", "put", "ns"),
        by_size!("Get", "get", "ns"),
        by_size!("Bandwidth: 64 puts at once, then quiet", "bandwidth", "ns for a byte"),
        by_size!("Bidirectional bandwidth: both PEs at the same time", "bidirectional", "ns for a byte"),
        by_size!("Broadcast, from each PE in turn", "broadcast", "ns"),
        by_size!("Sum of f64 to all", "sum", "ns"),
        by_size!("Fcollect", "fcollect", "ns"),
        by_size!("Alltoall", "alltoall", "ns"),
        by_size!("Broadcast of a symmetric object", "broadcast-direct", "ns"),
        by_size!("Sum of a symmetric object", "sum-direct", "ns"),
        by_size!("Fcollect of symmetric objects", "fcollect-direct", "ns"),
        by_size!("Alltoall of symmetric objects", "alltoall-direct", "ns"),
        Show::Grid(Grid { name: "micro-ratios", title: "All of them, beside each program", variant: "",
            cases: "micro {row}/{row}/{column}", shows: &[Value, Limit, Ratio], published: &[],
            under: "Value: ours; limit: theirs; ratios are of times, the medians of pairs: below 1, ours is faster. Atomic \
             operations work on a 64-bit word of the other PE. histogram and index-gather: a table of 2 MiB on both PEs, by \
             both at once; each element." }),
        Show::Cases(Cases { name: "micro-signals", title: "Put with a signal to a PE that waits, one way", variant: "",
            cases: &[("signal **", "")],
            under: "Over half a ping-pong: as many bytes by memcpy, and a word behind them; line: over a cache line." }),
        Show::Cases(Cases { name: "", title: "An element of a list of indices, of 64 Ki at random", variant: "",
            cases: &[("indexed gather|gather-over|add|add-loop|add-plain|fetch-add|f64/*", ""), ("indexed-shared *", "")],
            under: "Over what the same memory allows: gathers over a loop in one process, additions of one PE over as many \
             locked additions to one word, the others over a loop of single operations." }),
        Show::Heading("Over libfabric"),
        Show::Text("Two PEs through the provider tcp;ofi_rxm: over the loopback interface of one host, and between two hosts. \
             The limit is a bare program that calls libfabric in the same way and does nothing else, in turn between the same \
             two processes. A put counts when it is complete at the other PE. The other PE polls where nothing else is said. \
             A window (bandwidth) is 64 puts and one quiet; both-ways: in both directions at once; time for each put."),
        Show::Facts(Facts { title: "Hosts", table: "places", under: "" }),
        latency("Latency, loopback", LOOPBACK),
        latency("Latency, two hosts", HOSTS),
        over_bare("Over the bare program, loopback", LOOPBACK),
        over_bare("Over the bare program, two hosts", HOSTS),
        by_bytes("", "By size, loopback", LOOPBACK),
        by_bytes("network-ratios", "By size, between two hosts", HOSTS),
        others("Atomic operations, a PE that sleeps in its own code, and collectives of two PEs: loopback", LOOPBACK),
        others("The same between two hosts", HOSTS),
        Show::Cases(Cases { name: "", title: "Collectives over puts of as many bytes in both directions at once, by the bare \
             program; and what that needs itself", variant: "", cases: &[("network-both-ways **", ""), ("network-bare **", "")],
            under: "" }),
        lists("Lists of indices of another node, loopback", LOOPBACK),
        lists("Lists of indices of another node, two hosts", HOSTS),
    ],
};

/// Where the same cases are measured.
const LOOPBACK: &str = "loopback";
const HOSTS: &str = "hosts";

const fn latency(title: &'static str, variant: &'static str) -> Show {
    let lines = &[
        Line("network {line:put|get}/{x}/*", Of::Cost, ""),
        Line("network {line:put|get}/{x}/*", Of::Limit, "bare"),
    ];
    Show::Plot(Plot { title, variant, x: "bytes", y: "ns", lines })
}

const fn over_bare(title: &'static str, variant: &'static str) -> Show {
    let lines = &[Line("network {line:put|get|bandwidth|both-ways}/{x}/*", Of::Ratio, "")];
    Show::Plot(Plot { title, variant, x: "bytes", y: "time over that of the bare program", lines })
}

const fn by_bytes(name: &'static str, title: &'static str, variant: &'static str) -> Show {
    let cases = "network {column:put|get|bandwidth|both-ways}/{row}/*";
    Show::Grid(Grid { name, title, variant, cases, shows: &[Value, Limit, Ratio], published: &[], under: "" })
}

const fn others(title: &'static str, variant: &'static str) -> Show {
    let cases = &[
        ("network put-asleep|get-asleep|fetch-add-asleep|fetch-add|add|swap|compare-swap/**", ""),
        ("network barrier|broadcast|sum|fcollect|alltoall/**", ""),
        ("network broadcast-direct|sum-direct|fcollect-direct|alltoall-direct/**", ""),
    ];
    let under = "The limit of a collective is a put of as many bytes by the bare program and its quiet, which is there and back; \
                 the barrier's is one of 8 bytes. Direct: in place, on symmetric objects.";
    Show::Cases(Cases { name: "", title, variant, cases, under })
}

const fn lists(title: &'static str, variant: &'static str) -> Show {
    let cases = &[("indexed network-add|network-gather", ""), ("indexed network-rate|list|flood/*", "")];
    let under = "Of 1 Mi elements, over as many bytes by the bare program, and packing and applying in memory; rates of two PEs that \
                 send each other lists at the same time, over single operations of both; short lists over single reads; flood: memory.";
    Show::Cases(Cases { name: "", title, variant, cases, under })
}

fn steps(plan: &Plan) -> Vec<Step> {
    let (quick, jobs) = (plan.quick, plan.either(3, 1));
    // The floor is no library.
    let beside = if plan.peers { Peer::MICRO.to_vec() } else { vec![Peer::Floor] };
    let mut steps = vec![Step::new("on one node", move |runner| {
        let task = if quick { &micro::QUICK } else { &micro::MICRO };
        runner.several(jobs, |runner| micro::measure(runner, &beside, task))
    })];
    if !quick {
        steps.push(Step::new("signals", signal::measure));
        steps.push(Step::new("lists of indices", indexed::measure));
    }
    let hosts = Rc::clone(&plan.hosts);
    steps.push(Step::at(LOOPBACK, "over libfabric, loopback", move |runner| far(runner, quick, jobs, None)));
    steps.push(Step::at(HOSTS, "over libfabric, two hosts", move |runner| {
        let Some(hosts) = hosts.hosts(runner) else { return Ok(()) };
        runner.fact(Fact::new("places", "two hosts", "", hosts.describe()))?;
        far(runner, quick, jobs, Some(&hosts))
    }));
    steps
}

fn far(runner: &mut Runner, quick: bool, jobs: u16, hosts: Option<&Arc<Hosts>>) -> Done {
    runner.several(jobs, |runner| network::micro(runner, quick, hosts, PROVIDER))?;
    if quick { Ok(()) } else { runner.several(1, |runner| indexed::over_network(runner, hosts, PROVIDER)) }
}
