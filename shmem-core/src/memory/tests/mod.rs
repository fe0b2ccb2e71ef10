//! Tests of the whole of `memory`, and what they share.

#[cfg(not(miri))]
mod arena;
mod layout;
#[cfg(not(miri))]
mod limits;
#[cfg(not(miri))]
mod numa;
#[cfg(not(miri))]
mod pages;
mod placement;
#[cfg(not(miri))]
mod sizes;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use shmem_grammar::{Policy, Traits};

use super::Arena;
use crate::partition::{Origin, PartitionSpec};
use crate::text::Text;

/// A directory of invented files, removed at the end.
pub(super) struct Tree(PathBuf);

impl Tree {
    pub(super) fn new() -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("shmem-machine-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir(&root).unwrap();
        Self(root)
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let file = self.0.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A partition of which a page size is asked.
pub(super) fn paged(id: u32, size: u64, pgsize: u64, policy: Policy) -> PartitionSpec {
    let traits = Traits { pgsize: Some(pgsize), policy: Some(policy), ..Traits::NONE };
    PartitionSpec { traits, explicit: true, ..plain(id, size) }
}

/// Runs `body` in a process of its own: this test, started again. For what changes a process.
#[cfg(not(miri))]
pub(super) fn in_child(test: &str, body: impl FnOnce()) {
    const CHILD: &str = "SHMEM_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let program = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(program);
    let output = child.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains("1 passed"), "{}: {text}", output.status);
}

/// The word at an offset of a slot.
pub(super) fn word(arena: &Arena, slot: usize, offset: usize) -> &AtomicU64 {
    assert!(offset.is_multiple_of(8) && offset < arena.layout().slot_bytes());
    // SAFETY: the offset lies in the slot.
    let word = unsafe { arena.start_of(slot).add(offset) };
    // SAFETY: the word is aligned and mapped until the arena is dropped, and only used atomically.
    unsafe { AtomicU64::from_ptr(word.cast()) }
}

/// A partition of which only the size is asked.
pub(super) fn plain(id: u32, size: u64) -> PartitionSpec {
    let name = Text::head(&format!("partition{id}"));
    let origin = Origin::Environment(format!("SHMEM_SYMMETRIC_PARTITION{id}"));
    PartitionSpec { id, name, size, traits: Traits::NONE, origin, explicit: false, file: None }
}
