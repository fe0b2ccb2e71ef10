//! Handles, places and operations on an arena of the test's own: two PEs, no processes. Also run
//! under AddressSanitizer.

use std::sync::Arc;

use super::*;
use crate::exclusion::Mutex;
use crate::fixture::{Slots, Token, assert_says, boxed, refusal};
use crate::object::{Atomic, Signal};
use crate::observe::{Call, Observer};
use crate::pe::Pe;
use crate::segment::{Segment, Segments};
use crate::system::SYSTEM_BYTES;
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
    unsafe { segments.insert(1, segment) };
    Token::over(slots, pe(0), None, segments, ())
}

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

/// Keeps what it is told.
#[derive(Default)]
struct Record(Mutex<Vec<String>>);

impl Observer for Record {
    fn begin(&self, call: &Call<'_>) -> u64 {
        assert!(call.location.file().ends_with("context/tests.rs"), "{}", call.location);
        assert_eq!(call.endpoint, 7);
        let to = call.pe.map_or_else(String::new, |pe| format!(" {pe}+{}", call.offset - SYSTEM_BYTES));
        let mut told = self.0.lock();
        told.push(format!("{}:{}{to}", call.family, call.bytes));
        told.len() as u64
    }

    fn end(&self, call: &Call<'_>, begun: u64) {
        let told = self.0.lock();
        assert_eq!(told.len() as u64, begun);
        assert!(told.last().unwrap().starts_with(&format!("{}:", call.family)), "{told:?}, then {call:?}");
    }
}

#[test]
fn an_observer_is_told_of_every_operation_and_it_is_carried_out() {
    let record = Arc::new(Record::default());
    let pair = pair().named(7, Some(Arc::clone(&record) as _));
    // SAFETY: nobody compares it with one that is not marked.
    let to = unsafe { pe(1).observed() };
    let row = boxed::<[u64]>(0, 16);
    let counter = boxed::<Atomic<u32>>(512, 1);
    pair.put(row.on(to).index(2..4), &[1, 2]);
    pair.put(row.on(to).index(4), &3);
    pair.p(row.on(to).index(5), 4);
    let mut all = [0; 16];
    pair.get(&mut all[..4], row.on(to).index(2..6));
    assert_eq!((all[..4].to_vec(), pair.g(row.on(to).index(5))), (vec![1, 2, 3, 4], 4));
    pair.iput(row.on(to), &[8, 9], 8, 1, 2);
    pair.ibget(&mut all, row.on(to), 2, 8, 2, 2);
    assert_eq!(all[..4], [8, 0, 9, 0]);
    let end = row.here(&pair).index(15).addr();
    pair.putmem(end, &[1; 8], to);
    pair.getmem(&mut [0; 4], end, to);
    pair.inc(counter.on(to));
    assert_eq!(pair.fetch_or(counter.on(to), 6), 1);
    // SAFETY: nobody compares it with one that is not marked.
    let own = unsafe { pe(0).observed() };
    pair.set(counter.on(own), 3);
    counter.wait_until(&pair, ge(3));
    assert!(counter.test(&pair, eq(3)));
    pair.fence();
    pair.quiet();
    let told = record.0.lock().join(", ");
    let expected = "put:16 1+16, put:8 1+32, p:8 1+40, get:32 1+16, g:8 1+40, iput:16 1+0, ibget:32 1+0, \
                    putmem:8 1+120, getmem:4 1+120, inc:4 1+512, fetch_or:4 1+512, set:4 0+512, \
                    wait_until:4 0+512, test:4 0+512, fence:0, quiet:0";
    assert_eq!(told, expected);
}

#[test]
fn an_endpoint_that_is_shut_again_and_again_is_shut() {
    let refuses = Arc::new(Record::default());
    let mut endpoint = pair().endpoint().shut(refuses.clone());
    for _ in 0..512 {
        assert!(endpoint.is_shut());
        endpoint = endpoint.shut(refuses.clone());
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
