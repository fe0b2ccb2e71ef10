//! Records of this test, in the running program and as bytes. (Those of a file: `info` of shmrun.)

use shmem_grammar::{Kind, Policy, Traits};

use super::*;
use crate::object::Symmetric;
use crate::partition::{Partition, fast};

const TRAITS: Traits = Traits {
    size: Some(256 << 20),
    pgsize: Some(2 << 20),
    kind: Some(Kind::FastMem),
    policy: Some(Policy::Mandatory),
};

// SAFETY: `GRID_RECORD` is its only descriptor, and stands in the section.
static GRID: Symmetric<[u64; 100]> = unsafe { Symmetric::__new() };
#[used]
#[unsafe(link_section = "shmem_sym")]
static GRID_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `GRID`, and stands in the section.
    unsafe {
        Descriptor::new(&GRID, None, fast::DECLARATION, 4096, "GRID", "section::tests", "grid.rs", 12)
    };
#[used]
#[unsafe(link_section = "shmem_par")]
static BULK: Declaration = Declaration::new("bulk", 23, TRAITS, "bulk.rs", 34);

fn image<T>(record: &T) -> Vec<u8> {
    let start = core::ptr::from_ref(record).cast::<u8>();
    // SAFETY: the records have no padding, so every byte of them is initialised.
    unsafe { core::slice::from_raw_parts(start, size_of::<T>()) }.to_vec()
}

#[test]
#[cfg_attr(miri, ignore = "needs the linker")]
fn the_running_program_knows_its_records() {
    let statics = descriptors().unwrap();
    let [grid] = statics[..] else { panic!("{statics:?}") };
    assert!(core::ptr::eq(grid.position, GRID.position()));
    assert_eq!((grid.entry.name.as_str(), grid.entry.size, grid.entry.line), ("GRID", 800, 12));
    let declared = declarations().unwrap();
    assert_eq!(declared, [&BULK]);
}

#[test]
fn padding_is_skipped_and_other_versions_are_not() {
    let record = image(&BULK);
    let padded = [&[0; 24][..], &record, &[0; 8], &[0xcc; 16], &record, &[0; 5]].concat();
    assert_eq!(partitions_in(&padded).unwrap(), [BULK, BULK]);
    assert_eq!(partitions_in(&[]), Ok(Vec::new()));

    let mut other = record.clone();
    other[7] = b'7';
    let error = partitions_in(&[record.clone(), other].concat()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "section `shmem_par` holds a record `shmpar07`, but this version reads `shmpar01`: the program, its libraries and `shmem-info` must use one version of shmem-rt"
    );
    let cut = partitions_in(&[&record, &record[..40]].concat()).unwrap_err();
    assert_eq!(cut, SectionError::Cut { section: "shmem_par", at: record.len() });
}
