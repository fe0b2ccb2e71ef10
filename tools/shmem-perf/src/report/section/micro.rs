//! The usual micro-benchmarks between two PEs of a node, beside other libraries.

use super::{Plan, Section, Step, Topic, network};
use crate::measure::micro::{self, Name};
use crate::measure::{indexed, signal};
use crate::micro::{MicroCase, ONE_SIDED, Operation, TWO_SIDED};
use crate::peers::Peer;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, SPEED, Scale, Series, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Micro,
    title: "Micro-benchmarks",
    source: "OSU Micro-Benchmarks, their definitions",
    steps,
    headlines,
    show,
};

/// Jobs of the whole report: which pages a job gets is luck.
const JOBS: u16 = 3;

/// What users ask.
const ASKED: [(Operation, usize, &str); 15] = [
    (Operation::Put, 8, "Write 8 bytes to the other PE, complete there"),
    (Operation::Put, 1 << 20, "Write 1 MiB"),
    (Operation::Get, 8, "Read 8 bytes"),
    (Operation::Get, 1 << 20, "Read 1 MiB"),
    (Operation::Bandwidth, 1 << 20, "Write 1 MiB again and again, 64 under way"),
    (Operation::Rate, 8, "Write 8 bytes again and again, 64 under way; each"),
    (Operation::FetchAdd, 8, "Add to a word of the other PE, and get what it was"),
    (Operation::CompareSwap, 8, "Change a word of the other PE if it is as expected"),
    (Operation::Barrier, 0, "A barrier of two PEs"),
    (Operation::Broadcast, 8, "Broadcast of 8 bytes"),
    (Operation::Broadcast, 64 << 10, "Broadcast of 64 KiB"),
    (Operation::Sum, 8, "Sum of one double"),
    (Operation::Sum, 64 << 10, "Sum of 64 KiB of doubles"),
    (Operation::Alltoall, 8, "Alltoall of 8 bytes"),
    (Operation::Alltoall, 64 << 10, "Alltoall of 64 KiB"),
];

/// What is shown in a figure and a table of its own, by bytes of a message.
const BY_SIZE: [(Operation, &str, Unit); 12] = [
    (Operation::Put, "Put and quiet", Unit::Time),
    (Operation::Get, "Get", Unit::Time),
    (Operation::Bandwidth, "Bandwidth: 64 puts at once, then quiet", Unit::Speed),
    (Operation::Bidirectional, "Bidirectional bandwidth: both PEs at the same time", Unit::Speed),
    (Operation::Broadcast, "Broadcast, from each PE in turn", Unit::Time),
    (Operation::Sum, "Sum of f64 to all", Unit::Time),
    (Operation::Fcollect, "Fcollect", Unit::Time),
    (Operation::Alltoall, "Alltoall", Unit::Time),
    (Operation::BroadcastDirect, "Broadcast of a symmetric object", Unit::Time),
    (Operation::SumDirect, "Sum of a symmetric object", Unit::Time),
    (Operation::FcollectDirect, "Fcollect of symmetric objects", Unit::Time),
    (Operation::AlltoallDirect, "Alltoall of symmetric objects", Unit::Time),
];

/// What is shown of an operation.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Time,
    /// Bytes in a time.
    Speed,
}

fn steps(plan: &Plan) -> Vec<Step> {
    let quick = plan.quick;
    // The floor is no library.
    let beside = if plan.peers { Peer::MICRO.to_vec() } else { vec![Peer::Floor] };
    let jobs = plan.either(JOBS, 1);
    let mut steps = vec![Step::new("on one node", plan.either(70.0, 15.0), move |runner| {
        let usual = std::mem::replace(&mut runner.jobs, jobs);
        let done = micro::measure(runner, &beside, if quick { &micro::QUICK } else { &micro::MICRO });
        runner.jobs = usual;
        done
    })];
    if !quick {
        steps.push(Step::new("signals", 6.0, signal::measure));
        steps.push(Step::new("lists of indices", 30.0, indexed::measure));
    }
    steps.extend(network::steps(plan));
    steps
}

/// What the table of what has one size is called.
const SINGLE: &str = "micro-single";

/// What the table of an operation is called.
fn anchor(operation: Operation) -> String {
    match BY_SIZE.iter().position(|(shown, ..)| *shown == operation) {
        Some(at) => format!("micro-{}", at + 1),
        None => SINGLE.to_owned(),
    }
}

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let asked = ASKED.map(|(operation, bytes, asked)| {
        let case = MicroCase { operation, bytes };
        let (unit, of): (_, fn(Cell) -> Cell) = match operation {
            Operation::Bandwidth => (SPEED, |cell| cell.over(MEGABYTES)),
            _ if bytes >= 1 << 20 => ("us", |cell| cell.times(1e-3)),
            _ => ("ns", |cell| cell),
        };
        let theirs = |peer| of(Cell::of(pairs(evidence, case, peer), Column::Limit));
        let others = [Peer::OshmemMicro, Peer::MpiMicro, Peer::Lamellar].map(theirs);
        Headline::new(asked, anchor(operation), unit, of(Cell::of(ours(evidence, case), Column::Value)))
            .others(others)
            .limit(theirs(Peer::Floor))
    });
    let signal = evidence.case(&signal::Name::Bytes(8));
    let signal = signal.map(|entry| {
        let of = |column| Cell::of(Some(entry), column);
        let asked = "Put 8 bytes with a signal that the other PE waits for, one way";
        Headline::new(asked, SIGNALS, "ns", of(Column::Value)).limit(of(Column::Limit))
    });
    asked.into_iter().chain(signal).chain(network::headlines(evidence)).collect()
}

/// What the table of signals is called.
const SIGNALS: &str = "micro-signals";

fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::heading("On one node"), Block::text(DEFINITIONS)];
    for (operation, title, unit) in BY_SIZE {
        blocks.push(figure(evidence, operation, title, unit).into());
        blocks.push(by_size(evidence, operation, title, unit).into());
    }
    blocks.push(single(evidence).into());
    let mut signals =
        evidence.all(|name| matches!(name, signal::Name::Bytes(_) | signal::Name::Read)).peekable();
    if signals.peek().is_some() {
        let table =
            Table::cases("Put with a signal to a PE that waits, over half a ping-pong, one way", signals);
        let under = "The ping-pong: as many bytes by memcpy, and a word behind them.";
        blocks.push(table.named(SIGNALS).under(under).into());
    }
    let mut lists =
        evidence.all(|name| matches!(name, indexed::Name::One(..) | indexed::Name::Shared(_))).peekable();
    if lists.peek().is_some() {
        let table = Table::cases("An element of a list of indices, of 64 Ki at random", lists);
        blocks.push(table.under(LISTS).into());
    }
    blocks.extend(network::show(evidence));
    blocks
}

const DEFINITIONS: &str = "Two PEs of one node with a core each, and beside them the same two processes of each other \
    program; a sample of ours, then one of each of the others, and again. A put is complete at its destination before \
    the next one begins, by shmem_quiet and MPI_Win_flush. C over mmap is no library but the floor: memcpy or one store, \
    its quiet a full fence as ours is, its atomic operations the processor's, its collectives one meeting and then \
    a copy of what the other process has in shared memory. Broadcasts, sums and alltoalls of ours start from private \
    memory, those of OpenSHMEM and of the floor from symmetric memory, those of MPI from private memory.";

const LISTS: &str = "Over what the same memory allows: gathers over a loop in one process, additions of one PE over as many \
    locked additions to one word, the others over a loop of single operations.";

/// The peers, as columns are headed.
const PEERS: [(Peer, &str); 4] = [
    (Peer::Floor, "C over mmap"),
    (Peer::OshmemMicro, "OSHMEM"),
    (Peer::MpiMicro, "MPI"),
    (Peer::Lamellar, "lamellar"),
];

/// The pairs of a case and a peer.
fn pairs<'a>(evidence: View<'a>, case: MicroCase, peer: Peer) -> Option<&'a Entry> {
    evidence.case(&Name::Micro(case.operation, case.bytes, peer))
}

/// Those of a case and any peer: ours is in all of them, and most pairs are with the first.
fn ours<'a>(evidence: View<'a>, case: MicroCase) -> Option<&'a Entry> {
    PEERS.iter().find_map(|&(peer, _)| pairs(evidence, case, peer))
}

fn cases(operation: Operation) -> impl Iterator<Item = MicroCase> {
    ONE_SIDED.into_iter().chain(TWO_SIDED).filter(move |case| case.operation == operation)
}

/// MB/s of a time for each byte in nanoseconds, as a dividend.
const MEGABYTES: f64 = 1000.0;

fn figure(evidence: View<'_>, operation: Operation, title: &str, unit: Unit) -> Figure {
    let number = |nanoseconds: f64| if unit == Unit::Speed { MEGABYTES / nanoseconds } else { nanoseconds };
    let scale = if unit == Unit::Speed { "MB/s" } else { "ns" };
    let mut figure = Figure::new(title, ("bytes of a message", Scale::Bytes), (scale, Scale::Log));
    let mut line = Series::new("ours");
    for case in cases(operation) {
        if let Some(Entry { case: found, .. }) = ours(evidence, case) {
            let quarters = (number(found.p25), number(found.p75));
            line.push(case.bytes as f64, number(found.value), Some(quarters));
        }
    }
    figure = figure.with(line);
    for (peer, label) in PEERS {
        let mut line = if peer == Peer::Floor { Series::beside(label) } else { Series::new(label) };
        for case in cases(operation) {
            if let Some(entry) = pairs(evidence, case, peer) {
                let quarters = (number(entry.limit.p25), number(entry.limit.p75));
                line.push(case.bytes as f64, number(entry.case.limit), Some(quarters));
            }
        }
        figure = figure.with(line);
    }
    figure
}

/// A number as it is shown.
fn cell(entry: Option<&Entry>, column: Column, unit: Unit) -> Cell {
    let cell = Cell::of(entry, column);
    if unit == Unit::Speed { cell.over(MEGABYTES) } else { cell }
}

/// What a case costs, with each library, and how often theirs goes into ours.
fn row(evidence: View<'_>, case: MicroCase, head: String, unit: Unit) -> Vec<Cell> {
    let mut row = vec![Cell::text(head), cell(ours(evidence, case), Column::Value, unit)];
    let of = |peer| pairs(evidence, case, peer);
    row.extend(PEERS.map(|(peer, _)| cell(of(peer), Column::Limit, unit)));
    row.extend(PEERS.map(|(peer, _)| Cell::of(of(peer), Column::Ratio)));
    row
}

fn heads(first: &str, unit: &str) -> Vec<String> {
    let mut heads = vec![first.to_owned(), format!("ours, {unit}")];
    heads.extend(PEERS.map(|(_, label)| format!("{label}, {unit}")));
    heads.extend(PEERS.map(|(_, label)| format!("ours / {label}")));
    heads
}

fn by_size(evidence: View<'_>, operation: Operation, title: &str, unit: Unit) -> Table {
    let scale = if unit == Unit::Speed { "MB/s" } else { "ns" };
    let mut table = Table::new(title, heads("bytes", scale)).named(anchor(operation));
    for case in cases(operation).filter(|&case| ours(evidence, case).is_some()) {
        table.row(row(evidence, case, case.bytes.to_string(), unit));
    }
    table.under("Ratios are of times, the medians of pairs: below 1, ours is faster.")
}

/// What has one size only.
fn single(evidence: View<'_>) -> Table {
    let mut table = Table::new("Message rate, atomic operations, barrier", heads("", "ns")).named(SINGLE);
    let by_size = |case: &MicroCase| BY_SIZE.iter().any(|(operation, ..)| *operation == case.operation);
    for case in ONE_SIDED.into_iter().chain(TWO_SIDED).filter(|case| !by_size(case)) {
        if ours(evidence, case).is_some() {
            let head = match case.operation {
                Operation::Rate => "8-byte puts, 64 at once and then quiet; each",
                Operation::FetchAdd => "fetch-add",
                Operation::Add => "add, many and then quiet; each",
                Operation::Swap => "swap",
                Operation::CompareSwap => "compare-swap",
                Operation::Fetch => "fetch",
                Operation::Histogram => "histogram, 2 MiB on both PEs, by both at once; each addition",
                Operation::IndexGather => "index-gather, the same table; each read",
                _ => "barrier",
            };
            table.row(row(evidence, case, head.to_owned(), Unit::Time));
        }
    }
    table.under("Atomic operations work on a 64-bit word of the other PE. A put rate in messages a second is 10^9 over its time.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_measured() {
        for (operation, bytes, asked) in ASKED {
            let case = MicroCase { operation, bytes };
            assert!(ONE_SIDED.into_iter().chain(TWO_SIDED).any(|known| known == case), "{asked}: {case:?}");
        }
    }

    #[test]
    fn every_operation_is_shown_once() {
        for case in ONE_SIDED.into_iter().chain(TWO_SIDED) {
            let sizes = cases(case.operation).count();
            let by_size = BY_SIZE.iter().filter(|(operation, ..)| *operation == case.operation).count();
            assert_eq!(by_size, usize::from(sizes > 1), "{case:?} has {sizes} sizes");
        }
        assert_eq!(PEERS.map(|(peer, _)| peer), Peer::MICRO);
    }
}
