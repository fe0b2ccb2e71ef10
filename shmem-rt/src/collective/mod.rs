//! What the PEs of a team do together.
//!
//! A call of the program is a method of `Team` in the module of its family:
//!
//! ```text
//! barrier                          broadcast                collect                alltoall, alltoallv
//! reduce    sums and the like, scans; by one `table`        rooted    for one PE: reductions, collections
//! operation by an operation of the program                  scatter   from one to each, and sums in parts
//! location  the least and the largest, with its place       flight    those that go on beside the program
//! untyped   those of bytes, for a library in C
//! ```
//!
//! It says what it is about ([`subject`]) and what all members must agree on (its purpose), and enters. What a PE
//! [gives and takes](given) lies in memory of the program, or is its own copy of an object; behind that all is bytes.
//!
//! # Meeting
//!
//! Everything stands on the checked [`barrier`]: all members must enter the same operation with the
//! same arguments, or the job ends and says who is where ([`disagreement`]). It finds that by a hash, which is enough for
//! values; what soundness rests on is compared word for word ([`agreed`]). Members of a node meet in its memory; between nodes
//! whoever comes last on a node acts for it, in the rounds of a [census].
//!
//! # Ways
//!
//! Behind that meeting, or with it, data go one of these ways, [chosen](choice) by what all members have come for, so all take
//! the same:
//!
//! * Little data goes through [rooms] that each member has for the team, one [`step`] after the other: write the own
//!   contribution, meet, read the others'. Two halves in turn make one meeting per step enough, and let a piece be written while
//!   the one before is read.
//!   Between nodes it [passes](passing) with the words of the meeting: for all by the rounds of the census, as [blocks],
//!   [sums](sum) or [prefixes](prefix), and for each as [parts], straight from node to node. Who sends it must know where it
//!   belongs on a node that has other members than its own: that follows from the [placement] of ranks alone.
//! * Much data on one node goes in chunks ([`ring`]), several of which are on their way: no meetings but the first.
//! * Large symmetric objects on one node are read and written where they lie ([`direct`]), if members are [alike] in what the
//!   arguments do not say.
//! * Much data between nodes goes in chunks through windows ([`stream`]) that the meeting opens. A [plan] says which chunk goes where
//!   and when, as data; a [cursor] carries it out for whoever waits, on a [carrier]. Teams [take](windows) their windows when they
//!   first have much.
//! * What is started ([`flight`]) has room of its own, so that it disturbs no other collective: its members meet by words of
//!   their own, and then a cursor carries out a plan, at each look of whatever wait of the PE.
//!
//! Parts that have strides or lengths of their own are [packed] where they are sent, and results of items of any size are
//! [made] tile by tile. So a collective keeps nothing, and on one node allocates nothing but the list that is its result.
//!
//! # Results
//!
//! The result of a reduction is that of a [`tree`] over ranks, so it depends neither on timing nor on the way. Between nodes
//! ([`far_reduction`]) a node has of each set of ranks the [`cover`], the largest vertices of the tree that lie in it; what comes
//! and what is made of it lies on a [`desk`] on the node's first member. In which form the result comes back is decided by what
//! the argument [is](shmem_core::context::Contribution).

mod agreed;
mod alike;
mod alltoall;
mod alltoallv;
mod barrier;
mod blocks;
mod broadcast;
mod buffer;
mod carrier;
mod census;
pub(crate) mod choice;
mod collect;
mod cover;
mod cursor;
pub(crate) mod cut;
mod desk;
mod direct;
mod disagreement;
mod estimate;
mod extent;
mod far_reduction;
mod flight;
mod gather;
mod given;
mod lengths;
mod located;
mod location;
mod made;
mod number;
mod operation;
mod packed;
mod partials;
mod parts;
mod passing;
mod placement;
mod plan;
mod prefix;
mod reduce;
mod ring;
mod rooms;
mod rooted;
mod scatter;
mod step;
mod stream;
mod subject;
mod sum;
mod table;
mod tree;
pub(crate) mod untyped;
mod windows;

pub(crate) use agreed::Agreed;
pub use flight::Started;
pub(crate) use flight::land_all;
pub use located::Located;
pub use number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
