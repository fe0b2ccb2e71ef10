//! Scopes, and buffers of operations that are under way.

use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];
#[symmetric]
static COUNT: Atomic<u64>;

fn places(world: &World, pe: Pe, mut row: Vec<f64>) {
    world.scope(|s| s.put(ROW.on(pe), &row)); //~
    world.scope(|s| s.get(&mut row, ROW.on(pe))); //~
    world.put_owned(ROW.on(pe), row).wait(); //~
    world.scope(|s| Rma::p(s, ROW.on(pe).index(0), 1.0)); //~
}

fn sources_changed(world: &World, pe: Pe, mut row: [f64; 4], mut region: [f64; 4]) {
    world.scope(|s| {
        s.put(ROW.on(pe), &row);
        row[0] = 2.0; //~
        strided!(s, ROW@pe[..] = region[..]);
        region[0] = 2.0; //~
    });
}

fn sources_that_die(world: &World, pe: Pe) {
    world.scope(|s| {
        let (row, region) = ([1.0; 4], [1.0; 4]);
        s.put(ROW.on(pe), &row); //~
        strided!(s, ROW@pe[..] = region[..]); //~
    });
}

fn destinations_read(world: &World, pe: Pe, mut row: [f64; 4], mut region: [f64; 4], mut twice: [f64; 4]) {
    world.scope(|s| {
        s.get(&mut row, ROW.on(pe));
        strided!(s, region[..] = ROW@pe[..]);
        world.quiet();
        assert_eq!(row[0], 1.0); //~
        println!("{}", region[0]); //~
        s.get(&mut twice, ROW.on(pe));
        s.get(&mut twice, ROW.on(pe)); //~
    });
}

fn result_read(world: &World, pe: Pe, mut before: u64) {
    world.scope(|s| {
        s.fetch_add(&mut before, COUNT.on(pe), 1);
        println!("{before}"); //~
    });
}

fn pending_across_a_phase(world: &mut World, pe: Pe) {
    let pending = world.put_owned(ROW.on(pe).index(..), vec![1.0; 4]);
    world.local(&ROW, |row| row[0] = 2.0); //~
    pending.wait();
}

fn phase_inside(world: &mut World, pe: Pe, row: [f64; 4]) {
    world.scope(|s| { //~
        s.put(ROW.on(pe), &row);
        world.local(&ROW, |row| row[0] = 2.0);
    });
}

fn scope_that_escapes(world: &World, pe: Pe, row: [f64; 4]) {
    let kept = world.scope(|s| s); //~
    kept.put(ROW.on(pe), &row);
}

fn main() {}
