//! Wires that break their promise: one delivers a message and reports that there was no room; one panics while an answer is
//! awaited.

use super::super::*;
use super::network::{Broken, Network, remote, secret};
use crate::fixture::{aborts, assert_says, refusal};
use crate::strided::Pattern;
use crate::transport::{AtomicOp, Change, EachOp, Elements, ListRequest, Operand, Remote, Until, Width};

const CHANNEL: Channel = Channel(0);

/// Delivers a message of PE 0 and the answer at once, then reports that there was no room.
struct Liar<'n>(&'n Network);

impl Wire for Liar<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let end = self.0.end(0);
        // The network below is full at random.
        while end.try_send(pe, bytes, write) == Sent::Full {}
        self.0.settle();
        Sent::Full
    }

    fn reaches(&self, pe: usize) -> bool {
        self.0.end(0).reaches(pe)
    }

    fn progress(&self) {
        self.0.step();
    }
}

fn network() -> Network {
    let limits = Limits { window: 8, message: 2048, grants: 1, slot: 4096, ..Limits::DEFAULT };
    Network::new(2, 8192, limits, 64, 1)
}

const ANSWERED: &str = "PE 1 answers a message for which the wire had no room";

type Act<'a> = &'a dyn Fn(&Engine, &dyn Wire);

fn word() -> Remote {
    remote(1, 0)
}

/// The answer to a request for a grant, the last case, must not wait for a lock of the requesting thread.
#[test]
fn an_acknowledged_message_was_sent() {
    let one = Change::new(EachOp::Add, Width::W8, Operand::Same(1));
    let source = vec![0_u8; 4096];
    let acts: [Act<'_>; 3] = [
        &|engine, liar| engine.on(liar, CHANNEL).update(word(), Width::W8, AtomicOp::Add(1)),
        // SAFETY: nothing is read or written here.
        &|engine, liar| unsafe {
            let words = Elements { first: word(), size: 8, length: 10, indices: &[1, 2, 1] };
            engine.on(liar, CHANNEL).list(words, ListRequest::Change(one, None), None, Until::Quiet);
        },
        // SAFETY: both sides have so many bytes.
        &|engine, liar| unsafe {
            engine.on(liar, CHANNEL).put(word(), source.as_ptr(), &Pattern::contiguous(source.len()));
        },
    ];
    for act in acts {
        let network = network();
        assert_says(refusal(|| act(&network.engines[0], &Liar(&network))), &[ANSWERED]);
    }
}

/// Another thread may be writing to memory of the caller, so the process ends.
#[test]
fn a_request_that_is_answered_was_sent() {
    aborts(ANSWERED, || {
        let network = network();
        network.engines[0].on(&Liar(&network), CHANNEL).atomic(word(), Width::W8, AtomicOp::Fetch);
    });
}

/// The answer would be written to memory of the caller, which is gone.
#[test]
fn a_wire_that_unwinds_ends_the_process() {
    aborts("the wire is broken", || {
        let engine = Engine::new(0, 2, Limits { grants: 0, ..Limits::DEFAULT }, secret());
        engine.on(&Broken { reaches: true }, CHANNEL).atomic(remote(1, 0), Width::W8, AtomicOp::Fetch);
    });
}
