//! What no provider of hardware forgives, one thing at a time. Without the demand, all of it passes.

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Library, Registration};

use crate::memory::{ANY_USE, Memory};
use crate::obedience::try_add;
use crate::pair::{Pair, Transfer, address_of, context};

/// Does one put in which something was changed.
fn put(library: &'static Library, change: impl FnOnce(&Pair, &mut Transfer)) {
    let pair = Pair::open(library);
    pair.local.store(0, 4711);
    let mut transfer = pair.transfer(0, 0);
    change(&pair, &mut transfer);
    pair.put(&transfer);
    pair.wait();
}

/// More memory, registered for as long as the probe runs.
fn another(pair: &Pair, access: u32) -> &'static Memory {
    Box::leak(Box::new(Memory::register(pair.domain(), 3, access).expect("memory")))
}

/// The key that the user asked for.
pub(crate) fn own_key(library: &'static Library) {
    put(library, |_, put| put.remote[0].key = 2);
}

/// A key that needs more than four bytes.
pub(crate) fn large_key(library: &'static Library) {
    let pair = Pair::open(library);
    let memory = Memory::register(pair.domain(), 1 << 40, ANY_USE).expect("memory");
    assert_eq!(memory.key(), 1 << 40);
}

/// Memory that is enabled before it is bound.
pub(crate) fn unbound(library: &'static Library) {
    let pair = Pair::open(library);
    Memory::register(pair.domain(), 3, ANY_USE).expect("memory").enable();
}

/// Memory that is registered, and never bound or enabled.
pub(crate) fn not_enabled(library: &'static Library) {
    put(library, |pair, put| {
        let memory = another(pair, ANY_USE);
        put.remote[0].key = memory.key();
    });
}

/// Local memory that is not enabled.
pub(crate) fn bound_early(library: &'static Library) {
    put(library, |pair, put| {
        let memory = another(pair, ANY_USE);
        put.local[0].iov_base = memory.at(0).cast();
        put.descriptors[0] = memory.descriptor();
    });
}

/// Memory that is bound to one endpoint, used through another one.
pub(crate) fn other_endpoint(library: &'static Library) {
    put(library, |pair, put| {
        let other = pair.endpoint();
        put.peer = address_of(&other);
        // Open for as long as the probe runs.
        core::mem::forget(other);
    });
}

/// A local buffer without a descriptor.
pub(crate) fn no_descriptor(library: &'static Library) {
    put(library, |_, put| put.descriptors.clear());
}

/// A local buffer with the descriptor of other memory.
pub(crate) fn other_descriptor(library: &'static Library) {
    put(library, |pair, put| put.descriptors[0] = pair.target.descriptor());
}

/// A local buffer that was not registered for this.
pub(crate) fn wrong_access(library: &'static Library) {
    put(library, |pair, put| {
        let memory = another(pair, FI_REMOTE_WRITE);
        put.local[0].iov_base = memory.at(0).cast();
        put.descriptors[0] = memory.descriptor();
    });
}

/// An offset, where the target's address is asked for.
pub(crate) fn offset(library: &'static Library) {
    put(library, |_, put| put.remote[0].addr = 8);
}

/// Registers memory that is not there.
pub(crate) fn unmapped(library: &'static Library) {
    let pair = Pair::open(library);
    let nowhere = core::ptr::without_provenance_mut(1 << 30);
    // SAFETY: nobody ever uses its key or its description.
    unsafe { Registration::new(pair.domain(), (nowhere, 1 << 20), ANY_USE, 3) }.expect("memory");
}

/// An operation without a context.
pub(crate) fn no_context(library: &'static Library) {
    put(library, |_, put| put.context = core::ptr::null_mut());
}

/// Two operations with one context.
pub(crate) fn context_twice(library: &'static Library) {
    put(library, |pair, put| pair.put(put));
}

/// A context that its user writes to while the operation is in flight.
pub(crate) fn context_written(library: &'static Library) {
    let pair = Pair::open(library);
    let context = context();
    let mut transfer = pair.transfer(0, 0);
    transfer.context = context.get().cast();
    pair.put(&transfer);
    // SAFETY: a word that nobody reads at this moment: the probe has one thread, and the provider is not called.
    unsafe { context.get().cast::<u64>().write(7) };
    pair.wait();
}

/// More than each limit allows, one after the other.
pub(crate) fn too_much(library: &'static Library) {
    let limits = *Pair::open(library).limits();
    let longest = Pair::open(library).longest();
    let split = |parts: usize| {
        move |put: &mut Transfer| {
            let start = put.local[0].iov_base;
            let part = |index: usize| iovec { iov_base: start.wrapping_byte_add(index), iov_len: 1 };
            put.local = (0..parts).map(part).collect();
            put.descriptors = vec![put.descriptors[0]; parts];
            put.remote[0].len = parts;
        }
    };
    if limits.iov_limit < 4 {
        put(library, |_, put| split(limits.iov_limit + 1)(put));
    }
    if limits.rma_iov_limit < 4 {
        put(library, |_, put| {
            let parts = limits.rma_iov_limit + 1;
            let fi_rma_iov { addr, key, .. } = put.remote[0];
            put.remote = (0..parts).map(|at| fi_rma_iov { addr: addr + at as u64, len: 1, key }).collect();
            put.local[0].iov_len = parts;
        });
    }
    if limits.inject_size < 8 {
        put(library, |_, put| put.flags = FI_INJECT);
    }
    if longest < 4096 {
        put(library, |_, put| {
            put.local[0].iov_len = longest + 1;
            put.remote[0].len = longest + 1;
        });
    }
}

/// An atomic that fetches, and asks for delivery.
pub(crate) fn fetch_delivered(library: &'static Library) {
    let pair = Pair::open(library);
    let mut transfer = pair.transfer(0, 0);
    transfer.flags = FI_DELIVERY_COMPLETE;
    pair.start("add", || try_add(&pair, &transfer, 1));
    pair.wait();
}

/// One endpoint more than there may be.
pub(crate) fn four_endpoints(library: &'static Library) {
    let pair = Pair::open(library);
    let _third = pair.endpoint();
    pair.endpoint();
}
