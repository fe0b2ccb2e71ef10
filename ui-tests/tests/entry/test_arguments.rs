use shmem::World;

#[shmem::test(pes = 0)]
fn zero(_: &mut World) {}

#[shmem::test(pes = "four")]
fn text(_: &mut World) {}

#[shmem::test(pes = [2, 3, 2])]
fn twice(_: &mut World) {}

#[shmem::test(npes = 4)]
fn unknown(_: &mut World) {}

#[shmem::test(env = "A=1")]
fn pair(_: &mut World) {}

#[shmem::test(env("A", "B"))]
fn pairs(_: &mut World) {}

#[shmem::test(pes = 2)]
fn no_world() {}

fn main() {}
