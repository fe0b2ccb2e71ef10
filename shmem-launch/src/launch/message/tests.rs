//! All that launchers and PEs say to each other.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::*;
use crate::allocated::most;
use crate::launch::wire::{Reply, Request};

/// More bytes than any message takes that comes as a few hundred.
const RUBBISH: usize = 64 << 10;

/// Bytes that often begin with a message, whatever its type: most of them are zeroes and small numbers.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![9 => Just(0), 3 => 0..6_u8, 1 => any::<u8>()];
    (0..14_u8, prop::collection::vec(byte, 0..150)).prop_map(|(kind, rest)| [&[kind][..], &rest].concat())
}

/// The message that the bytes begin with, if they do, arrives whole or not at all.
fn arrives<T: Message + PartialEq + Debug>(bytes: &[u8]) -> Result<Option<u8>, TestCaseError> {
    let (read, most) = most(|| postcard::take_from_bytes::<T>(bytes).ok());
    prop_assert!(most < RUBBISH, "{most} bytes");
    let Some((message, _)) = read else { return Ok(None) };
    let sent = codec::encode(&message);
    prop_assert_eq!(codec::decode::<T>(&sent[..sent.len() - 1]), Err(Malformed), "cut short");
    prop_assert_eq!(codec::decode::<T>(&[&sent[..], &[0]].concat()), Err(Malformed), "too long");
    prop_assert_eq!(codec::decode::<T>(&sent), Ok(message));
    Ok(Some(sent[0]))
}

#[test]
fn messages_survive_the_way_and_rubbish_takes_no_memory() {
    let seen = RefCell::new(BTreeSet::new());
    // The same bytes each time, so that all kinds are among them each time.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(ProptestConfig::with_cases(4096), random).run(&bytes(), |bytes| {
        let kinds = [
            arrives::<Request>(&bytes)?,
            arrives::<Reply>(&bytes)?,
            arrives::<Order>(&bytes)?,
            arrives::<Event>(&bytes)?,
        ];
        seen.borrow_mut().extend(kinds.into_iter().enumerate().filter(|(_, kind)| kind.is_some()));
        Ok(())
    });
    result.unwrap();
    assert_eq!(seen.into_inner().len(), 7 + 5 + 7 + 13, "every kind of each");
}

/// More than a packet holds goes in several, and only the last one ends the fence.
#[test]
fn values_of_many_pes_go_in_pieces() {
    let values: Vec<Value> =
        (0..9).map(|pe| Value { pe, key: "k".into(), value: vec![pe as u8; 40 << 10] }).collect();
    let messages = Event::Fenced { values: values.clone(), last: true }.encode();
    let mut seen = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let Ok(Event::Fenced { values, last }) = Event::decode(message) else { panic!("{message:?}") };
        assert_eq!(last, i + 1 == messages.len());
        seen.extend(values);
    }
    assert_eq!(seen, values);
}
