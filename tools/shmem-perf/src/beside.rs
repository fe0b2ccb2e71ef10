//! The peers that run beside PE 0, inside a PE.

use std::path::{Path, PathBuf};

use crate::peers::{Missing, Peer, PeerError, Programs, Running};

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
