//! A wire that unwinds while an answer is awaited.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use super::super::*;
use super::network::{remote, secret};
use crate::transport::{AtomicOp, Width};

const CHILD: &str = "A_WIRE_UNWINDS";

/// Sends nothing, and does not return.
struct Broken;

impl Wire for Broken {
    fn try_send(&self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Sent {
        panic!("the wire is broken")
    }

    fn reaches(&self, _: usize) -> bool {
        true
    }

    fn lend(&self, _: usize) -> Option<Place> {
        None
    }

    fn try_write(&self, _: usize, _: Slot, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Sent {
        Sent::Full
    }

    fn progress(&self) {}
}

/// The answer would be written to where the caller waited, which is gone: the process ends instead.
#[test]
fn a_wire_that_unwinds_ends_the_process() {
    if std::env::var_os(CHILD).is_some() {
        let limits =
            Limits { window: 8, message: 4096, at_once: 2048, loans: 0, slot: 4096, ..Limits::DEFAULT };
        let engine = Engine::new(0, 2, limits, secret());
        let ask = || engine.atomic(&Broken, Channel(0), remote(1, 0), Width::W8, AtomicOp::Fetch);
        _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask));
        return;
    }
    let name = "transport::ofi::engine::tests::unwinding::a_wire_that_unwinds_ends_the_process";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let ended = child.args(["--exact", name]).env(CHILD, "1").output().unwrap();
    assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{}", String::from_utf8_lossy(&ended.stderr));
}
