//! How many ways there are to put eight queens on a board of 8 x 8, or any other number, so that none can take another.
//!
//! A board with queens on its first rows is an item of work, which leads to boards with one more row. The number of items is not known
//! beforehand, and some boards lead to thousands of others and some to none: so PEs take work from each other. One PE begins, and
//! the queue ends when no PE has an item.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin work-queue -- 12
//! ```

use clap::Parser;
use shmem::prelude::*;

/// Counts the ways to put N queens on a board of N x N.
#[derive(Debug, Parser)]
#[command(name = "work-queue", max_term_width = 100)]
struct Arguments {
    /// Rows of the board, and queens on it.
    #[arg(value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=20))]
    queens: u32,
}

/// Rows that are left to one PE: a board so near its end is not worth sending.
const REST: u32 = 5;

/// A board with queens on its first rows: which fields of the next row they can reach.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Board {
    row: u32,
    straight: u32,
    left: u32,
    right: u32,
}

impl Board {
    const EMPTY: Self = Self { row: 0, straight: 0, left: 0, right: 0 };

    /// The boards with a queen on one more row.
    fn next(self, queens: u32) -> impl Iterator<Item = Self> {
        let taken = self.straight | self.left | self.right;
        let fields = (0..queens).map(|column| 1 << column).filter(move |field| taken & field == 0);
        fields.map(move |field| Self {
            row: self.row + 1,
            straight: self.straight | field,
            left: (self.left | field) << 1,
            right: (self.right | field) >> 1,
        })
    }

    /// In how many ways it can be filled.
    fn ways(self, queens: u32) -> u64 {
        if self.row == queens { 1 } else { self.next(queens).map(|board| board.ways(queens)).sum() }
    }
}

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let Arguments { queens } = Arguments::parse();
    let mut queue = world.work_queue::<Board>(32)?;
    if world.my_pe() == 0 {
        queue.push(world, Board::EMPTY);
    }
    let (mut ways, mut boards) = (0, 0_u64);
    while let Some(board) = queue.next(world) {
        boards += 1;
        if board.row + REST >= queens {
            ways += board.ways(queens);
        } else {
            for next in board.next(queens) {
                queue.push(world, next);
            }
        }
    }
    let mut shares = vec![0; world.n_pes()];
    shares[world.my_pe()] = boards;
    world.sum(&mut ways);
    world.sum(&mut shares[..]);
    if world.my_pe() == 0 {
        println!("{queens} queens: {ways} ways; boards looked at by each PE: {shares:?}");
    }
    Ok(())
}
