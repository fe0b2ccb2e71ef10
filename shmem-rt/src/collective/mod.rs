//! Collectives of teams.
//!
//! A call is a method of `Team` in the file of its family. [`choose`] picks one of four *ways* (below) for its data to travel.
//! [`world_methods`] repeats the methods for the world, and [`untyped`] repeats them for bytes, for a C library. [`request`] has
//! the non-blocking forms.
//!
//! | family | file | between nodes, short (barriers) | between nodes, long | on one node, long |
//! |---|---|---|---|---|
//! | barrier, sync | [`barrier`] | [dissemination](schedule::Round) | | |
//! | broadcast | [`broadcast`] | [blocks](barrier_payload::Blocks) by dissemination | [two trees](schedule::TwoTree) | circular buffer of the root |
//! | reductions | [`reduce`](mod@reduce) | [partial results](barrier_reduction) by dissemination | [recursive halving and doubling][hd] (Rabenseifner) | reduce-scatter and allgather |
//! | scans | [`reduce`](mod@reduce) | partial results of lower ranks by dissemination | barriers | barriers |
//! | fcollect | [`gather`] | blocks by dissemination (Bruck's allgather) | [ring allgather](schedule::RingAllgather) | circular buffers of all |
//! | collect | [`gather`] | an fcollect of the lengths, then blocks | barriers | circular buffers of all |
//! | alltoall | [`alltoall`] | one message of [parts](barrier_payload::Parts) to each node | [pairwise exchange](schedule::Pairwise) | circular buffers of all |
//! | alltoallv | [`alltoall`] | an alltoall of the counts, then alltoalls of parts padded to the longest | the same | the same |
//! | reduce-scatter | [`reduce_scatter`] | a reduction of all | a reduction of all | an alltoall; each member combines the parts that it receives |
//!
//! [hd]: schedule::HalvingDoubling
//!
//! Authors and sources are in the files of [`schedule`]. CONTRIBUTING.md shows how to add an operation, an algorithm and a
//! collective.
//!
//! # Ways
//!
//! The variable `SHMEM_COLLECTIVE_ALGORITHM` accepts these names. All members pick the same way: the choice depends on arguments
//! that the opening barrier compares, and on the job's layout.
//!
//! * **barriers**: short data, or data for which there is no other way. A member copies a piece to its [staging] buffer and enters
//!   a barrier (for the first piece, the opening barrier). Between nodes the piece is the [payload](barrier_payload) of the
//!   barrier's messages.
//! * **rings**: long private data on one node. A member writes chunks to a circular buffer ([`Ring`](staging::Ring)), and the
//!   others read them there.
//! * **direct**: long symmetric objects on one node. Members read and write them in place: one copy.
//! * **windows**: long data between nodes. Chunks are pipelined through a window, which is a receive buffer on each member (not
//!   MPI's). A [schedule] gives the order of chunks, the [engine] executes the schedule, and [`pipelined`] copies the chunks.
//!
//! # Opening barrier and results
//!
//! Every blocking collective begins with a checked [`barrier`], which carries a hash of the operation and its
//! [arguments](compared_argument). A difference of hashes ends the job with an error text that names both calls ([`mismatch`]).
//! Hashes can collide, so members compare the arguments themselves where memory safety depends on that ([`exact_agreement`]).
//!
//! A reduction combines in the order of one [tree](reduction_order) over ranks, so its result has the same bits on every layout
//! and by every way. Operations combine tiles of bytes ([`reduce_op`]), so one routine serves all types.
//!
//! [`message_counts`] runs schedules and payloads without data, and counts their messages and bytes for jobs of any size.

mod alltoall;
mod barrier;
mod barrier_payload;
mod barrier_reduction;
mod broadcast;
pub(crate) mod choose;
mod compared_argument;
mod engine;
mod exact_agreement;
mod gather;
pub(crate) mod message_counts;
mod mismatch;
mod pipelined;
mod reduce;
mod reduce_op;
mod reduce_scatter;
mod reduction_order;
mod request;
mod schedule;
mod staging;
pub(crate) mod untyped;
mod user_buffer;
mod world_methods;

pub(crate) use exact_agreement::Agreed;
pub use reduce_op::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
pub use request::Started;
pub(crate) use request::land_all;
