//! When calls are accepted, and in which order things happen.

use core::ffi::c_int;

use shmem_core::libfabric::Library;
use shmem_core::loader::Loaded;

use crate::pair::{AGAIN, Pair};

/// Puts in flight at a time.
const BATCH: usize = 16;

/// A call fails three times, and then does not.
pub(crate) fn fail_first(library: &'static Library) {
    let pair = Pair::open(library);
    // Connects the two, which may fail as well.
    pair.put(&pair.transfer(0, 0));
    pair.wait();
    for _ in 0..4 {
        let transfer = pair.transfer(0, 0);
        let answers = [(); 4].map(|()| {
            let answer = pair.try_put(&transfer);
            assert_eq!(pair.poll(), None);
            answer
        });
        assert_eq!(answers, [AGAIN, AGAIN, AGAIN, 0]);
        assert_eq!(pair.wait(), transfer.context);
    }
}

/// Repeats a call without ever reading the queue.
pub(crate) fn impatience(library: &'static Library) {
    let pair = Pair::open(library);
    let transfer = pair.transfer(0, 0);
    while pair.try_put(&transfer) == AGAIN {}
}

/// The switch of the shim that completes writes at once.
fn switch() -> extern "C" fn(c_int) {
    let library = std::env::args().nth(1).expect("the library is the first argument");
    // SAFETY: it is loaded: what its initialisers do is done.
    let library = unsafe { Loaded::open(&library) }.expect("a library that is loaded");
    // SAFETY: the one function of that name is the shim's, and has this type.
    unsafe { library.function(c"fabric_shim_at_once", None) }.expect("the shim has a switch")
}

/// A write is complete before the call returns, and reaches nobody; the next one is what it always is.
pub(crate) fn at_once(library: &'static Library) {
    let (pair, switch) = (Pair::open(library), switch());
    let put = |number| {
        pair.local.store(0, number);
        let put = pair.transfer(0, 0);
        pair.put(&put);
        put.context
    };
    assert_eq!((put(1), 1), (pair.wait(), pair.target.load(0)));
    switch(1);
    let contexts = [2, 3].map(put);
    assert_eq!([pair.poll(), pair.poll(), pair.poll()], [Some(contexts[0]), Some(contexts[1]), None]);
    switch(0);
    assert_eq!(pair.target.load(0), 1, "it went nowhere");
    assert_eq!((put(4), 4), (pair.wait(), pair.target.load(0)));
}

/// Puts a batch of numbers to one word; gives the order of completions, and what is there in the end.
fn batch(pair: &Pair) -> (Vec<usize>, u64) {
    let puts: Vec<_> = (0..BATCH)
        .map(|number| {
            pair.local.store(number, number as u64);
            let put = pair.transfer(number, 0);
            pair.put(&put);
            put.context
        })
        .collect();
    let place = |context| puts.iter().position(|put| *put == context).expect("one of the batch");
    let order = puts.iter().map(|_| place(pair.wait())).collect();
    (order, pair.target.load(0))
}

/// Completions come in another order, and so do the puts themselves.
pub(crate) fn reorder(library: &'static Library) {
    let pair = Pair::open(library);
    let batches: Vec<_> = (0..16).map(|_| batch(&pair)).collect();
    assert!(batches.iter().any(|(order, _)| !order.is_sorted()), "completions are in order");
    assert!(batches.iter().any(|(_, last)| *last != BATCH as u64 - 1), "puts are in order");
    for (mut order, _) in batches {
        order.sort_unstable();
        assert!(order.into_iter().eq(0..BATCH), "each completes once");
    }
}

/// Nothing is reordered unless it is asked for.
pub(crate) fn in_order(library: &'static Library) {
    let pair = Pair::open(library);
    for _ in 0..16 {
        assert_eq!(batch(&pair), ((0..BATCH).collect(), BATCH as u64 - 1));
    }
}

/// As many puts as the queue has room for are accepted, and more once one has completed.
pub(crate) fn fill(library: &'static Library) {
    let pair = Pair::open(library);
    pair.put(&pair.transfer(0, 0));
    pair.wait();
    let put = || pair.try_put(&pair.transfer(0, 0));
    let answers: Vec<_> = (0..6).map(|_| put()).collect();
    assert_eq!(answers, [0, 0, 0, 0, AGAIN, AGAIN]);
    pair.wait();
    assert_eq!(put(), 0);
    (0..4).for_each(|_| _ = pair.wait());
}

/// More puts than the queue has room for, where nobody guards it.
pub(crate) fn overrun(library: &'static Library) {
    let pair = Pair::unmanaged(library, 4);
    for _ in 0..5 {
        pair.put(&pair.transfer(0, 0));
    }
    (0..5).for_each(|_| _ = pair.wait());
}
