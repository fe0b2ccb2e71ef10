//! What the PEs of a team do together.
//!
//! Everything stands on the checked [`barrier`]: all members must enter the same operation with the
//! same arguments, or the job ends and says who is where. It finds that by a hash, which is enough for values; what
//! soundness rests on is compared word for word ([`agreed`]). Behind that meeting data go one of these ways:
//!
//! * Little data goes through room that each member has for the team ([`step`]): write the own contribution, meet, read the
//!   others'. Two halves in turn make one meeting per step enough, and let a piece be written while the one before is read.
//!   Between nodes it [passes](passing) with the words of the meeting: for all by the rounds of a [census], as [blocks],
//!   [sums](sum) or [prefixes](prefix), and for each as [parts].
//! * Much data on one node goes in chunks ([`ring`]), several of which are on their way: no meetings but the first.
//! * Large symmetric objects on one node are read and written where they lie ([`direct`]).
//! * Much data between nodes goes in chunks through windows ([`stream`]) that the meeting opens, as a [plan] says. Teams
//!   [take](windows) theirs when they first have much.
//!
//! What a PE [gives and takes](given) lies in memory of the program, or is its own copy of an object; either is read and written
//! piece by piece, [packed] where parts have strides or lengths of their own, and results of items of any size are [made]
//! tile by tile. So a collective keeps nothing, and on one node allocates nothing but the list that is its result.
//!
//! Which way is [chosen](choice) by what all members have come for, so all take the same. The result of a reduction is that of a
//! [`tree`] over ranks, so it depends neither on timing nor on the way. In which form data are given, and the
//! result comes back, is decided by what the argument [is](shmem_core::context::Contribution); behind that all is bytes.

mod agreed;
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
