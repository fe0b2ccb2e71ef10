//! Partitions that outlive their job. Each test runs several jobs, one after the other. Their PEs are copies of this program, which
//! run one of the programs below.

#[path = "scenario/mod.rs"]
#[expect(dead_code, reason = "nothing is started below another program")]
mod scenario;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use shmem::Named;
use shmem::array::StorageKind;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::hash::fingerprint;
use shmem_launch::codec;
use tempfile::TempDir;

shmem::partitions! {
    /// Outlives the job, if the environment names a file.
    pub keep { id = 4, size = "1M" }
}

#[symmetric(partition = "keep")]
static SEVENS: [u64; 100] = [7; 100];
#[symmetric(partition = "keep")]
static FLAG: Atomic<u64>;

const FILE: &str = "SHMEM_SYMMETRIC_PARTITION4";
/// Bytes of the list of names of a partition of 4 MiB.
const LIST: usize = 64 << 10;

/// Items that a program writes in a loop. Comparing them takes several steps.
const MANY: usize = 300_000;

/// The PEs' entries, and no tests by themselves.
mod pes {
    use super::*;

    #[test]
    fn scenario() {
        if let Some(name) = scenario::named() {
            run(&name, &mut shmem::init::<Single>().unwrap());
        }
    }

    /// Runs the same programs with PEs as threads of one process, if the transport says so.
    #[shmem::test(pes = 2)]
    fn on_threads(world: &mut World) {
        if let Some(name) = scenario::named() {
            run(&name, world);
        }
    }
}

fn run(name: &str, world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let next = world.pe((me + 1) % pes).unwrap();
    match name {
        "arrays" => {
            use std::os::unix::fs::MetadataExt as _;
            let blocks = || std::fs::metadata(format!("{}.{me}", path())).unwrap().blocks();
            let before = blocks();
            let array = world.array([100_000]).partition::<keep>().filled(7_u8).unwrap();
            assert_eq!(array.kind(), StorageKind::Single, "in the file");
            world.free(array).unwrap();
            let why = "partition 4 `keep` is a file, of which there is only the heap; take storage `single`";
            for kind in StorageKind::ALL.into_iter().filter(|kind| *kind != StorageKind::Single) {
                let array = world.array([50_000]).storage_kind(kind).partition::<keep>().zeroed::<u8>();
                scenario::assert_says(&array.map(drop).unwrap_err().to_string(), &[why]);
            }
            assert_eq!(blocks(), before, "the file keeps its blocks");
        }
        "write" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(SEVENS.here(world).load(), [7; 100], "the initial image");
            let numbers = heap.named("numbers", vec![1_i32; 1000]).unwrap();
            let unnamed = heap.alloc([1_u8; 100]).unwrap();
            let gone = heap.named("gone", shmem::zeroed::<u8>(5000)).unwrap();
            let empty = heap.named("empty", shmem::zeroed::<u8>(0)).unwrap();
            let one = heap.named("one", shmem::value(3.5_f64)).unwrap();
            assert_eq!(one.here(world).load(), 3.5);
            // The same name gives the same object. A second handle may be dropped.
            drop(heap.named("numbers", vec![1_i32; 1000]).unwrap());
            world.put(numbers.on(next).index(7), &(100 + me as i32));
            world.put(SEVENS.on(next).index(3), &(200 + me as u64));
            world.add(FLAG.on(next), 1);
            assert_eq!(world.persist().unwrap(), 1);
            world.put(numbers.on(next).index(8), &(300 + me as i32));
            // The list of names is stored before the first object.
            let list = numbers.here(world).index(0).addr().as_ptr().wrapping_sub(LIST);
            if me == 0 {
                world.putmem(world.address(list).unwrap().add(20), &[0xee; 50], next);
            }
            assert_eq!(world.persist().unwrap(), 1);
            // Nothing below is persisted.
            world.put(numbers.on(next).index(9), &-1);
            let heap = world.heap::<keep>().unwrap();
            heap.remove("gone").unwrap();
            drop((gone, empty, unnamed));
            drop(heap.named("late", [1_u8]).unwrap());
            world.barrier_all();
        }
        "read" => {
            let heap = world.heap::<keep>().unwrap();
            let names = heap.names().unwrap().into_iter();
            let names: Vec<_> = names.map(|named| (named.name, named.items)).collect();
            let mut expected =
                vec![("numbers".to_owned(), 1000), ("empty".to_owned(), 0), ("one".to_owned(), 1)];
            match names.len() {
                4 => expected.insert(1, ("gone".to_owned(), 5000)),
                _ => expected.extend((0..100).map(|k| (format!("object {k}"), 3))),
            }
            assert_eq!(names, expected);
            let last = (me + pes - 1) % pes;
            let numbers = heap.named("numbers", vec![1_i32; 1000]).unwrap();
            let mut expected = vec![1; 1000];
            (expected[7], expected[8]) = (100 + last as i32, 300 + last as i32);
            assert_eq!(loaded(world, &numbers), expected);
            let mut sevens = [7; 100];
            sevens[3] = 200 + last as u64;
            assert_eq!(SEVENS.here(world).load(), sevens);
            assert_eq!(world.fetch(FLAG.on(world.me())), 1);
            assert_eq!(heap.named("one", shmem::value(0.0_f64)).unwrap().here(world).load(), 3.5);
            names_are_refused(world);
            // Removed while a handle exists: its memory is not used again before the handle is dropped.
            let gone = heap.named("gone", shmem::zeroed::<u8>(5000)).unwrap();
            let before = heap.usage().used;
            heap.remove("gone").unwrap();
            world.reclaim();
            assert_eq!(heap.usage().used, before);
            drop(gone);
            world.reclaim();
            assert_eq!(heap.usage().used, before - 5056);
            for k in 0..100 {
                let object = heap.named(&format!("object {k}"), [k; 3]).unwrap();
                assert_eq!(loaded(world, &object), [k; 3]);
            }
            world.persist().unwrap();
        }
        "loop" => written_in_a_loop(world),
        "fill" => {
            let heap = world.heap::<keep>().unwrap();
            let all = heap.named("all", shmem::zeroed::<u8>(heap.usage().largest_free - 64)).unwrap();
            // Fills the file system. The partition's files need no more space.
            let junk = std::fs::File::create(path() + ".junk").unwrap();
            let mut junk = std::io::BufWriter::new(junk);
            while std::io::Write::write_all(&mut junk, &[0; 4096]).is_ok() {}
            for round in 1..4 {
                world.local(&all, |all| all.fill(round));
                world.persist().unwrap();
            }
            drop(junk.into_parts());
        }
        "nothing" => {}
        other => panic!("no program `{other}`"),
    }
}

/// Returns the path of the partition's files, without the PE number.
fn path() -> String {
    std::env::var(FILE).unwrap().split_once("PMEM=").unwrap().1.to_owned()
}

fn loaded<T: shmem::PlainData>(world: &World, object: &SymBox<[T]>) -> Vec<T> {
    let mut found = vec![bytemuck::Zeroable::zeroed(); object.len()];
    object.here(world).copy_to(&mut found);
    found
}

fn names_are_refused(world: &World) {
    #[track_caller]
    fn says<T>(refused: shmem::Result<T>, parts: &[&str]) {
        scenario::assert_says(&refused.map(drop).unwrap_err().to_string(), parts);
    }
    let heap = world.heap::<keep>().unwrap();
    let asked = "and 999 x i32 (4 bytes each, alignment 4) is asked for";
    let there = "`numbers` is 1000 x i32 (4 bytes each, alignment 4) in the file of partition";
    says(heap.named("numbers", [0_i32; 999]), &[there, asked]);
    let point = {
        #[derive(Clone, Copy, Symmetric)]
        #[repr(C)]
        struct Point(u64);
        heap.named("point", [Point(1)]).unwrap()
    };
    {
        #[derive(Clone, Copy, Symmetric)]
        #[repr(C)]
        struct Point(f64);
        says(heap.named("point", [Point(1.0)]), &["is 1 x another ", "Point"]);
    }
    heap.remove("point").unwrap();
    world.free(point).unwrap();
    says(heap.remove("nunbers"), &["no object `nunbers`; did you mean `numbers`?"]);
    says(world.free(heap.named("one", shmem::value(0.0_f64)).unwrap()), &["remove the name"]);
    says(world.heap::<fast>().unwrap().named("numbers", [0_i32; 10]), &["give it KIND=PMEM"]);
}

/// Persists rounds. Each round writes its number to all items. The last job must have left one whole round, the same on all PEs.
fn written_in_a_loop(world: &mut World) {
    let heap = world.heap::<keep>().unwrap();
    let data = heap.named("data", shmem::zeroed::<u64>(MANY)).unwrap();
    let (me, found) = (world.my_pe() as u64, loaded(world, &data));
    let (mut least, mut most) = (*found.iter().min().unwrap(), *found.iter().max().unwrap());
    world.min(&mut least);
    world.max(&mut most);
    assert_eq!(least, most, "one round, the same on all PEs");
    let statics: [u64; 100] = SEVENS.here(world).load();
    assert!(statics.iter().all(|&one| one == least || least == 0), "statics are of the same round");
    eprintln!("round {least} ");
    for round in least + 1.. {
        world.local((&data, &SEVENS), |(data, sevens)| {
            data.fill(round);
            sevens.fill(round);
        });
        world.persist().unwrap();
        // This job has persisted a round. From now on, one PE or both may be killed at any time.
        if round == least + 1 && [me, 2].contains(&(least % 3)) {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(least * 37 % 200));
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            });
        }
    }
}

struct Files {
    directory: TempDir,
    partition: String,
}

impl Files {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let partition = format!("SIZE=4M:KIND=PMEM:POLICY=M:PMEM={}/heap", directory.path().display());
        Self { directory, partition }
    }

    fn of(&self, pe: usize) -> PathBuf {
        self.directory.path().join(format!("heap.{pe}"))
    }

    #[track_caller]
    fn runs(&self, name: &str, pes: usize) -> String {
        let (code, said) = run_job(name, pes, &self.partition);
        assert_eq!(code, 0, "{name}: {said}");
        said
    }

    /// Runs a program of two PEs in a mount namespace, in which the directory has a file system of this type, with these options.
    /// Returns `None` if this process may not mount.
    fn mounted(&self, file_system: &str, name: &str) -> Option<(i32, String)> {
        if !Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: a mount needs the rights of root");
            return None;
        }
        let script = format!("mount -t {file_system},mode=0700 none \"$0\" && exec \"$@\"");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script]).arg(self.directory.path());
        command.arg(std::env::current_exe().unwrap()).env("SHMEM_NPES", "2").env_remove("SHMEM_TRANSPORT");
        Some(outcome(command, "pes::scenario", name, &self.partition))
    }
}

fn run_job(name: &str, pes: usize, partition: &str) -> (i32, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("SHMEM_NPES", pes.to_string()).env_remove("SHMEM_TRANSPORT");
    outcome(command, "pes::scenario", name, partition)
}

/// Runs a program by an entry that starts its own PEs. Returns the exit code and all output.
fn outcome(mut command: Command, entry: &str, name: &str, partition: &str) -> (i32, String) {
    command.args(["--exact", entry, "--nocapture", "-q"]).env(scenario::SCENARIO, name).env(FILE, partition);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.code().unwrap(), said)
}

/// Checks that a job fails at its start, with one error text that contains `why`.
#[track_caller]
fn refused(pes: usize, partition: &str, why: &str) {
    let (code, said) = run_job("nothing", pes, partition);
    assert!(code == 1 && said.matches(why).count() == 1, "{why:?} once in: {code} {said}");
}

#[test]
fn a_later_job_finds_what_was_persisted_and_else_the_initial_values() {
    let files = Files::new();
    files.runs("nothing", 3);
    let said = files.runs("write", 3);
    let warning = "shmem: warning: PE 1: the list of names of partition 4 `keep` was overwritten";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    assert!(said.contains("written again at shmem-rt/tests/persistent.rs:"), "{said}");
    for _ in 0..2 {
        files.runs("read", 3);
    }
    // Nothing was persisted.
    let mut files = Files::new();
    files.runs("nothing", 1);
    files.partition = files.partition.replace("4M", "5M");
    files.runs("nothing", 2);
    Files::new().runs("arrays", 2);
}

/// Anybody who may write the file can write a list of names with a valid checksum. (Checks of a single list: `state::names`.)
#[test]
fn a_list_of_names_that_somebody_made_up_is_refused() {
    let files = Files::new();
    files.runs("write", 1);
    let whole = std::fs::read(files.of(0)).unwrap();
    let is_list = |at: &usize| whole[*at..].starts_with(b"shmnames");
    let lists: Vec<usize> = (0..whole.len()).step_by(64).filter(is_list).collect();
    assert_eq!(lists.len(), 3, "in the working area and in the copies");
    let bytes = u64::from_le_bytes(*whole[lists[0] + 8..].first_chunk().unwrap()) as usize;
    let objects: Vec<Named> = codec::decode(&whole[lists[0] + 24..][..bytes]).unwrap();
    let [numbers, gone] = [0, 1].map(|object: usize| objects[object].offset);
    // The working area begins at 2M.
    let (list, end) = (lists[0] - (2 << 20), 4 << 20);
    let mut changes = vec![("not free", numbers, 1 << 20, 1), ("alignment", numbers, 1000, 1 << 30)];
    changes.extend(
        [0, list, gone, numbers + 1, end, end - 64, usize::MAX - 63].map(|at| ("not free", at, 1000, 1)),
    );
    for (says, offset, items, align) in changes {
        let mut object = objects[0].clone();
        (object.offset, object.items) = (offset, items);
        (object.item_bytes, object.align) = (4 * align, 4 * align);
        let written = codec::encode(&[&[object], &objects[1..]].concat());
        let head = [written.len() as u64, fingerprint(written.iter().copied())].map(u64::to_le_bytes);
        let mut made_up = whole.clone();
        for &list in &lists {
            made_up[list + 8..list + 24].copy_from_slice(head.as_flattened());
            made_up[list + 24..list + 24 + written.len()].copy_from_slice(&written);
        }
        std::fs::write(files.of(0), made_up).unwrap();
        let (code, said) = run_job("nothing", 1, &files.partition);
        let is_said = said.contains(&format!("{}: ", files.of(0).display())) && said.contains(says);
        assert!(code == 1 && is_said && !said.contains("panicked"), "{says}, {offset}, {items}: {said}");
    }
}

#[test]
fn what_does_not_fit_and_a_path_that_cannot_be_used_are_said() {
    let files = Files::new();
    files.runs("write", 2);
    let title = "PE 0: partition 4 `keep` (SHMEM_SYMMETRIC_PARTITION4): PMEM: ";
    let file = format!("{title}{} ", files.of(0).display());
    for pes in [1, 3] {
        refused(pes, &files.partition, &format!("{file}is that of PE 0 of 2, and this is PE 0 of {pes}"));
    }
    assert!(!files.of(2).exists(), "what was made for nothing is removed");
    let larger = files.partition.replace("4M", "8M");
    refused(2, &larger, &format!("{file}holds a partition of 4M, and 8M are asked for; give SIZE=4M"));
    // The refused jobs have not changed the files.
    files.runs("read", 2);
    std::fs::remove_file(files.of(1)).unwrap();
    refused(2, &files.partition, "PE 0 has persist 3, PE 1 has nothing persisted yet");

    let files = Files::new();
    let directory = files.directory.path().display().to_string();
    let away = files.partition.replace(&directory, &format!("{directory}/missing"));
    refused(2, &away, &format!("there is no directory {directory}/missing that takes new files"));
    std::os::unix::fs::symlink("/dev/null", files.of(0)).unwrap();
    refused(1, &files.partition, "/heap.0 is a device; put a file system on the memory");
}

/// Any PE is killed at any time, and the launcher kills the others. The next job finds one whole round.
#[test]
fn a_job_that_is_killed_leaves_its_last_persist() {
    let files = Files::new();
    let mut last = 0;
    for _ in 0..15 {
        let (code, said) = run_job("loop", 2, &files.partition);
        assert!(code != 0 && !said.contains("panicked"), "{said}");
        let (_, round) = said.split_once("round ").unwrap();
        let round: u64 = round.split(' ').next().unwrap().parse().unwrap();
        assert!(round >= last, "{round} after {last}");
        last = round;
    }
    assert!(last > 10, "jobs got somewhere: {last}");
}

#[test]
fn pes_that_are_threads_have_files_as_well() {
    let files = Files::new();
    for name in ["write", "read", "read"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("SHMEM_TRANSPORT", "loopback");
        let (code, said) = outcome(command, "pes::on_threads", name, &files.partition);
        assert_eq!(code, 0, "{name}: {said}");
    }
    assert!(files.of(1).exists());
}

/// A full file system is an error at the start, and never later. A file system that cannot reserve space is refused.
#[test]
fn what_file_systems_cannot_is_said() {
    let files = Files::new();
    let full = ["it takes 14M (the partition three times, ", "and the file system has "];
    for (file_system, name, code, parts) in [
        // Each file takes 14M, so there is space for one file.
        ("tmpfs -o size=19M", "nothing", 1, &full[..]),
        ("tmpfs -o size=29M", "fill", 0, &[]),
        ("ramfs -o rw", "nothing", 1, &["lies on a file system (of type 0x858458f6) where room"]),
        ("tmpfs -o ro", "nothing", 1, &["cannot be made: the file system is mounted read-only; mount"]),
    ] {
        let Some((found, said)) = files.mounted(file_system, name) else { return };
        assert_eq!(found, code, "{file_system}, {name}: {said}");
        scenario::assert_says(&said, parts);
    }
}
