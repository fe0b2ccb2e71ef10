//! Topological sort: the benchmark "toposort" of bale. An upper triangular matrix whose rows and columns were shuffled is to
//! be triangular again.
//!
//! A row with one entry left is the last that is not placed, and so is that entry's column. Then the column is struck out, and other
//! rows may have one entry left. Rows and columns are dealt out to the PEs. Who places a row tells the owner of the column;
//! that one tells the owners of all rows which have an entry there. What these find makes more messages, and the end is where
//! nobody has any more: `react` of an exchange. `--single` sends each message by itself, by a channel.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin toposort
//! ```

mod matrix;

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

use matrix::Matrix;

/// Makes a shuffled triangular matrix triangular again.
#[derive(Parser)]
#[command(name = "toposort", max_term_width = 100)]
struct Options {
    /// Rows and columns of the matrix.
    #[arg(long, default_value_t = 1 << 16, value_parser = clap::value_parser!(u32).range(1..))]
    size: u32,

    /// Send each message by itself.
    #[arg(long)]
    single: bool,

    /// Say how long it takes.
    #[arg(long)]
    time: bool,
}

/// What is said of a row and a column: the kind, the row, the column.
type Message = [u64; 3];

/// Kinds: the matrix has an entry there, told to the owner of the row and to that of the column; the row was placed, and so is the
/// column; the column is struck out of the row.
const ENTRY_OF_ROW: u64 = 0;
const ENTRY_OF_COLUMN: u64 = 1;
const PLACED: u64 = 2;
const STRUCK: u64 = 3;

/// How many columns are placed.
#[symmetric]
static PLACES: Atomic<u64>;

/// The rows and columns of a PE: number k of them is row or column `k * pes + me`.
struct Part {
    n: u64,
    pes: Vec<Pe>,
    /// Entries that are left in each row, and the sum of their columns.
    left: Vec<[u64; 2]>,
    /// The rows that have an entry in each column.
    rows: Vec<Vec<u64>>,
    /// The place of each row and of each column.
    row_places: Vec<u64>,
    column_places: Vec<u64>,
}

impl Part {
    /// What follows from a message.
    fn handle(&mut self, world: &World, [kind, row, column]: Message, mut send: impl FnMut(Pe, Message)) {
        let pes = self.pes.len() as u64;
        let (of_row, of_column) = ((row / pes) as usize, (column / pes) as usize);
        match kind {
            ENTRY_OF_ROW => {
                let [count, sum] = &mut self.left[of_row];
                (*count, *sum) = (*count + 1, *sum + column);
            }
            ENTRY_OF_COLUMN => self.rows[of_column].push(row),
            PLACED => {
                // Behind all that was placed before: the matrix is filled from its end.
                let place = self.n - 1 - world.fetch_add(PLACES.on(self.pes[0]), 1);
                self.column_places[of_column] = place;
                for row in &self.rows[of_column] {
                    send(self.pes[(row % pes) as usize], [STRUCK, *row, column | place << 32]);
                }
            }
            _ => {
                let (place, column) = (column >> 32, column & 0xFFFF_FFFF);
                let [count, sum] = &mut self.left[of_row];
                (*count, *sum) = (*count - 1, *sum - column);
                match *count {
                    0 => self.row_places[of_row] = place,
                    1 => send(self.pes[(*sum % pes) as usize], [PLACED, row, *sum]),
                    _ => {}
                }
            }
        }
    }

    /// The rows with one entry, to begin with.
    fn first(&self, me: usize) -> Vec<(Pe, Message)> {
        let pes = self.pes.len();
        let rows = self.left.iter().enumerate().filter(|(_, [count, _])| *count == 1);
        rows.map(|(k, [_, column])| {
            (self.pes[*column as usize % pes], [PLACED, (k * pes + me) as u64, *column])
        })
        .collect()
    }
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, n) = (world.my_pe(), world.n_pes(), options.size as usize);
    let matrix = Matrix::new(n as u64);
    let (all, mine) = (world.pes().iter().collect::<Vec<_>>(), (n + pes - 1 - me) / pes);
    let mut part = Part {
        n: n as u64,
        pes: all.clone(),
        left: vec![[0; 2]; mine],
        rows: vec![Vec::new(); mine],
        row_places: vec![u64::MAX; mine],
        column_places: vec![u64::MAX; mine],
    };
    let entries: Vec<[u64; 2]> = share(n, pes, me)
        .map(|i| matrix.row(i as u64))
        .flat_map(|(row, columns)| columns.into_iter().map(move |column| [row, column]))
        .collect();
    let told = entries.iter().flat_map(|&[row, column]| {
        let owner = |number: u64| all[number as usize % pes];
        [(owner(row), [ENTRY_OF_ROW, row, column]), (owner(column), [ENTRY_OF_COLUMN, row, column])]
    });
    let mut exchange = world.exchange::<Message>(ExchangeOptions::default())?;
    exchange.run(world, told, |_from, message| part.handle(world, message, |_, _| ()));

    world.barrier_all();
    let begun = Instant::now();
    let first = part.first(me);
    if options.single {
        one_by_one(world, &mut part, first)?;
    } else {
        exchange.react(world, first, |outbox, _from, message| {
            part.handle(world, message, |to, message| outbox.push(to, message));
        });
    }
    world.barrier_all();
    let taken = begun.elapsed();

    let [misplaced, placed] = verify(world, &part, &entries)?;
    let entries = world.sum(entries.len());
    if me == 0 {
        println!(
            "{n} rows with {entries} entries: {placed} are placed, {misplaced} entries below the diagonal"
        );
        if options.time {
            println!("{:.2} million entries in a second", entries as f64 / taken.as_secs_f64() / 1e6);
        }
    }
    Ok(())
}

/// The same with a message for each entry.
fn one_by_one(world: &World, part: &mut Part, first: Vec<(Pe, Message)>) -> Result<()> {
    let mut channel = world.channel::<Message>(64)?;
    let (mut to_send, mut come) = (first, Vec::new());
    loop {
        while let Some((to, message)) = to_send.pop() {
            channel.send_taking(world, to, message, |_from, message| come.push(message));
        }
        let Some(message) = come.pop().or_else(|| channel.next(world).map(|(_from, message)| message)) else {
            return Ok(());
        };
        part.handle(world, message, |to, message| to_send.push((to, message)));
    }
}

/// How many entries are left of the diagonal, and how many places are taken by exactly one row and one column.
fn verify(world: &World, part: &Part, entries: &[[u64; 2]]) -> Result<[usize; 2]> {
    let (me, pes, n) = (world.my_pe(), world.n_pes(), part.n as usize);
    let [rows, columns] = [&part.row_places, &part.column_places].map(|places| -> Result<_> {
        let table = world.alloc(shmem::filled(u64::MAX, n.div_ceil(pes)))?;
        table.here(world).index(..places.len()).copy_from(places);
        Ok(table)
    });
    let (rows, columns) = (rows?, columns?);
    let times = world.alloc(shmem::zeroed::<Atomic<u32>>(n.div_ceil(pes)))?;
    world.barrier_all();
    let mut places = vec![[0; 2]; entries.len()];
    for (table, which) in [(&rows, 0), (&columns, 1)] {
        let list: Vec<u64> = entries.iter().map(|entry| entry[which]).collect();
        let mut found = vec![0; list.len()];
        world.gather(&mut found, table.over(world.team(), Cyclic).at(&list));
        places.iter_mut().zip(found).for_each(|(place, found)| place[which] = found);
    }
    let misplaced = places.iter().filter(|[row, column]| row > column).count();
    // A row counts 1, and a column 2^16.
    world.batch(times.over(world.team(), Cyclic), |times| {
        for (places, one) in [(&part.row_places, 1), (&part.column_places, 1 << 16)] {
            places.iter().filter(|place| **place < part.n).for_each(|place| times.add(*place as usize, one));
        }
    });
    world.barrier_all();
    let mine = times.here(world).values().into_iter().take((n + pes - 1 - me) / pes);
    Ok(world.sum([misplaced, mine.filter(|times| *times == (1 << 16) + 1).count()]))
}
