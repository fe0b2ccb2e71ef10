//! Imports point downwards, in the order that the head of the crate gives, and nowhere in a circle.

mod imports;

imports::holds!("transport/ofi");
