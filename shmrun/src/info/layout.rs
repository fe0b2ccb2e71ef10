//! The layout of a binary's symmetric statics.

use std::fmt::Write;

use shmem_core::columns::Columns;
use shmem_core::heap::statics::{Layout, LayoutError, arrange};
use shmem_core::partition::{Environment, show_size};

use crate::Fault;
use crate::binary::Binary;
use crate::partitions::resolve;

/// The section `layout`.
#[derive(Clone, Debug)]
pub(crate) struct Statics {
    /// The layout, of statics that may not fit.
    pub(crate) layout: Layout,
    /// Why a job would not start.
    pub(crate) fault: Option<LayoutError>,
    /// What is allowed and probably not meant, one line each.
    pub(crate) warnings: Vec<String>,
}

/// Lays out the statics of a binary as a job in this environment would.
///
/// # Errors
///
/// If the partitions are not usable, or a static has none.
pub(crate) fn statics(binary: &Binary, environment: &Environment) -> Result<Statics, Fault> {
    let table = resolve(binary, environment)?;
    let layout = arrange(&binary.statics, table.specs())?;
    Ok(Statics { fault: layout.check().err(), layout, warnings: table.warnings().to_vec() })
}

impl Statics {
    /// One line for each partition with its sum, and one for each object.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for p in &self.layout.partitions {
            let objects: u64 = p.objects.iter().map(|placed| placed.object.size).fold(0, u64::saturating_add);
            let room = match p.end.checked_sub(p.size) {
                None | Some(0) => format!("{} left for the heap", show_size(p.room())),
                Some(over) => format!("{} too much", show_size(over)),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "partition {} `{}`, {}: {} static(s), {}; {room}",
                p.id,
                p.name,
                show_size(p.size),
                p.objects.len(),
                show_size(objects),
            );
            if p.objects.is_empty() {
                continue;
            }
            let mut columns =
                Columns::new(["OFFSET", "SIZE", "ALIGN", "PAGES", "NAME", "PLACE"], &[0, 1, 2, 3]).indented();
            for placed in &p.objects {
                let o = &placed.object;
                columns.push([
                    format!("{:#x}", placed.offset),
                    o.size.to_string(),
                    o.align.to_string(),
                    if o.pgsize == 0 { "-".to_owned() } else { show_size(o.pgsize) },
                    format!("{}::{}", o.module, o.name),
                    format!("{}:{}", o.file, o.line),
                ]);
            }
            text += &columns.to_string();
        }
        let _ = writeln!(text, "fingerprint {:016x}", self.layout.fingerprint());
        text
    }
}
