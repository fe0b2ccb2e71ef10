//! Measures over libfabric: latencies, bandwidths and the rate of puts; micro-benchmarks; collectives of two hosts; strided puts. A
//! further task measures a provider's costs ([`Row`]), by which the library chooses a method for strided transfers.
//!
//! Each cost is a difference of two times, such as those of many and of few blocks, or of long and of short blocks. Blocks go by a
//! non-blocking put each, or together in messages. That task sets [`PACKING`], so that the library always sends messages.

use std::net::TcpListener;

use rustix::time::{ClockId, clock_gettime};
use shmem_core::context::{NonBlocking, Order, Strided};
use shmem_core::transport::ofi::strided::{self, Blocks, Row, Way};

use super::*;
use crate::fabric::steadily;
use crate::operation::{Data, operations};

pub(crate) const OFI: Measure = Measure {
    name: "ofi",
    run: Some(|runner| {
        match ["bare", "costs", "strided", "micro"].into_iter().find(|option| runner.is(option)) {
            Some("bare") => bare_alone(runner),
            Some("costs") => costs(runner),
            Some(other) => runner.repeat(&over(runner, &format!("ofi-{other}"), PeArguments::default())),
            None => runner.repeat(&over(runner, "ofi", PeArguments::default())),
        }
    }),
    tasks: &[
        ("ofi", Task::Far(measured)),
        ("ofi-bare", Task::Far(bare_put)),
        ("ofi-strided", Task::Far(strided)),
        // This task prints texts instead of records.
        (
            "ofi-costs",
            Task::Far(|pair, bench| {
                strided::force(PACKING);
                let row = || row_of(pair, bench.repetitions);
                pair.alone(TargetState::Library, row).iter().try_for_each(|row| say(&format!("{row:?}")))
            }),
        ),
    ],
    possible: fabric::possible,
};

pub(crate) const NETWORK: Measure = Measure {
    name: "network",
    run: Some(|runner| runner.repeat(&over(runner, "network", PeArguments::default()))),
    tasks: &[
        ("ofi-micro", Task::Far(micro)),
        ("network", Task::Far(|pair, bench| collectives(pair, bench, 1 << 20))),
    ],
    possible: fabric::possible,
};

fn measured(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    compare(pair, bench, "ofi", all())?;
    pair.alone(TargetState::Asleep, || bench.samples(format!("ofi idle/0/{}", pair.provider), idle));
    Ok(())
}

/// All operations while the target makes progress, and blocking operations while it sleeps: (operation, whether the target sleeps).
fn all() -> impl Iterator<Item = (Operation, bool)> {
    operations().into_iter().map(|operation| (operation, false)).chain(asleep())
}

/// Blocking operations, while the target sleeps outside of the library.
fn asleep() -> impl Iterator<Item = (Operation, bool)> {
    operations().into_iter().filter(|operation| operation.in_flight == 1).map(|operation| (operation, true))
}

/// Measures operations through the library against the bare program, in nanoseconds for each transfer.
fn compare(
    pair: &Pair<'_>,
    bench: &Bench<'_>,
    measure: &str,
    all: impl Iterator<Item = (Operation, bool)>,
) -> Done {
    for (operation, is_asleep) in all {
        let [library, bare] = pair.times(operation, is_asleep);
        let (Operation { name, bytes, .. }, suffix) = (operation, if is_asleep { "-asleep" } else { "" });
        let name = format!("{measure} {name}{suffix}/{bytes}/{}", pair.provider);
        let take = || bench.pairs(name, library, bare);
        if is_asleep { _ = pair.alone(TargetState::Asleep, take) } else { take() }
    }
    Ok(())
}

/// Prints the nanoseconds of a put by the bare program.
fn bare_put(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    let [_, put] = pair.times(operations()[0], false);
    let cost = middle(bench.repetitions, put);
    if pair.world.my_pe() == 0 { say(&cost) } else { Ok(()) }
}

/// Measures puts of the bare program against round trips of `fi_pingpong`. A put with delivery completion is a message and its
/// answer, so it should not take longer.
fn bare_alone(runner: &mut Runner) -> Done {
    let provider = &runner.provider().to_owned();
    // Without `SHMEM_TRANSPORT`, the first one, the library uses shared memory, so that only the bare program uses libfabric.
    let variables = fabric::variables(provider).into_iter().skip(1);
    let job = runner.job("ofi-bare", 2, PeArguments::default()).with(variables);
    let mut samples = Samples::default();
    for _ in 0..runner.asked.jobs {
        let Some(round_trip) = round_trip(provider)? else {
            return Err(
                "fi_pingpong is not installed, or does not run with this provider (Debian: libfabric-bin)"
                    .into(),
            );
        };
        samples.0.extend(runner.lines::<f64>(&job)?.into_iter().map(|put| (put, round_trip)));
    }
    runner.taken(2, format!("ofi-bare pingpong/8/{provider}"), samples)
}

/// Measures the usual micro-benchmarks by size; with `quick`, fewer sizes and no long collectives.
fn micro(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    let sizes: Vec<usize> = match bench.quick {
        true => vec![4, 8, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20],
        false => (0..=20).map(|power| 1 << power).collect(),
    };
    let of = |(name, in_flight)| sizes.iter().map(move |bytes| Operation::timed(name, *bytes, in_flight));
    let sized = [("put", 1), ("get", 1), ("bandwidth", 64)].into_iter().flat_map(of);
    let served = sized.chain([Operation::timed("fetch-add", 8, 1)]).map(|operation| (operation, false));
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
        bench.pairs(name, || pair.both(TargetState::Library, cost), || pair.both(TargetState::Bare, limit));
    }
    collectives(pair, bench, if bench.quick { 4 << 10 } else { 1 << 20 })
}

/// Measures collectives of two PEs with at most `most` bytes, against a put of the bare program. Long collectives in which bytes go
/// both ways are also measured against simultaneous puts of both PEs.
fn collectives(pair: &Pair<'_>, bench: &Bench<'_>, most: usize) -> Done {
    let provider = &pair.provider;
    for (name, bytes) in each_size("network", "collectives").filter(|(_, bytes)| *bytes <= most) {
        // A barrier is compared with a put of a word.
        let operation = Operation::timed(name, bytes.max(8), 1);
        let (case, written) =
            (format!("{name}/{bytes}/{provider}"), operation.written(2, true) * size_of::<f64>());
        let collective = || {
            pair.both(TargetState::Library, || {
                let data = Data::new(pair.world, if operation.is_direct() { 2 * bytes } else { 0 });
                let mut data = data.unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
                steadily(|| operation.together(pair.world, &mut data))
            })
        };
        let put = || pair.bare_put(operation.bytes, written, false);
        bench.pairs(format!("network {case}"), collective, put);
        if bytes >= 64 << 10 && !name.starts_with("broadcast") {
            let swap = || pair.bare_put(bytes, written, true);
            bench.pairs(format!("network-both-ways {case}"), collective, swap);
        }
    }
    Ok(())
}

/// Measures the percentage of a core that this PE uses while both PEs sleep outside of the library, against 1 %.
fn idle() -> Samples {
    const IDLE: Duration = Duration::from_millis(50);
    let used = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
    };
    let share = |_| {
        let before = used();
        std::thread::sleep(IDLE);
        (100.0 * (used() - before).as_secs_f64() / IDLE.as_secs_f64(), 1.0)
    };
    (0..FEWEST).map(share).collect()
}

/// Measures blocks by a strided put, against a non-blocking put for each block; and the speedup against the predicted speedup.
fn strided(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    let mut gains = Vec::new();
    for (state, name) in [(TargetState::Library, "polling"), (TargetState::Asleep, "asleep")] {
        for (count, bytes) in
            [16, 64].into_iter().flat_map(|count| [8, 256, 4096].map(|bytes| (count, bytes)))
        {
            pair.alone(state, || {
                let blocks = Blocks { count, bytes };
                // Costs are measured again for each case, because other load on the machine changes.
                let row = row_of(pair, bench.repetitions);
                let (cost, limit) = (|| in_one(pair, blocks), || one_by_one(pair, blocks));
                let samples = Samples::of(bench.repetitions, || (cost(), limit()));
                let time = |way| row.time(way, blocks, carries(pair, blocks)).unwrap_or(u64::MAX) as f64;
                let predicted = time(Way::Each) / time(Way::Messages);
                let gained = samples.0.iter().map(|(cost, limit)| (limit / cost, predicted)).collect();
                gains.push((format!("ofi-strided-model {count}/{bytes}/{name}"), gained));
                bench.add(format!("ofi-strided {count}/{bytes}/{name}"), samples);
            });
        }
    }
    gains.into_iter().for_each(|(name, samples)| bench.add(name, samples));
    Ok(())
}

fn carries(pair: &Pair<'_>, blocks: Blocks) -> usize {
    strided::limits_of(&pair.provider).carries(blocks.count * blocks.bytes, true)
}

fn costs(runner: &mut Runner) -> Done {
    let provider = runner.provider().to_owned();
    for measured in runner.lines::<String>(&over(runner, "ofi-costs", PeArguments::default()))? {
        println!("{provider}: {measured}\ncompiled in: {:?}", Row::of(&provider));
    }
    Ok(())
}

const TRANSFERS: usize = 8;

/// Few blocks. These, and also [`MANY`], fit one message, which is too long for injection.
const FEW: Blocks = Blocks { count: 16, bytes: 8 };
const MANY: Blocks = Blocks { count: 130, bytes: 8 };
/// Short blocks. There are 32 of these and of [`LONG`], about as many as in programs, because the second of two operations is
/// cheaper than one among many.
const SHORT: Blocks = Blocks { count: 32, bytes: 8 };
const LONG: Blocks = Blocks { count: 32, bytes: 4096 };

const NEVER: u64 = 1 << 50;

/// With these costs the library sends every strided transfer in messages, because they make single operations look too slow.
const PACKING: Row = Row { operation: NEVER, engine: 0, pack: 0, unpack: 0, copy: 0, ..Row::TCP };

/// Measures the costs of the provider. The results are right only if the job sends strided blocks in messages.
fn row_of(pair: &Pair<'_>, repetitions: usize) -> Row {
    let each = |blocks| middle(repetitions, || one_by_one(pair, blocks));
    let (one, short, long) = (each(Blocks { count: 1, bytes: 8 }), each(SHORT), each(LONG));
    let bytes = (LONG.count * (LONG.bytes - SHORT.bytes)) as f64;
    let operation = ((short - one) / (SHORT.count - 1) as f64).max(0.0);
    let (latency, byte) = ((one - operation).max(0.0), ((long - short) / bytes).max(0.0));
    let message = |blocks| middle(repetitions, || in_one(pair, blocks));
    let (few, many, short, long) = (message(FEW), message(MANY), message(SHORT), message(LONG));
    let further = (LONG.count * LONG.bytes).div_ceil(carries(pair, LONG)) - 1;
    let block = (many - few) / (MANY.count - FEW.count) as f64;
    let moved = (long - short - further as f64 * operation) / bytes;
    Row {
        latency: picoseconds(latency),
        engine: picoseconds(few - latency - operation),
        operation: picoseconds(operation),
        byte: picoseconds(byte),
        copy: picoseconds((moved - byte) / 2.0),
        pack: picoseconds(block / 2.0),
        unpack: picoseconds(block / 2.0),
    }
}

fn middle(repetitions: usize, mut sample: impl FnMut() -> f64) -> f64 {
    sample();
    median((0..repetitions).map(|_| sample()).collect())
}

/// Returns the nanoseconds in which a strided put and a quiet move all blocks. Gaps are as long as blocks.
fn in_one(pair: &Pair<'_>, Blocks { count, bytes }: Blocks) -> f64 {
    let (world, to, stride) = (pair.world, pair.here().addr(), 2 * bytes);
    let source = vec![1_u8; count * stride];
    each(TRANSFERS, || {
        world.iputmem(to, black_box(&source[..]), stride, stride, bytes, count, pair.other);
        world.quiet();
    })
}

/// Returns the nanoseconds of the blocks of [`in_one`] by a non-blocking put for each, and a quiet.
fn one_by_one(pair: &Pair<'_>, Blocks { count, bytes }: Blocks) -> f64 {
    let (world, place, stride) = (pair.world, pair.place(), 2 * bytes);
    let source = vec![1_u8; count * stride];
    each(TRANSFERS, || {
        world.scope(|scope| {
            for at in (0..count).map(|k| k * stride) {
                scope.put(place.index(at..at + bytes), &source[at..at + bytes]);
            }
        });
    })
}

fn picoseconds(nanoseconds: f64) -> u64 {
    (nanoseconds.max(0.0) * 1000.0) as u64
}

/// A shell script that runs `fi_pingpong` between two processes of this host: `$1` is the provider, `$2` the port. The client
/// starts again until the server listens.
const PING_PONG: &str = "half=\"fi_pingpong -p $1 -e rdm -I 2000 -S 8\"
command -v fi_pingpong >&2 || exit 0
$half -B $2 >&2 &
for _ in $(seq 200); do $half -P $2 127.0.0.1 && break; sleep 0.02; kill -0 $! || break; done
kill $!";

/// Returns the nanoseconds of a round trip of 8 bytes by `fi_pingpong`; `None` if it is missing, or fails with this provider.
fn round_trip(provider: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", PING_PONG, "sh", provider, &port]).stderr(Stdio::null()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let half_trip = || -> Option<f64> {
        let mut lines = printed.lines();
        let column = lines.next()?.split_whitespace().position(|head| head == "usec/xfer")?;
        lines.next()?.split_whitespace().nth(column)?.parse().ok()
    };
    Ok(half_trip().map(|half| 2.0 * half * 1e3))
}
