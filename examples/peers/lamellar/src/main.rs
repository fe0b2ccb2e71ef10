//! The PGAS crate lamellar, over its shared memory: the operations of `micro.h` that it has, answered as the programs
//! in C do.
//!
//! ```text
//! cargo build --release
//! echo "put/8 put 8 1000 5" | target/release/lamellar 0 1
//! ```
//!
//! Transfers are those of a `SharedMemoryRegion`, the lowest layer that its documentation offers; arrays and active
//! messages stand above it. Tasks run on the calling thread (`ExecutorType::SingleThread`): the workers of the other
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

/// Words of an order: its number, barriers in a sample, samples. No barriers at all: the end.
const ORDER: usize = 3;

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
}

impl<'w> Peer<'w> {
    fn new(world: &'w LamellarWorld) -> Self {
        let peer = Self {
            world,
            bytes: world.alloc_shared_mem_region(ROOM).block(),
            words: world.alloc_shared_mem_region(1).block(),
            orders: world.alloc_shared_mem_region(ORDER).block(),
            given: world.alloc_one_sided_mem_region(ROOM),
            taken: world.alloc_one_sided_mem_region(ROOM),
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
        self.order(0, 0);
        Ok(())
    }

    /// The second process: sleeps until it takes part in barriers, or may go.
    fn follow(&self) {
        for next in 1.. {
            // SAFETY: the region is this process's own memory; the other one writes the number last.
            let word = |k: usize| unsafe { self.orders.as_slice().as_ptr().add(k).read_volatile() };
            while word(0) < next {
                sleep(Duration::from_millis(2));
            }
            let (times, samples) = (word(1) as usize, word(2) as usize);
            if times == 0 {
                return;
            }
            self.samples(Operation::Barrier, times, samples);
        }
    }

    /// Tells the second process what to do.
    fn order(&self, times: usize, samples: usize) {
        // SAFETY: the second process reads an order when its number has come, and writes none.
        unsafe {
            let number = self.orders.get(OTHER, 0).block();
            self.orders.put_blocking(OTHER, 1, times as u64);
            self.orders.put_blocking(OTHER, 2, samples as u64);
            self.orders.put_blocking(OTHER, 0, number + 1);
        }
    }

    /// Samples; of none, whether the operation does what it should.
    fn answer(&self, operation: Operation, times: usize, samples: usize) -> Result<Vec<f64>, &'static str> {
        if times == 0 {
            return Err("a request that does not fit");
        }
        if operation == Operation::Barrier {
            self.order(times, samples);
        } else if samples == 0 {
            self.check(operation)?;
        }
        Ok(self.samples(operation, times, samples))
    }

    fn samples(&self, operation: Operation, times: usize, samples: usize) -> Vec<f64> {
        let one = |_| {
            // The caches belonged to somebody else.
            self.repeat(operation, if times < 4 { 1 } else { 4 });
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
            }
        }
    }

    fn check(&self, operation: Operation) -> Result<(), &'static str> {
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

/// What is measured, on messages of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Put(usize),
    Get(usize),
    Bandwidth(usize),
    Swap,
    Fetch,
    Barrier,
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
            _ => None,
        }
    }

    /// Bytes that are written in one of them.
    fn bytes(self) -> usize {
        match self {
            Self::Put(bytes) | Self::Get(bytes) => bytes,
            Self::Bandwidth(bytes) => (WINDOW * bytes).min(ROOM),
            Self::Swap | Self::Fetch | Self::Barrier => 0,
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
