//! What a binary on disk says about its symmetric statics and partitions.

use std::fs::File;
use std::io;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSection, ReadCache};
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
        // Even a program without statics has one.
        let statics = statics.ok_or_else(|| {
            let name = section::STATICS;
            format!("has no section `{name}`: it was not built with shmem-rt, or its sections were stripped")
        })?;
        let declarations = data(section::PARTITIONS).map_err(not_elf)?.unwrap_or_default();
        Ok(Self {
            statics: section::statics_in(statics)?,
            declarations: section::partitions_in(declarations)?,
        })
    }
}

#[cfg(test)]
mod tests;
