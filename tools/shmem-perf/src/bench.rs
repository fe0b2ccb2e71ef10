//! The part of a benchmark that runs inside a PE: its task, its arguments, and its results.

use std::cell::RefCell;
use std::error::Error;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_launch::cpus;

use crate::case::{Record, Site};
use crate::fabric::{Pair, TargetState};
use crate::pattern;
use crate::peers::{Peer, PeerError, Programs, Running};
use crate::samples::Samples;

pub(crate) type Done = std::result::Result<(), Box<dyn Error>>;

/// The code that every PE of a job runs. Only the results of PE 0 are printed.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// Each PE is bound to a core of its own, if all PEs are on one node with enough cores. PE 0 also starts the given peers.
    Near(fn(&mut World, &Bench<'_>) -> Done),
    Free(fn(&mut World, &Bench<'_>) -> Done),
    /// Two PEs measure the library and the bare program over libfabric. PEs are not bound, because progress threads need cores.
    Far(fn(&Pair<'_>, &Bench<'_>) -> Done),
    /// As `Far`, but the library has the thread level `Multiple`: threads of PE 0 call it, while PE 1 sleeps outside of it.
    Threads(fn(&Pair<'_, Multiple>, &Bench<'_>) -> Done),
    Own(fn(&PeArguments) -> Done),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PeArguments {
    pub(crate) repetitions: usize,
    /// Patterns of the cases to measure. If there are none, all cases are measured.
    pub(crate) only: Vec<String>,
    pub(crate) quick: bool,
    pub(crate) seed: u64,
    pub(crate) partitions: usize,
    pub(crate) peers: Option<PathBuf>,
    /// Binary logarithm of the factor by which arrays are smaller than in the literature.
    pub(crate) scale: u32,
    /// Bytes of each transfer or array, in benchmarks that have no fixed sizes.
    pub(crate) sizes: Vec<usize>,
    pub(crate) threads: Vec<usize>,
}

impl PeArguments {
    pub(crate) fn beside(programs: &Programs) -> Self {
        Self { peers: Some(programs.directory().to_owned()), ..Self::default() }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        pattern::is_wanted(&self.only, name)
    }
}

/// A result that is a text, with its position in a table of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextResult {
    /// Line of `facts.csv`, counted from 1; 0 if there is no report.
    #[serde(default)]
    pub(crate) id: usize,
    /// Name of the report's section; empty for facts about the machine.
    #[serde(default)]
    pub(crate) section: String,
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) value: String,
}

impl TextResult {
    pub(crate) fn new(table: &str, row: &str, column: &str, value: impl Into<String>) -> Self {
        let [table, row, column] = [table, row, column].map(str::to_owned);
        Self { id: 0, section: String::new(), table, row, column, value: value.into() }
    }
}

impl Task {
    pub(crate) fn run(self, given: &PeArguments) -> Done {
        match self {
            Self::Near(pe) | Self::Free(pe) => {
                let mut world = shmem::init::<Single>()?;
                // Peers start before this process is bound, because they would inherit its core.
                let directory = given.peers.as_deref().filter(|_| world.my_pe() == 0);
                let beside = RefCell::new(directory.map(start).unwrap_or_default());
                // PEs on different nodes are not bound, because progress threads need cores, too.
                let cores = match self {
                    Self::Near(_) if is_near(&world) => take_core(world.my_pe(), world.n_pes())?,
                    _ => cpus::allowed()?.len(),
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

fn far<L: ThreadLevel>(given: &PeArguments, pe: impl FnOnce(&Pair<'_, L>, &Bench<'_>) -> Done) -> Done {
    let world = shmem::init::<L>()?;
    let bench = Bench::new(&world, given, cpus::allowed()?.len());
    pe(&Pair::new(&world, given)?, &bench)?;
    bench.print(&world)
}

pub(crate) fn say<T: Serialize>(one: &T) -> Done {
    println!("{}", serde_json::to_string(one)?);
    Ok(())
}

pub(crate) struct Bench<'g> {
    given: &'g PeArguments,
    pub(crate) site: Site,
    /// Number of cores that PEs of this host may use.
    pub(crate) cores: usize,
    beside: RefCell<Vec<Rc<Running>>>,
    records: RefCell<Vec<Record>>,
}

impl Deref for Bench<'_> {
    type Target = PeArguments;

    fn deref(&self) -> &PeArguments {
        self.given
    }
}

impl<'g> Bench<'g> {
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, given: &'g PeArguments, cores: usize) -> Self {
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

    /// Measures a case with `threads` threads of this PE, if the user wants this case.
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

    /// Measures pairs of samples: `cost` and `limit` are called in turn, and each returns the cost of an operation.
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

    pub(crate) fn take(&self, peer: Peer) -> Option<Rc<Running>> {
        self.beside.borrow_mut().extract_if(.., |running| running.peer == peer).next()
    }

    /// Adds the samples of a comparison with a peer, or prints why there are none. Returns `false` if the peer is lost.
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

/// Runs `measure` on PE 0 while the other PEs wait. If all PEs are on one node, they sleep outside of the library, because stores
/// to their memory would wake them in the library. Otherwise they wait in the library, where they make progress.
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

/// Starts the peers whose programs are in `directory`, and prints which peers do not start.
fn start(directory: &Path) -> Vec<Rc<Running>> {
    let lost = |peer, reason| lose(directory, peer, &reason);
    let running = |&peer: &Peer| Running::start(peer, directory).map_err(|reason| lost(peer, reason)).ok()?;
    Peer::ANSWERING.into_iter().flatten().filter_map(running).map(Rc::new).collect()
}

/// Prints why a peer is lost, and removes its program, so that later jobs do not start the peer.
fn lose(directory: &Path, peer: Peer, reason: &PeerError) {
    eprintln!("shmem-perf: peer {peer}: {reason}");
    // If the program cannot be removed, the next job tries the peer again.
    _ = std::fs::remove_file(directory.join(peer.name));
}

/// Binds the calling thread to one of its allowed cores, if there is a core for each of `pes` PEs or threads. Returns the number of
/// allowed cores. Must be called after the start of the library, which reads the allowed cores, too.
pub(crate) fn take_core(pe: usize, pes: usize) -> std::io::Result<usize> {
    let cores = cpus::allowed()?;
    if pes <= cores.len() {
        cpus::bind(&cores[pe..=pe])?;
    }
    Ok(cores.len())
}
