//! Where memory lies, as the kernel says: of arrays of each storage and of partitions of each kind of memory and
//! size of pages; here, or in a guest that has the nodes and the kinds of memory that this machine has not.
//!
//! Nothing here is a time, and there are no cases. So it may be asked on an emulated machine: emulation proves where pages are,
//! never how fast they are.

mod arrays;

use shmem::partition::default;
use shmem_core::memory::Machine;
use shmem_core::partition::{Kind, Pages, show_size};
use shmem_core::topology::Topology;

use super::pages::Stencil;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "placement",
    run: Some(|runner| {
        if !runner.is("partitions") {
            show(runner, "--arrays")?;
        }
        if runner.is("arrays") { Ok(()) } else { show(runner, "--partitions") }
    }),
    tasks: &[
        ("placed-arrays", Task::Free(|world, of| arrays::arrays(world, of.scale)?.iter().try_for_each(say))),
        ("placed-apart", Task::Free(|world, of| arrays::apart(world, of.scale)?.iter().try_for_each(say))),
        ("placed-partition", Task::Free(|world, _| partition(world)?.iter().try_for_each(say))),
    ],
    ..Measure::PLAIN
};

/// Machines on which it makes a difference where memory lies: of arrays four nodes, of which five pages cannot be shared out
/// exactly; of partitions a kind of memory for each, and huge pages where they are asked for.
const OF_ARRAYS: [&str; 4] = ["--nodes", "dram,dram,dram,dram", "--mem", "320M"];
const OF_PARTITIONS: [&str; 4] = ["--nodes", "dram,dram,hbm,slow", "--hugepages", "2M:0:32,2M:1:32,2M:2:64"];

/// Says where one of both lies, by its option: in a guest, if there is one and it makes no difference on this machine.
fn show(runner: &mut Runner, subject: &str) -> Done {
    let (topology, is_of_arrays) = (Machine::default().topology(), subject == "--arrays");
    let has = |kind| topology.home().is_some_and(|home| !topology.of_kind(kind, home).is_empty());
    let is_seen = match is_of_arrays {
        true => topology.homes().len() > 1,
        false => has(Kind::NormalMem) && has(Kind::FastMem),
    };
    match runner.words("guest").pop().filter(|_| !is_seen).map(|guest| in_guest(runner, &guest, subject)) {
        Some(Ok(found)) => return runner.found(&found),
        // What this machine can show stays.
        Some(Err(why)) => runner.remark(&format!("no guest has run, only this machine is shown: {why}")),
        None if is_seen => {}
        None => runner.remark(
            "this machine has not the NUMA nodes and kinds of memory that would make a difference, and no guest was run that has: \
             --guest names a program like ci/numa-vm of the sources, which needs a Debian or Ubuntu on x86-64; a quick report \
             runs none",
        ),
    }
    runner.found(&[place("run on", "this machine")])?;
    if is_of_arrays { placed_arrays(runner, &topology) } else { placed_partitions(runner, &topology) }
}

fn in_guest(runner: &mut Runner, guest: &str, subject: &str) -> Result<Vec<Fact>, Box<dyn Error>> {
    let mut command = Command::new(guest);
    command.args(if subject == "--arrays" { OF_ARRAYS } else { OF_PARTITIONS });
    command.args(["--timeout", "120", "--"]).arg(std::env::current_exe()?);
    let output = command.args(["placement", subject, "--json"]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{guest} cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let last = said.lines().last().unwrap_or_default();
        return Err(format!("{guest} ended with {}: {last}", output.status).into());
    }
    said.lines().for_each(|line| runner.remark(line));
    let found = String::from_utf8_lossy(&output.stdout);
    let found = found.lines().map(serde_json::from_str).collect::<Result<Vec<Fact>, _>>()?;
    // What is a machine of its own to itself is a guest here.
    let own = found.into_iter().filter(|fact| fact.row != "run on");
    Ok([place("run on", "an emulated machine")].into_iter().chain(own).collect())
}

fn placed_arrays(runner: &mut Runner, topology: &Topology) -> Done {
    let Some(scale) = arrays::scale(topology) else {
        runner
            .remark("shmem-perf: this process has CPUs on one NUMA node: arrays of every storage lie there");
        return Ok(());
    };
    let room = arrays::most_bytes(scale) + (8 << 20);
    let job = |task, pes| runner.job(task, pes, Given { scale, ..Given::default() }).heap(room);
    let jobs = [job("placed-arrays", 1), Asked { bind: Bind::Numa, ..job("placed-apart", pes(topology)) }];
    let mut found = vec![place("nodes", &topology.inventory())];
    for job in jobs {
        found.extend(runner.lines::<Fact>(&job)?);
    }
    let rows: Vec<_> = found.iter().map(|one| one.row.clone()).collect();
    found.sort_by_key(|one| rows.iter().position(|row| *row == one.row));
    runner.found(&found)
}

fn placed_partitions(runner: &mut Runner, topology: &Topology) -> Done {
    let mut found = vec![place("nodes", &topology.inventory())];
    for traits in TRAITS {
        let job = runner.job("placed-partition", pes(topology), Given::default());
        let job = job.with([(format!("{PARTITION_VARIABLE}1"), traits)]);
        match (Asked { bind: Bind::Numa, ..job }).run() {
            Ok([results, _]) => {
                for line in results.lines() {
                    found.push(serde_json::from_str(line)?);
                }
            }
            // A refusal is what some of them are asked for: it is said in the library's words, behind who has said it.
            Err(error) => {
                let said = error.to_string();
                let reason = said.lines().find_map(|line| line.find("partition 1 ").map(|at| &line[at..]));
                let Some(reason) = reason else { return Err(error) };
                found.push(Fact::new(PARTITIONS, traits, "refused", reason.trim()));
            }
        }
    }
    runner.found(&found)
}

fn place(row: &str, value: &str) -> Fact {
    Fact::new("machine", row, "", value)
}

/// The number of PEs that have a node each: that of the nodes with CPUs for this process, and not too many.
fn pes(topology: &Topology) -> usize {
    topology.homes().len().clamp(1, 8)
}

const PARTITIONS: &str = "partition 1";

/// What the environment asks: the published cases with less memory, then pages of 64 MiB for those who can do with
/// others.
const TRAITS: [&str; 8] = [
    "size=24M:kind=N:policy=M:pgsize=4K",
    "size=24M:kind=N:policy=M:pgsize=2M",
    "size=24M:kind=N:policy=M:pgsize=64M",
    "size=24M:kind=F:policy=M:pgsize=4K",
    "size=24M:kind=F:policy=M:pgsize=2M",
    "size=24M:kind=F:policy=M:pgsize=64M",
    "size=24M:kind=N:policy=P:pgsize=64M",
    "size=24M:kind=F:policy=P:pgsize=64M",
];

/// Rows and columns of each PE. An emulated machine is slow.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 512 };

/// Runs a stencil on the default heap, which knows nothing of what that is made of, and says what it is. All PEs call it.
///
/// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), "2D Stencil Kernel Performance Analysis".
fn partition(world: &mut World) -> shmem::Result<Vec<Fact>> {
    let mut stencil = Stencil::new(world, SIZE, |world, words| world.alloc(zeroed::<f64>(words)))?;
    (0..2).for_each(|_| stencil.step(world));
    world.barrier_all();

    let heap = world.heap::<default>()?;
    let id = heap.id();
    // More nodes than any machine has that is found.
    let mut mine = [0_u64; 64];
    for (node, pages) in heap.pages_per_node()? {
        mine[(node as usize).min(63)] += pages;
    }
    let mut all = vec![0; mine.len() * world.n_pes()];
    world.fcollect(&mine[..], &mut all);

    let asked = std::env::var(format!("{PARTITION_VARIABLE}1")).unwrap_or_else(|_| "nothing".to_owned());
    let mut found = Vec::new();
    let mut push = |column: &str, value: String| found.push(Fact::new(PARTITIONS, &asked, column, value));
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
