//! The file that a calibration leaves.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use shmem_core::strided::Thresholds;
use shmem_core::transport::ofi::strided::Row;

/// What was measured on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    version: String,
    machine: String,
    thresholds: BTreeMap<String, u64>,
    /// What operations cost, by provider.
    #[serde(default)]
    providers: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Why a table does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// It is no table.
    #[error("it is no table: {0}")]
    Malformed(serde_json::Error),
    /// It is of another version.
    #[error("it was made by shmem-rt {0}, and this is {VERSION}")]
    Version(String),
    /// It is of another machine.
    #[error("it is of another machine, `{there}`, and this is `{here}`")]
    Machine {
        /// The machine it is of.
        there: String,
        /// This machine.
        here: String,
    },
    /// A threshold or a cost is not known, or not there.
    #[error("it does not fit this version: `{0}`")]
    Threshold(String),
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Table {
    /// The table of a machine.
    pub fn new(machine: String, thresholds: Thresholds) -> Self {
        Self {
            version: VERSION.into(),
            machine,
            thresholds: named(thresholds.fields()),
            providers: BTreeMap::new(),
        }
    }

    /// With what operations of a provider cost.
    #[must_use]
    pub fn with_row(mut self, provider: &str, row: &Row) -> Self {
        self.providers.insert(provider.into(), named(row.fields()));
        self
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If there is none, or it is no table.
    pub fn read(file: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Fault::Missing,
            _ => Fault::Unreadable(error),
        })?;
        Self::decode(&text)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made or the file not be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let unfinished = file.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&unfinished, self.encode() + "\n")?;
        std::fs::rename(&unfinished, file)
    }

    /// The thresholds, if the table is of `machine` and of this version.
    ///
    /// # Errors
    ///
    /// What does not fit.
    pub fn thresholds_for(&self, machine: &str) -> Result<Thresholds, Fault> {
        if self.machine != machine {
            return Err(Fault::Machine { there: self.machine.clone(), here: machine.into() });
        }
        self.thresholds()
    }

    pub(super) fn thresholds(&self) -> Result<Thresholds, Fault> {
        if self.version != VERSION {
            return Err(Fault::Version(self.version.clone()));
        }
        let default = Thresholds::DEFAULT;
        filled(default, default.fields(), &self.thresholds, |thresholds, name, value| {
            thresholds.with(name, value)
        })
    }

    /// What operations cost, by provider.
    ///
    /// # Errors
    ///
    /// If a cost is not known, or not there.
    pub fn rows(&self) -> Result<Vec<(String, Row)>, Fault> {
        let row = |(provider, costs): (&String, _)| {
            let row = filled(Row::TCP, Row::TCP.fields(), costs, |row, name, value| row.with(name, value))?;
            Ok((provider.clone(), row))
        };
        self.providers.iter().map(row).collect()
    }

    pub(super) fn encode(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|error| unreachable!("a table is texts and numbers: {error}"))
    }

    pub(super) fn decode(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(Fault::Malformed)
    }
}

fn named(fields: impl Iterator<Item = (&'static str, u64)>) -> BTreeMap<String, u64> {
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Every field by what a table says of it, which says no more.
fn filled<T>(
    empty: T,
    fields: impl Iterator<Item = (&'static str, u64)>,
    values: &BTreeMap<String, u64>,
    with: impl Fn(T, &str, u64) -> Option<T>,
) -> Result<T, Fault> {
    let fields: Vec<_> = fields.map(|(name, _)| name).collect();
    if let Some(name) = values.keys().find(|name| !fields.contains(&name.as_str())) {
        return Err(Fault::Threshold(name.clone()));
    }
    fields.into_iter().try_fold(empty, |filled, name| {
        let value = values.get(name).and_then(|&value| with(filled, name, value));
        value.ok_or_else(|| Fault::Threshold(name.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let (name, value) = Thresholds::DEFAULT.fields().next().unwrap();
        Table::new("here".into(), Thresholds::DEFAULT.with(name, value + 1).unwrap())
            .with_row("tcp;ofi_rxm", &Row { piece: 77, ..Row::TCP })
    }

    #[test]
    fn what_is_written_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/b/table.json");
        assert!(matches!(Table::read(&file), Err(Fault::Missing)));
        table().write(&file).unwrap();
        let read = Table::read(&file).unwrap();
        assert_eq!(read, table());
        assert_ne!(read.thresholds_for("here").unwrap(), Thresholds::DEFAULT);
        assert_eq!(read.rows().unwrap(), [("tcp;ofi_rxm".to_owned(), Row { piece: 77, ..Row::TCP })]);
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "something is left over");
    }

    #[test]
    fn a_table_that_does_not_fit_says_why() {
        let fault = |table: &Table| table.thresholds_for("here").unwrap_err().to_string();
        let of = |change: fn(&mut Table)| {
            let mut table = table();
            change(&mut table);
            fault(&table)
        };
        assert_eq!(
            of(|table| table.machine = "there".into()),
            "it is of another machine, `there`, and this is `here`"
        );
        assert_eq!(
            of(|table| table.version = "0.0.0".into()),
            format!("it was made by shmem-rt 0.0.0, and this is {VERSION}")
        );
        assert_eq!(
            of(|table| _ = table.thresholds.insert("moon_phase".into(), 1)),
            "it does not fit this version: `moon_phase`"
        );
        assert!(of(|table| table.thresholds.clear()).starts_with("it does not fit this version: `"));
        let mut dear = table();
        dear.providers.values_mut().for_each(|costs| _ = costs.remove("piece"));
        assert_eq!(dear.rows().unwrap_err().to_string(), "it does not fit this version: `piece`");
        assert!(Table::decode("{").unwrap_err().to_string().starts_with("it is no table: "));
    }
}
