//! Thread pools on each NUMA node of a PE. Needs feature `rayon`.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use shmem_core::exclusion::Mutex;

use shmem_launch::cpus;

use crate::error::{ErrorKind, Result};
use crate::thread::ThreadLevel;
use crate::world::World;

/// A thread pool for each NUMA node on whose CPUs the calling PE may run. Made by [`World::node_pools`], for all arrays.
///
/// A chunk is processed by the threads of its node, which are bound to the node's CPUs. If the system does not report
/// nodes, there is one pool of unbound threads.
#[derive(Debug)]
pub struct NodePools {
    pools: Vec<NodePool>,
}

#[derive(Debug)]
struct NodePool {
    node: Option<u32>,
    threads: ThreadPool,
}

impl<L: ThreadLevel> World<L> {
    /// Makes the thread pools for parallel iteration over arrays ([`ParArray`](crate::array::ParArray)). The number of
    /// threads is `RAYON_NUM_THREADS`, or else this PE's share of the CPUs ([`cpus_per_pe`](Self::cpus_per_pe)). Each
    /// node gets threads in proportion to its CPUs, and at least one. Not collective.
    ///
    /// # Errors
    ///
    /// If threads cannot be started, or bound to the CPUs of a node.
    #[track_caller]
    pub fn node_pools(&self) -> Result<NodePools> {
        let topology = self.job().site.topology();
        let homes = topology.homes();
        let mut nodes: Vec<(Option<u32>, Vec<usize>)> =
            homes.into_iter().map(|home| (Some(home), topology.cpus_of(home))).collect();
        if nodes.is_empty() {
            nodes.push((None, Vec::new()));
        }
        let wish = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
        let all = wish.filter(|&threads| threads > 0).unwrap_or_else(|| self.cpus_per_pe());
        let cpus: usize = nodes.iter().map(|(_, cpus)| cpus.len()).sum();
        let pools = nodes.into_iter().map(|(node, own)| {
            let threads = (all * own.len()).checked_div(cpus).map_or(all, |share| share.max(1));
            NodePool::new(self.my_pe(), node, own, threads)
        });
        Ok(NodePools { pools: pools.collect::<Result<_>>()? })
    }
}

impl NodePools {
    /// Returns the nodes that have a pool. Empty if the system does not report nodes.
    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.pools.iter().filter_map(|pool| pool.node)
    }

    /// Returns the pool of a node, for the program's own tasks.
    pub fn of_node(&self, node: u32) -> Option<&ThreadPool> {
        self.pools.iter().find(|pool| pool.node == Some(node)).map(|pool| &pool.threads)
    }

    /// Returns the number of threads of all pools.
    pub fn threads(&self) -> usize {
        self.pools.iter().map(|pool| pool.threads.current_num_threads()).sum()
    }

    /// Returns the index of the pool for a chunk: the pool of its node, or pools in turn if the node has none.
    fn of_chunk(&self, chunk: usize, node: Option<u32>) -> usize {
        let own = node.and_then(|node| self.pools.iter().position(|pool| pool.node == Some(node)));
        own.unwrap_or(chunk % self.pools.len())
    }

    /// Runs one task for each chunk in the pool of the chunk's node, and waits until all tasks have finished.
    pub(super) fn run<J: FnOnce() + Send>(&self, jobs: impl IntoIterator<Item = (Option<u32>, J)>) {
        let mut work: Vec<Vec<J>> = self.pools.iter().map(|_| Vec::new()).collect();
        for (chunk, (node, job)) in jobs.into_iter().enumerate() {
            work[self.of_chunk(chunk, node)].push(job);
        }
        spread(&self.pools, work);
    }
}

/// Starts the tasks of all pools, and then waits for them. Each pool's scope contains the scopes of the remaining pools.
fn spread<J: FnOnce() + Send>(pools: &[NodePool], mut work: Vec<Vec<J>>) {
    let (Some((last, others)), Some(jobs)) = (pools.split_last(), work.pop()) else { return };
    if jobs.is_empty() {
        return spread(others, work);
    }
    last.threads.in_place_scope(|scope| {
        for job in jobs {
            scope.spawn(|_| job());
        }
        spread(others, work);
    });
}

impl NodePool {
    fn new(pe: usize, node: Option<u32>, cpus: Vec<usize>, threads: usize) -> Result<Self> {
        let place = node.map_or_else(|| "the machine".to_owned(), |node| format!("NUMA node {node}"));
        let refused = |reason: String| ErrorKind::Refused(format!("{threads} threads on {place}: {reason}"));
        let failure = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&failure);
        let name = move |thread| match node {
            Some(node) => format!("PE {pe}, node {node}, thread {thread}"),
            None => format!("PE {pe}, thread {thread}"),
        };
        let bind = move |_| {
            if node.is_some()
                && let Err(error) = cpus::bind(&cpus)
            {
                *noted.lock() = Some(error);
            }
        };
        let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).start_handler(bind);
        let threads = builder.build().map_err(|error| refused(error.to_string()))?;
        // Waits until all threads have started, and therefore have tried to bind themselves.
        threads.broadcast(|_| ());
        match failure.lock().take() {
            Some(error) => Err(refused(format!("they cannot be bound to its CPUs: {error}")).into()),
            None => Ok(Self { node, threads }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools(nodes: &[u32], threads: usize) -> NodePools {
        let cpus = cpus::allowed().unwrap();
        let pool = |&node| NodePool::new(0, Some(node), cpus.clone(), threads).unwrap();
        NodePools { pools: nodes.iter().map(pool).collect() }
    }

    fn thread() -> String {
        std::thread::current().name().unwrap().to_owned()
    }

    #[test]
    fn chunks_are_worked_on_by_their_nodes() {
        let pools = pools(&[0, 2, 5], 2);
        assert_eq!((pools.threads(), pools.nodes().collect::<Vec<_>>()), (6, vec![0, 2, 5]));
        let nodes = [Some(2), Some(0), Some(5), None, Some(7), Some(2), None];
        let mut names = nodes.map(|_| String::new());
        pools.run(nodes.into_iter().zip(&mut names).map(|(node, name)| (node, || *name = thread())));
        // If the node is not known, or has no pool, the number of the chunk chooses.
        let worked = [2, 0, 5, 0, 2, 2, 0];
        for (name, node) in names.iter().zip(worked) {
            assert!(name.starts_with(&format!("PE 0, node {node}, thread ")), "{name}");
        }
        // From inside a pool, too.
        let inside = pools.of_node(5).unwrap().install(|| {
            let mut name = String::new();
            pools.run([(Some(0), || name = thread())]);
            name
        });
        assert!(inside.starts_with("PE 0, node 0"), "{inside}");
    }

    #[test]
    fn threads_that_cannot_be_bound_are_refused() {
        let error = NodePool::new(0, Some(3), vec![1023], 2).unwrap_err().to_string();
        assert!(error.starts_with("2 threads on NUMA node 3: they cannot be bound to its CPUs: "), "{error}");
    }
}
