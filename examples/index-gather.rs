//! Reads of entries anywhere in a table that is too large for one PE: the benchmark "index gather" of bale.
//!
//! The entries are dealt out to the PEs in turn. Each PE has a list of the entries that it wants, and gets all of them by one
//! call, in the order of its list. `--single` gets them one by one, and `--time` says how long it takes.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin index-gather
//! ```

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

/// Reads entries of a table that is dealt out to the PEs, at random.
#[derive(Parser)]
#[command(name = "index-gather", max_term_width = 100)]
struct Options {
    /// Entries of the table with each PE.
    #[arg(long, default_value_t = 1 << 18, value_parser = clap::value_parser!(u32).range(1..))]
    entries: u32,

    /// Entries that are read, by all PEs together.
    #[arg(long, default_value_t = 1 << 22)]
    reads: u32,

    /// Read one by one, and not by a list.
    #[arg(long)]
    single: bool,

    /// Say how many entries were read in a second.
    #[arg(long)]
    time: bool,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, entries) = (world.my_pe(), world.n_pes(), options.entries as usize);
    let table = world.alloc(shmem::zeroed::<u64>(entries))?;
    world.local(&table, |mine| mine.iter_mut().enumerate().for_each(|(k, one)| *one = entry(k * pes + me)));
    let all = table.over(world.team(), Cyclic);

    let wanted: Vec<u64> =
        share(options.reads as usize, pes, me).map(|number| mixed(number) % all.len() as u64).collect();
    let mut found = vec![0; wanted.len()];
    world.barrier_all();
    let begun = Instant::now();
    if options.single {
        for (found, index) in found.iter_mut().zip(&wanted) {
            *found = world.g(all.locate(*index as usize));
        }
    } else {
        world.gather(&mut found, all.at(&wanted));
    }
    world.barrier_all();
    let taken = begun.elapsed();

    // Of everything that was found times its number.
    let numbers = share(options.reads as usize, pes, me);
    let term = |(number, found): (usize, &u64)| found.wrapping_mul(number as u64 + 1);
    let mut checksum = numbers.zip(&found).map(term).fold(0, u64::wrapping_add);
    world.sum(&mut checksum);
    if me == 0 {
        println!("{} reads of {} entries, checksum {checksum:x}", options.reads, all.len());
        if options.time {
            let rate = f64::from(options.reads) / taken.as_secs_f64() / 1e6;
            println!("{rate:.2} million reads in a second");
        }
    }
    Ok(())
}

/// The entry with an index.
fn entry(index: usize) -> u64 {
    mixed(index ^ 0x5555)
}

fn mixed(number: usize) -> u64 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
}
