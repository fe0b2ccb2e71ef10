//! Reads of entries anywhere in a table that is too large for one PE: the benchmark "index gather" of bale.
//!
//! The entries are dealt out to the PEs in turn. Each PE has a list of the entries that it wants, and gets all of them by one
//! call, in the order of its list. `--single` gets them one by one, and `--times` has each beside
//! plain code of one process.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin index-gather
//! ```

use std::error::Error;
use std::hint::black_box;
use std::ops::Range;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;
use shmem_examples::speedup::Speedup;

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

    #[command(flatten)]
    speedup: Speedup,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, entries) = (world.my_pe(), world.n_pes(), options.entries as usize);
    let table = world.alloc(shmem::zeroed::<u64>(entries))?;
    world.local(&table, |mine| mine.iter_mut().enumerate().for_each(|(k, one)| *one = entry(k * pes + me)));
    let (all, reads) = (entries * pes, options.reads as usize);
    let indices =
        |numbers: Range<usize>| -> Vec<u64> { numbers.map(|number| mixed(number) % all as u64).collect() };
    let numbers = share(reads, pes, me);
    let wanted = indices(numbers.clone());
    let mut found = vec![0; wanted.len()];
    if options.speedup.is_asked() {
        let serial = || {
            let (table, wanted) = ((0..all).map(entry).collect::<Vec<_>>(), indices(0..reads));
            move || black_box(wanted.iter().map(|index| table[*index as usize]).collect::<Vec<_>>())
        };
        let parallel = |world: &mut World| read(world, &table, &wanted, &mut found, options.single);
        options.speedup.measure(world, parallel, serial);
        return Ok(());
    }
    world.barrier_all();
    read(world, &table, &wanted, &mut found, options.single);

    // Of everything that was found times its number.
    let term = |(number, found): (usize, &u64)| found.wrapping_mul(number as u64 + 1);
    let mut checksum = numbers.zip(&found).map(term).fold(0, u64::wrapping_add);
    world.sum(&mut checksum);
    if me == 0 {
        println!("{reads} reads of {all} entries, checksum {checksum:x}");
    }
    Ok(())
}

/// Reads what this PE wants.
fn read(world: &World, table: &SymBox<[u64]>, wanted: &[u64], found: &mut [u64], single: bool) {
    let all = table.over(world.team(), Cyclic);
    if single {
        for (found, index) in found.iter_mut().zip(wanted) {
            *found = world.g(all.locate(*index as usize));
        }
    } else {
        world.gather(found, all.at(wanted));
    }
}

/// The entry with an index.
fn entry(index: usize) -> u64 {
    mixed(index ^ 0x5555)
}

fn mixed(number: usize) -> u64 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
}
