//! Two processes with a slot each see each other's bytes at the address that the formula gives.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;

use super::{plain, word};
use crate::memory::{Arena, Machine, Mine, SlotLayout};
use crate::topology::Topology;

const TEST: &str = "memory::tests::processes::two_processes_share_their_places";
const PEER: &str = "SHMEM_TEST_PEER";

fn arena() -> Arena {
    let specs: Vec<_> = (1..=5).map(|id| plain(id, 3 << 20)).collect();
    Arena::reserve(SlotLayout::new(&specs, 0, &Topology::default()).unwrap(), 2, Machine::default()).unwrap()
}

/// Process, descriptors and pieces, in one word.
pub(super) fn describe(mine: &Mine) -> String {
    let files: Vec<_> = mine.descriptors.iter().map(|file| file.as_raw_fd().to_string()).collect();
    let pieces: String = mine.pieces.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}:{}:{pieces}", std::process::id(), files.join(","))
}

pub(super) fn attach(arena: &Arena, slot: usize, described: &str) {
    let mut parts = described.trim().split(':');
    let (pid, files, pieces) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let mut between = Vec::new();
    let open = |file: &str| -> OwnedFd {
        between.push(File::open("/dev/null").unwrap());
        let path = format!("/proc/{pid}/fd/{file}");
        File::options().read(true).write(true).open(path).unwrap().into()
    };
    let files = files.split(',').map(open).collect();
    let digits: Vec<_> = pieces.as_bytes().chunks(2).map(|d| std::str::from_utf8(d).unwrap()).collect();
    let pieces: Vec<_> = digits.iter().map(|d| u8::from_str_radix(d, 16).unwrap()).collect();
    arena.attach(slot, files, &pieces).unwrap();
}

/// A word in each partition, at different offsets, and one in the system area.
fn offsets(arena: &Arena) -> Vec<usize> {
    let heap = |k: usize| (arena.layout().partition(k).start + k * 100_000).next_multiple_of(8);
    (0..5).map(heap).chain([64]).collect()
}

fn write(arena: &Arena, slot: usize) {
    for (i, offset) in offsets(arena).into_iter().enumerate() {
        word(arena, slot, offset).store((1000 * (slot + 1) + i) as u64, Relaxed);
    }
}

fn check(arena: &Arena, slot: usize) {
    for (i, offset) in offsets(arena).into_iter().enumerate() {
        assert_eq!(word(arena, slot, offset).load(Relaxed), (1000 * (slot + 1) + i) as u64, "{offset:#x}");
    }
}

fn child(parent: &str) {
    // Descriptors and addresses differ from the parent's.
    let _decoys: Vec<_> = (0..5).map(|_| File::open("/dev/null").unwrap()).collect();
    let arena = arena();
    let mine = arena.create(1).unwrap();
    attach(&arena, 0, parent);
    check(&arena, 0);
    write(&arena, 1);
    word(&arena, 0, 8192).store(99, Relaxed);
    println!("\nPEER {} {:x}", describe(&mine), arena.base() as usize);
    // Until the parent has looked.
    _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn two_processes_share_their_places() {
    if let Ok(parent) = std::env::var(PEER) {
        return child(&parent);
    }
    let arena = arena();
    let mine = arena.create(0).unwrap();
    write(&arena, 0);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(PEER, describe(&mine))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.starts_with("PEER "))
        .expect("the child attached");
    attach(&arena, 1, line.split(' ').nth(1).unwrap());
    check(&arena, 1);
    assert_eq!(word(&arena, 0, 8192).load(Relaxed), 99, "the child wrote here");
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(lines.count() > 0, "the end of the child's report");
    assert!(child.wait().unwrap().success());
    check(&arena, 1);
}
