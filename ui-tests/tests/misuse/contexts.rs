//! Contexts, domains and threads.

use shmem::prelude::*;
use shmem::thread::{InTurn, Multiple, NoStore, Private, Serialized};
use shmem::{Context, Domain};

#[symmetric]
static GRID: [f64; 4];
#[symmetric]
static COUNT: Atomic<u64>;

fn levels(single: &World, private: &Domain<Private>) -> Result<()> {
    drop(single.create_ctx::<Multiple>()?); //~
    drop(single.domains::<Serialized>(2)?); //~
    drop(private.create_ctx::<Multiple>()?); //~
    Ok(())
}

fn out_of_turn(world: &World<Serialized>, context: Context<InTurn>) {
    context.bind(world).quiet(); //~
}

fn without_stores(world: &World, context: Context<NoStore<Private>>, east: Pe, mut column: [f64; 4]) {
    let ctx = context.bind(world);
    ctx.put(GRID.on(east), &[1.0; 4]); //~
    strided!(&ctx, column[..] = GRID@east[..]);
    strided!(&ctx, GRID@east[..] = column[..]); //~
    assert_eq!(ctx.fetch(COUNT.on(east)), 0);
    ctx.add(COUNT.on(east), 1); //~
    ctx.scatter(GRID.on(east).at(&[1_u32, 2]), &[1.0, 2.0]); //~
}

fn sent<T: Send>(_: T) {}

fn shared<T: Sync>(_: &T) {}

fn on_other_threads(
    world: &World<Multiple>,
    private: Context<Private>,
    serialized: Context<Serialized>,
    mut domain: Domain<Serialized>,
) -> Result<()> {
    shared(&private.bind(world)); //~
    sent(world.register_thread()?); //~
    shared(&serialized); //~
    sent(serialized.bind(world)); //~
    let context = domain.create_ctx::<InTurn>()?;
    let turn = domain.turn(world);
    sent(turn.bind(&context)); //~
    sent(turn); //~
    Ok(())
}

fn two_turns(world: &World<Multiple>, mut domain: Domain<Serialized>, me: Pe) -> Result<()> {
    let (a, b) = (domain.create_ctx::<InTurn>()?, domain.create_ctx::<InTurn>()?);
    let (first, second) = (domain.turn(world), domain.turn(world)); //~
    first.bind(&a).p(GRID.on(me).index(0), 1.0);
    second.bind(&b).p(GRID.on(me).index(1), 2.0);
    Ok(())
}

fn turn_across_a_phase(world: &mut World<Serialized>, mut domain: Domain<Serialized>) -> Result<()> {
    let context = domain.create_ctx::<InTurn>()?;
    let turn = domain.turn(world);
    world.local(&GRID, |grid| grid[0] = 1.0); //~
    turn.bind(&context).quiet();
    Ok(())
}

fn main() {}
