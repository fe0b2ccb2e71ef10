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

fn private_on_another_thread(world: &World<Multiple>, context: Context<Private>, me: Pe) {
    let ctx = context.bind(world);
    std::thread::scope(|scope| {
        scope.spawn(|| ctx.p(GRID.on(me).index(0), 2.0)); //~
    });
}

fn registration_on_another_thread(world: &World<Multiple>) -> Result<()> {
    let thread = world.register_thread()?;
    std::thread::scope(|scope| {
        scope.spawn(move || drop(thread)); //~
    });
    Ok(())
}

fn serialized_on_two_threads(world: &World<Multiple>, context: Context<Serialized>, me: Pe) {
    std::thread::scope(|scope| {
        scope.spawn(|| context.bind(world).p(GRID.on(me).index(0), 2.0)); //~
        context.bind(world).p(GRID.on(me).index(1), 2.0);
    });
}

fn serialized_token_sent_away(world: &World<Multiple>, context: Context<Serialized>, me: Pe) {
    let (here, there) = (context.bind(world), context.bind(world));
    std::thread::scope(|scope| {
        scope.spawn(move || there.p(GRID.on(me).index(0), 2.0)); //~
        here.p(GRID.on(me).index(1), 2.0);
    });
}

fn turn_on_two_threads(world: &World<Multiple>, mut domain: Domain<Serialized>, me: Pe) -> Result<()> {
    let (a, b) = (domain.create_ctx::<InTurn>()?, domain.create_ctx::<InTurn>()?);
    let turn = domain.turn(world);
    let (a, b) = (turn.bind(&a), turn.bind(&b));
    std::thread::scope(|scope| {
        scope.spawn(move || a.p(GRID.on(me).index(0), 1.0)); //~
        b.p(GRID.on(me).index(1), 2.0);
    });
    Ok(())
}

fn turn_sent_away(world: &World<Serialized>, mut domain: Domain<Serialized>, me: Pe) -> Result<()> {
    let context = domain.create_ctx::<InTurn>()?;
    let turn = domain.turn(world);
    std::thread::scope(|scope| {
        scope.spawn(move || turn.bind(&context).p(GRID.on(me).index(0), 1.0)); //~
        world.p(GRID.on(me).index(1), 2.0);
    });
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
