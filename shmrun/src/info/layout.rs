//! The output section `layout`: offsets of a program's symmetric statics.

use std::fmt::Write;

use shmem_core::heap::statics::{Layout, arrange};
use shmem_core::partition::{Environment, show_size};
use shmem_core::text_table::Columns;

use crate::Fault;
use crate::binary::Binary;
use crate::partitions::resolve;

/// Returns the layout of statics in a job in this environment, and warnings. Does not check that the statics fit.
pub(crate) fn layout(binary: &Binary, environment: &Environment) -> Result<(Layout, Vec<String>), Fault> {
    let table = resolve(binary, environment)?;
    Ok((arrange(&binary.statics, table.specs())?, table.warnings().to_vec()))
}

/// Returns a line for each partition, and a line for each of its statics.
pub(crate) fn text(layout: &Layout) -> String {
    let mut text = String::new();
    for p in &layout.partitions {
        let objects: u64 = p.objects.iter().map(|placed| placed.object.size).fold(0, u64::saturating_add);
        let room = match p.size.checked_sub(p.end) {
            Some(left) => format!("{} left for the heap", show_size(left)),
            None => format!("{} too much", show_size(p.end - p.size)),
        };
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
    text
}
