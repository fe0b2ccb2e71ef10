//! The program of a PE: its task, its input, and the records of its measure.

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

/// What every PE of a job runs. Only the records of PE 0 count.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// PEs with a core each, if there are enough. PE 0 also runs the given peer programs.
    Near(fn(&mut World, &Bench<'_>) -> Done),
    Free(fn(&mut World, &Bench<'_>) -> Done),
    /// Two PEs with a bare program over libfabric, on any core, since progress threads need cores, too.
    Far(fn(&Pair<'_>, &Bench<'_>) -> Done),
    /// As `Far`, with threads of PE 0 that call the library at once, while the other PE sleeps in its own code.
    Threads(fn(&Pair<'_, Multiple>, &Bench<'_>) -> Done),
    Own(fn(&Given) -> Done),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Given {
    pub(crate) repetitions: usize,
    /// Patterns of the wanted cases. If there are none, all cases are wanted.
    pub(crate) only: Vec<String>,
    pub(crate) quick: bool,
    pub(crate) seed: u64,
    pub(crate) partitions: usize,
    pub(crate) peers: Option<PathBuf>,
    /// The power of two by which arrays are smaller than in the literature.
    pub(crate) scale: u32,
    /// Bytes of transfers, where the measure has no fixed sizes.
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

/// A finding that is a text, with its place in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// The line in `facts.csv`, from 1; 0 outside of a report.
    #[serde(default)]
    pub(crate) id: usize,
    /// The section of a report; empty for facts about the machine.
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
                // Peers first: they bind themselves to cores, and would inherit the core of this process.
                let directory = given.peers.as_deref().filter(|_| world.my_pe() == 0);
                let beside = RefCell::new(directory.map(start).unwrap_or_default());
                // Between nodes, progress threads need cores, too.
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

fn far<L: ThreadLevel>(given: &Given, pe: impl FnOnce(&Pair<'_, L>, &Bench<'_>) -> Done) -> Done {
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
    given: &'g Given,
    pub(crate) site: Site,
    /// The cores that PEs of this host may use.
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

    /// Adds the samples of a case of `threads` threads of this PE, if it is wanted.
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

    /// Adds pairs of the two closures, called in turn; each returns the cost of one operation.
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

    /// Adds samples beside a peer, or prints why there are none. Returns whether the peer still runs.
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

/// Runs `measure` on PE 0 while the others sleep. PEs of its node sleep in their own code, since updates would wake them in the library.
/// PEs of other nodes wait in the library, which makes progress.
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

/// Starts the peers whose programs are in a directory, and prints which do not start.
fn start(directory: &Path) -> Vec<Rc<Running>> {
    let lost = |peer, reason| lose(directory, peer, &reason);
    let running = |&peer: &Peer| Running::start(peer, directory).map_err(|reason| lost(peer, reason)).ok()?;
    Peer::ANSWERING.into_iter().flatten().filter_map(running).map(Rc::new).collect()
}

/// Prints that a peer is lost, for this job and later ones.
fn lose(directory: &Path, peer: Peer, reason: &PeerError) {
    eprintln!("shmem-perf: peer {peer}: {reason}");
    // On failure, the next job tries the peer again.
    _ = std::fs::remove_file(directory.join(peer.name));
}

/// Binds the calling process to one of its allowed cores, unless the job has more PEs. Returns the number of allowed cores. Called after
/// the PE has joined the job, since the library looks at the cores then.
pub(crate) fn take_core(pe: usize, pes: usize) -> std::io::Result<usize> {
    let cores = cpus::allowed()?;
    if pes <= cores.len() {
        cpus::bind(&cores[pe..=pe])?;
    }
    Ok(cores.len())
}
