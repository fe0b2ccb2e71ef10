//! The attributes on functions: `#[shmem::main]`, `#[shmem::test]`, `#[shmem::collective]`.

pub(crate) mod collective;
mod function;
pub(crate) mod main;
mod phases;
pub(crate) mod test;
