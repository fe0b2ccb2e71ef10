//! Imports of the shim point downwards, in the order that its head gives, and nowhere in a circle. An endpoint is one thing:
//! its calls, its rules, its tables.

#[path = "../../../shmem-core/tests/imports/mod.rs"]
mod imports;

imports::holds!("endpoint");
