//! Names of the executable's variables. The first lookup reads them from the symbol table of the executable's file.

use std::fs;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// The variable's address in the symbol table.
    pub(super) start: usize,
    bytes: usize,
    pub(super) name: String,
}

/// The variables of an executable, by ascending address.
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    /// Returns this process's variables, or none if its file has no symbols or is unreadable.
    pub(super) fn of_this_process() -> Self {
        let file = fs::read("/proc/self/exe").unwrap_or_default();
        let executable = ElfFile64::<Endianness, _>::parse(&*file).ok();
        let symbols = executable.iter().flat_map(|executable| executable.symbols());
        let variables = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
        let mut all: Vec<_> = variables
            .filter_map(|symbol| {
                // A suffix as in `count.3` distinguishes static local variables of functions.
                let name = symbol.name_bytes().ok()?.split(|byte| *byte == b'.').next()?;
                let name = String::from_utf8_lossy(name).into_owned();
                Some(Variable { start: symbol.address() as usize, bytes: symbol.size() as usize, name })
            })
            .collect();
        all.sort_by_key(|variable| variable.start);
        Self(all)
    }

    /// Returns the variable that contains an address.
    pub(super) fn at(&self, address: usize) -> Option<&Variable> {
        let behind = self.0.partition_point(|variable| variable.start <= address);
        self.0[..behind].last().filter(|variable| address - variable.start < variable.bytes)
    }
}
