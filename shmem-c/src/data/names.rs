//! What the variables of the executable are called: its symbol table, read from its file when a name is first asked for.
//!
//! Source: ELF-64 Object File Format, version 1.5, sections 4 (sections) and 6 (symbols).

use core::ops::Range;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Bytes of the header of a file, of a section's and of a symbol's.
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// Type of the section that has all symbols (`SHT_SYMTAB`), and of the symbol of a variable (`STT_OBJECT`).
const SYMBOLS: usize = 2;
const OBJECT: usize = 1;

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// Where it begins, as the file counts addresses.
    pub(super) start: usize,
    bytes: usize,
    pub(super) name: String,
}

/// The variables of an executable, in the order of their addresses.
#[derive(Default)]
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    /// Those of this process; none where the file has no symbols, or cannot be read.
    pub(super) fn of_this_process() -> Self {
        File::open("/proc/self/exe").and_then(|file| Self::read(&file)).unwrap_or_default()
    }

    fn read(file: &File) -> io::Result<Self> {
        let header = bytes(file, 0, HEADER)?;
        let sections = bytes(file, number(&header, 40..48), number(&header, 60..62) * SECTION)?;
        let contents = |section: &[u8]| bytes(file, number(section, 24..32), number(section, 32..40));
        let mut sections = sections.chunks_exact(SECTION);
        let Some(table) = sections.clone().find(|section| number(section, 4..8) == SYMBOLS) else {
            return Ok(Self::default());
        };
        let symbols = contents(table)?;
        let texts = sections.nth(number(table, 40..44)).map_or(Ok(Vec::new()), contents)?;
        let variable = |symbol: &[u8]| {
            let name = texts.get(number(symbol, 0..4)..)?;
            // What is behind a dot tells variables of functions apart (`count.3`).
            let name = name.split(|byte| [0, b'.'].contains(byte)).next()?;
            let name = String::from_utf8_lossy(name).into_owned();
            Some(Variable { start: number(symbol, 8..16), bytes: number(symbol, 16..24), name })
        };
        let objects = symbols.chunks_exact(SYMBOL).filter(|symbol| number(symbol, 4..5) & 0xf == OBJECT);
        let mut all: Vec<_> = objects.filter_map(variable).filter(|variable| variable.bytes > 0).collect();
        all.sort_by_key(|variable| variable.start);
        Ok(Self(all))
    }

    /// The one that an address lies in.
    pub(super) fn at(&self, address: usize) -> Option<&Variable> {
        let behind = self.0.partition_point(|variable| variable.start <= address);
        self.0[..behind].last().filter(|variable| address - variable.start < variable.bytes)
    }
}

/// Bytes of a file.
fn bytes(file: &File, start: usize, count: usize) -> io::Result<Vec<u8>> {
    // What is no table of this file is not made room for.
    if count as u64 > file.metadata()?.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, start as u64)?;
    Ok(bytes)
}

/// A number of a record, least byte first.
fn number(record: &[u8], at: Range<usize>) -> usize {
    record[at].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::executable::Executable;

    #[unsafe(no_mangle)]
    static SHMEM_C_TEST_VARIABLE: [core::sync::atomic::AtomicU64; 3] =
        [const { core::sync::atomic::AtomicU64::new(7) }; 3];

    #[test]
    fn variables_of_this_program_are_found() {
        let (variables, executable) = (Variables::of_this_process(), Executable::of_this_process().unwrap());
        let start = executable.in_file(SHMEM_C_TEST_VARIABLE[0].as_ptr().addr());
        let named =
            |at: usize| variables.at(at).filter(|found| found.name == "SHMEM_C_TEST_VARIABLE").cloned();
        assert_eq!(named(start), named(start + 23));
        assert_eq!(named(start).map(|found| found.start), Some(start));
        assert_eq!(named(start + 24), None);
        assert_eq!(variables.at(usize::MAX), None);
    }

    #[test]
    fn what_is_no_executable_has_no_variables() {
        let file = tempfile::tempfile().unwrap();
        assert!(Variables::read(&file).is_err());
        file.write_all_at(&[0xff; 4096], 0).unwrap();
        assert!(Variables::read(&file).is_err());
        file.write_all_at(&[0; 4096], 0).unwrap();
        assert!(Variables::read(&file).is_ok_and(|found| found.0.is_empty()));
    }
}
