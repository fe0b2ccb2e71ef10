//! Tests of jobs over libfabric or on several nodes: descriptors, keys, messages, and strangers on the network.

#[path = "../dice/mod.rs"]
mod dice;
#[path = "../scenario/mod.rs"]
mod scenario;

mod fabric;
mod keys;
mod long_blocks;
mod nodes;
mod stranger;
mod under_way;
