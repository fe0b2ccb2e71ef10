//! Reads, from the file of a program or library, the symmetric statics and partitions that it declares.

use std::fs::File;
use std::io;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSection, ReadCache};
use shmem_core::linker_section;
use shmem_core::partition::{Declaration, StaticEntry};

use crate::Fault;

#[derive(Default)]
pub(crate) struct Binary {
    /// Symmetric statics, in the order of the file.
    pub(crate) statics: Vec<StaticEntry>,
    pub(crate) declarations: Vec<Declaration>,
}

impl Binary {
    /// Reads the declarations of a program or library.
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
        // Reads only the requested sections, because they are small, and files with debug information are large.
        let cache = ReadCache::new(file);
        let elf = ElfFile::<FileHeader64<LittleEndian>, _>::parse(&cache).map_err(not_elf)?;
        let data = |name| elf.section_by_name(name).map(|section| section.data()).transpose();
        let statics = data(linker_section::STATICS).map_err(not_elf)?;
        // Programs of the library have this section even without statics.
        let statics = statics.ok_or_else(|| {
            let name = linker_section::STATICS;
            format!("has no section `{name}`: it was not built with shmem-rt, or its sections were stripped")
        })?;
        let declarations = data(linker_section::PARTITIONS).map_err(not_elf)?.unwrap_or_default();
        Ok(Self {
            statics: linker_section::statics_in(statics)?,
            declarations: linker_section::partitions_in(declarations)?,
        })
    }
}
