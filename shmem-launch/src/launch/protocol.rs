//! Messages between a PE and its launcher.
//!
//! Each message is one packet of a `SOCK_SEQPACKET` socket, in the format of [`codec`]. Descriptors are ancillary data of a packet.
//! Messages are not trusted, so [`exchange_server`](super::exchange_server) checks the sizes of values.

use serde::{Deserialize, Serialize};

use crate::codec::Message;

/// Version of the protocol, which must be equal in launcher and PE.
pub(crate) const VERSION: u32 = 6;

/// Upper limit on the bytes of a packet. Common sizes of socket buffers are larger.
pub(crate) const MAX_PACKET: usize = 64 << 10;

pub(crate) const MAX_KEY: usize = 255;

pub(crate) const MAX_VALUE: usize = 48 << 10;

/// Upper limit on the bytes of an error text in a message.
pub(crate) const MAX_TEXT: usize = 16 << 10;

/// The kernel's limit on the descriptors of one packet (`SCM_MAX_FD`).
pub(crate) const MAX_DESCRIPTORS: usize = 253;

/// Upper limit on a value's bytes in a packet besides key and data: three integers.
pub(crate) const OVERHEAD: usize = 12;

/// Upper limit on the bytes of a packet besides its values.
pub(crate) const AROUND_VALUES: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToLauncher {
    Hello {
        version: u32,
        job: u64,
        pe: u32,
    },
    Put {
        key: String,
        #[serde(serialize_with = "crate::codec::whole", deserialize_with = "crate::codec::bytes")]
        value: Vec<u8>,
    },
    Fence,
    /// Descriptors for the PEs of this host, as ancillary data. `last`: whether this is the PE's last packet of them.
    Share {
        last: bool,
    },
    Abort {
        code: i32,
        message: String,
    },
    Finish,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToPe {
    /// The host number of each PE. The PE's end of the lifeline, a pipe that closes when the launcher dies, is ancillary data.
    Welcome {
        hosts: Vec<u32>,
    },
    Refused {
        reason: String,
    },
    /// Values that all PEs have put since the last fence. `last`: the last packet of this fence.
    Fenced {
        values: Vec<Value>,
        last: bool,
    },
    /// The number of descriptors of each other PE of this host. The descriptors follow, in `Shared` packets.
    Sharing {
        each: Vec<u32>,
    },
    /// Descriptors of other PEs, as ancillary data.
    Shared,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) pe: u32,
    pub(crate) key: String,
    #[serde(serialize_with = "crate::codec::whole", deserialize_with = "crate::codec::bytes")]
    pub(crate) value: Vec<u8>,
}

impl Value {
    pub(crate) fn most_bytes(&self) -> usize {
        OVERHEAD + self.key.len() + self.value.len()
    }
}

impl Message for ToLauncher {}
impl Message for ToPe {}

/// Returns the beginning of a text, cut to at most [`MAX_TEXT`] bytes.
pub(crate) fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};

    use super::*;
    use crate::codec::{self, Malformed};

    /// Bytes that often begin with a message of any type: most are zeroes and small numbers.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![9 => Just(0), 3 => 0..6_u8, 1 => any::<u8>()];
        let rest = prop::collection::vec(byte, 0..150);
        (0..8_u8, rest).prop_map(|(kind, rest)| [&[kind][..], &rest].concat())
    }

    /// Checks the message that the bytes begin with, if they do. Returns its kind.
    fn arrives<T: Message + PartialEq + Debug>(bytes: &[u8]) -> Result<Option<u8>, TestCaseError> {
        let Ok((message, _)) = postcard::take_from_bytes::<T>(bytes) else { return Ok(None) };
        let sent = codec::encode(&message);
        prop_assert_eq!(codec::decode::<T>(&sent[..sent.len() - 1]), Err(Malformed), "cut short");
        prop_assert_eq!(codec::decode::<T>(&[&sent[..], &[0]].concat()), Err(Malformed), "too long");
        prop_assert_eq!(codec::decode::<T>(&sent), Ok(message));
        Ok(Some(sent[0]))
    }

    #[test]
    fn messages_survive_the_way() {
        let seen = RefCell::new(BTreeSet::new());
        // The same bytes at each run, so that all kinds are among them.
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::with_cases(4096), random);
        let result = runner.run(&bytes(), |bytes| {
            let kinds = [arrives::<ToLauncher>(&bytes)?, arrives::<ToPe>(&bytes)?];
            seen.borrow_mut().extend(kinds.into_iter().enumerate().filter(|(_, kind)| kind.is_some()));
            Ok(())
        });
        result.unwrap();
        assert_eq!(seen.into_inner().len(), 6 + 5, "every kind of each");
    }

    #[test]
    fn what_is_malformed_is_refused() {
        let hello = codec::encode(&ToLauncher::Hello { version: 5, job: 0, pe: 0 });
        assert_eq!(hello[1], 5);
        let long = [&[hello[0], 0x85, 0], &hello[2..]].concat();
        let mut fenced = codec::encode(&ToPe::Fenced { values: Vec::new(), last: true });
        assert_eq!(fenced.remove(1), 0, "the number of values");
        let announced = |count: &[u8]| [&fenced[..1], count, &[0; 9]].concat();
        let (few, many) =
            (announced(&[0xff, 0x7f]), announced(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]));
        assert_eq!(codec::decode::<ToLauncher>(&long), Err(Malformed));
        assert_eq!([few, many].map(|bytes| codec::decode::<ToPe>(&bytes)), [const { Err(Malformed) }; 2]);
    }

    proptest! {
        #[test]
        fn the_length_of_a_value_is_known_before(pe: u32, key in ".{0,80}", bytes in 0..=MAX_VALUE, times in 1..90usize) {
            let value = Value { pe, key, value: vec![7; bytes] };
            let most = value.most_bytes();
            let values = vec![value; times];
            let packet = codec::encode(&ToPe::Fenced { values, last: true });
            prop_assert!(packet.len() <= AROUND_VALUES + times * most);
        }

        #[test]
        fn a_long_text_is_cut_at_a_character(pad in 0..4usize, text in "[aü☃𝄞]{5000}") {
            let text = "x".repeat(pad) + &text.repeat(2);
            let message = cut(&text);
            prop_assert!(text.starts_with(message));
            prop_assert!(message.len() <= MAX_TEXT && message.len() + 4 > MAX_TEXT.min(text.len()));
        }
    }
}
