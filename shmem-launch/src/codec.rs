//! The encoding of messages between launchers and PEs: serde types in the format of `postcard`.
//!
//! Received bytes are not trusted. Decoding a [`Message`] allocates memory in proportion to its bytes. The only exceptions are
//! lists of CPUs ([`ranges`](shmem_core::cpu_list)), which take at most 64 KiB. A message has one encoding, and no bytes may
//! follow it. Other bytes are [`Malformed`].

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};
use shmem_core::partition::Grant;

/// The error for bytes that do not encode a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes that are no message of the launcher's protocol")]
#[non_exhaustive]
pub struct Malformed;

/// A type of the launcher's protocol.
///
/// A list begins with its length. If elements took no bytes, a few bytes could announce an endless list. A type that contains
/// itself could be nested without limit. So an implementation promises two things for the type and its fields: each element of a
/// list takes at least one byte, and no value contains a value of its own type. A list of `()` is no message:
///
/// ```compile_fail,E0277
/// // 2^64 - 1 elements of no bytes.
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
    // `postcard` accepts superfluous bytes in a number. `encode` writes none, so a second encoding reveals them.
    if rest.is_empty() && encode(&message) == bytes { Ok(message) } else { Err(Malformed) }
}

/// Writes bytes as one byte string, not element by element. For `#[serde(serialize_with)]`.
pub(crate) fn whole<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

/// Reads the bytes that [`whole`] has written. For `#[serde(deserialize_with)]`.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    <&[u8]>::deserialize(from).map(<[u8]>::to_vec)
}
