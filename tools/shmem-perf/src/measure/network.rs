//! Collectives of two hosts; and the usual micro-benchmarks over libfabric, which are a part of `ofi`.

use super::ofi::{asleep, compare};
use super::*;
use crate::fabric::{WORD_OPERATIONS, steadily};
use crate::operation::{COLLECTIVES, Data};

pub(crate) const MEASURE: Measure = Measure {
    name: "network",
    run: Some(|runner| runner.repeat(&over(runner, "network", Given::default()))),
    tasks: &[
        ("ofi-micro", Task::Far(micro)),
        ("network", Task::Far(|pair, bench| collectives(pair, bench, 1 << 20))),
    ],
    possible: fabric::possible,
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
