//! Other libraries beside ours, inside a PE.

use std::path::{Path, PathBuf};

use shmem::zeroed;
use shmem_perf::Record;
use shmem_perf::peers::{Missing, Peer, PeerError, Programs, Running};
use shmem_perf::strided::peers::own::{self, Own};
use shmem_perf::strided::peers::{Arrays, compare};

use crate::bench::{Bench, Records};

/// The peers that run beside PE 0.
pub(crate) struct Beside {
    directory: PathBuf,
    pub(crate) running: Vec<Running>,
}

impl Beside {
    /// Starts those whose programs are in a directory. Who does not start is said.
    pub(crate) fn start(directory: &Path) -> Self {
        let mut beside = Self { directory: directory.to_owned(), running: Vec::new() };
        for peer in Peer::ALL {
            match Running::start(peer, directory) {
                Ok(running) => beside.running.extend(running),
                Err(reason) => beside.lose(peer, reason),
            }
        }
        beside
    }

    /// Says that there will be no more of a peer, neither in this job nor in later ones.
    pub(crate) fn lose(&self, peer: Peer, reason: PeerError) {
        eprintln!("shmem-perf: {}", Missing { peer, reason });
        Programs::forget(peer, &self.directory);
    }
}

impl Bench<'_> {
    /// Our routines against theirs. PE 0 brings the peers.
    pub(crate) fn peers(&self, beside: Option<Beside>) -> Records {
        self.with_arrays(|arrays| {
            Ok(self.alone(|| {
                let mut records = Vec::new();
                let Some(mut beside) = beside else { return records };
                for mut peer in std::mem::take(&mut beside.running) {
                    let library = peer.library().to_owned();
                    for comparison in compare(self.world, arrays, &mut peer, self.repetitions) {
                        let (case, compared) = (comparison.case(), comparison.compared(&library));
                        match comparison.samples {
                            Ok(samples) => {
                                records.push(Record::new(&self.site, "peers", case, "ns", compared, samples));
                            }
                            Err(reason) if reason.is_final() => beside.lose(peer.peer(), reason),
                            Err(reason) => eprintln!("shmem-perf: {case}: {reason}"),
                        }
                    }
                }
                records
            }))
        })
    }

    /// The strided routines of each library against its own loop of puts or gets.
    pub(crate) fn own(&self, beside: Option<Beside>) -> Records {
        self.with_arrays(|arrays| {
            Ok(self.alone(|| {
                let mut records = Vec::new();
                let mut add = |library: &str, compared: &str, Own { column, samples }: Own| {
                    let case = format!("{library}/{}", column.name());
                    match samples {
                        Ok(samples) => {
                            records.push(Record::new(
                                &self.site,
                                "strided-own",
                                case,
                                "ns",
                                compared,
                                samples,
                            ));
                        }
                        Err(reason) => eprintln!("shmem-perf: {case}: {reason}"),
                    }
                };
                let compared = own::compared(None);
                own::ours(self.world, arrays, self.repetitions)
                    .into_iter()
                    .for_each(|own| add("ours", &compared, own));
                for mut peer in beside.into_iter().flat_map(|beside| beside.running) {
                    let compared = own::compared(Some((peer.peer(), peer.library())));
                    let all = own::theirs(&mut peer, self.repetitions);
                    all.into_iter().for_each(|own| add(peer.peer().name(), &compared, own));
                }
                records
            }))
        })
    }

    /// Measures with arrays of both PEs.
    fn with_arrays(&self, measure: impl FnOnce(Arrays<'_>) -> Records) -> Records {
        let world = self.world;
        let to = world.alloc(zeroed::<f64>(Arrays::DOUBLES))?;
        let source = world.alloc(zeroed::<f64>(Arrays::DOUBLES))?;
        // SAFETY: this PE's copy of `source` is written by nobody: no PE has a place on it but this
        // reference, until it is freed with the job.
        let from = unsafe { source.here(world).as_ref() };
        measure(Arrays::new(world, to.on(self.other()), from))
    }
}
