//! Messages between launchers and PEs, as bytes: types that derive serde's traits, in the format of `postcard`.
//!
//! Bytes that arrive are not trusted. Only a [`Message`] is read, which allocates memory in proportion to its bytes, except lists
//! of CPUs ([`ranges`](shmem_core::range_list), 64 KiB at most). A message has one representation in bytes, and no bytes may follow it.
//! All else is [`Malformed`].

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};
use shmem_core::partition::Grant;

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes that are no message of the launcher's protocol")]
#[non_exhaustive]
pub struct Malformed;

/// A type of the launcher's protocol.
///
/// A list begins with its length. With elements of no bytes, a few bytes could announce an endless list, and a type that contains
/// itself could be nested without a bound. So an implementation promises for the type and its fields that each element of a list
/// takes at least one byte, and that no value contains another one of its own type. A list of units is no message:
///
/// ```compile_fail,E0277
/// // 2^64 - 1 elements, which take no more bytes.
/// shmem_launch::codec::decode::<Vec<()>>(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
/// ```
pub trait Message: Serialize + DeserializeOwned {}

impl Message for u8 {}
impl Message for u64 {}
impl Message for usize {}
impl Message for String {}
impl Message for Grant {}
impl<T: Message> Message for Vec<T> {}
impl<T: Message, E: Message> Message for Result<T, E> {}
impl<A: Message, B: Message, C: Message> Message for (A, B, C) {}

/// Encodes a message.
///
/// # Panics
///
/// If `T` refuses to be serialised. Derived types never do.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let written = postcard::to_extend(message, Vec::new());
    written.unwrap_or_else(|error| unreachable!("types say how they are written: {error}"))
}

/// Decodes a message.
///
/// # Errors
///
/// If the bytes are not exactly those of [`encode`].
pub fn decode<T: Message>(bytes: &[u8]) -> Result<T, Malformed> {
    let (message, rest) = postcard::take_from_bytes(bytes).map_err(|_| Malformed)?;
    // The format allows superfluous bytes in a number; `encode` writes none.
    if rest.is_empty() && encode(&message) == bytes { Ok(message) } else { Err(Malformed) }
}

/// For `#[serde(serialize_with)]`: writes bytes in one piece, not element by element.
pub(crate) fn whole<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

/// For `#[serde(deserialize_with)]`.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    <&[u8]>::deserialize(from).map(<[u8]>::to_vec)
}
