//! How start-up and collectives grow. Jobs must send what the model counts, and docs/scale.md must show what the model counts.

use shmem::TeamConfig;
use shmem::bootstrap::Exchanged;
use shmem::cost_prediction::{Collective, Cost, JobShape, Model};
use shmem::env::{CollectiveWay, CollectiveWays};
use shmem::prelude::*;
use shmem_core::transport::ofi::strided::Row;

/// Returns the cost model of jobs over the transport inside one process, which has no costs of its own.
fn model() -> Model {
    Model::from(Row::TCP)
}

/// Returns the cost of a collective on private memory, by the algorithm that it chooses itself.
fn chosen(collective: Collective, shape: JobShape) -> Cost {
    let way = collective.way(shape, CollectiveWays::default(), false, &model());
    Cost::of_way(way, collective, false, shape)
}

/// Returns the number of nodes, and of PEs on each, of a job whose nodes are equal.
fn shape(world: &World) -> JobShape {
    let per_node = world.pes().iter().filter(|pe| pe.on_node().is_some()).count();
    JobShape { nodes: world.n_pes() / per_node, per_node }
}

/// Returns the messages and bytes that a collective sends between nodes, and the messages of the PE that sends most.
fn counted(world: &mut World, collective: impl FnOnce(&World)) -> [u64; 3] {
    let traffic = |world: &World| {
        let to = world.traffic().expect("SHMEM_STATS counts");
        to.iter().fold([0, 0], |[messages, bytes], to| [messages + to.operations, bytes + to.bytes])
    };
    let before = traffic(world);
    collective(world);
    let now = traffic(world);
    let mine = [now[0] - before[0], now[1] - before[1]];
    let [messages, bytes] = world.sum(mine);
    [messages, bytes, world.max(mine[0])]
}

/// How a collective is carried out: by the algorithm that it chooses or by an asked one, on symmetric objects or on private memory.
#[derive(Clone, Copy)]
struct Form {
    asked: Option<CollectiveWay>,
    on_objects: bool,
}

const CHOSEN: Form = Form { asked: None, on_objects: false };

impl Form {
    /// Carries out a collective, and checks that it sends what the model says.
    #[track_caller]
    fn expect(self, world: &mut World, collective: Collective, run: impl FnOnce(&World)) {
        let Self { asked, on_objects } = self;
        let (shape, [messages, bytes, most]) = (shape(world), counted(world, run));
        let chosen = collective.way(shape, CollectiveWays::default(), on_objects, &model());
        let way =
            asked.filter(|way| collective.ways(shape, false).any(|there| there == *way)).unwrap_or(chosen);
        let cost = Cost::of_way(way, collective, on_objects, shape);
        assert_eq!((messages, bytes), (cost.messages, cost.bytes), "{way:?} of {collective:?} of {shape:?}");
        // By `Barriers`, a node sends one message in each round, except the parts of an alltoall, which go directly. Rounds of
        // chunks are counted where schedules are simulated.
        let in_rounds = way == CollectiveWay::Barriers && !matches!(collective, Collective::Alltoall(_));
        if in_rounds && shape.per_node == 1 {
            assert_eq!(most, cost.rounds, "rounds of {collective:?} of {shape:?}");
        }
    }
}

/// Collectives of a few bytes and of more than one chunk, by the algorithm that the environment asks for.
fn by_way(world: &mut World) {
    let (pes, root) = (world.n_pes(), world.pe(0).unwrap());
    let is_by_windows = std::env::var("SHMEM_COLLECTIVE_ALGORITHM").unwrap().ends_with("windows");
    let way = if is_by_windows { CollectiveWay::Windows } else { CollectiveWay::Barriers };
    let form = Form { asked: Some(way), ..CHOSEN };
    for items in [1, 7, 300, 9001] {
        let (bytes, mut data, mut all) = (8 * items, vec![1_u64; items], vec![0; items * pes]);
        form.expect(world, Collective::Broadcast(bytes), |world| world.broadcast(&mut data[..], root));
        form.expect(world, Collective::ExactSum(bytes), |world| world.sum(&mut data[..]));
        assert_eq!(data[0], pes as u64);
        form.expect(world, Collective::Fcollect(bytes), |world| world.fcollect(&data[..], &mut all));
        let source = vec![1_u64; items * pes];
        form.expect(world, Collective::Alltoall(bytes), |world| world.alltoall(&source, &mut all));
    }
}

/// Every collective, of sizes that fit one step, of larger sizes, and of sizes whose chunks wait for earlier chunks.
fn as_the_formula_says(world: &mut World) {
    let (pes, root) = (world.n_pes(), world.pe(0).unwrap());
    CHOSEN.expect(world, Collective::Barrier, World::barrier_all);
    for items in [300, 20_001, 400_003].into_iter().filter(|items| *items == 300 || pes <= 4) {
        on_objects(world, items);
    }
    for items in [1, 5, 300, 3000, 20_001, 400_003] {
        if items > 3000 && pes > 16 || items > 30_000 && pes > 4 {
            continue;
        }
        let (bytes, mut data) = (8 * items, vec![1_u64; items]);
        CHOSEN.expect(world, Collective::Broadcast(bytes), |world| world.broadcast(&mut data[..], root));
        if items < 3000 || pes <= 16 {
            CHOSEN.expect(world, Collective::ExactSum(bytes), |world| world.sum(&mut data[..]));
            assert_eq!(data[0], pes as u64);
            let mut numbers = vec![1.0; items];
            CHOSEN.expect(world, Collective::Sum(bytes), |world| world.sum(&mut numbers[..]));
            assert_eq!(numbers[0], pes as f64);
            CHOSEN.expect(world, Collective::Scan(bytes), |world| world.sum_exscan(&mut data[..]));
            by_operations_and_in_parts(world, items);
            let mut all = vec![0; items * pes];
            CHOSEN.expect(world, Collective::Fcollect(bytes), |world| world.fcollect(&data[..], &mut all));
        }
        if items < 300 || pes <= 8 {
            let (source, mut into) = (vec![1_u64; items * pes], vec![0; items * pes]);
            CHOSEN.expect(world, Collective::Alltoall(bytes), |world| world.alltoall(&source, &mut into));
        }
    }
}

/// Reductions by an operation of the program, and reductions in parts, send what sums send.
fn by_operations_and_in_parts(world: &mut World, items: usize) {
    let (bytes, mut numbers) = (8 * items, vec![1.0; items]);
    let less = |a: f64, b: f64| a - b;
    let [exact, sum, scan] = [Collective::ExactSum(bytes), Collective::Sum(bytes), Collective::Scan(bytes)];
    CHOSEN.expect(world, exact, |world| world.max(&mut numbers[..]));
    CHOSEN.expect(world, sum, |world| world.reduce(&mut numbers[..], less));
    CHOSEN.expect(world, scan, |world| world.sum_inscan(&mut numbers[..]));
    let (pes, part) = (world.n_pes(), items.div_ceil(world.n_pes()));
    let (all, mut mine) = (vec![1.0; part * pes], vec![0.0; part]);
    let of_all = Collective::Sum(8 * part * pes);
    CHOSEN.expect(world, of_all, |world| world.reduce_scatter(&all, &mut mine[..], |a, b| a + b));
}

fn on_objects(world: &mut World, items: usize) {
    let (pes, root, bytes) = (world.n_pes(), world.pe(0).unwrap(), 8 * items);
    let object = |world: &World| -> SymBox<[u64]> { world.alloc(shmem::zeroed(items * pes)).unwrap() };
    let (from, to, form) = (object(world), object(world), Form { on_objects: true, ..CHOSEN });
    form.expect(world, Collective::Broadcast(bytes), |world| {
        world.broadcast(from.here(world).index(..items), root);
    });
    form.expect(world, Collective::ExactSum(bytes), |world| world.sum(from.here(world).index(..items)));
    form.expect(world, Collective::Fcollect(bytes), |world| {
        world.fcollect(&from.here(world).index(..items), &to);
    });
    form.expect(world, Collective::Alltoall(bytes), |world| world.alltoall(&from, &to));
}

macro_rules! tests {
    ($($name:ident: $pes:tt on $hosts:literal $($variable:literal = $value:literal)?, $as_counted:expr;)*) => {$(
        #[shmem::test(pes = $pes, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = $hosts, "SHMEM_STATS" = "1"
            $(, $variable = $value)?))]
        fn $name(world: &mut World) {
            let as_counted: fn(&mut World) = $as_counted;
            as_counted(world);
        }
    )*};
}
tests! {
    nodes_of_one: [2, 3, 11, 13, 16, 64] on "*x1", as_the_formula_says;
    nodes_of_two: [4, 8, 64] on "*x2", as_the_formula_says;
    nodes_of_three: [9, 15] on "*x3", as_the_formula_says;
    nodes_of_four: [32] on "*x4", as_the_formula_says;
    windows_of_one: [2, 8, 11] on "*x1" "SHMEM_COLLECTIVE_ALGORITHM" =
        "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows", by_way;
    windows_of_two: [6] on "*x2" "SHMEM_COLLECTIVE_ALGORITHM" =
        "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows", by_way;
    windows_of_four: [16] on "*x4" "SHMEM_COLLECTIVE_ALGORITHM" =
        "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows", by_way;
    barriers_of_one: [4] on "*x1" "SHMEM_COLLECTIVE_ALGORITHM" =
        "broadcast:barriers,reduce:barriers,fcollect:barriers,alltoall:barriers", by_way;
    barriers_of_two: [8] on "*x2" "SHMEM_COLLECTIVE_ALGORITHM" =
        "broadcast:barriers,reduce:barriers,fcollect:barriers,alltoall:barriers", by_way;
    teams_of_one: [3] on "*x1" "SHMEM_TEAM_SIZE" = "4M", teams_send_as_the_world_does;
    teams_of_two: [6] on "*x2" "SHMEM_TEAM_SIZE" = "4M", teams_send_as_the_world_does;
}

/// How often PEs wait for each other before the program begins, for any number of PEs.
const ROUNDS: u64 = 3;

/// Upper limit on the bytes that a PE offers, which do not grow with the number of PEs.
const BYTES: u64 = 1600;

/// The number of values that each PE offers (its memory), and that PE 0 offers in addition (its settings).
const OF_EACH: u64 = 1;
const OF_FIRST: u64 = 1;

/// A start has the same number of rounds for any number of PEs, and each PE reads each offered value once.
#[shmem::test(pes = [2, 3, 8, 16, 64], env("SHMEM_TRANSPORT" = "shm"))]
fn starts_as_the_formula_says(world: &mut World) {
    let counted = world.exchanged();
    let bytes_of_all = world.sum(counted.bytes_put);
    let gets = world.n_pes() as u64 * OF_EACH + OF_FIRST;
    assert_eq!(counted, Exchanged { gets, bytes_got: bytes_of_all, ..counted }, "each value is taken once");
    assert_eq!(counted.rounds, ROUNDS, "{counted:?}");
    let of_first = if world.my_pe() == 0 { OF_FIRST } else { 0 };
    assert_eq!(counted.puts, OF_EACH + of_first, "{counted:?}");
    assert!(counted.bytes_put <= BYTES, "{counted:?}");
}

/// A team of all PEs, in the same order, sends what the world sends, once it has windows. The windows are given back with the team,
/// since there is room for few teams at a time.
fn teams_send_as_the_world_does(world: &mut World) {
    let shape = shape(world);
    for round in 0..6 {
        let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
        let mut data = vec![1.0; 20_001];
        let bytes = size_of_val(&data[..]);
        team.sum(world, &mut data[..]);
        let [messages, bytes_of_all, _] = counted(world, |world| team.sum(world, &mut data[..]));
        let cost = chosen(Collective::Sum(bytes), shape);
        assert_eq!((messages, bytes_of_all), (cost.messages, cost.bytes), "team {round} of {shape:?}");
        team.destroy(world).unwrap();
    }
}

/// Checks the table of docs/scale.md; `BLESS=1` rewrites its rows. Sums of 1 MiB of 100,000 PEs take seconds in a release build and
/// minutes in other builds, which do not check those cells.
#[test]
fn the_page_shows_what_is_counted() {
    use Collective::{Barrier, Broadcast, ExactSum, Scan, Sum};
    const LARGE: Collective = Sum(1 << 20);
    let shapes = [(2, 1), (32, 2), (64, 16), (160, 64), (1000, 100)];
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md");
    let mut text = std::fs::read_to_string(page).unwrap();
    let mut compare = |name: &str, known: usize, of: &dyn Fn(JobShape) -> u64| {
        let written = text.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let written = written.unwrap_or_else(|| panic!("no row `{name}`")).to_owned();
        let cells = shapes.iter().zip(written.split(" | ").skip(1)).enumerate();
        let cells = cells.map(|(k, (&(nodes, per_node), cell))| match k < known {
            true => shown(of(JobShape { nodes, per_node })),
            false => cell.trim_end_matches(" |").to_owned(),
        });
        let row = format!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        match std::env::var_os("BLESS") {
            Some(_) => text = text.replace(&written, &row),
            None => assert_eq!(written, row, "BLESS=1 writes it"),
        }
    };
    let cost = |collective| move |shape| chosen(collective, shape);
    for (name, collective) in
        [("barrier", Barrier), ("broadcast of 8 B", Broadcast(8)), ("broadcast of 1 MiB", Broadcast(1 << 20))]
    {
        compare(&format!("{name}: rounds"), 5, &|shape| cost(collective)(shape).rounds);
    }
    for (name, collective) in [
        ("barrier", Barrier),
        ("broadcast of 1 MiB", Broadcast(1 << 20)),
        ("sum of 8 B, or `reduce`", Sum(8)),
        ("sum of 8 B, whole numbers", ExactSum(8)),
        ("scan of 8 B", Scan(8)),
    ] {
        compare(&format!("{name}: bytes"), 5, &|shape| cost(collective)(shape).bytes);
    }
    let known = if cfg!(debug_assertions) { 3 } else { 5 };
    compare("sum of 1 MiB: rounds", known, &|shape| cost(LARGE)(shape).rounds);
    compare("sum of 1 MiB: messages", known, &|shape| cost(LARGE)(shape).messages);
    let parts = |shape: JobShape| cost(Sum(8 * shape.pes()))(shape).rounds;
    compare("sums in parts of 8 B: rounds", known, &parts);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(page, text).unwrap();
    }
}

/// Writes a number as the page shows it.
fn shown(number: u64) -> String {
    let (of, unit) = match number {
        1_000_000_000.. => (1e9, " G"),
        1_000_000.. => (1e6, " M"),
        _ => {
            let digits = number.to_string();
            let groups = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap());
            return groups.collect::<Vec<_>>().join(",");
        }
    };
    let number = number as f64 / of;
    if number < 9.95 { format!("{number:.1}{unit}") } else { format!("{number:.0}{unit}") }
}
