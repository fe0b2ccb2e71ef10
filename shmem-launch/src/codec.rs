//! How what launchers and PEs tell each other becomes bytes: types that derive it, in the format of `postcard`.
//!
//! What arrives is not trusted. Only what is a [`Message`] is read, of which no few bytes can make much: no more is
//! allocated than the bytes can hold, but for lists of CPUs ([`ranges`](shmem_core::ranges), 64 KiB at most). A message
//! must be used up exactly, and each is written in one way only. All else is [`Malformed`], whatever is wrong with it.

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};
use shmem_core::partition::Grant;

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes that are no message of the launcher's protocol")]
#[non_exhaustive]
pub struct Malformed;

/// What arrives in bytes: a type of the launcher's protocol, or what is made of such types here.
///
/// A list says how many elements follow. Were these of no bytes, a few bytes could announce as many as nobody lives to
/// see; and a type that contains itself could be nested as deep as the bytes are many. So every type that implements
/// this promises for itself and its fields that each element of a list takes at least one byte, and that no value
/// contains another one of its own type. Lists of units are no messages:
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

/// The bytes of a message.
///
/// # Panics
///
/// If the type refuses to be written, which no derived one does.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let written = postcard::to_extend(message, Vec::new());
    written.unwrap_or_else(|error| unreachable!("types say how they are written: {error}"))
}

/// The message that [`encode`] has made these bytes of.
///
/// # Errors
///
/// If they are anything else.
pub fn decode<T: Message>(bytes: &[u8]) -> Result<T, Malformed> {
    let (message, rest) = postcard::take_from_bytes(bytes).map_err(|_| Malformed)?;
    // A number can be written with more bytes than it needs. Nobody here does.
    if rest.is_empty() && encode(&message) == bytes { Ok(message) } else { Err(Malformed) }
}

/// Writes bytes in one piece, where serde takes them for a list: for `#[serde(serialize_with)]`.
pub(crate) fn whole<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

/// Reads bytes in one piece: for `#[serde(deserialize_with)]`.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    <&[u8]>::deserialize(from).map(<[u8]>::to_vec)
}
