//! Objects, and operations on those of other PEs.

use std::sync::Arc;

use shmem::prelude::*;
use shmem::{Contribution, Number, Symmetric, Waitable};

#[symmetric]
static GRID: [f64; 4];
#[symmetric]
static NUMBERS: [u64; 4];
#[symmetric]
static NUMBER: u64;
#[symmetric]
static BYTES: [u8; 8];
#[symmetric]
static HITS: Atomic<u64>;
#[symmetric]
static SUM: Atomic<f64>;
#[symmetric]
static ARRIVED: Signal;
#[symmetric]
static QUEUE: Queue;
#[symmetric]
static THREES: [Three; 5];

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Atomic<u64>,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Three([u8; 3]);

fn places(world: &World, me: Pe, row: &mut [f64]) {
    let numbers = vec![1.0; 4];
    let mut into = vec![1.0; 3];
    world.put(NUMBERS.on(1), &[1; 4]); //~
    world.p(GRID.index(0), 1.0); //~
    world.p(GRID, 1.0); //~
    world.p(GRID.on(me), 1.0); //~
    world.p(HITS.on(me), 1); //~
    world.put(numbers.on(me), &[1.0; 4]); //~
    GRID.here(&()).load(); //~
    world.put(GRID.on(me), &numbers); //~
    world.put(GRID.on(me), &[0.0f32; 4]); //~
    world.put_signal(GRID.on(me), &[1.0; 4], NUMBER.on(me), SignalOp::Set(1)); //~
    world.put(&mut into, &[1.0; 4]); //~
    world.get(&mut into, NUMBERS.on(me).index(..3)); //~
    world.get(row, GRID.on(me)); //~
    world.inc(QUEUE.on(me).field(|queue| &queue.haed)); //~
    world.putmem(BYTES.on(me).ptr(world).unwrap(), &[0; 8], me); //~
    println!("{}", GRID[0] / 2.0); //~
}

fn words(world: &World, me: Pe) {
    world.add(NUMBER.on(me), 1); //~
    world.and(SUM.on(me), 1.0); //~
    world.put(HITS.on(me), &Atomic::new(3)); //~
    world.put(QUEUE.on(me), &Queue { head: Atomic::new(0) }); //~
    NUMBER.wait_until(world, eq(1)); //~
    GRID.here(world).wait_until_any(eq(1.0)); //~
    THREES.here(world).index(1).wait_until(eq(1));
}

// Three bytes without alignment. A wait would read eight aligned bytes.
impl Waitable for Three { //~
    type Value = u64;
}

fn copy_of_a_word(world: &World) {
    world.p(HITS.on(world.me()).field(|word| &word.value()), 41); //~
}

fn heap(world: &World) -> Result<()> {
    drop(world.alloc_in::<String, _>([0.0; 4])?); //~
    drop(world.alloc([String::new()])?); //~
    drop(world.alloc([false; 4])?); //~
    drop(world.alloc(3.0)?); //~
    Ok(())
}

fn used_after_free(world: &World) -> Result<()> {
    let (halo, freed) = (world.alloc([0.0; 8])?, world.alloc([0.0; 8])?);
    let place = halo.on(world.me());
    drop(halo); //~
    world.put(place.index(0), &1.0);
    world.free(freed)?;
    println!("{}", freed.len()); //~
    Ok(())
}

fn collectives(world: &World, values: &Vec<u64>, shared: &[f64], counted: Arc<[f64]>, mine: bool) -> Result<()> {
    world.broadcast(values, world.pe(0)?); //~
    world.collect(&counted); //~
    world.sum(&1.5); //~
    world.sum(shared); //~
    world.sum(&HITS); //~
    world.sum(mine); //~
    Ok(())
}

fn reduced_twice(world: &World, values: &mut [f64]) {
    world.sum(values);
    world.sum(values); //~
}

// Pieces of the scratch memory would end inside an item.
impl Number for Three { //~
    const ZERO: Self = Self([0; 3]);

    fn added(self, _: Self) -> Self {
        self
    }

    fn multiplied(self, _: Self) -> Self {
        self
    }

    fn lesser(self, _: Self) -> Self {
        self
    }

    fn greater(self, _: Self) -> Self {
        self
    }
}

struct Elsewhere;

// Only the library, or unsafe code, says where the data of a collective are.
impl Contribution<()> for Elsewhere { //~
    type Item = u8;

    fn change(self, _: &(impl Initiator + ?Sized), _: impl FnOnce(&mut [u8])) {}

    fn changed(self) {}
}

fn made_by_hand(world: &World) {
    drop(shmem::bootstrap::Local::connect()); //~
    println!("{}", world.me().observed()); //~
    // A hidden one could be entered again as one that addresses find.
    world.endpoint().segments().remove(128); //~
}

fn main() {}
