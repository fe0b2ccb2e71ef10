//! The table at the end of a job (`SHMEM_STATS`).

use std::fmt::Write as _;
use std::io;

use serde::{Deserialize, Serialize};
use shmem_core::observe::{Family, OperationCounts, Statistics};
use shmem_core::partition::round_size;
use shmem_core::text::counted;
use shmem_core::text_table::Columns;
use shmem_core::transport::Traffic;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};
use shmem_launch::diagnostics::say;

#[derive(Serialize, Deserialize)]
struct Counts {
    /// (operations with other nodes, their bytes, dropped messages of senders that are not in the job).
    network: [u64; 3],
    operations: Statistics,
}

impl Message for Counts {}

/// Collects the counts of all PEs. PE 0 prints the table.
pub(super) fn conclude(
    mine: &Statistics,
    sent: Traffic,
    strangers: u64,
    bootstrap: &dyn Bootstrap,
) -> io::Result<()> {
    let mine = Counts { network: [sent.operations, sent.bytes, strangers], operations: mine.clone() };
    let all = bootstrap.exchange("statistics", &codec::encode(&mine))?;
    if bootstrap.number() != 0 {
        return Ok(());
    }
    let mut sums = [0_u64; 3];
    let read = |bytes: &Vec<u8>| {
        let Counts { network, operations } = codec::decode(bytes).ok()?;
        sums.iter_mut().zip(network).for_each(|(sum, one)| *sum += one);
        Some(operations)
    };
    let all = all.iter().map(read).collect::<Option<Vec<_>>>();
    let all =
        all.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a PE's statistics are garbled"))?;
    let (mut text, [operations, bytes, strangers]) = (table(&all), sums);
    if operations > 0 {
        let operations = counted(operations as usize, "operation");
        let _ = writeln!(text, "  with other nodes: {operations}, {}", round_size(bytes));
    }
    if strangers > 0 {
        let messages = counted(strangers as usize, "message");
        let _ = writeln!(text, "  dropped: {messages} that no PE of the job has sent");
    }
    say(text.trim_end());
    Ok(())
}

fn table(pes: &[Statistics]) -> String {
    let heads = ["OPERATION", "CALLS", "LEAST", "MOST", "BYTES", "TIME", "MOST", "PER CALL"];
    let mut columns = Columns::new(heads, &[1, 2, 3, 4, 5, 6, 7]).indented();
    for family in Family::ALL {
        let tallies: Vec<OperationCounts> = pes.iter().map(|pe| pe.of(*family)).collect();
        let sum = |of: fn(&OperationCounts) -> u64| tallies.iter().map(of).sum::<u64>();
        let most = |of: fn(&OperationCounts) -> u64| tallies.iter().map(of).max().unwrap_or(0);
        let calls = sum(|counts| counts.calls);
        if calls == 0 {
            continue;
        }
        let least = tallies.iter().map(|counts| counts.calls).min().unwrap_or(0);
        let time = sum(|counts| counts.nanoseconds);
        columns.push([
            family.to_string(),
            calls.to_string(),
            least.to_string(),
            most(|counts| counts.calls).to_string(),
            round_size(sum(|counts| counts.bytes)),
            duration(time),
            duration(most(|counts| counts.nanoseconds)),
            duration(time / calls),
        ]);
    }
    format!(
        "shmem: statistics (SHMEM_STATS): sums of {}, the least and the most calls of one, the most time of one\n{columns}",
        counted(pes.len(), "PE")
    )
}

fn duration(nanoseconds: u64) -> String {
    let (value, unit) = match nanoseconds {
        0..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => (nanoseconds as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (nanoseconds as f64 / 1e6, "ms"),
        _ => (nanoseconds as f64 / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}
