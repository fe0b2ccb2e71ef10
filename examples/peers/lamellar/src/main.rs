//! The PGAS crate lamellar, over its shared memory: the operations of `micro.h` that it has, answered as the programs
//! in C do.
//!
//! ```text
//! cargo build --release
//! echo "put/8 put 8 1000 5" | target/release/lamellar 0 1
//! ```
//!
//! Transfers are those of a `SharedMemoryRegion`, the lowest layer that its documentation offers; arrays and active
//! messages stand above it. Tables are such arrays, dealt out in halves, and `batch_add` and `batch_load` go through
//! them. Tasks run on the calling thread (`ExecutorType::SingleThread`): the workers of the other
//! executors poll on the cores that are measured, also while nobody asks them anything.
//!
//! The program starts its second process by itself, by the variables that the crate's own script sets.

use std::convert::Infallible;
use std::env;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lamellar_pgas::array::prelude::*;
use lamellar_pgas::memregion::prelude::*;
use lamellar_pgas::{Backend, ExecutorType};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Messages at once.
const WINDOW: usize = 64;

/// Bytes that are written and read.
const ROOM: usize = 4 << 20;

/// The process that is written to.
const OTHER: usize = 1;

/// Bytes of a table that each process has.
const HALF: usize = 1 << 20;

/// Elements of a table.
const WORDS: usize = 2 * HALF / size_of::<u64>();

/// Elements of the table that a process adds to, or reads.
const INDICES: usize = 1 << 16;

/// Words of an order: its number, which of [`BY_BOTH`], operations in a sample, samples. No operations at all: the end.
const ORDER: usize = 4;

/// What both processes take part in.
const BY_BOTH: [Operation; 3] = [Operation::Barrier, Operation::Histogram, Operation::IndexGather];

/// As `cargo` has resolved it.
const LOCK: &str = include_str!("../Cargo.lock");

fn main() -> Result<Infallible, Box<dyn Error>> {
    match env::var("LAMELLAR_PE_ID") {
        Ok(pe) => run(pe.parse()?),
        Err(_) => start(),
    }
}

/// Starts the second process, and becomes the first one.
fn start() -> Result<Infallible, Box<dyn Error>> {
    let job = process::id().to_string();
    let of = |pe: &str| {
        let mut command = Command::new(env::current_exe()?);
        command.args(env::args_os().skip(1));
        // Twice this heap is mapped, and what is not used takes no memory.
        for (name, value) in
            [("NUM_PES", "2"), ("PE_ID", pe), ("JOB_ID", &job), ("THREADS", "1"), ("HEAP_SIZE", "67108864")]
        {
            command.env(format!("LAMELLAR_{name}"), value);
        }
        io::Result::Ok(command)
    };
    of("1")?.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    Err(of("0")?.exec().into())
}

fn run(pe: usize) -> Result<Infallible, Box<dyn Error>> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(cpu) = env::args().nth(1 + pe) {
        let mut one = CpuSet::new();
        one.set(cpu.parse()?);
        sched_setaffinity(None, &one)?;
    }
    let builder = LamellarWorldBuilder::new().with_lamellae(Backend::Shmem);
    let world = builder.with_executor(ExecutorType::SingleThread).build();
    let peer = Peer::new(&world);
    world.barrier();
    forget_files()?;
    world.barrier();
    if pe == 0 {
        peer.serve()?
    } else {
        peer.follow()
    }
    world.barrier();
    // Not by dropping the world, which on this executor waits for tasks that nobody runs. There is nothing to be
    // removed.
    process::exit(0)
}

/// Removes the names of the mappings, which both processes have by now: nothing is left of a process that is ended
/// by force.
fn forget_files() -> io::Result<()> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let names = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    for name in names.filter(|name| name.starts_with("/dev/shm/lamellar_")) {
        // The other process does the same.
        let _ = fs::remove_file(name);
    }
    Ok(())
}

/// Memory of both processes, and what is measured on it.
struct Peer<'w> {
    world: &'w LamellarWorld,
    bytes: SharedMemoryRegion<u8>,
    words: SharedMemoryRegion<u64>,
    orders: SharedMemoryRegion<u64>,
    /// Memory of the process's own: what is sent, and what is read into.
    given: OneSidedMemoryRegion<u8>,
    taken: OneSidedMemoryRegion<u8>,
    counts: AtomicArray<u64>,
    table: ReadOnlyArray<u64>,
    indices: Vec<usize>,
}

impl<'w> Peer<'w> {
    fn new(world: &'w LamellarWorld) -> Self {
        let numbers = AtomicArray::<u64>::new(world, WORDS, Distribution::Block).block();
        for k in 0..WORDS / 2 {
            // Whoever still knew its data would keep the array from becoming another kind.
            numbers.local_data().at(k).store(7 * (world.my_pe() * (WORDS / 2) + k) as u64);
        }
        let peer = Self {
            world,
            bytes: world.alloc_shared_mem_region(ROOM).block(),
            words: world.alloc_shared_mem_region(1).block(),
            orders: world.alloc_shared_mem_region(ORDER).block(),
            given: world.alloc_one_sided_mem_region(ROOM),
            taken: world.alloc_one_sided_mem_region(ROOM),
            counts: AtomicArray::new(world, WORDS, Distribution::Block).block(),
            table: numbers.into_read_only().block(),
            indices: draw(world.my_pe()),
        };
        // SAFETY: nobody else knows of these regions yet.
        unsafe {
            peer.bytes.as_mut_slice().fill(0);
            peer.words.as_mut_slice().fill(0);
            peer.orders.as_mut_slice().fill(0);
            peer.given.as_mut_slice().fill(1);
            peer.taken.as_mut_slice().fill(1);
        }
        peer
    }

    /// Answers requests until there are no more.
    fn serve(&self) -> io::Result<()> {
        let mut out = io::stdout();
        writeln!(out, r#"{{"peer":"lamellar","library":"lamellar {}"}}"#, version())?;
        out.flush()?;
        for line in io::stdin().lock().lines() {
            let line = line?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |k: usize| words.get(k).and_then(|word| word.parse::<usize>().ok());
            let reply = match (words.as_slice(), number(2), number(3), number(4)) {
                ([case, operation, ..], Some(bytes), Some(times), Some(samples)) => {
                    let found = match Operation::parse(operation, bytes) {
                        Some(operation) => self.answer(operation, times, samples),
                        None => Err("no such operation"),
                    };
                    let said = match found {
                        Ok(ns) => format!(r#""ns":{ns:.2?}"#),
                        Err(fault) => format!(r#""error":"{fault}""#),
                    };
                    format!(r#""case":"{case}","operation":"{operation}",{said}"#)
                }
                _ => r#""error":"a request that is none""#.to_owned(),
            };
            writeln!(out, r#"{{"peer":"lamellar",{reply}}}"#)?;
            out.flush()?;
        }
        self.order(0, 0, 0);
        Ok(())
    }

    /// The second process: sleeps until it takes part in something, or may go.
    fn follow(&self) {
        for next in 1.. {
            // SAFETY: the region is this process's own memory; the other one writes the number last.
            let word = |k: usize| unsafe { self.orders.as_slice().as_ptr().add(k).read_volatile() };
            while word(0) < next {
                sleep(Duration::from_millis(2));
            }
            let (operation, times, samples) = (word(1) as usize, word(2) as usize, word(3) as usize);
            if times == 0 {
                return;
            }
            if samples == 0 {
                self.check(BY_BOTH[operation]).expect("what both have done together");
            }
            self.samples(BY_BOTH[operation], times, samples);
        }
    }

    /// Tells the second process what to do.
    fn order(&self, operation: usize, times: usize, samples: usize) {
        // SAFETY: the second process reads an order when its number has come, and writes none.
        unsafe {
            let number = self.orders.get(OTHER, 0).block();
            self.orders.put_blocking(OTHER, 1, operation as u64);
            self.orders.put_blocking(OTHER, 2, times as u64);
            self.orders.put_blocking(OTHER, 3, samples as u64);
            self.orders.put_blocking(OTHER, 0, number + 1);
        }
    }

    /// Samples; of none, whether the operation does what it should.
    fn answer(&self, operation: Operation, times: usize, samples: usize) -> Result<Vec<f64>, &'static str> {
        let most = if operation.is_of_tables() { INDICES } else { usize::MAX };
        if !(1..=most).contains(&times) {
            return Err("a request that does not fit");
        }
        // An order is gone when both have met: the next one would be written over it.
        let meet = samples > 0 || operation.is_of_tables();
        if let Some(operation) = BY_BOTH.iter().position(|of_both| meet && *of_both == operation) {
            self.order(operation, times, samples);
        }
        if samples == 0 {
            self.check(operation)?;
        }
        Ok(self.samples(operation, times, samples))
    }

    fn samples(&self, operation: Operation, times: usize, samples: usize) -> Vec<f64> {
        let one = |_| {
            // The caches belonged to somebody else.
            self.repeat(operation, if times < 4 { 1 } else { 4 });
            if operation.is_of_tables() {
                self.world.barrier();
            }
            let started = Instant::now();
            self.repeat(operation, times);
            started.elapsed().as_nanos() as f64 / times as f64
        };
        (0..samples).map(one).collect()
    }

    /// So many operations, complete at the end.
    fn repeat(&self, operation: Operation, times: usize) {
        // SAFETY: only this process transfers, one operation after the other, and within the regions; what is read and
        // written in between by nobody else needs no other exclusion.
        unsafe {
            match operation {
                Operation::Put(8) => {
                    let bytes: &[u8] = &self.given.as_slice()[..8];
                    let bytes: [u8; 8] = bytes.try_into().expect("as many as were taken");
                    for _ in 0..times {
                        self.words.put_blocking(OTHER, 0, u64::from_ne_bytes(black_box(bytes)));
                    }
                }
                Operation::Put(bytes) => {
                    for _ in 0..times {
                        self.bytes.put_buffer(OTHER, 0, self.given.sub_region(..bytes)).block();
                    }
                }
                Operation::Get(8) => {
                    for _ in 0..times {
                        black_box(self.words.get(OTHER, 0).block());
                    }
                }
                Operation::Get(bytes) => {
                    for _ in 0..times {
                        let into =
                            LamellarBuffer::from_one_sided_memory_region(self.taken.sub_region(..bytes));
                        self.bytes.get_into_buffer(OTHER, 0, into).block();
                    }
                }
                Operation::Bandwidth(bytes) => {
                    for _ in 0..times {
                        for message in 0..WINDOW {
                            let at = message * bytes % ROOM;
                            self.bytes.put_buffer_unmanaged(OTHER, at, self.given.sub_region(at..at + bytes));
                        }
                        self.bytes.wait_all();
                    }
                }
                Operation::Swap => {
                    for value in 0..times {
                        black_box(self.words.atomic_swap(OTHER, 0, value as u64).block());
                    }
                }
                Operation::Fetch => {
                    for _ in 0..times {
                        black_box(self.words.atomic_load(OTHER, 0).block());
                    }
                }
                Operation::Barrier => (0..times).for_each(|_| self.world.barrier()),
                Operation::Histogram => {
                    self.counts.batch_add(&self.indices[..times], 1).block();
                    self.world.barrier();
                }
                Operation::IndexGather => {
                    black_box(self.table.batch_load(&self.indices[..times]).block());
                    self.world.barrier();
                }
            }
        }
    }

    /// Whether both processes see in the tables what they should.
    fn check_tables(&self) -> Result<(), &'static str> {
        let (mine, half, me) = (self.counts.local_data(), WORDS / 2, self.world.my_pe());
        (0..half).for_each(|k| mine.at(k).store(0));
        self.world.barrier();
        self.repeat(Operation::Histogram, INDICES);
        let mut expected = vec![0; half];
        for index in draw(0).into_iter().chain(draw(1)) {
            if index / half == me {
                expected[index % half] += 1;
            }
        }
        let counted = expected.iter().enumerate().all(|(k, &count)| mine.at(k).load() == count);
        let found = self.table.batch_load(&self.indices[..]).block();
        self.world.barrier();
        let read = self.indices.iter().zip(&found).all(|(&index, &found)| found == 7 * index as u64);
        (counted && read && found.len() == INDICES)
            .then_some(())
            .ok_or("the words of the table are not as they should be")
    }

    fn check(&self, operation: Operation) -> Result<(), &'static str> {
        if operation == Operation::Barrier {
            return Ok(());
        }
        if operation.is_of_tables() {
            return self.check_tables();
        }
        let byte = |k: usize| (k * 7 + k / 256 * 3 + 1) as u8;
        // SAFETY: only this process transfers, one operation after the other, and within the regions; the second one
        // sleeps.
        unsafe {
            let given = self.given.as_mut_slice();
            given.fill(0);
            self.bytes.put_buffer(OTHER, 0, &self.given).block();
            self.words.put_blocking(OTHER, 0, 5);
            given.iter_mut().enumerate().for_each(|(k, place)| *place = byte(k));
            match operation {
                Operation::Swap | Operation::Fetch => {
                    let before = self.words.atomic_swap(OTHER, 0, 7).block();
                    let right = before == 5 && self.words.atomic_load(OTHER, 0).block() == 7;
                    return right.then_some(()).ok_or("the atomic operations do not do what they should");
                }
                Operation::Put(8) | Operation::Get(8) => {
                    self.repeat(Operation::Put(8), 1);
                    let arrived = self.words.get(OTHER, 0).block().to_ne_bytes();
                    let right = arrived.iter().enumerate().all(|(k, &found)| found == byte(k));
                    return right.then_some(()).ok_or("the message did not arrive as it was sent");
                }
                Operation::Get(bytes) => self.repeat(Operation::Put(bytes), 1),
                other => self.repeat(other, 1),
            }
            let bytes = operation.bytes();
            self.taken.as_mut_slice().fill(0);
            self.repeat(Operation::Get(ROOM), 1);
            let right = |(k, &found): (usize, &u8)| found == if k < bytes { byte(k) } else { 0 };
            let right = self.taken.as_slice().iter().enumerate().all(right);
            right.then_some(()).ok_or("the message did not arrive as it was sent, or went beyond its end")
        }
    }
}

/// Elements at random in a table, which a process adds to or reads: those of `draw` in `micro.h`.
fn draw(process: usize) -> Vec<usize> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 + process as u64;
    let mut next = || {
        // Marsaglia, "Xorshift RNGs" (2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 32) as usize * WORDS) >> 32
    };
    (0..INDICES).map(|_| next()).collect()
}

/// What is measured, on messages of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Put(usize),
    Get(usize),
    Bandwidth(usize),
    Swap,
    Fetch,
    Barrier,
    Histogram,
    IndexGather,
}

impl Operation {
    fn parse(name: &str, bytes: usize) -> Option<Self> {
        let fits = (1..=ROOM).contains(&bytes) && ROOM.is_multiple_of(bytes);
        match name {
            "put" if fits => Some(Self::Put(bytes)),
            "get" if fits => Some(Self::Get(bytes)),
            "bandwidth" if fits => Some(Self::Bandwidth(bytes)),
            "swap" => Some(Self::Swap),
            "fetch" => Some(Self::Fetch),
            "barrier" => Some(Self::Barrier),
            "histogram" if bytes == HALF => Some(Self::Histogram),
            "index-gather" if bytes == HALF => Some(Self::IndexGather),
            _ => None,
        }
    }

    fn is_of_tables(self) -> bool {
        matches!(self, Self::Histogram | Self::IndexGather)
    }

    /// Bytes that are written in one of them.
    fn bytes(self) -> usize {
        match self {
            Self::Put(bytes) | Self::Get(bytes) => bytes,
            Self::Bandwidth(bytes) => (WINDOW * bytes).min(ROOM),
            Self::Swap | Self::Fetch | Self::Barrier | Self::Histogram | Self::IndexGather => 0,
        }
    }
}

/// The version of the crate, from what `cargo` has locked.
fn version() -> &'static str {
    let is_it = |package: &&str| package.contains("name = \"lamellar\"") && package.contains("checksum");
    let package = LOCK.split("[[package]]").find(is_it).unwrap_or_default();
    let line = package.lines().find_map(|line| line.strip_prefix("version = "));
    line.map_or("of an unknown version", |version| version.trim_matches('"'))
}
