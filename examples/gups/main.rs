//! RandomAccess of the HPC Challenge benchmarks: how many times in a second words anywhere in a large table can be
//! updated (GUPS: 10^9 of them).
//!
//! The table is dealt out to the PEs. Each of them goes through its share of one stream of random numbers, takes the
//! lowest bits of a number as the index of a word, and changes that word to its exclusive or with the number:
//! an atomic operation, so that no update is lost, where the benchmark allows for one in a hundred. Nothing is
//! fetched, so that over a network many updates are under way at a time. With `--ahead 1024` they go in lists of as many, which
//! the benchmark allows. The same updates once more bring the table back to its beginning.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin gups
//! ```
//!
//! Where most words lie on pages of their own, large pages help: `SHMEM_SYMMETRIC_PARTITION_TABLES=size=1G:pgsize=2M`.

mod stream;
mod table;

use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options::{self, Usage};
use shmem_examples::speedup::Speedup;

use table::{Serial, Size, Table};

/// Updates random words of a table that is dealt out to the PEs, and says how many in a second.
#[derive(Debug, Parser)]
#[command(name = "gups", max_term_width = 100)]
struct Arguments {
    /// The table has 2^N words of 8 bytes.
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u32).range(..=40))]
    log2_table: u32,

    /// Updates for each word of the table, on average.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    rounds: u32,

    /// Look at so many updates of a PE at a time, and make them by one call: the benchmark allows for 1024.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    ahead: u16,

    /// Make the same updates once more, which undoes them, and count the words that are not as in the beginning.
    #[arg(long)]
    verify: bool,

    /// Make the updates once more on PE 0 alone, and compare all words.
    #[arg(long, conflicts_with = "times")]
    serial_check: bool,

    #[command(flatten)]
    speedup: Speedup,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Usage(#[from] Usage),
    #[error(transparent)]
    Start(#[from] shmem::Error),
    #[error("word {index} is {parallel:#x}, in the serial solution {serial:#x}")]
    OtherWord { index: usize, serial: u64, parallel: u64 },
    #[error("{0} words are not as in the beginning when their updates are undone")]
    NotUndone(u64),
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Failure> {
    let Some(arguments) = options::read::<Arguments>(world)? else { return Ok(()) };
    let (log2, rounds, ahead) = (arguments.log2_table, arguments.rounds.into(), arguments.ahead.into());
    let size = Size { log2, rounds, ahead };
    let table = Table::new(world, size)?;
    if arguments.speedup.is_asked() {
        let serial = || {
            let mut table = Serial::new(size);
            move || table.update()
        };
        arguments.speedup.measure(world, |world| table.update(world), serial);
        return Ok(());
    }

    let start = Instant::now();
    table.update(world);
    world.barrier_all();
    let seconds = start.elapsed().as_secs_f64();
    let checksum = table.sum(world, |index, word| word.wrapping_mul(index as u64 + 1));
    if world.my_pe() == 0 {
        let (log2, updates, pes) = (size.log2, size.updates(), world.n_pes());
        let plural = if pes == 1 { "" } else { "s" };
        let gups = updates as f64 / seconds / 1e9;
        println!("2^{log2} words on {pes} PE{plural}: {updates} updates in {seconds:.3} s, {gups:.4} GUPS");
        println!("checksum {checksum:x}");
        if arguments.serial_check {
            compare(world, &table, size)?;
            println!("equal to the serial solution");
        }
    }
    if arguments.verify {
        // Nobody undoes what PE 0 still compares.
        world.barrier_all();
        table.update(world);
        let others = table.sum(world, |index, word| u64::from(word != index as u64));
        if others > 0 {
            return Err(Failure::NotUndone(others));
        }
        if world.my_pe() == 0 {
            println!("undone by the same updates");
        }
    }
    Ok(())
}

fn compare(world: &World, table: &Table, size: Size) -> Result<(), Failure> {
    let mut solution = Serial::new(size);
    solution.update();
    for (index, &serial) in solution.words().iter().enumerate() {
        let parallel = table.fetch(world, index);
        if parallel != serial {
            return Err(Failure::OtherWord { index, serial, parallel });
        }
    }
    Ok(())
}
