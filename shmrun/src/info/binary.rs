//! What a binary on disk says about its symmetric statics and partitions.

use std::fs::File;
use std::io;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::{ElfFile, ElfSection};
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef, SectionKind, SymbolKind,
};
use shmem_core::partition::{Declaration, StaticEntry};
use shmem_core::section;

use crate::Fault;

/// A program or library, as far as it concerns symmetric memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binary {
    /// Its symmetric statics, in the order of the file.
    pub(crate) statics: Vec<StaticEntry>,
    /// The partitions that it declares, in the order of the file.
    pub(crate) declarations: Vec<Declaration>,
    /// The globals of a program in C, which are symmetric there, in the order of their addresses; `None`: it is none.
    pub(crate) globals: Option<Vec<Global>>,
}

/// A global of a program in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Global {
    /// Its address in the file.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// As the linker calls it.
    pub(crate) name: String,
}

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, is no program of shmem-rt, or one of another version.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        Self::contents(path).map_err(|why| format!("{}: {why}", path.display()).into())
    }

    fn contents(path: &Path) -> Result<Self, Fault> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let not_elf = |why: object::read::Error| {
            format!("not a 64-bit little-endian ELF program ({why}); give the path of a compiled program")
        };
        // Read piece by piece: sections are small, binaries with debug information are not.
        let cache = ReadCache::new(file);
        let elf = ElfFile::<FileHeader64<LittleEndian>, _>::parse(&cache).map_err(not_elf)?;
        let data = |name| elf.section_by_name(name).map(|section| section.data()).transpose();
        let statics = data(section::STATICS).map_err(not_elf)?;
        let globals = globals(&elf);
        if statics.is_none() && globals.is_none() {
            // Even a program without statics has one.
            let name = section::STATICS;
            return Err(format!(
                "has no section `{name}`: it was not built with shmem-rt, or its sections were stripped"
            )
            .into());
        }
        let declarations = data(section::PARTITIONS).map_err(not_elf)?.unwrap_or_default();
        Ok(Self {
            statics: section::statics_in(statics.unwrap_or_default())?,
            declarations: section::partitions_in(declarations)?,
            globals,
        })
    }
}

/// The globals of a program that calls routines of C's; without those of the library, if it is linked statically.
fn globals<'d, R: ReadRef<'d>>(elf: &ElfFile<'d, FileHeader64<LittleEndian>, R>) -> Option<Vec<Global>> {
    // Without one of these no program in C gets far.
    const BEGINNINGS: [&[u8]; 4] = [b"shmem_init", b"shmem_init_thread", b"start_pes", b"shmem_my_pe"];
    let begins = |name: &[u8]| BEGINNINGS.contains(&name.strip_prefix(b"p").unwrap_or(name));
    let mut symbols = elf.symbols().chain(elf.dynamic_symbols());
    if !symbols.any(|symbol| symbol.name_bytes().is_ok_and(begins)) {
        return None;
    }
    let is_written = |section: ElfSection<'d, '_, FileHeader64<LittleEndian>, R>| {
        let constant = section.name_bytes().is_ok_and(|name| name.starts_with(b".data.rel.ro"));
        matches!(section.kind(), SectionKind::Data | SectionKind::UninitializedData) && !constant
    };
    let objects = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
    let mut globals: Vec<_> = objects
        .filter_map(|symbol| {
            let section = symbol.section_index().and_then(|index| elf.section_by_index(index).ok())?;
            let name = symbol.name().ok().filter(|name| !is_of_a_library(name))?.to_owned();
            is_written(section).then_some(Global { address: symbol.address(), size: symbol.size(), name })
        })
        .collect();
    globals.sort_by_key(|global| global.address);
    globals.dedup_by_key(|global| global.address);
    Some(globals)
}

/// Whether a name is one that Rust makes, or one of the C library.
fn is_of_a_library(name: &str) -> bool {
    let hashed = name.starts_with("_ZN") && name.contains("17h") && name.ends_with('E');
    let of_rust = ["_R", "_rust_", "DW.ref.", "shmem_rt_"].iter().any(|start| name.starts_with(start));
    hashed || of_rust || name.contains('@') || name == "completed.0"
}

#[cfg(test)]
mod tests;
