//! A wire that says there was no room for a message, and delivers it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use super::super::*;
use super::network::{Network, remote};
use crate::strided::Pattern;
use crate::transport::{AtomicOp, Change, EachOp, Elements, Operand, Until, Width};

const CHILD: &str = "A_WIRE_LIES";
const CHANNEL: Channel = Channel(0);

/// Delivers at once what PE 0 sends, and the answer: then it says that there was no room.
struct Liar<'n>(&'n Network);

impl Wire for Liar<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let end = self.0.end(0);
        // The network's own room is by chance.
        while end.try_send(pe, bytes, write) == Sent::Full {}
        self.0.settle();
        Sent::Full
    }

    fn reaches(&self, pe: usize) -> bool {
        self.0.end(0).reaches(pe)
    }

    fn lend(&self, _: usize) -> Option<Place> {
        None
    }

    fn try_write(&self, _: usize, _: Slot, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Sent {
        Sent::Full
    }

    fn progress(&self) {
        self.0.step();
    }
}

fn network() -> Network {
    let limits = Limits { window: 8, message: 4096, at_once: 2048, loans: 1, slot: 4096, ..Limits::DEFAULT };
    Network::new(2, 8192, limits, 64, 1)
}

#[test]
#[should_panic(expected = "PE 1 answers a message for which the wire had no room")]
fn an_update_that_is_answered_was_sent() {
    let network = network();
    network.engines[0].update(&Liar(&network), CHANNEL, remote(1, 0), Width::W8, AtomicOp::Add(1));
}

#[test]
#[should_panic(expected = "PE 1 answers a message for which the wire had no room")]
fn a_list_that_is_acknowledged_was_sent() {
    let network = network();
    let words = Elements { first: remote(1, 0), size: 8, length: 10, indices: &[1, 2, 1] };
    let change = Change::new(EachOp::Add, Width::W8, Operand::Same(1));
    network.engines[0].each(&Liar(&network), CHANNEL, words, change);
}

/// Nor does the answer wait for a lock that the asking thread holds.
#[test]
#[should_panic(expected = "PE 1 answers a message for which the wire had no room")]
fn a_loan_that_is_answered_was_asked_for() {
    let (network, source) = (network(), vec![0_u8; 4096]);
    let (engine, pattern) = (&network.engines[0], Pattern::contiguous(source.len()));
    // SAFETY: both sides have so many bytes.
    unsafe { engine.put(&Liar(&network), CHANNEL, remote(1, 0), source.as_ptr(), &pattern) };
}

/// Somebody may be writing to where the caller waits: the process ends instead.
fn ends_the_process(name: &str, ask: impl FnOnce(&Engine, &Liar<'_>)) {
    if std::env::var_os(CHILD).is_some() {
        let network = network();
        let ask = || ask(&network.engines[0], &Liar(&network));
        _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask));
        return;
    }
    let name = format!("transport::ofi::engine::tests::lying::{name}");
    let mut child = Command::new(std::env::current_exe().unwrap());
    let ended = child.args(["--exact", &name, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{said}");
    assert!(said.contains("PE 1 answers a message for which the wire had no room"), "{said}");
}

#[test]
fn a_request_that_is_answered_was_sent() {
    ends_the_process("a_request_that_is_answered_was_sent", |engine, liar| {
        engine.atomic(liar, CHANNEL, remote(1, 0), Width::W8, AtomicOp::Fetch);
    });
}

#[test]
fn a_list_that_is_answered_was_asked_for() {
    ends_the_process("a_list_that_is_answered_was_asked_for", |engine, liar| {
        let (mut into, positions) = ([0_u8; 3 * 8], Some(&[2, 0, 1][..]));
        let words = Elements { first: remote(1, 0), size: 8, length: 10, indices: &[1, 2, 1] };
        // SAFETY: `into` has room for three elements, and stays until the process ends.
        unsafe { engine.pick(liar, CHANNEL, into.as_mut_ptr(), positions, words, Until::Quiet) };
    });
}
