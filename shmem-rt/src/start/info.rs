//! Warnings at the start, and the report of `SHMEM_INFO`.

use std::fmt::Write as _;

use shmem_core::context::Initiator as _;
use shmem_core::cpu_list;
use shmem_core::partition::{report, short_size};
use shmem_core::run_length::groups;
use shmem_core::text::counted;
use shmem_launch::diagnostics::say;
use shmem_launch::env;
use shmem_launch::pe_list::numbers;

use crate::setup::PROGRAM;
use crate::thread::ThreadLevel;
use crate::version;
use crate::warnings::degraded;
use crate::world::World;

/// Prints warnings on PE 0, and version and report if requested. With `SHMEM_DEBUG`, each PE also prints its process and address.
pub(super) fn introduce<L: ThreadLevel>(world: &World<L>) {
    let job = world.job();
    if job.settings.debug {
        let (me, pid) = (world.my_pe(), std::process::id());
        let place = world.endpoint().mine(0) as usize;
        say(&format!("shmem: PE {me} is process {pid}, with its symmetric memory from {place:#x}"));
    }
    if world.my_pe() != 0 {
        return;
    }
    if job.settings.version {
        say(&format!("shmem: {}, after OpenSHMEM {}", version::NAME, version::OPENSHMEM));
    }
    let unknown = env::unknown(env::process());
    let partitions = job.memory.partitions.read();
    let (table, grants) = (partitions.table(), partitions.grants());
    let settings = job.settings.warnings.iter();
    for warning in unknown.iter().chain(settings).chain(table.warnings()) {
        say(&format!("shmem: warning: {warning}"));
    }
    degraded(&job.settings, table.specs(), grants);
    if job.settings.info || job.settings.debug {
        let (pes, name) = (counted(world.n_pes(), "PE"), job.bootstrap.name());
        let fabric = job.network.fabric.as_ref().map_or_else(String::new, |fabric| format!(": {fabric}"));
        let transport = job.network.transport;
        let mut text = format!("shmem: {pes}, brought together by {name}, transport {transport}{fabric}\n");
        text.push_str(&report(table.specs(), grants));
        let _ = writeln!(text, "shmem: {}", job.contexts.holdings.lock().report());
        let on_node = job.site.pes().iter().filter(|pe| pe.on_node().is_some());
        let sets = groups(on_node.map(|pe| pe.number()).zip(job.site.cpus.iter()));
        let sets = sets.iter().map(|(cpus, pes)| format!("{}: {}", numbers(pes), cpu_list::show(cpus)));
        let _ =
            writeln!(text, "shmem: CPUs of the PEs of this host: {}", sets.collect::<Vec<_>>().join("; "));
        // The default heap of a C program has another default size.
        let heap = PROGRAM.get().map(|program| short_size(program.default_heap));
        for row in env::rows(env::process()) {
            let own = heap.as_deref().filter(|_| row.name == env::HEAP.name);
            let value = row.current.as_deref().unwrap_or(own.unwrap_or(row.default));
            let _ = writeln!(text, "shmem: {}={value}", row.name);
        }
        say(text.trim_end());
    }
}
