//! Partitions that outlive their job. Each test runs several jobs, one after the other; the PEs are this
//! test's own binary, which runs one of the programs below.

use std::ffi::{CStr, CString};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use shmem::array::StorageKind;
use shmem::launch::{Launch, Outcome};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::fingerprint::fingerprint;

shmem::partitions! {
    /// Outlives the job, if the environment says so.
    pub keep { id = 4, size = "1M" }
}

#[symmetric(partition = "keep")]
static SEVENS: [u64; 100] = [7; 100];
#[symmetric(partition = "keep")]
static FLAG: Atomic<u64>;
#[symmetric]
static GONE: [u64; 4] = [1; 4];

const PROGRAM: &str = "PERSISTENT_PROGRAM";
const FILE: &str = "SHMEM_SYMMETRIC_PARTITION4";
/// A file that lets a program end.
const STOP: &str = "PERSISTENT_STOP";

/// A directory that a program looks into.
const DIRECTORY: &str = "PERSISTENT_DIRECTORY";

/// Items of what is written in a loop: several steps of a comparison.
const MANY: usize = 300_000;

/// Not a test of its own: the PEs' entry.
#[test]
fn program() {
    if let Ok(name) = std::env::var(PROGRAM) {
        let mut world = shmem::init::<Single>().unwrap();
        run(&name, &mut world);
    }
}

/// The same as threads of one process, if the transport says so.
#[shmem::test(pes = 2)]
fn program_on_threads(world: &mut World) {
    if let Ok(name) = std::env::var(PROGRAM) {
        run(&name, world);
    }
}

fn run(name: &str, world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let next = world.pe((me + 1) % pes).unwrap();
    match name {
        "arrays" => {
            use std::os::unix::fs::MetadataExt as _;
            let file = world.heap::<keep>().unwrap().file().unwrap();
            let blocks = || std::fs::metadata(&file.path).unwrap().blocks();
            let before = blocks();
            for shape in [9, 100_000] {
                let array = world.array([shape]).partition::<keep>().filled(7_u8).unwrap();
                assert_eq!(array.kind(), StorageKind::Single, "in the file");
                let mut all = vec![0; shape];
                world.get(&mut all[..], array.on(next));
                assert!(all.iter().all(|byte| *byte == 7));
                world.free(array).unwrap();
            }
            for kind in StorageKind::ALL {
                let array = world.array([50_000]).storage_kind(kind).partition::<keep>().zeroed::<u8>();
                match kind {
                    StorageKind::Single => drop(array.unwrap()),
                    _ => {
                        let error = array.unwrap_err().to_string();
                        assert!(
                            error.contains("partition 4 `keep` is a file, of which there is only the heap; take storage `single`"),
                            "{error}"
                        );
                    }
                }
            }
            assert_eq!(blocks(), before, "the file keeps its blocks");
            world.persist().unwrap();
        }
        "stray" => {
            let heap = world.heap::<keep>().unwrap();
            let numbers = heap.named("numbers", vec![me as u64; 1000]).unwrap();
            // The list of names lies in front of the first object.
            let list = numbers.here(world).index(0).addr().as_ptr().wrapping_sub(4096);
            let list = world.address(list).unwrap();
            let mut magic = [0; 8];
            world.getmem(&mut magic, list, next);
            assert_eq!(&magic, b"shmnames");
            if me == 0 {
                world.putmem(list.add(100), &[0xee; 50], next);
            }
            assert_eq!(world.persist().unwrap(), 1);
        }
        "behind stray" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.file().unwrap().generation, 1);
            let numbers = heap.named("numbers", shmem::zeroed::<u64>(1000)).unwrap();
            assert_eq!(loaded(world, &numbers), vec![me as u64; 1000]);
        }
        "write" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.file().unwrap().generation, 0);
            assert_eq!(SEVENS.here(world).load(), [7; 100], "the initial image");
            let unnamed = heap.alloc([1_u8; 100]).unwrap();
            let numbers = heap.named("numbers", vec![1_i32; 1000]).unwrap();
            let gone = heap.named("gone", shmem::zeroed::<u8>(5000)).unwrap();
            let empty = heap.named("empty", shmem::zeroed::<u8>(0)).unwrap();
            let one = heap.named("one", shmem::value(3.5_f64)).unwrap();
            assert_eq!(one.here(world).load(), 3.5);
            // The same name is the same object, and a handle may go.
            drop(heap.named("numbers", vec![1_i32; 1000]).unwrap());
            world.put(numbers.on(next).index(7), &(100 + me as i32));
            world.put(SEVENS.on(next).index(3), &(200 + me as u64));
            world.add(FLAG.on(next), 1);
            assert_eq!(world.persist().unwrap(), 1);
            world.put(numbers.on(next).index(8), &(300 + me as i32));
            assert_eq!(world.persist().unwrap(), 1);
            // What comes now was never persisted.
            world.put(numbers.on(next).index(9), &-1);
            let heap = world.heap::<keep>().unwrap();
            heap.remove("gone").unwrap();
            drop((gone, empty, unnamed));
            drop(heap.named("late", [1_u8]).unwrap());
            world.barrier_all();
        }
        "read" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.file().unwrap().generation, 2);
            let names: Vec<_> =
                heap.names().unwrap().into_iter().map(|named| (named.name, named.items)).collect();
            let expected = [("numbers", 1000), ("gone", 5000), ("empty", 0), ("one", 1)];
            assert_eq!(names, expected.map(|(name, items)| (name.to_owned(), items)));
            let last = (me + pes - 1) % pes;
            let numbers = heap.named("numbers", vec![1_i32; 1000]).unwrap();
            let mut expected = vec![1; 1000];
            (expected[7], expected[8]) = (100 + last as i32, 300 + last as i32);
            assert_eq!(loaded(world, &numbers), expected);
            let mut sevens = [7; 100];
            sevens[3] = 200 + last as u64;
            assert_eq!(SEVENS.here(world).load(), sevens);
            assert_eq!(world.fetch(FLAG.on(world.me())), 1);
            assert_eq!(GONE.here(world).load(), [1; 4]);
            assert_eq!(heap.named("one", shmem::value(0.0_f64)).unwrap().here(world).load(), 3.5);
            names_are_refused(world);
            // Taken off while a handle is there: the memory is not used again before that is dropped.
            let heap = world.heap::<keep>().unwrap();
            let gone = heap.named("gone", shmem::zeroed::<u8>(5000)).unwrap();
            let before = heap.usage().used;
            heap.remove("gone").unwrap();
            world.reclaim();
            assert_eq!(heap.usage().used, before);
            drop(gone);
            world.reclaim();
            assert_eq!(heap.usage().used, before - 5056);
            world.persist().unwrap();
        }
        "read again" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.file().unwrap().generation, 3);
            let names: Vec<_> = heap.names().unwrap().into_iter().map(|named| named.name).collect();
            assert_eq!(names, ["numbers", "empty", "one"]);
            for k in 0..100 {
                drop(heap.named(&format!("object {k}"), [k; 3]).unwrap());
            }
            world.persist().unwrap();
        }
        "read many" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.names().unwrap().len(), 103);
            for k in 0..100 {
                let object = heap.named(&format!("object {k}"), [0; 3]).unwrap();
                assert_eq!(loaded(world, &object), [k; 3]);
            }
        }
        "loop" => written_in_a_loop(world),
        "hold" => {
            std::fs::write(std::env::var(STOP).unwrap() + ".ready", "").unwrap();
            while !Path::new(&std::env::var(STOP).unwrap()).exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        "volatile" => {
            let heap = world.heap::<keep>().unwrap();
            assert_eq!(heap.file(), None);
            let named = heap.named("numbers", [me; 3]).unwrap();
            assert_eq!(loaded(world, &named), [me; 3]);
            assert_eq!(world.persist().unwrap(), 0);
        }
        "left clean" => {
            run("volatile", world);
            let directory = std::env::var(DIRECTORY).unwrap();
            assert_eq!(
                std::fs::read_dir(directory).unwrap().count(),
                0,
                "what was made for nothing is removed"
            );
        }
        "fill" => {
            let heap = world.heap::<keep>().unwrap();
            let all = heap.named("all", shmem::zeroed::<u8>(heap.usage().largest_free - 64)).unwrap();
            // Nothing is left for anybody else, and nothing more is needed.
            let junk = std::fs::File::create(std::env::var(DIRECTORY).unwrap() + "/junk").unwrap();
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

fn loaded<T: shmem::PlainData>(world: &World, object: &SymBox<[T]>) -> Vec<T> {
    let mut found = vec![bytemuck::Zeroable::zeroed(); object.len()];
    object.here(world).copy_to(&mut found);
    found
}

fn names_are_refused(world: &World) {
    let heap = world.heap::<keep>().unwrap();
    let error = heap.named("numbers", [0_i32; 999]).unwrap_err().to_string();
    assert!(
        error.starts_with("`numbers` is 1000 x i32 (4 bytes each, alignment 4) in the file of partition"),
        "{error}"
    );
    assert!(error.contains("and 999 x i32 (4 bytes each, alignment 4) is asked for"), "{error}");
    assert!(heap.named("numbers", [0_f32; 1000]).is_err());
    let words = heap.named("words", [0_u64; 8]).unwrap();
    let error = heap.named("words", shmem::zeroed::<Atomic<u64>>(8)).unwrap_err().to_string();
    assert!(error.contains("is 8 x u64") && error.contains("Atomic<u64>"), "{error}");
    heap.remove("words").unwrap();
    world.free(words).unwrap();
    let words = heap.named("words", shmem::zeroed::<Atomic<u64>>(8)).unwrap();
    let error = heap.named("words", [0_u64; 8]).unwrap_err().to_string();
    assert!(error.contains("Atomic<u64>") && error.contains("8 x u64"), "{error}");
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
        let error = heap.named("point", [Point(1.0)]).map(drop).unwrap_err().to_string();
        assert!(error.contains("is 1 x another ") && error.contains("Point"), "{error}");
    }
    heap.remove("point").unwrap();
    world.free(point).unwrap();
    heap.remove("words").unwrap();
    world.free(words).unwrap();
    assert!(heap.named("", [0_i32; 10]).is_err());
    let error = heap.remove("nunbers").unwrap_err().to_string();
    assert!(error.ends_with("no object `nunbers`; did you mean `numbers`?"), "{error}");
    let error = world.free(heap.named("one", shmem::value(0.0_f64)).unwrap()).unwrap_err().to_string();
    assert!(error.contains("remove the name"), "{error}");
    // Without its name, an object is there until its last handle is gone.
    let [first, second] = [1, 2].map(|_| heap.named("pair", [5_i64; 8]).unwrap());
    heap.remove("pair").unwrap();
    let before = heap.usage().blocks;
    world.free(first).unwrap();
    assert_eq!(heap.usage().blocks, before, "another handle has it");
    let other = heap.alloc([0_i64; 8]).unwrap();
    assert_ne!(other.offset(), second.offset());
    assert_eq!(loaded(world, &second), [5; 8]);
    drop(other);
    world.free(second).unwrap();
    assert_eq!(heap.usage().blocks, before - 1);
    let error = world.heap::<fast>().unwrap().named("numbers", [0_i32; 10]).unwrap_err().to_string();
    assert!(error.contains("give it KIND=PMEM"), "{error}");
}

/// Persists rounds for ever, each of which writes its number everywhere. What a job before has left must
/// be one round, the same on all PEs.
fn written_in_a_loop(world: &mut World) {
    let heap = world.heap::<keep>().unwrap();
    let data = heap.named("data", shmem::zeroed::<u64>(MANY)).unwrap();
    let found = loaded(world, &data);
    let (mut least, mut most) = (*found.iter().min().unwrap(), *found.iter().max().unwrap());
    world.min(&mut least);
    world.max(&mut most);
    assert_eq!(least, most, "one round, the same on all PEs");
    let statics: [u64; 100] = SEVENS.here(world).load();
    assert!(statics.iter().all(|&one| one == least || least == 0), "statics are of the same round");
    let generation = world.heap::<keep>().unwrap().file().unwrap().generation;
    println!("round {least} generation {generation}");
    let mut ready = std::env::var(STOP).ok();
    for round in least + 1.. {
        world.local((&data, &SEVENS), |(data, sevens)| {
            data.fill(round);
            sevens.fill(round);
        });
        world.persist().unwrap();
        // From now on it may be killed: this job has brought a round.
        if let Some(ready) = ready.take() {
            std::fs::write(ready, "").unwrap();
        }
    }
}

fn launch(name: &str, pes: usize, partition: &str) -> Launch {
    Launch::new(std::env::current_exe().unwrap(), pes)
        .args(["--exact", "program", "--nocapture", "-q"])
        .env(PROGRAM, name)
        .env(FILE, partition)
        .capture_output()
        .timeout(Duration::from_secs(60))
}

fn job(name: &str, pes: usize, partition: &str) -> Outcome {
    launch(name, pes, partition).run().unwrap()
}

fn said(outcome: &Outcome) -> String {
    let printed = outcome.outputs.iter().flat_map(|one| [&one.out, &one.err]);
    let printed: String = printed.map(|bytes| String::from_utf8_lossy(bytes)).collect();
    outcome.report.clone() + &printed
}

#[track_caller]
fn succeeds(name: &str, pes: usize, partition: &str) -> String {
    let outcome = job(name, pes, partition);
    let said = said(&outcome);
    assert_eq!(outcome.code, 0, "{said}");
    said
}

#[track_caller]
fn refused(name: &str, pes: usize, partition: &str, parts: &[&str]) {
    let outcome = job(name, pes, partition);
    let said = said(&outcome);
    assert_eq!(outcome.code, 1, "{said}");
    for part in parts {
        assert_eq!(said.matches(part).count(), 1, "{part:?} once in: {said}");
    }
}

fn partition(directory: &Path) -> String {
    format!("SIZE=4M:KIND=PMEM:POLICY=M:PMEM={}/heap", directory.display())
}

#[test]
fn a_later_job_finds_what_was_persisted() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    succeeds("write", 3, &partition);
    succeeds("read", 3, &partition);
    succeeds("read again", 3, &partition);
    succeeds("read many", 3, &partition);
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        3,
        "a file for each PE, and nothing else"
    );
}

#[test]
fn names_that_a_raw_transfer_destroys_are_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let said = succeeds("stray", 2, &partition);
    let warning = "shmem: warning: PE 1: the list of names of partition 4 `keep`";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    assert!(said.contains("written again at shmem-rt/tests/persistent.rs:"), "{said}");
    assert!(!succeeds("behind stray", 2, &partition).contains("list of names"));
}

/// The headers of a file, of which the one with the greater number counts: where it stands, then where the other does.
fn headers(file: &[u8]) -> [usize; 2] {
    const SLOT: usize = 4096;
    let number = |at: usize| u64::from_le_bytes(*file[at + 32..].first_chunk().unwrap());
    if number(0) > number(SLOT) { [0, SLOT] } else { [SLOT, 0] }
}

#[test]
fn a_header_that_was_cut_short_is_said_and_a_damaged_one_refused() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    succeeds("write", 2, &partition);
    let path = directory.path().join("heap.1");
    let whole = std::fs::read(&path).unwrap();
    let [newest, other] = headers(&whole);
    // It was written over the first words of what stood there, and no further.
    let mut torn = whole.clone();
    torn.copy_within(other + 40..other + 200, newest + 40);
    std::fs::write(&path, torn).unwrap();
    let said = succeeds("read", 2, &partition);
    let remark = format!("{}: one of its two headers cannot be read, as after a crash", path.display());
    assert_eq!(said.matches(&remark).count(), 1, "{said}");
    assert!(said.contains("the other one counts, and the contents are those of persist 2"), "{said}");
    // The next job finds both.
    assert!(!succeeds("read again", 2, &partition).contains("cannot be read"));
    // Something that no header of this file has: what it said is not known.
    let mut damaged = whole;
    damaged[newest + 9 * 8] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    refused("nothing", 2, &partition, &["/heap.1 is damaged: one of its two headers cannot be read"]);
}

/// Whoever may write the file can write any list of names, with its checksum: each ends in one error, before anything is
/// made of it.
#[test]
fn a_list_of_names_that_somebody_made_up_is_refused() {
    const ENTRY: usize = 128;
    const HEAD: usize = 24;
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    succeeds("write", 1, &partition);
    let path = directory.path().join("heap.0");
    let whole = std::fs::read(&path).unwrap();
    let lists: Vec<usize> =
        (0..whole.len()).step_by(64).filter(|&at| whole[at..].starts_with(b"shmnames")).collect();
    assert_eq!(lists.len(), 2, "in the working area and in the copy");
    let word =
        |at: usize, with: u64| move |list: &mut [u8]| list[at..at + 8].copy_from_slice(&with.to_le_bytes());
    // The working area begins at 2M. `numbers` is the first object, `gone` the second one.
    let (offset, items, sizes) = (ENTRY + 64, ENTRY + 72, ENTRY + 80);
    let there = |at: usize| u64::from_le_bytes(*whole[lists[0] + at..].first_chunk().unwrap());
    let (numbers, gone) = (there(offset), there(offset + ENTRY));
    let text =
        |with: &'static [u8]| move |list: &mut [u8]| list[ENTRY..ENTRY + with.len()].copy_from_slice(with);
    type Change<'c> = Box<dyn Fn(&mut [u8]) + 'c>;
    let changes: Vec<(&str, Change<'_>)> = vec![
        ("not free", Box::new(word(offset, 0))),
        ("not free", Box::new(word(offset, lists[0] as u64 - (2 << 20)))),
        ("not free", Box::new(word(offset, gone))),
        ("not free", Box::new(word(offset, numbers + 1))),
        ("not free", Box::new(word(offset, numbers + 8))),
        ("not free", Box::new(word(offset, 4 << 20))),
        ("not free", Box::new(word(offset, (4 << 20) - 64))),
        ("not free", Box::new(word(offset, 1 << 40))),
        ("not free", Box::new(word(offset, u64::MAX - 63))),
        ("not free", Box::new(word(items, 1 << 20))),
        ("not free", Box::new(word(items, (u64::MAX >> 2) - 15))),
        ("no name", Box::new(word(items, u64::MAX >> 1))),
        ("not free", Box::new(word(sizes, 8192 << 32 | 8192))),
        ("alignment", Box::new(word(sizes, 1 << 62 | 1 << 30))),
        ("no name", Box::new(word(sizes, 4 << 32))),
        ("no name", Box::new(word(sizes, 3 << 32 | 3))),
        ("no name", Box::new(word(sizes, 4 << 32 | 8))),
        ("no name", Box::new(text(b"\0"))),
        ("no name", Box::new(text(b"\x1b[2J"))),
        ("no name", Box::new(text(b"\xff"))),
        ("the name `gone` twice", Box::new(text(b"gone\0"))),
        ("more names than there is room for", Box::new(word(16, 32))),
        ("more names than there is room for", Box::new(word(16, u64::MAX))),
        ("leads to itself", Box::new(word(8, lists[0] as u64 - (2 << 20)))),
        ("leads out of the heap", Box::new(word(8, 64))),
        ("leads out of the heap", Box::new(word(8, numbers + 1))),
        ("leads out of the heap", Box::new(word(8, (4 << 20) - 64))),
        ("leads out of the heap", Box::new(word(8, u64::MAX - 63))),
        ("is not what was written", Box::new(word(8, numbers))),
    ];
    for (number, (says, change)) in changes.iter().enumerate() {
        let mut made_up = whole.clone();
        for &at in &lists {
            let list = &mut made_up[at..at + 4096];
            change(list);
            let sum = fingerprint(list[..HEAD].iter().chain(&list[HEAD + 8..]).copied());
            list[HEAD..HEAD + 8].copy_from_slice(&sum.to_le_bytes());
        }
        std::fs::write(&path, made_up).unwrap();
        let outcome = job("nothing", 1, &partition);
        let said = said(&outcome);
        assert_eq!(outcome.code, 1, "{number}: {says}: {said}");
        assert!(
            said.contains(&format!("{}: ", path.display())) && said.contains(says),
            "{number}: {says}: {said}"
        );
        assert!(!said.contains("panicked") && !said.contains('\x1b'), "{number}: {said}");
    }
    std::fs::write(&path, whole).unwrap();
    succeeds("nothing", 1, &partition);
}

#[test]
fn what_was_never_persisted_is_new_again() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    succeeds("nothing", 2, &partition);
    succeeds("write", 2, &partition);
    // Another number of PEs, another size: nothing would be lost.
    let other = tempfile::tempdir().unwrap();
    let partition = self::partition(other.path());
    succeeds("nothing", 1, &partition);
    succeeds("nothing", 2, &partition.replace("4M", "5M"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    succeeds("write", 2, &partition);
    let path = directory.path().join("heap.0").display().to_string();
    let title = "PE 0: partition 4 `keep` (SHMEM_SYMMETRIC_PARTITION4): PMEM: ";
    let file = format!("{title}{path} ");
    refused("nothing", 1, &partition, &[&(file.clone() + "is that of PE 0 of 2, and this is PE 0 of 1")]);
    refused("nothing", 3, &partition, &[&(file.clone() + "is that of PE 0 of 2, and this is PE 0 of 3")]);
    assert!(!directory.path().join("heap.2").exists(), "what was made for nothing is removed");
    refused(
        "nothing",
        2,
        &partition.replace("4M", "8M"),
        &[&(file.clone() + "holds a partition of 4M, and 8M are asked for; give SIZE=4M")],
    );
    // The next job is none the worse.
    succeeds("read", 2, &partition);
    std::fs::remove_file(directory.path().join("heap.1")).unwrap();
    refused("nothing", 2, &partition, &["PE 0 has persist 3, PE 1 has nothing persisted yet"]);
    let preferred = partition.replace("POLICY=M", "POLICY=P");
    refused("nothing", 2, &preferred, &["do not belong together"]);
    std::fs::write(directory.path().join("heap.1"), "a letter").unwrap();
    refused("nothing", 2, &partition, &["heap.1 holds something else than a partition"]);
    assert_eq!(std::fs::read(directory.path().join("heap.1")).unwrap(), b"a letter");
}

#[test]
fn another_job_waits_its_turn() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let stop = directory.path().join("stop");
    let name = stop.display().to_string();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| launch("hold", 1, &partition).env(STOP, name.clone()).run().unwrap());
        let deadline = Instant::now() + Duration::from_secs(30);
        while !Path::new(&format!("{name}.ready")).exists() {
            assert!(Instant::now() < deadline && !first.is_finished(), "the first job starts");
            std::thread::sleep(Duration::from_millis(10));
        }
        refused("nothing", 1, &partition, &["/heap.0 is in use by another job"]);
        let preferred = partition.replace("POLICY=M", "POLICY=P");
        refused("nothing", 1, &preferred, &["/heap.0 is in use by another job"]);
        std::fs::write(&stop, "").unwrap();
        assert_eq!(first.join().unwrap().code, 0);
    });
    succeeds("nothing", 1, &partition);
}

#[test]
fn a_path_that_cannot_be_used_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let missing = partition(&directory.path().join("missing"));
    let why = format!("there is no directory {}", directory.path().join("missing").display());
    refused("volatile", 2, &missing, &[&why]);
    let said = succeeds("volatile", 2, &missing.replace("POLICY=M", "POLICY=P"));
    let warning = "warning: partition 4 `keep` (from SHMEM_SYMMETRIC_PARTITION4), all PEs: KIND=PMEM: ";
    assert!(said.contains(warning) && said.contains(&why), "{said}");
    assert!(said.contains("normal memory is used, and nothing survives the job"), "{said}");
    // A device, and a directory, in place of a file.
    std::os::unix::fs::symlink("/dev/null", directory.path().join("heap.0")).unwrap();
    let partition = partition(directory.path());
    refused("nothing", 1, &partition, &["/heap.0 is a device; put a file system on the memory"]);
    let preferred = partition.replace("POLICY=M", "POLICY=P");
    refused("nothing", 1, &preferred, &["/heap.0 is a device; put a file system on the memory"]);
    std::fs::create_dir(directory.path().join("heap.1")).unwrap();
    std::fs::remove_file(directory.path().join("heap.0")).unwrap();
    refused("nothing", 2, &partition, &["/heap.1 is no file but a directory"]);
    assert!(!directory.path().join("heap.0").exists(), "what was made for nothing is removed");
    refused("nothing", 1, "SIZE=1M:KIND=PMEM:POLICY=P", &["no file to lie in; add PMEM=<path>"]);
    refused("nothing", 1, "SIZE=1M:PMEM=/a/b", &["only a partition with KIND=PMEM lies in a file"]);
}

/// A PE, any of them, is killed at any time; the launcher kills the others. What is found next is one round.
#[test]
fn a_job_that_is_killed_leaves_its_last_persist() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let mut last = 0;
    let ready = directory.path().join("ready");
    for attempt in 0..25_u64 {
        _ = std::fs::remove_file(&ready);
        let outcome = std::thread::scope(|scope| {
            let job = scope.spawn(|| launch("loop", 2, &partition).env(STOP, &ready).run().unwrap());
            // Some die while they start, most in the loop.
            let early = attempt % 5 == 4;
            while (pes_of("loop").len() < 2 || !early && !ready.exists()) && !job.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(20 + attempt * 37 % 200));
            let pes = pes_of("loop");
            for pid in [&pes[..1], &pes[1..], &pes[..]][attempt as usize % 3] {
                let pid = rustix::process::Pid::from_raw(*pid).unwrap();
                _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            job.join().unwrap()
        });
        let said = said(&outcome);
        assert_ne!(outcome.code, 0, "{said}");
        assert!(!said.contains("panicked"), "{said}");
        let Some(line) = said.lines().find(|line| line.contains("round ")) else { continue };
        let mut words = line.split_whitespace().skip_while(|word| !word.ends_with("round")).skip(1);
        let round: u64 = words.next().unwrap().parse().unwrap();
        assert!(round >= last, "{round} after {last}");
        last = round;
    }
    assert!(last > 10, "jobs got somewhere: {last}");
}

#[test]
fn pes_that_are_threads_have_files_as_well() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["write", "read", "read again", "read many"] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "program_on_threads", "--nocapture"])
            .env("SHMEM_TRANSPORT", "loopback")
            .env(PROGRAM, name)
            .env(FILE, partition(directory.path()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", text(&output));
    }
    assert!(directory.path().join("heap.1").exists());
}

#[test]
fn a_full_file_system_is_an_error_at_the_start_and_never_later() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let run =
        |bytes, name, partition: &str| run_mounted(directory.path(), Mounted::Small(bytes), name, partition);
    // Each file takes 10M: room for one, and for both.
    let Some(output) = run(15 << 20, "nothing", &partition) else { return };
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains(
            "it takes 10M (the partition twice, so that a persist that is interrupted loses nothing)"
        ),
        "{said}"
    );
    assert!(said.contains("and the file system has "), "{said}");
    let preferred = partition.replace("POLICY=M", "POLICY=P");
    let output = run(15 << 20, "left clean", &preferred).unwrap();
    let said = text(&output);
    assert!(
        output.status.success() && said.contains("normal memory is used, and nothing survives"),
        "{said}"
    );
    let output = run(21 << 20, "fill", &partition).unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn on_a_file_system_that_cannot_reserve_zeroes_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let Some(output) = run_mounted(directory.path(), Mounted::Plain, "write", &partition) else { return };
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_read_only_file_system_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let partition = partition(directory.path());
    let preferred = partition.replace("POLICY=M", "POLICY=P");
    let run = |mounted, name, partition: &str| run_mounted(directory.path(), mounted, name, partition);
    let Some(output) = run(Mounted::ReadOnly, "nothing", &partition) else { return };
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("cannot be made: the file system is mounted read-only; mount it read-write"),
        "{said}"
    );
    let output = run(Mounted::ReadOnly, "volatile", &preferred).unwrap();
    assert!(output.status.success(), "{}", text(&output));
    // What is there, and cannot be used, is not replaced by memory.
    succeeds("write", 2, &partition);
    for partition in [&partition, &preferred] {
        let output = run(Mounted::Frozen, "nothing", partition).unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot be opened: the file system is mounted read-only"), "{said}");
    }
    succeeds("read", 2, &partition);
}

/// What a directory is to be, for a job alone.
#[derive(Clone, Copy)]
enum Mounted {
    /// A file system in memory, of so many bytes.
    Small(u64),
    /// One in memory that knows no `fallocate`.
    Plain,
    /// An empty one on which nothing can be made.
    ReadOnly,
    /// What it is, but nothing can be written.
    Frozen,
}

/// Runs a program of two PEs in a mount namespace of its own, where `directory` is something else. `None`: this
/// process may not do that.
fn run_mounted(directory: &Path, mounted: Mounted, name: &str, partition: &str) -> Option<Output> {
    let path = CString::new(directory.to_str().unwrap()).unwrap();
    let options = match mounted {
        Mounted::Small(bytes) => format!("mode=0700,size={bytes}"),
        Mounted::Plain | Mounted::ReadOnly | Mounted::Frozen => "mode=0700".into(),
    };
    let (options, itself) = (CString::new(options).unwrap(), path.clone());
    let call = |result: libc::c_int| if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
    let mount = move |source: &CStr, kind: &CStr, flags: libc::c_ulong, data: &CStr| {
        // SAFETY: all are strings that end with a zero byte.
        call(unsafe {
            libc::mount(source.as_ptr(), path.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast())
        })
    };
    let alone = move || {
        // SAFETY: only this process, which is about to become the program, gets other mounts.
        call(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        let (root, flags) = (c"/", libc::MS_REC | libc::MS_PRIVATE);
        // SAFETY: only this process, which is about to become the program, gets other mounts; nothing is
        // mounted, only the mounts there are no longer told to others.
        call(unsafe { libc::mount(root.as_ptr(), root.as_ptr(), root.as_ptr(), flags, std::ptr::null()) })?;
        match mounted {
            Mounted::Small(_) => mount(c"none", c"tmpfs", 0, &options),
            Mounted::Plain => mount(c"none", c"ramfs", 0, &options),
            Mounted::ReadOnly => mount(c"none", c"tmpfs", libc::MS_RDONLY, &options),
            Mounted::Frozen => {
                mount(&itself, c"none", libc::MS_BIND, c"")?;
                mount(&itself, c"none", libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY, c"")
            }
        }
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "program", "--nocapture", "-q"])
        .env("SHMEM_NPES", "2")
        .env(PROGRAM, name)
        .env(FILE, partition)
        .env(DIRECTORY, directory)
        .env_remove("SHMEM_TRANSPORT");
    // SAFETY: the closure makes system calls only; its strings were made before.
    unsafe { command.pre_exec(alone) };
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            eprintln!("skipped: a mount needs the rights of root");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn arrays_lie_in_the_file_or_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    succeeds("arrays", 2, &partition(directory.path()));
}

/// The processes of a job that this one has started, in the order of their numbers.
fn pes_of(program: &str) -> Vec<i32> {
    let task = std::fs::read_dir("/proc/self/task").unwrap();
    let children = task.flatten().flat_map(|thread| {
        let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()
    });
    let variable = format!("{PROGRAM}={program}");
    let is_pe = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|one| one == variable.as_bytes())
    };
    let mut pes: Vec<i32> = children.filter(is_pe).collect();
    pes.sort_unstable();
    pes
}
