//! What has been sent is waited for, however a collective ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use shmem_core::transport::{AtomicOp, Channel, Lane, Transport, Width};

use super::*;

/// A transport that counts how often it is waited for, and moves nothing.
#[derive(Default)]
struct Waited {
    quiets: AtomicUsize,
    fails: AtomicBool,
}

// SAFETY: it touches no memory, and nobody enters an exclusive phase.
unsafe impl Transport for Waited {
    fn name(&self) -> &'static str {
        "waited"
    }

    fn open(&self, _: Lane) -> Result<Channel, String> {
        Ok(Channel(0))
    }

    unsafe fn put(&self, _: Channel, _: Remote, _: *const u8, _: usize, _: Until) {}

    unsafe fn get(&self, _: Channel, _: *mut u8, _: Remote, _: usize, _: Until) {}

    unsafe fn atomic(&self, _: Channel, _: Remote, _: Width, _: AtomicOp) -> u64 {
        0
    }

    unsafe fn atomic_update(&self, _: Channel, _: Remote, _: Width, _: AtomicOp) {}

    fn fence(&self, _: Channel) {}

    fn quiet(&self, _: Channel) {
        assert!(!self.fails.load(Ordering::Relaxed), "the network is gone");
        self.quiets.fetch_add(1, Ordering::Relaxed);
    }

    fn is_quiet(&self, _: Channel) -> bool {
        false
    }

    fn progress(&self) {}
}

fn far() -> (Far, Arc<Waited>) {
    let transport = Arc::new(Waited::default());
    (Far { transport: Arc::clone(&transport) as _, channel: Channel(0) }, transport)
}

#[test]
fn who_leaves_a_stream_by_unwinding_waits_for_what_was_sent() {
    let (far, transport) = far();
    drop(UnderWay(&far));
    assert_eq!(transport.quiets.load(Ordering::Relaxed), 1);
    let left = catch_unwind(AssertUnwindSafe(|| {
        let _under_way = UnderWay(&far);
        panic!("in a collective");
    }));
    assert!(left.is_err());
    assert_eq!(transport.quiets.load(Ordering::Relaxed), 2);
}

/// In a process of its own, which does not survive it.
#[test]
#[cfg(not(miri))]
fn what_cannot_be_completed_ends_the_process() {
    const NAME: &str = "collective::stream::tests::what_cannot_be_completed_ends_the_process";
    const CHILD: &str = "STREAM_TEST_CHILD";
    if let Some(how) = std::env::var_os(CHILD) {
        let (far, transport) = far();
        transport.fails.store(true, Ordering::Relaxed);
        // Caught by nobody, whoever would.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _under_way = UnderWay(&far);
            assert!(how != "unwinds", "in a collective");
        }));
        return;
    }
    for how in ["returns", "unwinds"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", NAME, "--nocapture"]).env(CHILD, how).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(6), "{how}: {err}");
        let told = "the transfers of a collective could not be completed";
        // A panic while another one unwinds ends the process as well, and says so itself.
        assert!(
            err.contains(told) || how == "unwinds" && err.contains("the network is gone"),
            "{how}: {err}"
        );
    }
}
