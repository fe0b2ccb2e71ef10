//! The records that `#[symmetric]` and `partitions!` leave in a binary. They are read in the running process, and from a file.
//!
//! Each kind has its own linker section. Linkers may pad between object files, so records start at multiples of 8 with a magic
//! word, and other bytes are skipped. A magic word with other last two characters marks a record of another version, which is an
//! error, because skipping the record would leave an object without memory.

use core::mem::offset_of;

use crate::object::{Descriptor, Library};
use crate::partition::{Declaration, StaticEntry};
use crate::text::Text;

/// The section of the records of symmetric statics.
pub const STATICS: &str = "shmem_sym";

/// The section of the records of partitions.
pub const PARTITIONS: &str = "shmem_par";

/// The error that a section has a record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum SectionError {
    #[error(
        "section `{section}` holds a record `{found}`, but this version reads `{expected}`: the program, its libraries and `shmem-info` must use one version of shmem-rt"
    )]
    Version { section: &'static str, found: Text<8>, expected: Text<8> },
    #[error(
        "the program has symmetric statics of another copy of this library, which cannot be placed by this one: it was built from two versions of shmem-rt, or from one twice; let all crates of the program depend on one (`cargo tree -d` shows duplicates)"
    )]
    Copy,
    #[error("section `{section}` ends inside the record at byte {at}: the binary is damaged")]
    Cut { section: &'static str, at: usize },
}

/// Returns the descriptors of all symmetric statics of the running program, in no particular order. Fails if the program was linked
/// from several versions or copies of this crate.
pub fn descriptors() -> Result<Vec<&'static Descriptor>, SectionError> {
    let (start, stop) = (&raw const bounds::__start_shmem_sym, &raw const bounds::__stop_shmem_sym);
    // SAFETY: `start` and `stop` are the linker's bounds of one section.
    let section = unsafe { section(start, stop) };
    let record = |at| {
        if word(section, at + offset_of!(Descriptor, library)) != Library::this().address() as u64 {
            return Err(SectionError::Copy);
        }
        // SAFETY: only `Descriptor::new`, which is unsafe, writes records with this magic and the address of this copy's `Library`,
        // so the record is a `Descriptor`. It is wholly in the section (`records`), and never written or unmapped later.
        Ok(unsafe { &*start.wrapping_byte_add(at).cast::<Descriptor>() })
    };
    static_records(section)?.into_iter().map(record).collect()
}

/// Returns the declarations of all partitions of the running program, in no particular order. Fails if the program was linked from
/// several versions of this crate.
pub fn declarations() -> Result<Vec<&'static Declaration>, SectionError> {
    let (start, stop) = (&raw const bounds::__start_shmem_par, &raw const bounds::__stop_shmem_par);
    // SAFETY: `start` and `stop` are the linker's bounds of one section.
    let found = partition_records(unsafe { section(start, stop) })?;
    let record = |at| {
        // SAFETY: the record is wholly in the section and never written; every bit pattern is valid for a declaration (numbers and
        // texts, which check their UTF-8 when shown).
        unsafe { &*start.wrapping_byte_add(at).cast::<Declaration>() }
    };
    Ok(found.into_iter().map(record).collect())
}

/// The bytes of a section of the running program.
///
/// # Safety
///
/// `start` and `stop` must be the linker's bounds of a section of records.
unsafe fn section(start: *const [u64; 0], stop: *const [u64; 0]) -> &'static [u8] {
    // SAFETY: these are the bytes of a section (caller), which is mapped as long as the program runs, and never written after
    // relocation.
    unsafe { core::slice::from_raw_parts(start.cast(), stop.addr() - start.addr()) }
}

/// Returns the statics that a section `shmem_sym` of a file describes, in the order of the file. Fails on a record that is cut or
/// of another version.
pub fn statics_in(section: &[u8]) -> Result<Vec<StaticEntry>, SectionError> {
    let entry = |at| {
        let bytes = &section[at + offset_of!(Descriptor, entry)..][..size_of::<StaticEntry>()];
        // SAFETY: `bytes` has enough bytes, and any bits are valid (numbers and texts, which check their UTF-8 when shown).
        unsafe { bytes.as_ptr().cast::<StaticEntry>().read_unaligned() }
    };
    Ok(static_records(section)?.into_iter().map(entry).collect())
}

/// Returns the partitions that a section `shmem_par` of a file declares, in the order of the file. Fails on a record that is cut or
/// of another version.
pub fn partitions_in(section: &[u8]) -> Result<Vec<Declaration>, SectionError> {
    let declaration = |at| {
        let bytes = &section[at..][..size_of::<Declaration>()];
        // SAFETY: `bytes` has enough bytes, and any bits are valid (numbers and texts, which check their UTF-8 when shown).
        unsafe { bytes.as_ptr().cast::<Declaration>().read_unaligned() }
    };
    Ok(partition_records(section)?.into_iter().map(declaration).collect())
}

fn static_records(section: &[u8]) -> Result<Vec<usize>, SectionError> {
    records(STATICS, Descriptor::MAGIC, size_of::<Descriptor>(), section)
}

fn partition_records(section: &[u8]) -> Result<Vec<usize>, SectionError> {
    records(PARTITIONS, Declaration::MAGIC, size_of::<Declaration>(), section)
}

/// Returns the offsets of all records in the section `name`. A record has `record` bytes, and starts with `magic`.
fn records(
    name: &'static str,
    magic: u64,
    record: usize,
    section: &[u8],
) -> Result<Vec<usize>, SectionError> {
    /// Mask of the version, the last two characters of a magic word.
    const VERSION: u64 = u64::from_le_bytes([0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    let mut found = Vec::new();
    let mut at = 0;
    while at + 8 <= section.len() {
        let here = word(section, at);
        if here == magic {
            if section.len() - at < record {
                return Err(SectionError::Cut { section: name, at });
            }
            found.push(at);
            at += record;
        } else if here & !VERSION == magic & !VERSION {
            let text = |word: u64| Text::from_bytes(word.to_le_bytes());
            return Err(SectionError::Version { section: name, found: text(here), expected: text(magic) });
        } else {
            at += 8;
        }
    }
    Ok(found)
}

fn word(section: &[u8], at: usize) -> u64 {
    bytemuck::pod_read_unaligned(&section[at..at + 8])
}

// Empty, but necessary, because in a program without records the linker would not define the start and stop symbols of a section.
#[used]
#[unsafe(link_section = "shmem_sym")]
static NO_STATICS: [Descriptor; 0] = [];
#[used]
#[unsafe(link_section = "shmem_par")]
static NO_PARTITIONS: [Declaration; 0] = [];

const _: () = assert!(size_of::<Descriptor>().is_multiple_of(8) && align_of::<Descriptor>() == 8);
const _: () = assert!(offset_of!(Descriptor, library) == 8, "as in all versions");
const _: () = assert!(size_of::<Declaration>().is_multiple_of(8) && align_of::<Declaration>() == 8);

mod bounds {
    // Arrays of length 0, because the symbols are bounds and not objects.
    unsafe extern "C" {
        pub(super) static __start_shmem_sym: [u64; 0];
        pub(super) static __stop_shmem_sym: [u64; 0];
        pub(super) static __start_shmem_par: [u64; 0];
        pub(super) static __stop_shmem_par: [u64; 0];
    }
}

#[cfg(test)]
mod tests;
