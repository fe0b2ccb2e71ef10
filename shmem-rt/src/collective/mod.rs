//! What the PEs of a team do together.
//!
//! A call of the program is a method of `Team` in the file of its family. The file says what members compare, and by which ways the data
//! go; the methods of a world stand in `world`.
//!
//! | family | file | short data | on one node | between nodes |
//! |---|---|---|---|---|
//! | barrier, sync | [`barrier`] | | lines or a counter | dissemination |
//! | broadcast | [`broadcast`] | with the barrier | the root's ring; direct | two trees |
//! | reductions, scans | [`reduce`](mod@reduce), engine in [`combine`] | partial results with the barrier | reduce-scatter and allgather through rings; direct | recursive halving and doubling |
//! | collect, fcollect | [`gather`] | with the barrier | rings; direct | ring allgather |
//! | alltoall | [`alltoall`] | messages that are the barrier | rings; direct | pairwise exchange |
//! | scatter, sums in parts | [`scatter`] | with the barrier, or as an alltoall | direct | as an alltoall, or a reduction |
//!
//! What is started ([`start`], [`request`]) goes by the same schedules. For a library in C there are calls of bytes ([`untyped`]).
//!
//! # Barrier
//!
//! Every collective begins with a checked [`barrier`]: all members must enter the same operation with the same arguments, or the job ends
//! and says who is where ([`mismatch`]). It finds that by a hash, which is enough for values; what soundness rests on is compared word
//! for word ([`agreed`]). Members of a node synchronise in its memory; between nodes the last member to arrive acts for its node, in the
//! rounds of a [dissemination](schedule::Round).
//!
//! # Ways
//!
//! Data go one of four ways, [chosen](choose) by what all members have come for, so all take the same. They have the names of
//! `SHMEM_COLLECTIVE_ALGORITHM`.
//!
//! * **meetings**: through [staging] buffers, the [rooms] of a team, a piece with each barrier. Between nodes a [payload] travels with the words of the barrier:
//!   [blocks], [partial results](partial_results), or [parts] for each. Who sends it must know where it belongs on a node that has other
//!   members than its own: that follows from the [layout] of ranks alone.
//! * **rings**: on one node in chunks ([`ring`]), several of which are under way: no barriers but the first.
//! * **direct**: on one node, symmetric objects are read and written where they lie ([`direct`]).
//! * **windows**: between nodes in chunks, [pipelined]. A [schedule] says which chunk goes where and when; the [engine] carries it out,
//!   and [placement] says where chunks go. Teams take their [windows](window) when they first have much.
//!
//! # Results
//!
//! The result of a reduction is that of a [`tree`] over ranks, so it depends neither on timing nor on the way. Operations are functions
//! over tiles of bytes ([`reduction`]), so one engine serves all types. Between nodes a node has of each set of ranks the [`cover`], the
//! largest vertices of the tree that lie in it. In which form a result comes back is decided by what the argument
//! [is](shmem_core::context::Contribution). A collective keeps nothing, and on one node allocates nothing but the list that is its result.

mod agreed;
mod alltoall;
mod argument;
mod barrier;
mod blocks;
mod broadcast;
mod buffer;
pub(crate) mod choose;
mod combine;
mod cost;
pub(crate) mod counts;
mod cover;
mod direct;
mod engine;
mod gather;
mod layout;
mod mark;
mod mismatch;
mod number;
mod partial_results;
mod parts;
mod payload;
mod pipelined;
mod placement;
mod reduce;
mod reduction;
mod request;
mod ring;
mod rooms;
mod scatter;
mod schedule;
mod staging;
mod start;
mod tree;
pub(crate) mod untyped;
mod window;
mod world;

pub(crate) use agreed::Agreed;
pub use number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
pub use reduce::Located;
pub use request::Started;
pub(crate) use request::land_all;
