//! The bootstrap of PEs that are threads of one process.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier};

use shmem_core::exclusion::Mutex;
use shmem_core::process_exit;
use shmem_launch::bootstrap::Bootstrap;

#[derive(Clone)]
pub(super) struct Nodes(pub(super) Vec<u32>);

impl Nodes {
    /// Returns the PEs of a PE's node in order, including that PE.
    pub(super) fn neighbours(&self, pe: usize) -> impl Iterator<Item = usize> + '_ {
        let node = self.0[pe];
        self.0.iter().enumerate().filter(move |(_, other)| **other == node).map(|(other, _)| other)
    }

    pub(super) fn slot(&self, pe: usize) -> usize {
        self.neighbours(pe).take_while(|other| *other < pe).count()
    }
}

pub(super) struct Shared {
    values: Mutex<HashMap<(usize, String), Vec<u8>>>,
    /// File descriptors that each PE passes to the other PEs of its node, during `share`.
    descriptors: Mutex<Vec<Vec<OwnedFd>>>,
    barrier: Barrier,
    nodes: Nodes,
}

impl Shared {
    pub(super) fn new(nodes: Nodes) -> Self {
        let (descriptors, pes) = (nodes.0.iter().map(|_| Vec::new()).collect(), nodes.0.len());
        let descriptors = Mutex::new(descriptors);
        Self { values: Mutex::default(), descriptors, barrier: Barrier::new(pes), nodes }
    }
}

pub(super) struct Threads {
    pub(super) shared: Arc<Shared>,
    pub(super) me: usize,
}

impl Bootstrap for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn number(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.shared.nodes.0.len()
    }

    fn hosts(&self) -> Vec<u32> {
        self.shared.nodes.0.clone()
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let mut values = self.shared.values.lock();
        values.insert((self.me, key.to_owned()), value.to_vec());
        Ok(())
    }

    fn fence(&self) -> io::Result<()> {
        self.shared.barrier.wait();
        Ok(())
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let values = self.shared.values.lock();
        values.get(&(pe, key.to_owned())).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let Shared { descriptors: given, barrier, nodes, .. } = &*self.shared;
        let given = || given.lock();
        let own = descriptors.iter().map(|d| d.try_clone_to_owned()).collect::<io::Result<_>>();
        // An error is returned only after the barriers, because the other PEs wait in them.
        let failed = own.map(|own| given()[self.me] = own);
        barrier.wait();
        let copy = |pe: usize| given()[pe].iter().map(OwnedFd::try_clone).collect::<io::Result<_>>();
        let copies = nodes.neighbours(self.me).map(copy).collect();
        barrier.wait();
        given()[self.me].clear();
        failed.and(copies)
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        process_exit::end(code, || eprintln!("shmem: PE {} ends the job: {message}", self.me))
    }

    fn finish(&self) {}
}
