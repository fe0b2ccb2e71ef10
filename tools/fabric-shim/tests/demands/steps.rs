//! The steps of the user: violations of demands, and checks of what hardware may do.

use core::ptr::{null_mut, without_provenance_mut};

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Addresses, Domain, Endpoint, Hints, Library, Refused, Registration};

use crate::pair::{AGAIN, ANY_USE, Memory, Pair, Transfer, address_of, asked};

const BATCH: usize = 16;

pub(crate) fn run(step: &str, library: &'static Library) {
    let pair = || Pair::open(library);
    // One put in which something is changed.
    let put = |change: &dyn Fn(&Pair, &mut Transfer)| put(&pair(), change);
    // One from, or to, other memory than that of the pair.
    let from = |memory: &Memory, put: &mut Transfer| {
        put.local[0].iov_base = memory.at(0).cast();
        put.descriptors[0] = memory.registration.description();
    };
    match step {
        "own key" => put(&|_, put| put.remote[0].key = 2),
        "large key" => assert_eq!(pair().another(1 << 40, ANY_USE).registration.key(), 1 << 40),
        // Memory that is enabled before it is bound, or never; to which something is put, or from which.
        "unbound" => pair().another(3, ANY_USE).registration.enable().expect("it is enabled"),
        "not enabled" => put(&|pair, put| put.remote[0].key = pair.another(3, ANY_USE).registration.key()),
        "local not enabled" => put(&|pair, put| from(pair.another(3, ANY_USE), put)),
        // Memory that is bound to one endpoint, used through another one, which is open for as long as the program runs.
        "other endpoint" => put(&|pair, put| put.peer = address_of(Box::leak(Box::new(pair.endpoint())))),
        "no descriptor" => put(&|_, put| put.descriptors.clear()),
        "other descriptor" => put(&|pair, put| put.descriptors[0] = pair.target.registration.description()),
        "wrong access" => put(&|pair, put| from(pair.another(3, FI_REMOTE_WRITE), put)),
        "offset" => put(&|_, put| put.remote[0].addr = 8),
        "unmapped" => {
            // SAFETY: nobody ever uses its key or its description.
            unsafe {
                Registration::new(pair().domain(), (without_provenance_mut(1 << 30), 1 << 20), ANY_USE, 3)
            }
            .expect("memory");
        }
        "no context" => put(&|_, put| put.context = null_mut()),
        "context twice" => put(&|pair, put| pair.put(put)),
        "context written" => written(&pair()),
        "too much" => too_much(&pair()),
        "delivered fetch" => pair().add(FI_DELIVERY_COMPLETE),
        "four endpoints" => {
            let pair = pair();
            let _third = pair.endpoint();
            pair.endpoint();
        }
        // Repeats a call without ever reading the queue.
        "impatience" => {
            let pair = pair();
            let transfer = pair.transfer(0, 0);
            while pair.try_put(&transfer) == AGAIN {}
        }
        // More puts than the queue has room for, where nobody guards it.
        "overrun" => {
            let pair = Pair::of(library, &[Hints { resources: FI_RM_UNSPEC, ..asked(true) }], 4);
            (0..5).for_each(|_| pair.put(&pair.transfer(0, 0)));
            (0..5).for_each(|_| _ = pair.wait());
        }
        "refuse" => {
            let asked = Hints { mode: 0, registration: 0, ..asked(true) };
            let refused = library.offers(&asked).err().map(|refused| refused.code);
            assert_eq!(refused, Some(FI_ENODATA.cast_signed()));
        }
        "call atomics" => {
            let pair = pair();
            assert_eq!(pair.try_add(0), -(FI_ENOSYS.cast_signed() as isize));
        }
        "lose atomics" => {
            let pair = pair();
            (0..64).for_each(|_| pair.add(0));
            assert_eq!(pair.target.load(0), 60);
        }
        // A third registration fails, until another one has gone.
        "few registrations" => {
            let pair = pair();
            let third = || Memory::register(pair.addresses.domain(), 3, ANY_USE);
            assert_eq!(third().map(|_| ()), Err(FI_ENOMEM.cast_signed()));
            drop(pair.local);
            assert!(third().is_ok());
        }
        // Two endpoints find their ports taken, the third one does not.
        "taken ports" => {
            let offers = library.offers(&asked(true)).expect("the fabric has something to offer");
            let domain = Domain::open(offers.first()).expect("a domain");
            let addresses = Addresses::open(&domain, 0).expect("a table of addresses");
            let open = || code(Endpoint::open(&addresses, 16, false));
            let taken = FI_EADDRINUSE.cast_signed();
            assert_eq!([open(), open(), open()], [taken, taken, 0]);
        }
        // A queue that can be slept on is refused, one that cannot is there.
        "no sleep" => {
            let sleepy = Endpoint::open(&pair().addresses, 16, true);
            assert_eq!(code(sleepy), FI_ENOSYS.cast_signed());
        }
        "fail first" => fail_first(&pair()),
        "reorder" => reorder(&pair()),
        "fill" => fill(&pair()),
        other => panic!("there is no step {other}"),
    }
}

fn put(pair: &Pair, change: &dyn Fn(&Pair, &mut Transfer)) {
    pair.local.store(0, 4711);
    let mut transfer = pair.transfer(0, 0);
    change(pair, &mut transfer);
    pair.put(&transfer);
    pair.wait();
}

/// The error number of a refused call, or 0.
fn code<T>(answer: Result<T, Refused>) -> i32 {
    answer.err().map_or(0, |refused| refused.code)
}

/// The user writes to a context while the operation is in flight.
fn written(pair: &Pair) {
    let transfer = pair.transfer(0, 0);
    pair.put(&transfer);
    // SAFETY: a word that nobody reads at this moment: the program has one thread, and the provider is not called.
    unsafe { transfer.context.cast::<u64>().write(7) };
    pair.wait();
}

/// Violates each limit in turn.
fn too_much(pair: &Pair) {
    let entry = pair.domain().entry();
    let (limits, longest) = (entry.transmit(), entry.endpoint().max_msg_size);
    if limits.iov_limit < 4 {
        put(pair, &|_, put| {
            let (start, parts) = (put.local[0].iov_base, limits.iov_limit + 1);
            let part = |index: usize| iovec { iov_base: start.wrapping_byte_add(index), iov_len: 1 };
            put.local = (0..parts).map(part).collect();
            put.descriptors = vec![put.descriptors[0]; parts];
            put.remote[0].len = parts;
        });
    }
    if limits.rma_iov_limit < 4 {
        put(pair, &|_, put| {
            let (fi_rma_iov { addr, key, .. }, parts) = (put.remote[0], limits.rma_iov_limit + 1);
            put.remote = (0..parts).map(|at| fi_rma_iov { addr: addr + at as u64, len: 1, key }).collect();
            put.local[0].iov_len = parts;
        });
    }
    if limits.inject_size < 8 {
        put(pair, &|_, put| put.flags = FI_INJECT);
    }
    if longest < 4096 {
        put(pair, &|_, put| (put.local[0].iov_len, put.remote[0].len) = (longest + 1, longest + 1));
    }
}

/// A call fails three times, then succeeds.
fn fail_first(pair: &Pair) {
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

/// Completions are reordered, and so are the puts.
fn reorder(pair: &Pair) {
    // Puts a batch of numbers to one word. Returns the order of completions, and the last value of the word.
    let batch = || -> (Vec<usize>, u64) {
        let start = |number| {
            pair.local.store(number, number as u64);
            let put = pair.transfer(number, 0);
            pair.put(&put);
            put.context
        };
        let puts: Vec<_> = (0..BATCH).map(start).collect();
        let place = |context| puts.iter().position(|put| *put == context).expect("one of the batch");
        let order = puts.iter().map(|_| place(pair.wait())).collect();
        (order, pair.target.load(0))
    };
    let batches: Vec<_> = (0..16).map(|_| batch()).collect();
    assert!(batches.iter().any(|(order, _)| !order.is_sorted()), "completions are in order");
    assert!(batches.iter().any(|(_, last)| *last != BATCH as u64 - 1), "puts are in order");
    for (mut order, _) in batches {
        order.sort_unstable();
        assert!(order.into_iter().eq(0..BATCH), "each completes once");
    }
}

/// The queue accepts as many puts as it has entries, and more after a completion.
fn fill(pair: &Pair) {
    pair.put(&pair.transfer(0, 0));
    pair.wait();
    let put = || pair.try_put(&pair.transfer(0, 0));
    assert_eq!([(); 6].map(|()| put()), [0, 0, 0, 0, AGAIN, AGAIN]);
    pair.wait();
    assert_eq!(put(), 0);
    (0..4).for_each(|_| _ = pair.wait());
}
