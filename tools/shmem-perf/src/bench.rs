//! Inside a PE: what it is started for, and what measures have in common there.

use std::cell::RefCell;
use std::error::Error;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};
use shmem::prelude::*;
use shmem::thread::Single;

use crate::case::{Record, Site};
use crate::fabric::{Pair, TargetState};
use crate::pattern;
use crate::peers::{Peer, PeerError, Programs, Running};
use crate::samples::Samples;

pub(crate) type Done = std::result::Result<(), Box<dyn Error>>;

/// What each PE of a job does. All of them call it; what PE 0 records counts.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// With a core for each PE, where there are enough; PE 0 has the programs that it was given beside it.
    Near(fn(&mut World, &Bench<'_>) -> Done),
    /// On any core: its threads have them all.
    Free(fn(&mut World, &Bench<'_>) -> Done),
    /// Two PEs with a bare program over libfabric, and no core of their own: threads that do what has come need them, too.
    Far(fn(&Pair<'_>, &Bench<'_>) -> Done),
    /// The same with threads that call the library at the same time, on PE 0 alone, while the other one sleeps in its own code.
    Threads(fn(&Pair<'_, Multiple>, &Bench<'_>) -> Done),
    Own(fn(&Given) -> Done),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Given {
    pub(crate) repetitions: usize,
    /// Patterns of the cases that are wanted; without any: all.
    pub(crate) only: Vec<String>,
    pub(crate) quick: bool,
    pub(crate) seed: u64,
    pub(crate) partitions: usize,
    pub(crate) peers: Option<PathBuf>,
    /// By which power of two arrays are smaller than those of their source.
    pub(crate) scale: u32,
    /// Bytes of transfers, where a measure has no sizes of its own.
    pub(crate) sizes: Vec<usize>,
    pub(crate) threads: Vec<usize>,
}

impl Given {
    pub(crate) fn beside(programs: &Programs) -> Self {
        Self { peers: Some(programs.directory().to_owned()), ..Self::default() }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        pattern::is_wanted(&self.only, name)
    }
}

/// What is found and is no number: a text with a place in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// Its line in `facts.csv`, from 1; 0 outside of a report.
    #[serde(default)]
    pub(crate) id: usize,
    /// The section of a report; none of the machine.
    #[serde(default)]
    pub(crate) section: String,
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) value: String,
}

impl Fact {
    pub(crate) fn new(table: &str, row: &str, column: &str, value: impl Into<String>) -> Self {
        let [table, row, column] = [table, row, column].map(str::to_owned);
        Self { id: 0, section: String::new(), table, row, column, value: value.into() }
    }
}

impl Task {
    pub(crate) fn run(self, given: &Given) -> Done {
        match self {
            Self::Near(pe) | Self::Free(pe) => {
                let mut world = shmem::init::<Single>()?;
                // They take cores of their own accord, and could not once this process has taken one.
                let directory = given.peers.as_deref().filter(|_| world.my_pe() == 0);
                let beside = RefCell::new(directory.map(start).unwrap_or_default());
                // Far away, threads that do what has come need cores, too.
                let cores = match self {
                    Self::Near(_) if is_near(&world) => take_core(world.my_pe(), world.n_pes())?,
                    _ => allowed_cores()?.len(),
                };
                let bench = Bench { beside, ..Bench::new(&world, given, cores) };
                pe(&mut world, &bench)?;
                bench.print(&world)
            }
            Self::Far(pe) => far(given, pe),
            Self::Threads(pe) => far(given, |pair, bench| {
                pair.alone(TargetState::Asleep, || pe(pair, bench)).unwrap_or(Ok(()))
            }),
            Self::Own(pe) => pe(given),
        }
    }
}

fn far<L: ThreadLevel>(given: &Given, pe: impl FnOnce(&Pair<'_, L>, &Bench<'_>) -> Done) -> Done {
    let world = shmem::init::<L>()?;
    let bench = Bench::new(&world, given, allowed_cores()?.len());
    pe(&Pair::new(&world, given)?, &bench)?;
    bench.print(&world)
}

/// Prints a line of JSON for the tool, or for who reads the tool.
pub(crate) fn say<T: Serialize>(one: &T) -> Done {
    println!("{}", serde_json::to_string(one)?);
    Ok(())
}

pub(crate) struct Bench<'g> {
    given: &'g Given,
    pub(crate) site: Site,
    /// Cores of the PEs of this host.
    pub(crate) cores: usize,
    beside: RefCell<Vec<Rc<Running>>>,
    records: RefCell<Vec<Record>>,
}

impl Deref for Bench<'_> {
    type Target = Given;

    fn deref(&self) -> &Given {
        self.given
    }
}

impl<'g> Bench<'g> {
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, given: &'g Given, cores: usize) -> Self {
        let (beside, records) = (RefCell::default(), RefCell::default());
        Self { given, site: Site::of(world, cores), cores, beside, records }
    }

    pub(crate) fn add(&self, name: impl Into<String>, samples: Samples) {
        self.push(self.record(name, samples));
    }

    pub(crate) fn record(&self, name: impl Into<String>, samples: Samples) -> Record {
        Record::new(&self.site, name, samples)
    }

    pub(crate) fn push(&self, record: Record) {
        self.records.borrow_mut().push(record);
    }

    pub(crate) fn samples(&self, name: impl Into<String>, take: impl FnOnce() -> Samples) {
        self.of_threads(1, name.into(), take);
    }

    /// The same of so many threads of this PE.
    pub(crate) fn of_threads(&self, threads: usize, name: String, take: impl FnOnce() -> Samples) {
        if self.wants(&name) {
            let shared_cores = self.site.shared_cores || threads > self.cores;
            let site = Site { shared_cores, ..self.site.clone() };
            self.push(Record::new(&site, name, take()));
        }
    }

    pub(crate) fn pair(&self, name: impl Into<String>, pair: impl FnMut() -> (f64, f64)) {
        self.samples(name, || Samples::of(self.repetitions, pair));
    }

    /// The same in turn; each closure gives the cost of one operation.
    pub(crate) fn pairs(
        &self,
        name: impl Into<String>,
        mut cost: impl FnMut() -> f64,
        mut limit: impl FnMut() -> f64,
    ) {
        self.pair(name, || (cost(), limit()));
    }

    pub(crate) fn print<L: ThreadLevel>(&self, world: &World<L>) -> Done {
        self.records.borrow().iter().filter(|_| world.my_pe() == 0).try_for_each(say)
    }

    pub(crate) fn beside(&self) -> Vec<Rc<Running>> {
        self.beside.borrow().clone()
    }

    /// One of them, which is no longer beside.
    pub(crate) fn take(&self, peer: Peer) -> Option<Rc<Running>> {
        self.beside.borrow_mut().extract_if(.., |running| running.peer == peer).next()
    }

    /// Keeps what was measured beside a peer, or says why there is nothing; and whether there will be more of it.
    pub(crate) fn keep(
        &self,
        name: &str,
        of: &Running,
        found: std::result::Result<Samples, PeerError>,
    ) -> bool {
        let Running { peer, library, .. } = of;
        match found {
            Ok(samples) => self.push(Record { note: format!(": {library}"), ..self.record(name, samples) }),
            Err(reason @ PeerError::Lost(_)) => {
                self.beside.borrow_mut().retain(|running| running.peer != *peer);
                self.peers.iter().for_each(|directory| lose(directory, *peer, &reason));
                return false;
            }
            Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
        }
        true
    }
}

pub(crate) fn is_near<L: ThreadLevel>(world: &World<L>) -> bool {
    world.pes().iter().all(|pe| pe.on_node().is_some())
}

pub(crate) fn other<L: ThreadLevel>(world: &World<L>) -> Pe {
    world.ring_neighbours().1
}

/// Runs `measure` on PE 0 while the others sleep: on its node in their own code, since updates would wake those that wait in the
/// library; elsewhere in the library, which does what comes.
pub(crate) fn alone(world: &World, measure: impl FnOnce()) -> Result<()> {
    let done = world.alloc(value(0_u64))?;
    world.barrier_all();
    if world.my_pe() == 0 {
        measure();
        world.pes().iter().for_each(|pe| world.p(done.on(pe), 1));
    }
    while is_near(world) && done.here(world).load() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    world.free(done)
}

/// Starts those whose programs are in a directory. Who does not start is said.
fn start(directory: &Path) -> Vec<Rc<Running>> {
    let lost = |peer, reason| lose(directory, peer, &reason);
    let running = |&peer: &Peer| Running::start(peer, directory).map_err(|reason| lost(peer, reason)).ok()?;
    Peer::ANSWERING.into_iter().flatten().filter_map(running).map(Rc::new).collect()
}

/// Says that there will be no more of a peer, neither in this job nor in later ones.
fn lose(directory: &Path, peer: Peer, reason: &PeerError) {
    eprintln!("shmem-perf: peer {peer}: {reason}");
    // Whoever tries it again finds out again.
    _ = std::fs::remove_file(directory.join(peer.name));
}

/// Keeps the calling process, which has joined its job (how PEs wait is decided by the cores they had then), on one of the cores it may
/// use, unless the job has more PEs. Gives the number of these cores.
pub(crate) fn take_core(pe: usize, pes: usize) -> std::io::Result<usize> {
    let cores = allowed_cores()?;
    if pes <= cores.len() {
        let mut set = CpuSet::new();
        set.set(cores[pe]);
        sched_setaffinity(None, &set)?;
    }
    Ok(cores.len())
}

pub(crate) fn allowed_cores() -> std::io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}
