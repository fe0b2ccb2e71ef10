//! Imports point downwards, in the order that the head of the crate gives, and nowhere in a circle.

#[path = "../../shmem-core/tests/imports/mod.rs"]
mod imports;

imports::holds!();
