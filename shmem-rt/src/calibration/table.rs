//! The file that a calibration leaves.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
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
    /// It is a device, a pipe or a directory.
    #[error("it is no regular file")]
    NoFile,
    /// It is longer than tables are.
    #[error("it is no table: it has more than {MOST_BYTES} bytes")]
    TooLong,
    /// It is no table.
    #[error("it is no table: {0}")]
    Malformed(serde_json::Error),
    /// It is of another version.
    #[error("it was made by shmem-rt {}, and this is {VERSION}", .0.escape_debug())]
    Version(String),
    /// It is of another machine.
    #[error("it is of another machine, `{}`, and this is `{here}`", .there.escape_debug())]
    Machine {
        /// The machine it is of.
        there: String,
        /// This machine.
        here: String,
    },
    /// A threshold or a cost is not known, or not there.
    #[error("it does not fit this version: `{}`", .0.escape_debug())]
    Threshold(String),
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Bytes of a file, at most: a table has some hundred for each provider.
const MOST_BYTES: u64 = 1 << 20;

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
        let fault = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Fault::Missing,
            _ => Fault::Unreadable(error),
        };
        // Looked at before it is opened: to open a pipe waits for a writer.
        if !std::fs::metadata(file).map_err(fault)?.is_file() {
            return Err(Fault::NoFile);
        }
        let mut text = String::new();
        // A file may have no end for all that is said of its length (`/proc/kcore`).
        let read =
            std::fs::File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
        if read.map_err(fault)? as u64 > MOST_BYTES {
            return Err(Fault::TooLong);
        }
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
        // Left by a process of the same number that was ended by force. A link of somebody's goes, and is not followed.
        let _ = std::fs::remove_file(&unfinished);
        let mut new = std::fs::File::create_new(&unfinished)?;
        new.write_all((self.encode() + "\n").as_bytes())?;
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
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use shmem_core::strided::{Level, Pattern, choose};
    use shmem_core::transport::ofi::strided::Blocks;

    use super::*;

    fn table() -> Table {
        let (name, value) = Thresholds::DEFAULT.fields().next().unwrap();
        Table::new("here".into(), Thresholds::DEFAULT.with(name, value + 1).unwrap())
            .with_row("tcp;ofi_rxm", &Row { pack: 77, ..Row::TCP })
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
        assert_eq!(read.rows().unwrap(), [("tcp;ofi_rxm".to_owned(), Row { pack: 77, ..Row::TCP })]);
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "something is left over");
    }

    #[test]
    fn a_link_that_somebody_has_left_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (file, victim) = (directory.path().join("table"), directory.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        let guessed = file.with_extension(format!("{}.new", std::process::id()));
        std::os::unix::fs::symlink(&victim, &guessed).unwrap();
        table().write(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(std::fs::symlink_metadata(&file).unwrap().is_file() && !guessed.exists());
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_refused() {
        let fault = |file: &Path| Table::read(file).unwrap_err().to_string();
        assert_eq!(fault(Path::new("/dev/zero")), "it is no regular file");
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(fault(directory.path()), "it is no regular file");
        // Nobody ever writes to it.
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(fault(&pipe), "it is no regular file");
        // A terabyte of zeroes that takes no room.
        let long = directory.path().join("long");
        std::fs::File::create(&long).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(fault(&long), "it is no table: it has more than 1048576 bytes");
        let text = directory.path().join("text");
        std::fs::write(&text, [0xff; 100]).unwrap();
        assert!(fault(&text).starts_with("it cannot be read: "));
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
        dear.providers.values_mut().for_each(|costs| _ = costs.remove("pack"));
        assert_eq!(dear.rows().unwrap_err().to_string(), "it does not fit this version: `pack`");
        assert!(Table::decode("{").unwrap_err().to_string().starts_with("it is no table: "));
    }

    /// A table with something done to its text: parts of it left out, repeated, or replaced.
    fn mutated() -> impl Strategy<Value = String> {
        let text = table().encode();
        let new = "|0|-1|1e999|18446744073709551615|18446744073709551616|null|{}|[[[[|\"|\u{1b}[31m|\\n|\\u0000|\"latency\": 5,|here";
        let part = (any::<Index>(), 0..30_usize, 0..3_usize, select(new.split('|').collect::<Vec<_>>()));
        proptest::collection::vec(part, 0..5).prop_map(move |parts| {
            parts.into_iter().fold(text.clone(), |mut text, (at, length, times, new)| {
                let start = at.index(text.len() + 1);
                let end = (start + length).min(text.len());
                let old = text[start..end].repeat(times);
                text.replace_range(start..end, &(old + new));
                text
            })
        })
    }

    /// Tables of this machine and version with any numbers.
    fn numbers() -> impl Strategy<Value = Table> {
        let any_number = || prop_oneof![any::<u64>(), 0..300_u64, Just(u64::MAX)];
        proptest::collection::vec(any_number(), 20).prop_map(|numbers| {
            let mut table = table();
            let all = table
                .thresholds
                .values_mut()
                .chain(table.providers.values_mut().flat_map(BTreeMap::values_mut));
            all.zip(numbers).for_each(|(value, number)| *value = number);
            table
        })
    }

    /// Reads a text as a job does, and uses what it says.
    fn read(text: &str) -> Option<Thresholds> {
        let told = |fault: Fault| {
            let text = fault.to_string();
            assert!(text.starts_with("it ") && !text.contains(char::is_control), "{text:?}");
        };
        let table = Table::decode(text).map_err(told).ok()?;
        let rows = table.rows().map_err(told).ok();
        for (_, row) in rows.into_iter().flatten() {
            for bytes in [0, 1, 64, usize::MAX] {
                [0, 1, 1 << 40].iter().for_each(|&count| _ = row.choose(Blocks { count, bytes }, bytes));
                row.prefers_one_message(bytes);
            }
        }
        table.thresholds_for("here").map_err(told).ok()
    }

    proptest! {
        #[test]
        fn any_text_is_a_table_or_a_fault(text in prop_oneof![mutated(), any::<String>()]) {
            read(&text);
        }

        #[test]
        fn any_numbers_are_thresholds_or_a_fault(table in numbers(), block in 1..9999_usize, levels in
            proptest::collection::vec((1..5000_usize, 1..100_000_usize, 1..100_000_usize), 1..4))
        {
            let Some(thresholds) = read(&table.encode()) else { return Ok(()) };
            let levels: Vec<_> = levels.iter().map(|&(count, to, from)| Level { count, to, from }).collect();
            choose(&Pattern::of_levels(block, &levels), &thresholds);
        }
    }
}
