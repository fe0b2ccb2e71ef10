use shmem::prelude::*;

#[symmetric]
static BYTES: [u8; 8];

#[shmem::main]
fn main(world: &mut World) {
    let me = world.me();
    let theirs = BYTES.on(me).ptr(world).unwrap();
    world.putmem(theirs, &[0; 8], me);
}
