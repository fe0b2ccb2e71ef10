//! Names of the executable's variables: its symbol table, read from its file at the first question.

use std::fs;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// Its address in the file.
    pub(super) start: usize,
    bytes: usize,
    pub(super) name: String,
}

/// The variables of an executable, by ascending addresses.
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    /// Those of this process; none where the file has no symbols, or cannot be read.
    pub(super) fn of_this_process() -> Self {
        // All at once: names are many and short.
        let file = fs::read("/proc/self/exe").unwrap_or_default();
        let executable = ElfFile64::<Endianness, _>::parse(&*file).ok();
        let symbols = executable.iter().flat_map(|executable| executable.symbols());
        let variables = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
        let mut all: Vec<_> = variables
            .filter_map(|symbol| {
                // A suffix tells local variables of functions apart (`count.3`).
                let name = symbol.name_bytes().ok()?.split(|byte| *byte == b'.').next()?;
                let name = String::from_utf8_lossy(name).into_owned();
                Some(Variable { start: symbol.address() as usize, bytes: symbol.size() as usize, name })
            })
            .collect();
        all.sort_by_key(|variable| variable.start);
        Self(all)
    }

    /// The one that an address lies in.
    pub(super) fn at(&self, address: usize) -> Option<&Variable> {
        let behind = self.0.partition_point(|variable| variable.start <= address);
        self.0[..behind].last().filter(|variable| address - variable.start < variable.bytes)
    }
}

#[test]
fn variables_of_this_program_are_found() {
    use core::sync::atomic::AtomicU64;
    #[unsafe(no_mangle)]
    static SHMEM_C_TEST_VARIABLE: [AtomicU64; 3] = [const { AtomicU64::new(7) }; 3];

    let executable = super::executable::Executable::of_this_process().unwrap();
    let (variables, start) =
        (Variables::of_this_process(), executable.in_file(SHMEM_C_TEST_VARIABLE[0].as_ptr().addr()));
    let named = |at: usize| variables.at(at).filter(|found| found.name == "SHMEM_C_TEST_VARIABLE").cloned();
    assert_eq!(named(start), named(start + 23));
    assert_eq!(named(start).map(|found| found.start), Some(start));
    assert_eq!(named(start + 24), None);
    assert_eq!(variables.at(usize::MAX), None);
}
