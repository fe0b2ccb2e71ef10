//! Deadlocks: when no PE of a job can make progress, the job ends with an error text that says where each PE waits.
//!
//! The algorithm is in `shmem_core`'s module `deadlock_detector`: all nodes answer questions, in *waves* over a tree. This module
//! implements its inputs ([`Watch`]). [`is_closed`] excludes that another thread, a child process, a signal handler or a debugger
//! can wake a waiting thread. Nodes send each other waves and answers by changing words in PEs' records ([`PeRecord`]).
//!
//! If PEs are threads of one process, a PE compares the number of sleeping threads with the number of all threads. Both numbers are
//! exact for the PE that answers the first wave last, because no PE starts or stops sleeping after its own answer.

use std::fmt::Write as _;
use std::mem::{MaybeUninit, offset_of};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};

use shmem_core::context::{RemotePath, Watch};
use shmem_core::pe::Pe;
use shmem_core::run_length::groups;
use shmem_core::segment_table::SYSTEM;
use shmem_core::system_area::{Activity, PeRecord, Stage, SystemArea};
use shmem_core::transport::{AtomicOp, Remote, Until, Width};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::pe_list::numbers;

use crate::members::Directory;
use crate::observe::Observers;
use crate::warnings::Peer;

/// The PEs of this node, whose records of where they wait the calling PE can read.
#[derive(Clone)]
pub(crate) struct Neighbours {
    /// (PE number, address of the PE's slot) for each PE.
    places: Arc<[(usize, usize)]>,
    me: usize,
}

impl Neighbours {
    /// # Safety
    ///
    /// The slots must be mapped for as long as the value or a copy of it is used.
    pub(crate) unsafe fn new(places: &[(usize, usize)], me: usize) -> Self {
        Self { places: places.into(), me }
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = Peer<'_>> + Clone {
        (0..self.places.len()).map(|at| (self.places[at].0, self.record(at)))
    }

    /// Returns whether the CPU of the calling thread is also the CPU on which another PE of the node last waited.
    pub(crate) fn share_cpu(&self) -> bool {
        // SAFETY: the slot is mapped (`new`), and begins with a system area, which consists of atomics. Soundness does
        // not depend on the contents of its table of CPUs.
        let cpus = &unsafe { &*(self.places[0].1 as *const SystemArea) }.cpus;
        cpus.is_shared(self.me, self.places.len(), rustix::thread::sched_getcpu())
    }

    fn record(&self, at: usize) -> &PeRecord {
        // SAFETY: the slot is mapped (`new`), and begins with a system area, which consists of atomics. Only its record
        // is used, by the methods that the waiting thread also uses.
        &unsafe { &*(self.places[at].1 as *const SystemArea) }.record
    }
}

/// The other nodes, as a binomial tree whose root is the node of PE 0. The tree uses the same connections as barriers.
pub(crate) struct Others {
    far: RemotePath,
    directory: Arc<Directory>,
    /// First PE of the parent node. `below` contains the first PE of each child node.
    above: Option<Pe>,
    below: Vec<Pe>,
}

impl Others {
    pub(crate) fn new(far: RemotePath, directory: Arc<Directory>, bootstrap: &dyn Bootstrap) -> Self {
        let (hosts, firsts) = (bootstrap.hosts(), bootstrap.firsts());
        let node = firsts.iter().position(|first| hosts[*first] == hosts[bootstrap.number()]);
        let (node, pe) = (node.unwrap_or_default(), |node: usize| directory.pes()[firsts[node]]);
        let (above, below) = (above(node).map(pe), below(node, firsts.len()).map(pe).collect());
        Self { far, above, below, directory }
    }

    /// Changes a word in the record of a PE on another node, without waiting for completion.
    fn tell(&self, pe: Pe, offset: usize, op: AtomicOp) {
        let word = Remote { pe, segment: SYSTEM, offset: offset_of!(SystemArea, record) + offset };
        // SAFETY: the word is aligned and in the system area of every PE. Only deadlock detection uses it.
        unsafe { self.far.transport.tell(self.far.channel, word, Width::W8, op) };
    }

    fn records(&self) -> Vec<(usize, PeRecord)> {
        let pes = self.directory.pes().iter().filter(|pe| pe.on_node().is_none());
        pes.map(|pe| (pe.number(), far_record(&self.far, *pe, offset_of!(SystemArea, record)))).collect()
    }
}

/// Returns the parent of a node in the tree: the node's number with its highest bit cleared.
fn above(node: usize) -> Option<usize> {
    node.checked_ilog2().map(|bit| node - (1 << bit))
}

fn below(node: usize, nodes: usize) -> impl Iterator<Item = usize> {
    let bits = (0..usize::BITS - 1).map(|bit| 1 << bit);
    bits.skip_while(move |bit| *bit <= node)
        .map(move |bit| node + bit)
        .take_while(move |below| *below < nodes)
}

/// Reads the record of a PE on another node. `offset` is the record's offset in the slot. The PE may write the record meanwhile.
pub(crate) fn far_record(far: &RemotePath, pe: Pe, offset: usize) -> PeRecord {
    let mut record = MaybeUninit::<PeRecord>::zeroed();
    let (into, from) = (record.as_mut_ptr().cast(), Remote { pe, segment: SYSTEM, offset });
    // SAFETY: `into` is large enough for a record, and at this offset every PE has a record (caller).
    unsafe { far.transport.get(far.channel, into, from, size_of::<PeRecord>(), Until::Return) };
    // SAFETY: a record consists of words and texts, for which any bytes are valid (`PeRecord::activity`).
    unsafe { record.assume_init() }
}

/// The inputs of deadlock detection, which runs while the PEs of this node sleep.
pub(crate) struct Guard {
    pub(crate) neighbours: Neighbours,
    pub(crate) others: Option<Others>,
    /// All PEs of the job, if they are threads of this process.
    pub(crate) inside: Option<Neighbours>,
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) observers: Option<Arc<Observers>>,
}

impl Watch for Guard {
    fn pes(&self) -> usize {
        self.neighbours.places.len()
    }

    fn me(&self) -> usize {
        self.neighbours.me
    }

    fn record(&self, pe: usize) -> &PeRecord {
        self.neighbours.record(pe)
    }

    fn is_closed(&self, sleeping: usize) -> bool {
        let far = self.others.as_ref().map(|others| &others.far.transport);
        let threads = far.and_then(|far| far.threads()).unwrap_or_default();
        let all = |pes: &Neighbours| pes.peers().map(|(_, record)| record.sleeping()).sum();
        let sleeping: usize = self.inside.as_ref().map_or(sleeping, all);
        is_closed(sleeping + threads) && far.is_none_or(|far| far.is_idle())
    }

    fn below(&self) -> u64 {
        self.others.as_ref().map_or(0, |others| others.below.len() as u64)
    }

    fn is_top(&self) -> bool {
        self.others.as_ref().is_none_or(|others| others.above.is_none())
    }

    fn call(&self, wave: u64) -> bool {
        self.others.as_ref().is_none_or(|others| {
            let is_idle = others.far.transport.is_idle();
            let called = others.below.iter().filter(|_| is_idle);
            called.for_each(|pe| others.tell(*pe, PeRecord::WAVE, AtomicOp::Set(wave)));
            is_idle
        })
    }

    fn echo(&self, was_awake: bool) {
        if let Some(others) = &self.others
            && let Some(above) = others.above
        {
            others.tell(above, PeRecord::ECHOES, AtomicOp::Add(PeRecord::echo(was_awake)));
        }
    }

    fn stand(&self) {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        let far: Vec<_> = self.others.iter().flat_map(Others::records).collect();
        let far = far.iter().map(|(number, record)| (*number, record));
        let mut peers: Vec<_> = self.neighbours.peers().chain(far).collect();
        peers.sort_by_key(|(number, _)| *number);
        self.bootstrap.abort(1, &standstill(peers.iter().copied()))
    }
}

/// Returns the error text of a deadlock, which says where each PE waits.
fn standstill<'a>(peers: impl Iterator<Item = Peer<'a>> + Clone) -> String {
    let missing_in = |activity: &Activity| {
        // Records count only the collectives of the team of all PEs, which has index 0.
        let in_collective = activity.count != 0 && activity.team == 0;
        let is_missing = |(_, record): &Peer<'_>| in_collective && record.collectives() < activity.count;
        peers.clone().filter(is_missing).map(|(number, _)| number).collect::<Vec<_>>()
    };
    let doing = peers.clone().map(|(number, record)| {
        let doing = match (record.stage(), record.activity()) {
            (Stage::Finished, _) => "left the job".to_owned(),
            (_, None) => "does not say where it waits".to_owned(),
            (_, Some(activity)) => {
                let mut doing = format!("waits {activity}");
                let missing = missing_in(&activity);
                if !missing.is_empty() {
                    let _ = write!(doing, " for {}", numbers(&missing));
                }
                let threads = record.sleeping();
                if threads > 1 {
                    let _ = write!(doing, " (one of {threads} threads, all of which wait)");
                }
                doing
            }
        };
        (number, doing)
    });
    let list = groups(doing).into_iter().map(|(doing, pes)| {
        let doing = match doing.strip_prefix("waits ") {
            Some(rest) if pes.len() > 1 => format!("wait {rest}"),
            _ => doing,
        };
        format!("\n  {} {doing}", numbers(&pes))
    });
    let list: String = list.collect();
    format!(
        "no PE can go on: all of them wait, and no thread of the job is left that could wake one \
         (SHMEM_STANDSTILL=0: they wait){list}"
    )
}

/// Number of threads that never wake a PE by themselves: they wait for another thread to end, or act on requests of PEs.
static BYSTANDERS: AtomicUsize = AtomicUsize::new(0);

/// Whether the process has forked. A child's children may share the memory. `/proc` lists direct children only, so any fork counts.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Declares that `others` threads, and the process's first thread unless it is the calling thread, never wake a PE by themselves.
pub(crate) fn declare_bystanders(others: usize) {
    let is_another = rustix::thread::gettid() != rustix::process::getpid();
    BYSTANDERS.store(usize::from(is_another) + others, Ordering::Relaxed);
}

/// Records every fork of the process after this call.
pub(crate) fn record_forks() {
    extern "C" fn notice() {
        HAS_FORKED.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    // SAFETY: the registered function lives as long as the process, and only stores a word.
    ONCE.call_once(|| _ = unsafe { libc::pthread_atfork(Some(notice), None, None) });
}

/// Returns whether nothing in this process can act while `sleeping` threads sleep. The process must have no other threads, no
/// running children (which would share its memory), no forks in the past, no signal handlers, and no debugger.
fn is_closed(sleeping: usize) -> bool {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    threads == sleeping + BYSTANDERS.load(Ordering::Relaxed)
        && !HAS_FORKED.load(Ordering::Relaxed)
        && has_no_children()
        && is_left_alone()
}

fn has_no_children() -> bool {
    let Ok(mut threads) = std::fs::read_dir("/proc/self/task") else { return false };
    threads.all(|thread| {
        let children = thread.map(|thread| thread.path().join("children"));
        children.and_then(std::fs::read_to_string).is_ok_and(|all| all.split_whitespace().all(is_over))
    })
}

/// Returns whether a child process is a zombie, which has no memory.
fn is_over(child: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{child}/stat")) else { return false };
    // The state follows the last `)`, which ends the program's name. The name itself may contain any characters.
    stat.rsplit_once(')').is_some_and(|(_, state)| state.starts_with(" Z") || state.starts_with(" X"))
}

fn is_left_alone() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_quiet(&status))
}

/// Returns whether the text of `/proc/self/status` shows no signal handler of the program and no debugger.
fn is_quiet(status: &str) -> bool {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};

    /// Signals whose handlers do not count, because a sleeping thread does not raise them. The standard library handles
    /// some of them for stack overflows. Sanitizers and the C library (32 and 33) handle others.
    const FAULTS: [i32; 9] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, 32, 33];

    let field =
        |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()));
    let faults = FAULTS.iter().fold(0, |set, signal| set | 1_u64 << (signal - 1));
    let caught = field("SigCgt").and_then(|set| u64::from_str_radix(set, 16).ok());
    caught.is_some_and(|caught| caught & !faults == 0) && field("TracerPid") == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_below_the_one_that_is_above_it() {
        for nodes in 1..70 {
            let edges: Vec<_> =
                (0..nodes).flat_map(|node| below(node, nodes).map(move |of| (of, node))).collect();
            let mut sorted = edges.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..nodes).map(|node| (node, above(node).unwrap())).collect::<Vec<_>>());
        }
        assert_eq!(above(0), None);
        assert_eq!(below(1, 9).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn a_debugger_or_a_handler_may_act() {
        let status = |tracer: &str, caught: &str| {
            is_quiet(&format!(
                "Name:\tx\nTracerPid:\t{tracer}\nSigIgn:\t0000000000001000\nSigCgt:\t{caught}\n"
            ))
        };
        // SIGBUS and SIGSEGV, as a program in Rust has them.
        assert!(status("0", "0000000000000440"));
        assert!(status("0", "0000000100000440") && status("0", "0000000000000000"));
        assert!(!status("77", "0000000000000440"));
        // SIGINT, SIGUSR1, SIGALRM.
        assert!(
            ["0000000000000442", "0000000000000640", "0000000000002440"].iter().all(|set| !status("0", set))
        );
        assert!(!status("0", "") && !is_quiet("") && !is_quiet("SigCgt:\t0000000000000440\n"));
    }
}
