//! One PE of a job: what is measured inside.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{value, zeroed};
use shmem_perf::baseline::{LINES, WORDS_OF_LINE};
use shmem_perf::put::{self, Row};
use shmem_perf::startup::Footprint;
use shmem_perf::{Record, Samples, Site, affinity, alloc, atomic, barrier, get, signal};

use crate::measure::{Asked, Measure};
use crate::{memory, peers};

#[symmetric]
static ROW: Row;

/// What `put8-static` measures: one 8-byte put to each line of the row.
#[inline(never)]
fn put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(ROW.on(pe).index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of a job.
pub(crate) fn pe(asked: &Asked, repetitions: usize) -> Result<(), Box<dyn Error>> {
    let Asked { measure, partitions, seed, most, .. } = *asked;
    let before = Footprint::now()?;
    let mut world = shmem::init::<Single>()?;
    match measure {
        Measure::Nothing => return Ok(()),
        Measure::Footprint => return footprint(&world, before),
        Measure::LaterPartitions => return memory::later(&mut world, partitions, repetitions),
        Measure::Pages => return memory::pages(&mut world, repetitions),
        _ => {}
    }
    // They take cores of their own accord, and could not once this process has taken one.
    let peers = asked.peers.as_deref().filter(|_| world.my_pe() == 0).map(peers::Beside::start);
    let cores = affinity::take(world.my_pe(), world.n_pes())?;
    let bench = Bench { site: Site::of(&world, cores), world: &world, repetitions };
    if measure == Measure::Calibrate {
        return bench.calibrate();
    }
    let records = match measure {
        Measure::Put => bench.put(),
        Measure::Get => bench.get(),
        Measure::Barrier => bench.barrier(),
        Measure::Signal => bench.signal(),
        Measure::Atomic => bench.atomic(),
        Measure::Collective => bench.collectives(),
        Measure::CollectivePeer => bench.collectives_of_peer(peers),
        Measure::Alloc => bench.alloc(),
        Measure::Tracking => bench.tracking(),
        Measure::TrackingDomains => bench.tracking_of_domains(),
        Measure::Halo => bench.halo(),
        Measure::Micro => bench.micro(peers, false),
        Measure::MicroQuick => bench.micro(peers, true),
        Measure::Processes => bench.processes(),
        Measure::Strided => bench.strided(),
        Measure::StridedSweep => bench.sweep(seed),
        Measure::StridedRegret => bench.regret(seed, most),
        Measure::RegretSample => bench.regret_sample(),
        Measure::StridedPeers => bench.peers(peers),
        Measure::StridedPublished => bench.published_table(most),
        Measure::StridedOwn => bench.own(peers),
        Measure::StridedExchange => bench.exchange(most),
        other => unreachable!("{other:?} is measured above, or by another module"),
    }?;
    print(&world, &records)
}

/// PE 0 prints for the tool.
pub(crate) fn print(world: &World, records: &[Record]) -> Result<(), Box<dyn Error>> {
    if world.my_pe() == 0 {
        for record in records {
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    Ok(())
}

fn footprint(world: &World, before: Footprint) -> Result<(), Box<dyn Error>> {
    world.barrier_all();
    let grown = Footprint::now()?.since(before);
    let mut most = [grown.resident, grown.mappings];
    world.max(&mut most[..]);
    if world.my_pe() == 0 {
        println!("{}", serde_json::to_string(&Footprint { resident: most[0], mappings: most[1] })?);
    }
    Ok(())
}

/// What measures need, inside a PE. All PEs call every measure; what PE 0 returns counts.
pub(crate) struct Bench<'w> {
    pub(crate) world: &'w World,
    pub(crate) site: Site,
    pub(crate) repetitions: usize,
}

pub(crate) type Records = Result<Vec<Record>, Box<dyn Error>>;

impl Bench<'_> {
    pub(crate) fn record(
        &self,
        measure: &str,
        case: impl Into<String>,
        compared: &str,
        samples: Samples,
    ) -> Record {
        Record::new(&self.site, measure, case, "ns", compared, samples)
    }

    /// The PE that is written and read.
    pub(crate) fn other(&self) -> Pe {
        self.world.ring_neighbours().1
    }

    /// Runs `measure` on PE 0 while the others sleep.
    pub(crate) fn alone(&self, measure: impl FnOnce() -> Vec<Record>) -> Vec<Record> {
        self.world.barrier_all();
        let records = if self.world.my_pe() == 0 { measure() } else { Vec::new() };
        self.world.barrier_all();
        records
    }

    fn put(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let to = object.on(self.other());
        Ok(self.alone(|| {
            let samples = put::put8_static(world, ROW.on(self.other()), put_row, repetitions);
            let compared = "an 8-byte put to a static, against a store to the same word";
            let to_static = self.record("put8-static", "8", compared, samples);
            let samples = put::put8_quiet(world, ROW.on(self.other()).index(0), repetitions);
            let compared = "an 8-byte put and its quiet, against a store to the same word and a full fence";
            let with_quiet = self.record("put8-quiet", "8", compared, samples);
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = put::put(world, to.index(..bytes), repetitions);
                let compared = "a put, against memcpy into the same bytes; time for each byte";
                self.record("put", bytes.to_string(), compared, samples)
            });
            [to_static, with_quiet].into_iter().chain(sizes).collect()
        }))
    }

    fn get(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let from = object.on(self.other());
        Ok(self.alone(|| {
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = get::get(world, from.index(..bytes), repetitions);
                let compared = "a get, against memcpy out of the same bytes; time for each byte";
                self.record("get", bytes.to_string(), compared, samples)
            });
            sizes.collect()
        }))
    }

    fn barrier(&self) -> Records {
        let Self { world, repetitions, site } = self;
        let words = world.alloc(zeroed::<u64>(barrier::LIMIT_WORDS))?;
        let words = words.on(world.pe(0)?);
        let (samples, compared) = if site.pes == 2 && !site.shared_cores {
            let samples = barrier::against_round_trip(world, words, *repetitions);
            (samples, "barrier_all, against a round trip of a cache line between the two")
        } else {
            let samples = barrier::against_futex(world, words, *repetitions);
            (samples, "barrier_all, against a plain futex barrier of as many processes")
        };
        Ok(vec![self.record("barrier", site.pes.to_string(), compared, samples)])
    }

    fn signal(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let object = world.alloc(zeroed::<u8>(*signal::SIZES.iter().max().unwrap_or(&0)))?;
        let word = world.alloc(value(0_u64))?;
        let line = world.alloc(zeroed::<u64>(barrier::LIMIT_WORDS))?;
        let line = line.on(world.pe(0)?);
        let compared = "put with a signal to a PE that waits, against a cache line, one way";
        let arrived = world.alloc(value(Signal::new(0)))?;
        let to = word.on(self.other());
        let samples = signal::one_way(world, to, &7, &arrived, line, || (), repetitions);
        let mut records = vec![self.record("signal", "8", compared, samples)];
        let arrived = world.alloc(value(Signal::new(0)))?;
        let read = || _ = black_box(word.here(world).load());
        let samples = signal::one_way(world, to, &7, &arrived, line, read, repetitions);
        records.push(self.record("signal", "8/read", compared, samples));
        for bytes in signal::SIZES {
            let arrived = world.alloc(value(Signal::new(0)))?;
            let (place, source) = (object.on(self.other()).index(..bytes), vec![1; bytes]);
            let samples = signal::one_way(world, place, &source[..], &arrived, line, || (), repetitions);
            records.push(self.record("signal", bytes.to_string(), compared, samples));
        }
        Ok(records)
    }

    fn atomic(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let (wide, narrow) =
            (world.alloc(value(Atomic::new(0_u64)))?, world.alloc(value(Atomic::new(0_u32)))?);
        // The other one is absent, not asleep in the library: an update would wake it.
        let done = world.alloc(value(0_u64))?;
        world.barrier_all();
        if world.my_pe() != 0 {
            while done.here(world).load() == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            return Ok(Vec::new());
        }
        let mut cases = atomic::of_64_bits(world, wide.on(self.other()), repetitions);
        cases.extend(atomic::of_32_bits(world, narrow.on(self.other()), repetitions));
        world.p(done.on(self.other()), 1);
        let compared = "an atomic operation on another PE, against the same locked instruction";
        Ok(cases.into_iter().map(|(name, samples)| self.record("atomic", name, compared, samples)).collect())
    }

    fn alloc(&self) -> Records {
        let of_size = |&bytes: &usize| {
            let samples = alloc::alloc(self.world, bytes, self.repetitions)?;
            Ok(self.record(
                "alloc",
                bytes.to_string(),
                "allocating and freeing bytes, against two barriers",
                samples,
            ))
        };
        alloc::SIZES.iter().map(of_size).collect()
    }
}
