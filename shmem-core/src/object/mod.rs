//! Handles of symmetric objects.
//!
//! A handle is a segment and an offset, the same numbers on every PE. On a PE of this node the address is `base + slot * stride + offset`;
//! on other nodes the segment is the index of a remote key. Handles own memory or are static, and operations borrow: a handle can do
//! nothing without a token ([`Initiator`](crate::endpoint::Initiator)), and only tokens borrow the world.

mod address;
mod boxed;
mod here;
mod index;
mod lock;
mod objects;
mod on;
mod statics;
mod subscript;
mod word;

pub use address::{Extent, SymAddr};
pub use boxed::SymBox;
pub use here::Here;
pub(crate) use index::{NAMELESS, many, object_at, one, place_at};
pub use index::{PlaceIndex, call_by};
pub use lock::{LOCK_FILE_BYTES, Lock, LockWord};
pub use objects::{Objects, SymmetricObject};
pub use on::On;
pub use statics::{Descriptor, Library, Position, Symmetric};
pub(crate) use subscript::no_subscripts;
pub use subscript::{Nowhere, Placeless, Reach, Subscript};
pub use word::{AmoValue, Atomic, AtomicWord, BitValue, Signal, Waitable};
