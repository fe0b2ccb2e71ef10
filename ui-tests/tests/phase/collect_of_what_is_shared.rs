use std::sync::Arc;

use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let values: Arc<[f64]> = Arc::new([1.0; 4]);
    let _all = world.collect(&values);
}
