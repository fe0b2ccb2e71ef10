//! What goes on is asked of the transport by the operations that may, until quiet; and what happens when it
//! cannot be completed.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

use super::*;
use crate::endpoint::RemotePath;
use crate::exclusion::Mutex;
#[cfg(not(miri))]
use crate::fixture::aborts;
use crate::strided::Pattern;
use crate::transport::{AtomicOp, Channel, ChannelOptions, Remote, Transport, Until, Width};

/// A transport that writes down what it is asked for, and moves nothing.
#[derive(Default)]
struct Written {
    calls: Mutex<Vec<String>>,
    fails: AtomicBool,
    is_over: AtomicBool,
}

impl Written {
    fn note(&self, call: &str, pe: Pe, bytes: usize) {
        self.calls.lock().push(format!("{call} {pe} {bytes}"));
    }
}

// SAFETY: it touches no memory, and nobody enters an exclusive phase.
unsafe impl Transport for Written {
    fn name(&self) -> &'static str {
        "written"
    }

    fn open(&self, _: ChannelOptions) -> Result<Channel, String> {
        Ok(Channel(0))
    }

    unsafe fn put(&self, _: Channel, to: Remote, _: *const u8, bytes: usize, until: Until) {
        self.note(&named("put", until), to.pe, bytes);
    }

    unsafe fn get(&self, _: Channel, _: *mut u8, from: Remote, bytes: usize, until: Until) {
        self.note(&named("get", until), from.pe, bytes);
    }

    unsafe fn atomic(&self, _: Channel, word: Remote, width: Width, _: AtomicOp) -> u64 {
        self.note("atomic", word.pe, width.bytes());
        77
    }

    unsafe fn atomic_update(&self, _: Channel, word: Remote, width: Width, _: AtomicOp) {
        self.note("atomic_update", word.pe, width.bytes());
    }

    unsafe fn put_strided(&self, _: Channel, to: Remote, _: *const u8, pattern: &Pattern, until: Until) {
        self.note(&named("put_strided", until), to.pe, pattern.bytes());
    }

    unsafe fn get_strided(&self, _: Channel, _: *mut u8, from: Remote, pattern: &Pattern, until: Until) {
        self.note(&named("get_strided", until), from.pe, pattern.bytes());
    }

    fn fence(&self, _: Channel) {
        self.calls.lock().push("fence".into());
    }

    fn quiet(&self, _: Channel) {
        assert!(!self.fails.load(Ordering::Relaxed), "the network is gone");
        self.calls.lock().push("quiet".into());
    }

    fn is_quiet(&self, _: Channel) -> bool {
        self.calls.lock().push("is_quiet".into());
        self.is_over.load(Ordering::Relaxed)
    }

    fn progress(&self) {}
}

/// An operation, and that it goes on, if it may.
fn named(operation: &str, until: Until) -> String {
    match until {
        Until::Return => operation.into(),
        Until::Quiet => format!("{operation}_nbi"),
    }
}

type Job = Token<Arc<Written>>;

fn job() -> Job {
    let (slots, transport) = (Slots::new(1, HEAP), Arc::<Written>::default());
    let segments = Segments::new(slots.stride(), 21);
    let far = RemotePath { transport: Arc::clone(&transport) as Arc<dyn Transport>, channel: Channel(3) };
    Token::over(slots, pe(0), Some(far), segments, transport)
}

impl Job {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.more.calls.lock())
    }
}

fn elsewhere() -> Pe {
    // SAFETY: the transport moves nothing.
    unsafe { Pe::new(1, Pe::OFF_NODE) }
}

#[test]
fn each_operation_asks_for_its_like() {
    let token = job();
    let (row, count, arrived) =
        (boxed::<[u32]>(0, 16), boxed::<Atomic<u32>>(512, 1), boxed::<Signal>(576, 1));
    let to = row.on(elsewhere());
    let (source, mut into, mut before) = ([1; 16], [0; 8], 5);
    token.scope(|s| {
        s.put(to, &source[..]);
        s.put(to.index(2), &source[2]);
        s.get(&mut into[..], to.index(..8));
        s.fetch_add(&mut before, count.on(elsewhere()), 1);
        token.fence();
        s.put_signal(to.index(..2), &source[..2], arrived.on(elsewhere()), SignalOp::Set(1));
        s.put_signal(to.index(..0), &[], arrived.on(elsewhere()), SignalOp::Set(1));
        token.quiet_pe(elsewhere());
    });
    // A value is taken by value. Where the transport has no atomic that goes on, it is the one that does not.
    assert_eq!(
        token.taken(),
        [
            "put_nbi 1 64",
            "put 1 4",
            "get_nbi 1 32",
            "atomic 1 4",
            "fence",
            "put_nbi 1 8",
            "fence",
            "atomic_update 1 8",
            "atomic_update 1 8",
            "quiet",
            "quiet",
        ]
    );
    assert_eq!(before, 77);
    token.put_from(to, row.here(&token));
    token.get_into(row.here(&token), to);
    token.put_signal(to, &source[..], arrived.on(elsewhere()), SignalOp::Add(1));
    assert_eq!(token.taken(), ["put_nbi 1 64", "get_nbi 1 64", "put 1 64", "fence", "atomic_update 1 8"]);
}

#[test]
fn a_scope_of_an_observed_job_writes_what_was_there_before() {
    let token = pair().observed_by(Some(Arc::new(Silent)));
    let count = boxed::<Atomic<u32>>(0, 1);
    // SAFETY: every PE of this test is marked.
    let place = count.on(unsafe { pe(1).observed() });
    let mut before = 9;
    token.scope(|s| s.fetch_add(&mut before, place, 3));
    assert_eq!((before, token.fetch(place)), (0, 3));
}

#[test]
fn an_owned_buffer_is_given_back_behind_a_quiet() {
    let token = job();
    let row = boxed::<[u64]>(0, 4);
    let pending = token.get_owned(vec![1_u64; 4], row.on(elsewhere()));
    assert_eq!(token.taken(), ["get_nbi 1 32"]);
    assert_eq!(pending.wait(), [1; 4]);
    assert_eq!(token.taken(), ["quiet"]);
    drop(token.put_owned(row.on(elsewhere()), vec![2; 4].into_boxed_slice()));
    assert_eq!(token.taken(), ["put_nbi 1 32", "quiet"]);
}

/// A poll asks, and does not wait: it is the waker that is told to come again.
#[test]
fn a_transfer_that_is_polled_goes_on_until_its_stream_is_quiet() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let token = job();
    let row = boxed::<[u64]>(0, 4);
    let wakes = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = std::task::Context::from_waker(&waker);
    let mut pending = token.get_owned(vec![1_u64; 4], row.on(elsewhere()));
    for polls in 1..4 {
        assert!(!pending.is_complete());
        assert_eq!(Pin::new(&mut pending).poll(&mut context), Poll::Pending);
        assert_eq!(wakes.0.load(Ordering::Relaxed), polls);
    }
    assert!(!token.taken().contains(&"quiet".to_owned()));
    token.more.is_over.store(true, Ordering::Relaxed);
    assert!(pending.is_complete());
    assert_eq!(Pin::new(&mut pending).poll(&mut context), Poll::Ready(vec![1; 4]));
    assert_eq!(token.taken(), ["is_quiet", "quiet", "is_quiet", "quiet", "quiet"]);
    // The buffer is gone, and so is all that could be waited for.
    assert!(pending.is_complete());
    drop(pending);
    assert_eq!(token.taken(), [""; 0]);
}

#[test]
#[should_panic(expected = "has given its buffer back already")]
fn a_buffer_is_given_back_once() {
    let token = job();
    token.more.is_over.store(true, Ordering::Relaxed);
    let row = boxed::<[u64]>(0, 4);
    let mut pending = token.get_owned(vec![1_u64; 4], row.on(elsewhere()));
    assert!(Pin::new(&mut pending).poll(&mut std::task::Context::from_waker(Waker::noop())).is_ready());
    pending.wait();
}

/// Whoever writes there may go on, so the buffer is leaked.
#[test]
fn a_buffer_whose_transfer_cannot_be_completed_is_not_freed() {
    let token = job();
    let row = boxed::<[u64]>(0, 4);
    let pending = token.get_owned(vec![3_u64; 4], row.on(elsewhere()));
    token.more.fails.store(true, Ordering::Relaxed);
    refusal(|| drop(pending));
}

#[test]
fn a_scope_that_panics_is_quiet_all_the_same() {
    let token = job();
    let row = boxed::<[u64]>(0, 4);
    let source = [1; 4];
    refusal(|| {
        token.scope(|s| {
            s.put(row.on(elsewhere()), &source[..]);
            panic!("in a scope");
        })
    });
    assert_eq!(token.taken(), ["put_nbi 1 32", "quiet"]);
}

#[test]
#[cfg(not(miri))]
fn a_scope_that_cannot_be_completed_ends_the_process() {
    aborts("transfers could not be completed", || {
        let token = job();
        token.more.fails.store(true, Ordering::Relaxed);
        token.scope(|_| ());
    });
}
