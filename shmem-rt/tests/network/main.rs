//! What only a job over libfabric has, or several nodes: descriptors, keys, messages, and who else is on the network.

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
