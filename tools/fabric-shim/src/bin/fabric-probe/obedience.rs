//! What an obedient user does, and what it is told.

use core::ffi::c_void;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Addresses, Domain, Endpoint, Hints, Library, Refused, Reports};

use crate::memory::{ANY_USE, Memory};
use crate::pair::{Pair, Transfer, asked, context};

/// What calls of atomics that the shim refuses answer.
const NOT_THERE: isize = -(FI_ENOSYS.cast_signed() as isize);

/// Puts, gets, sends and, where there are some, atomics.
pub(crate) fn everything(library: &'static Library) {
    let pair = Pair::open(library);
    for round in 0..8 {
        pair.local.store(round, 100 + round as u64);
        let transfer = pair.transfer(round, round + 8);
        pair.put(&transfer);
        assert_eq!(pair.wait(), transfer.context);
        assert_eq!(pair.target.load(round + 8), 100 + round as u64);
        let transfer = pair.transfer(round + 64, round + 8);
        pair.get(&transfer);
        assert_eq!(pair.wait(), transfer.context);
        assert_eq!(pair.local.load(round + 64), 100 + round as u64);
    }
    send(&pair);
    if atomics(&pair) == 0 {
        pair.target.store(0, 40);
        for before in 40..44 {
            add(&pair, 1);
            pair.wait();
            assert_eq!(pair.local.load(1), before);
        }
    }
}

/// Puts whose source is free at once complete as others do.
pub(crate) fn inject(library: &'static Library) {
    let pair = Pair::open(library);
    for round in 0..64 {
        pair.local.store(0, round);
        let mut transfer = pair.transfer(0, 0);
        transfer.flags = FI_INJECT | FI_COMPLETION;
        pair.put(&transfer);
        pair.local.store(0, u64::MAX);
        assert_eq!(pair.wait(), transfer.context);
        assert_eq!(pair.target.load(0), round);
    }
}

/// One message from the first to the second.
fn send(pair: &Pair) {
    pair.local.store(20, 2020);
    let receive = context().get().cast::<c_void>();
    let (buffer, descriptor) = (pair.target.at(21).cast::<u8>(), pair.target.descriptor());
    // SAFETY: neither the buffer nor the context is ever freed.
    pair.start("receive", || unsafe { pair.second.poster().recv((buffer, 8), descriptor, receive) });
    let transfer = pair.transfer(20, 0);
    let mut descriptors = transfer.descriptors.clone();
    let message = fi_msg {
        msg_iov: transfer.local.as_ptr(),
        desc: descriptors.as_mut_ptr(),
        iov_count: 1,
        addr: transfer.peer,
        context: transfer.context,
        data: 0,
    };
    // SAFETY: neither the buffer nor the context is ever freed.
    pair.start("send", || unsafe { pair.first.poster().sendmsg(&message, 0) });
    let completed = [pair.wait(), pair.wait()];
    assert!(completed.contains(&receive) && completed.contains(&transfer.context));
    assert_eq!(pair.target.load(21), 2020);
}

/// What the endpoint answers to the question whether it can add and fetch.
fn atomics(pair: &Pair) -> i32 {
    pair.first.has_fetch_atomic(FI_UINT64, FI_SUM)
}

/// Tries once to add to the first word of the target; what was there goes to the local word 1.
pub(crate) fn try_add(pair: &Pair, transfer: &Transfer, value: u64) -> isize {
    pair.local.store(0, value);
    let mut descriptors = [pair.local.descriptor(); 2];
    let [operand, result] = descriptors.each_mut();
    let local = fi_ioc { addr: pair.local.at(0).cast(), count: 1 };
    let mut before = fi_ioc { addr: pair.local.at(1).cast(), count: 1 };
    let remote = fi_rma_ioc { addr: transfer.remote[0].addr, count: 1, key: transfer.remote[0].key };
    let message = fi_msg_atomic {
        msg_iov: &raw const local,
        desc: operand,
        iov_count: 1,
        addr: transfer.peer,
        rma_iov: &raw const remote,
        rma_iov_count: 1,
        datatype: FI_UINT64,
        op: FI_SUM,
        context: transfer.context,
        data: 0,
    };
    let flags = transfer.flags.into();
    // SAFETY: neither buffers nor contexts are ever freed; what a step does wrong, the shim refuses.
    unsafe { pair.first.poster().fetch_atomicmsg(&message, (&mut before, result), flags) }
}

/// Adds to the first word of the target.
fn add(pair: &Pair, value: u64) {
    let transfer = pair.transfer(0, 0);
    pair.start("add", || try_add(pair, &transfer, value));
}

/// Who accepts nothing is offered nothing.
pub(crate) fn refuse(library: &'static Library) {
    let asked = Hints { mode: 0, registration: 0, ..asked(true) };
    assert_eq!(code(library.offers(&asked)), FI_ENODATA.cast_signed());
}

/// Why a call was refused; 0: it was not.
fn code<T>(answer: Result<T, Refused>) -> i32 {
    answer.err().map_or(0, |refused| refused.code)
}

/// There are no atomics, and the endpoint says so.
pub(crate) fn try_atomics(library: &'static Library) {
    assert!(library.offers(&asked(true)).is_err());
    assert_eq!(atomics(&Pair::open(library)), -FI_EOPNOTSUPP.cast_signed());
}

/// Calls atomics, whatever the endpoint says: they are not there.
pub(crate) fn call_atomics(library: &'static Library) {
    let pair = Pair::open(library);
    let transfer = pair.transfer(0, 0);
    assert_eq!(try_add(&pair, &transfer, 1), NOT_THERE);
    assert_eq!(atomics(&pair), 0, "they are advertised");
}

/// Adds 64 times; gives what came out.
fn added(library: &'static Library) -> u64 {
    let pair = Pair::open(library);
    for _ in 0..64 {
        add(&pair, 1);
        pair.wait();
    }
    pair.target.load(0)
}

/// No update gets lost.
pub(crate) fn count_atomics(library: &'static Library) {
    assert_eq!(added(library), 64);
}

/// Some updates get lost.
pub(crate) fn lose_atomics(library: &'static Library) {
    assert_eq!(added(library), 60);
}

/// A third registration fails, until another one has gone.
pub(crate) fn few_registrations(library: &'static Library) {
    let pair = Pair::open(library);
    let third = || Memory::register(pair.addresses.domain(), 3, ANY_USE);
    assert_eq!(third().map(|_| ()), Err(FI_ENOMEM.cast_signed()));
    drop(pair.local);
    assert!(third().is_ok());
}

/// As many endpoints as there may be.
pub(crate) fn three_endpoints(library: &'static Library) {
    let pair = Pair::open(library);
    for _ in 0..2 {
        drop(pair.endpoint());
    }
}

/// Two endpoints find their ports taken, the third one does not.
pub(crate) fn taken_ports(library: &'static Library) {
    let offers = library.offers(&asked(true)).expect("the fabric has something to offer");
    let domain = Domain::open(offers.first()).expect("a domain");
    let addresses = Addresses::open(&domain, 0).expect("a table of addresses");
    let open = || Endpoint::open(&addresses, 16, false, Reports::All);
    for _ in 0..2 {
        assert_eq!(code(open()), FI_EADDRINUSE.cast_signed());
    }
    assert!(open().is_ok());
}

/// A queue that can be slept on is refused, one that cannot is there.
pub(crate) fn no_sleep(library: &'static Library) {
    let pair = Pair::open(library);
    let sleepy = Endpoint::open(&pair.addresses, 16, true, Reports::All);
    assert_eq!(code(sleepy), FI_ENOSYS.cast_signed());
}
