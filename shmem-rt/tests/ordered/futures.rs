//! Transfers with owned buffers as futures.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use shmem::prelude::*;

const N: usize = 500;

#[symmetric]
static ROW: [u64; N];
#[symmetric]
static NEWS: Atomic<u64>;

/// Records whether the executor was woken.
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A minimal executor, which polls only when it is woken. Returns the output and the number of polls.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let bell = Arc::new(Bell(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&bell));
    let (mut future, mut polls) = (pin!(future), 0);
    loop {
        assert!(bell.0.swap(false, Ordering::Relaxed), "nobody would wake it: it would sleep for ever");
        polls += 1;
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (result, polls);
        }
    }
}

/// Writes a row on the next PE, sets a signal there, and reads the row back. Reads this PE's own row, too.
async fn exchange(world: &World, round: u64) {
    let (west, east) = world.ring_neighbours();
    let value = |pe: Pe| round * 100 + pe.number() as u64;
    let mut source = Vec::with_capacity(2 * N);
    source.resize(N, value(world.me()));
    let at = source.as_ptr();
    let pending = world.put_owned(ROW.on(east).index(..), source);
    while round.is_multiple_of(2) && !pending.is_complete() {
        assert!(world.node_team().size() < world.n_pes(), "on the node it is complete at once");
    }
    let source = pending.await;
    assert_eq!((&source[..], source.capacity(), source.as_ptr()), (&[value(world.me()); N][..], 2 * N, at));
    // No fence is needed, because the put is complete.
    world.set(NEWS.on(east), round);
    NEWS.wait_until(world, eq(round));
    let (mine, theirs) = (ROW.on(world.me()).index(..), ROW.on(east).index(..));
    let mut both =
        (world.get_owned(vec![0; N], mine), world.get_owned(vec![0; N].into_boxed_slice(), theirs));
    let (mine, theirs) = ((&mut both.0).await, (&mut both.1).await);
    assert_eq!((&mine[..], &theirs[..]), (&[value(west); N][..], &[value(world.me()); N][..]));
    world.barrier_all();
}

#[shmem::test(pes = 3)]
fn transfers_are_awaited_by_the_least_of_executors(world: &mut World) {
    for round in 1..=50 {
        let ((), polls) = block_on(exchange(world, round));
        // On one node, transfers complete at once.
        assert!(polls == 1 || world.node_team().size() < world.n_pes(), "{polls} polls");
    }
}
