//! Frames: the messages of a connection, each with a proof that the other side sent it, as the next one,
//! to this side, in this job.
//!
//! A frame is a length (`u32`), the first half of a keyed hash over its position in the order and its bytes,
//! and the bytes. Each direction has a key of its own, which both sides derive from the job's secret and
//! from what both have thrown dice for. So what is changed, left out, repeated, reflected or comes from
//! another connection has the wrong hash, and ends the connection. What is sent can be read on its way.

use std::collections::VecDeque;

use crate::launch::message::MAX_MESSAGE;

/// A key.
pub(super) type Key = [u8; 32];

const TAG: usize = 16;
const HEAD: usize = 4 + TAG;

/// Makes frames.
#[derive(Debug)]
pub(super) struct Sealer {
    key: Key,
    next: u64,
}

/// Takes frames apart.
#[derive(Debug)]
pub(super) struct Opener {
    key: Key,
    next: u64,
    bytes: VecDeque<u8>,
}

/// A frame that the other side did not send, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("something on the way has changed what the other launcher sent")]
pub(super) struct Forged;

impl Sealer {
    pub(super) fn new(key: Key) -> Self {
        Self { key, next: 0 }
    }

    /// The next frame.
    pub(super) fn seal(&mut self, message: &[u8]) -> Vec<u8> {
        debug_assert!(message.len() <= MAX_MESSAGE);
        let mut frame = Vec::with_capacity(HEAD + message.len());
        frame.extend_from_slice(&(message.len() as u32).to_le_bytes());
        frame.extend_from_slice(&tag(&self.key, self.next, message).as_bytes()[..TAG]);
        frame.extend_from_slice(message);
        self.next += 1;
        frame
    }
}

impl Opener {
    pub(super) fn new(key: Key) -> Self {
        Self { key, next: 0, bytes: VecDeque::new() }
    }

    /// Takes what has arrived.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next message, if it is complete.
    pub(super) fn open(&mut self) -> Result<Option<Vec<u8>>, Forged> {
        let mut head = [0; HEAD];
        if self.bytes.len() < HEAD {
            return Ok(None);
        }
        head.iter_mut().zip(&self.bytes).for_each(|(to, from)| *to = *from);
        let (length, theirs) = head.split_at(4);
        let length = length.try_into().map_or(usize::MAX, |bytes| u32::from_le_bytes(bytes) as usize);
        if length > MAX_MESSAGE {
            return Err(Forged);
        }
        if self.bytes.len() < HEAD + length {
            return Ok(None);
        }
        let message: Vec<u8> = self.bytes.drain(..HEAD + length).skip(HEAD).collect();
        let ours = tag(&self.key, self.next, &message);
        if !is_same(&ours, theirs) {
            return Err(Forged);
        }
        self.next += 1;
        Ok(Some(message))
    }
}

fn tag(key: &Key, position: u64, message: &[u8]) -> blake3::Hash {
    blake3::Hasher::new_keyed(key).update(&position.to_le_bytes()).update(message).finalize()
}

/// Whether the first half of a hash is this, found out in a time that does not depend on where they differ.
fn is_same(hash: &blake3::Hash, half: &[u8]) -> bool {
    let mut whole = *hash.as_bytes();
    whole[..TAG].copy_from_slice(half);
    *hash == blake3::Hash::from_bytes(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = [7; 32];

    fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..6)
    }

    /// What is opened of these bytes, and whether they were found out.
    fn opened(bytes: &[u8], piece: usize) -> (Vec<Vec<u8>>, bool) {
        let (mut opener, mut messages) = (Opener::new(KEY), Vec::new());
        for piece in bytes.chunks(piece) {
            opener.feed(piece);
            loop {
                match opener.open() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(Forged) => return (messages, true),
                }
            }
        }
        (messages, false)
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in_however_they_are_cut(messages in messages(), piece in 1..400usize) {
            let mut sealer = Sealer::new(KEY);
            let bytes: Vec<u8> = messages.iter().flat_map(|message| sealer.seal(message)).collect();
            prop_assert_eq!(opened(&bytes, piece), (messages, false));
        }

        #[test]
        fn what_is_changed_is_never_taken(messages in messages(), at: prop::sample::Index, bit in 0..8u8) {
            let mut sealer = Sealer::new(KEY);
            let mut bytes: Vec<u8> = messages.iter().flat_map(|message| sealer.seal(message)).collect();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let (taken, _) = opened(&bytes, bytes.len());
            prop_assert!(taken.len() < messages.len());
            prop_assert_eq!(&taken[..], &messages[..taken.len()]);
        }

        #[test]
        fn what_is_repeated_left_out_or_swapped_is_found_out(messages in messages(), i in 0..6usize, j in 0..6usize) {
            let mut sealer = Sealer::new(KEY);
            let frames: Vec<Vec<u8>> = messages.iter().map(|message| sealer.seal(message)).collect();
            let (i, j) = (i % frames.len(), j % frames.len());
            let again = [&frames[..=i], &frames[i..]].concat().concat();
            prop_assert_eq!(opened(&again, 64), (messages[..=i].to_vec(), true), "repeated");
            if i + 1 < frames.len() {
                let without = [&frames[..i], &frames[i + 1..]].concat().concat();
                prop_assert_eq!(opened(&without, 64), (messages[..i].to_vec(), true), "left out");
            }
            if i != j {
                let mut swapped = frames;
                swapped.swap(i, j);
                prop_assert_eq!(opened(&swapped.concat(), 64), (messages[..i.min(j)].to_vec(), true), "swapped");
            }
        }

        #[test]
        fn rubbish_is_no_message_and_takes_no_room(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
            prop_assert_eq!(opened(&bytes, 100).0, Vec::<Vec<u8>>::new());
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_the_bytes_are_there() {
        let mut opener = Opener::new(KEY);
        opener.feed(&(MAX_MESSAGE as u32 + 1).to_le_bytes());
        opener.feed(&[0; TAG]);
        assert_eq!(opener.open(), Err(Forged));
    }

    #[test]
    fn frames_of_another_key_are_refused() {
        let frame = Sealer::new([8; 32]).seal(b"hello");
        assert_eq!(opened(&frame, 9), (vec![], true));
    }
}
