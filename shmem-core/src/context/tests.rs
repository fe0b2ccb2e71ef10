//! Handles, places and operations on an arena of the test's own: two PEs, no processes. Also run
//! under AddressSanitizer.

use std::sync::Arc;

use super::*;
use crate::fixture::{Slots, Token, assert_says, boxed, refusal};
use crate::object::{Atomic, Signal};
use crate::observe::{Call, Observer};
use crate::pe::Pe;
use crate::segment_table::{Segment, Segments};
use crate::system_area::SYSTEM_BYTES;
use crate::text::Text;

const HEAP: usize = 4096;

fn pe(number: u32) -> Pe {
    // SAFETY: both PEs have their place in the arena of `pair`.
    unsafe { Pe::new(number, number) }
}

fn pair() -> Token {
    let slots = Slots::new(2, 2 << 20);
    let segments = Segments::new(slots.stride(), 21);
    let segment = Segment { start: SYSTEM_BYTES, bytes: HEAP, partition: 1, name: Text::head("default") };
    // SAFETY: the bytes are memory of both PEs, of which nobody is lent references.
    unsafe { segments.insert(1, segment, false) };
    Token::over(slots, pe(0), None, segments, ())
}

mod nonblocking;
mod words;

#[test]
fn lengths_and_indices_are_checked() {
    let pair = pair();
    let row = boxed::<[u64]>(0, 8);
    assert_says(refusal(|| pair.put(row.on(pe(1)), &[0; 7][..])), &["8 elements, the local slice 7"]);
    assert_says(refusal(|| pair.p(row.on(pe(1)).index(8), 0)), &["index 8 is beyond the end"]);
    assert_says(refusal(|| row.on(pe(1)).index(5..9).len()), &["range 5..9"]);
    #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
    let reversed = refusal(|| row.on(pe(1)).index(5..4).len());
    assert_says(reversed, &["range 5..4"]);
}

/// Refuses nothing.
struct Silent;

impl Observer for Silent {
    fn begin(&self, _: &Call<'_>) -> u64 {
        0
    }

    fn end(&self, _: &Call<'_>, _: u64) {}
}

#[test]
fn an_endpoint_that_is_shut_again_and_again_is_shut() {
    let mut endpoint = pair().endpoint().shut(Arc::new(Silent));
    for _ in 0..512 {
        assert!(endpoint.is_shut());
        endpoint = endpoint.shut(Arc::new(Silent));
    }
}

/// A field may be named as numbers of another size than others know there, whose accesses may not meet as atomic ones.
#[test]
fn what_a_closure_has_named_is_no_number() {
    let pair = pair();
    let row = boxed::<[[u32; 2]]>(0, 4);
    let (on, here) = (row.on(pe(0)).index(3), row.here(&pair).index(3));
    assert!(!on.is_named() && on.field(|pair| pair).is_named());
    let byte = on.field(|pair| bytemuck::bytes_of(pair)).index(5);
    assert!(byte.is_named() && byte.segment() == on.segment());
    pair.p(byte, 0xab);
    assert_eq!((pair.g(byte), pair.g(on)), (0xab, [0, 0xab00]));
    let byte = here.field(|pair| bytemuck::bytes_of(pair)).index(0);
    byte.store(0xcd);
    assert_eq!((byte.load(), here.load()), (0xcd, [0xcd, 0xab00]));
}
