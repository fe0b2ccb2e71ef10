//! Handles of symmetric objects.
//!
//! A handle is a segment and an offset, the same on every PE. A node's memory has a slot for each of its PEs: on a PE of this node
//! the object's address is `base + slot * stride + offset`. On other nodes the segment is the index of a remote key. Handles own
//! memory or are static. A handle can do nothing without a token ([`Initiator`](crate::endpoint::Initiator)), and only tokens
//! borrow the world.

mod boxed;
mod compile_errors;
mod index;
mod lock_words;
mod on_pe;
mod own_copy;
mod phase_arguments;
mod statics;
mod untyped_address;
mod word;

pub use boxed::SymBox;
pub(crate) use compile_errors::no_subscripts;
pub use compile_errors::{Nowhere, Placeless, Reach, Subscript};
pub(crate) use index::{NAMELESS, many, object_at, one, place_at};
pub use index::{PlaceIndex, call_by};
pub use lock_words::{LOCK_FILE_BYTES, Lock, LockWord};
pub use on_pe::On;
pub use own_copy::Here;
pub use phase_arguments::{Objects, SymmetricObject};
pub use statics::{Descriptor, Library, Position, Symmetric};
pub use untyped_address::{Extent, SymAddr};
pub use word::{AmoValue, Atomic, AtomicWord, BitValue, Signal, Waitable};
