//! What a binary on disk says about its symmetric statics and partitions.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSection, ReadCache};
use shmem_core::heap::statics::StaticEntry;
use shmem_core::partition::Declaration;
use shmem_core::section::{self, SectionError};

/// A program or library, as far as it concerns symmetric memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binary {
    /// Its symmetric statics, in the order of the file.
    pub(crate) statics: Vec<StaticEntry>,
    /// The partitions that it declares, in the order of the file.
    pub(crate) declarations: Vec<Declaration>,
}

/// A binary cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BinaryError {
    /// The file cannot be opened.
    #[error("{}: {source}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is no ELF file of a kind that this version runs on.
    #[error("{}: not a 64-bit little-endian ELF program ({reason}); give the path of a compiled program", .path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: object::read::Error,
    },
    /// It has no section for statics: even a program without statics has one.
    #[error(
        "{}: has no section `{}`: it was not built with shmem-rt, or its sections were stripped",
        .path.display(),
        section::STATICS
    )]
    NoSection {
        /// The file.
        path: PathBuf,
    },
    /// A section is not of this version, or damaged.
    #[error("{}: {source}", .path.display())]
    Section {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SectionError,
    },
}

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, is no program of shmem-rt, or one of another version.
    pub(crate) fn read(path: &Path) -> Result<Self, BinaryError> {
        let open = |source| BinaryError::Open { path: path.to_owned(), source };
        let file = File::open(path).map_err(open)?;
        if file.metadata().map_err(open)?.is_dir() {
            return Err(open(io::ErrorKind::IsADirectory.into()));
        }
        let not_elf = |reason| BinaryError::NotElf { path: path.to_owned(), reason };
        // Read piece by piece: sections are small, binaries with debug information are not.
        let cache = ReadCache::new(file);
        let elf = ElfFile::<FileHeader64<LittleEndian>, _>::parse(&cache).map_err(not_elf)?;
        let data = |name| elf.section_by_name(name).map(|section| section.data()).transpose();
        let wrong = |source| BinaryError::Section { path: path.to_owned(), source };
        let Some(statics) = data(section::STATICS).map_err(not_elf)? else {
            return Err(BinaryError::NoSection { path: path.to_owned() });
        };
        let declarations = data(section::PARTITIONS).map_err(not_elf)?.unwrap_or_default();
        Ok(Self {
            statics: section::statics_in(statics).map_err(wrong)?,
            declarations: section::partitions_in(declarations).map_err(wrong)?,
        })
    }
}

#[cfg(test)]
mod tests;
