use std::fs;

use shmem_core::heap::statics::layout;
use shmem_core::object::{Descriptor, Symmetric};
use shmem_core::partition::{Environment, Partition, Table, Traits, default};

use super::*;

// The tests' own executable is the binary that is read: it has statics like any program.

// SAFETY: `GRID_RECORD` is its only descriptor, and stands in the section.
static GRID: Symmetric<[u64; 100]> = unsafe { Symmetric::__new() };
#[used]
#[unsafe(link_section = "shmem_sym")]
static GRID_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `GRID`, and stands in the section.
    unsafe { Descriptor::new(&GRID, None, BULK, 4096, "GRID", "binary::tests", "grid.rs", 12) };
// SAFETY: `EDGE_RECORD` is its only descriptor, and stands in the section.
static EDGE: Symmetric<[u8; 3]> = unsafe { Symmetric::__new() };
static EDGE_IMAGE: [u8; 3] = [1, 2, 3];
#[used]
#[unsafe(link_section = "shmem_sym")]
static EDGE_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `EDGE`, and stands in the section.
    unsafe {
        Descriptor::new(
            &EDGE,
            Some(&EDGE_IMAGE),
            default::DECLARATION,
            0,
            "EDGE",
            "binary::tests",
            "grid.rs",
            15,
        )
    };
const BULK: Declaration =
    Declaration::new("bulk", 23, Traits { size: Some(1 << 20), ..Traits::NONE }, "bulk.rs", 34);
#[used]
#[unsafe(link_section = "shmem_par")]
static BULK_RECORD: Declaration = BULK;

fn own() -> Vec<u8> {
    fs::read(std::env::current_exe().unwrap()).unwrap()
}

fn read(contents: &[u8]) -> Result<Binary, Fault> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), contents).unwrap();
    Binary::read(file.path())
}

fn message(contents: &[u8]) -> String {
    let text = read(contents).unwrap_err().to_string();
    text.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn a_file_says_what_the_running_program_says() {
    let file = read(&own()).unwrap();
    let running: Vec<StaticEntry> = section::descriptors().unwrap().into_iter().map(Into::into).collect();
    let declared: Vec<Declaration> = section::declarations().unwrap().into_iter().copied().collect();
    assert!(running.iter().any(|entry| entry.name.as_str() == "GRID" && entry.partition == BULK));
    assert_eq!(file, Binary { statics: running.clone(), declarations: declared.clone() });

    let lay_out = |statics: &[StaticEntry], declarations: &[Declaration]| {
        let table = Table::resolve(declarations, statics, &Environment::default()).unwrap();
        layout(statics, table.specs()).unwrap()
    };
    let shown = lay_out(&file.statics, &file.declarations);
    assert_eq!(shown.describe(), lay_out(&running, &declared).describe());
    assert!(shown.partitions.iter().any(|p| p.id == 23 && p.objects.len() == 1), "{shown:?}");
}

#[test]
fn files_that_are_no_programs_are_refused() {
    let directory = Binary::read(Path::new("/")).unwrap_err().to_string();
    assert!(directory.contains("is a directory"), "{directory}");
    for contents in [&b"#!/bin/sh\nexit\n"[..], b"", b"\x7fELF"] {
        assert!(message(contents).starts_with("not a 64-bit little-endian ELF program ("), "{contents:?}");
    }
    let mut other_order = own();
    other_order[5] = 2;
    assert!(message(&other_order).starts_with("not a 64-bit little-endian ELF program ("));
    assert!(message(&own()[..5000]).starts_with("not a 64-bit little-endian ELF program ("));
}

#[test]
fn a_program_without_the_section_was_not_built_with_the_library() {
    // An ELF header that names neither segments nor sections.
    let mut header = own()[..64].to_vec();
    header[0x20..0x30].fill(0);
    header[0x36..].fill(0);
    assert_eq!(
        message(&header),
        "has no section `shmem_sym`: it was not built with shmem-rt, or its sections were stripped"
    );
}
