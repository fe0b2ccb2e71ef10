//! Prints where its symmetric statics lie: name, bytes from the start of its partition's first
//! object.

use shmem::prelude::*;

#[symmetric(partition = "fields::bulk")]
static VELOCITY: [f64; 33];
#[symmetric]
static STEP: u64 = 7;
#[symmetric]
static READY: Signal;

mod inner {
    use shmem::prelude::*;

    #[symmetric]
    pub static STEP: [u16; 5] = [1, 2, 3, 4, 5];
}

#[shmem::main]
fn main(world: &mut World) {
    let me = world.me();
    if world.my_pe() == 1 {
        println!("PRESSURE {}", fields::PRESSURE.on(me).offset());
        println!("CELLS {}", fields::CELLS.on(me).offset());
        println!("VELOCITY {}", VELOCITY.on(me).offset());
        println!("app::STEP {}", STEP.on(me).offset());
        println!("READY {}", READY.on(me).offset());
        println!("inner::STEP {}", inner::STEP.on(me).offset());
    }
    assert_eq!(STEP.here(world).load(), 7);
    assert_eq!(world.g(inner::STEP.on(world.pe(0).unwrap()).index(4)), 5);
    let mut cells = fields::Cells { values: [0.0; 12] };
    world.get(&mut cells, fields::CELLS.on(world.pe(0).unwrap()));
    assert_eq!(cells.values, [1.5; 12]);
}
