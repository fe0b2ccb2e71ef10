//! The NUMA nodes of pages, as the kernel reports them: of arrays with each storage; of partitions by kind of memory and page size.
//!
//! No times are measured, so the measure may run on an emulated machine.

use shmem::partition::default;
use shmem_core::array::StorageKind;
use shmem_core::memory::Machine;
use shmem_core::partition::{Kind, Pages, show_size};
use shmem_core::topology::Topology;

use super::stencil::Columns;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "placement",
    run: Some(|runner| {
        if !runner.is("partitions") {
            show(runner, true)?;
        }
        if runner.is("arrays") { Ok(()) } else { show(runner, false) }
    }),
    tasks: &[
        ("placed-arrays", Task::Free(|world, of| arrays(world, of.scale)?.iter().try_for_each(say))),
        ("placed-apart", Task::Free(|world, of| apart(world, of.scale)?.iter().try_for_each(say))),
        ("placed-partition", Task::Free(|world, _| partition(world)?.iter().try_for_each(say))),
    ],
    ..Measure::PLAIN
};

fn show(runner: &mut Runner, is_of_arrays: bool) -> Done {
    let topology = Machine::default().topology();
    let has = |kind| topology.home().is_some_and(|home| !topology.of_kind(kind, home).is_empty());
    let is_seen = match is_of_arrays {
        true => topology.homes().len() > 1,
        false => has(Kind::NormalMem) && has(Kind::FastMem),
    };
    if !is_seen {
        runner.remark(
            "this machine has not the NUMA nodes and kinds of memory that would make a difference: run `shmem-perf placement` by \
             ci/numa-vm of the sources, on a guest that has",
        );
    }
    if is_of_arrays { placed_arrays(runner, &topology) } else { placed_partitions(runner, &topology) }
}

fn placed_arrays(runner: &mut Runner, topology: &Topology) -> Done {
    let Some(scale) = scale(topology) else {
        runner
            .remark("shmem-perf: this process has CPUs on one NUMA node: arrays of every storage lie there");
        return Ok(());
    };
    let room = most_bytes(scale) + (8 << 20);
    let job = |task, pes| runner.job(task, pes, PeArguments { scale, ..PeArguments::default() }).heap(room);
    let jobs = [job("placed-arrays", 1), Asked { bind: Bind::Numa, ..job("placed-apart", pes(topology)) }];
    let mut found = vec![place("nodes", &topology.inventory())];
    for job in jobs {
        found.extend(runner.lines::<TextResult>(&job)?);
    }
    let rows: Vec<_> = found.iter().map(|one| one.row.clone()).collect();
    found.sort_by_key(|one| rows.iter().position(|row| *row == one.row));
    runner.found(&found)
}

fn placed_partitions(runner: &mut Runner, topology: &Topology) -> Done {
    let mut found = vec![place("nodes", &topology.inventory())];
    for traits in lines("placement", "traits").map(|line| line.part(0)) {
        let job = runner.job("placed-partition", pes(topology), PeArguments::default());
        let job = job.with([(format!("{PARTITION_VARIABLE}1"), traits)]);
        match (Asked { bind: Bind::Numa, ..job }).run() {
            Ok([results, _]) => {
                for line in results.lines() {
                    found.push(serde_json::from_str(line)?);
                }
            }
            // This machine cannot make some partitions. Then the result is the library's error text.
            Err(error) => {
                let said = error.to_string();
                let reason = said.lines().find_map(|line| line.find("partition 1 ").map(|at| &line[at..]));
                let Some(reason) = reason else { return Err(error) };
                found.push(TextResult::new(PARTITIONS, traits, "refused", reason.trim()));
            }
        }
    }
    runner.found(&found)
}

fn place(row: &str, value: &str) -> TextResult {
    TextResult::new("machine", row, "", value)
}

/// Returns the number of PEs: one for each NUMA node whose CPUs this process may use, but at most 8.
fn pes(topology: &Topology) -> usize {
    topology.homes().len().clamp(1, 8)
}

const PARTITIONS: &str = "partition 1";

/// Rows and columns of each PE's grid, which is small, because an emulated machine is slow.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 512 };

/// Runs a stencil on the default heap, and returns facts about the heap's memory. All PEs call it.
///
/// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), "2D Stencil Kernel Performance Analysis".
fn partition(world: &mut World) -> shmem::Result<Vec<TextResult>> {
    let mut stencil = Columns::new(world, SIZE, |world, words| world.alloc(zeroed::<f64>(words)))?;
    (0..2).for_each(|_| stencil.step(world));
    world.barrier_all();

    let heap = world.heap::<default>()?;
    let id = heap.id();
    // Pages of the heap on each NUMA node. No known machine has more than 64 nodes.
    let mut mine = [0_u64; 64];
    for (node, pages) in heap.pages_per_node()? {
        mine[(node as usize).min(63)] += pages;
    }
    let mut all = vec![0; mine.len() * world.n_pes()];
    world.fcollect(&mine[..], &mut all);

    let asked = std::env::var(format!("{PARTITION_VARIABLE}1")).unwrap_or_else(|_| "nothing".to_owned());
    let mut found = Vec::new();
    let mut push =
        |column: &str, value: String| found.push(TextResult::new(PARTITIONS, &asked, column, value));
    let report = world.partitions().into_iter().find(|report| report.spec.id == id);
    for (pe, grant) in report.iter().flat_map(|report| report.grants.iter().enumerate()) {
        if pe == 0 {
            let pages = match grant.pages {
                Pages::Base => "base pages",
                Pages::Transparent => "base pages that were merged",
                Pages::HugeTlb => "huge pages of the pool",
            };
            push("given", format!("{} in pages of {}", show_size(grant.size), show_size(grant.pgsize)));
            push("pages are", pages.to_owned());
            push("kind", grant.kind.map_or_else(|| "none asked".to_owned(), |kind| kind.to_string()));
        }
        let nodes = all.chunks(mine.len()).nth(pe).into_iter().flatten().enumerate();
        let nodes = nodes.filter(|(_, pages)| **pages > 0);
        let nodes: Vec<_> = nodes.map(|(node, pages)| format!("{pages} on node {node}")).collect();
        push(&format!("PE {pe}"), nodes.join(", "));
        if !grant.downgrades.is_empty() && pe == 0 {
            push("said", grant.downgrades.join("; "));
        }
    }
    Ok(found)
}

/// Title of the table of affinities: shares of an array's elements that are on the node of the threads that own them.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Some Interesting Use Cases".
const AFFINITY: &str = "affinity";

/// Returns the arrays of the paper: (name, rows, bytes of a row). Rows of about 2^30 bytes are divided by `2^scale`. "five pages"
/// is the paper's example of an array that four nodes cannot share exactly.
fn shapes(scale: u32) -> [(&'static str, usize, usize); 6] {
    let (many, few) = (1 << (30 - scale), 1 << (20 - scale));
    [
        ("[0..#2**30] int(8)", 1, many),
        ("[0..#2**30-2**20] int(8)", 1, many - few),
        ("[0..#2**11] int(8)", 1, 1 << 11),
        ("five pages", 1, 5 * 4096),
        ("[0..1, 0..#2**30] int(8)", 2, many),
        ("[0..1, 0..#2**30-2**20] int(8)", 2, many - few),
    ]
}

fn most_bytes(scale: u32) -> usize {
    shapes(scale).map(|(_, rows, columns)| rows * columns).into_iter().max().unwrap_or(0)
}

/// Returns the least scale of [`shapes`] with which the largest array takes at most a twelfth of the smallest node's memory. At
/// most 10, so that chunks have many pages. `None` if this process has CPUs of one node only.
fn scale(topology: &Topology) -> Option<u32> {
    let homes = topology.homes();
    let memory = topology.nodes().iter().filter(|node| homes.contains(&node.number) && node.memory > 0);
    let smallest = memory.map(|node| node.memory).min()?;
    (homes.len() > 1).then(|| (0..10).find(|scale| 2 << (30 - scale) <= smallest / 12).unwrap_or(10))
}

/// Returns the affinities of arrays with each storage. Called by a job of one PE, which has CPUs of several nodes.
fn arrays(world: &mut World, scale: u32) -> Result<Vec<TextResult>> {
    let mut found = Vec::new();
    for (name, rows, columns) in shapes(scale) {
        match rows {
            1 => of_shape(world, name, [columns], &mut found)?,
            _ => of_shape(world, name, [rows, columns], &mut found)?,
        }
    }
    let inner = 1 << (20 - scale);
    let name = "[0..7] [0..#2**20] int, behind its loops";
    found.push(TextResult::new(AFFINITY, name, "made as", format!("8 arrays of {inner} x 8 bytes")));
    for kind in StorageKind::ALL {
        found.push(TextResult::new(AFFINITY, name, kind.name(), share(of_arrays(world, inner, kind)?)));
    }
    Ok(found)
}

fn of_shape<const D: usize>(
    world: &World,
    name: &str,
    shape: [usize; D],
    found: &mut Vec<TextResult>,
) -> Result<()> {
    let mut push = |column: &str, value: String| found.push(TextResult::new(AFFINITY, name, column, value));
    push("made as", shape.map(|len| len.to_string()).join(" x ") + " bytes");
    for kind in StorageKind::ALL {
        let array = world.array(shape).storage_kind(kind).zeroed::<u8>()?;
        push(kind.name(), share(world.affinity(&array)?));
        world.free(array)?;
    }
    Ok(())
}

/// Returns the least affinity of eight arrays, after their elements were visited by an iterator and by index.
fn of_arrays(world: &mut World, inner: usize, kind: StorageKind) -> Result<f64> {
    let arrays = (0..8).map(|_| world.array([inner]).storage_kind(kind).zeroed::<i64>());
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let mut least = 1.0_f64;
    for array in &arrays {
        world.local(array, |mut array| {
            array.iter_mut().for_each(|element| *element += 1);
            for i in array.indices() {
                array[i] += i as i64;
            }
        });
        least = least.min(world.affinity(array)?);
    }
    arrays.into_iter().try_for_each(|array| world.free(array))?;
    Ok(least)
}

/// Divides each array of [`shapes`] among PEs, each with its own node. Returns, for each array, the least share of a PE's pages
/// that are on its node. Collective.
fn apart(world: &mut World, scale: u32) -> Result<Vec<TextResult>> {
    let home = Machine::default().topology().home();
    let mut found = Vec::new();
    for (name, rows, columns) in shapes(scale) {
        let part = world.alloc(zeroed::<u8>((rows * columns).div_ceil(world.n_pes())))?;
        world.local(&part, |part| part.fill(1));
        let pages = world.heap::<default>()?.pages_per_node()?;
        let all: u64 = pages.iter().map(|(_, pages)| pages).sum();
        let near: u64 = pages.iter().filter(|(node, _)| Some(*node) == home).map(|(_, pages)| pages).sum();
        let least = world.min(near as f64 / all.max(1) as f64);
        world.free(part)?;
        found.push(TextResult::new(AFFINITY, name, "one PE per node", share(least)));
    }
    Ok(found)
}

/// Formats a share with six digits, rounded down. Only a share of exactly 1 becomes "1".
fn share(share: f64) -> String {
    if share == 1.0 { "1".to_owned() } else { format!("{:.6}", (share * 1e6).floor() / 1e6) }
}
