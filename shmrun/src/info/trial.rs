//! Trials of shared memory and of a provider, by a PE that is alone.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use shmem_core::memory::{Arena, Machine, MemoryError, SlotLayout};
use shmem_core::pe::Pe;
use shmem_core::process_exit;
use shmem_core::segment::SYSTEM;
use shmem_core::system_area::SystemArea;
use shmem_core::topology::Topology;
use shmem_core::transport::ofi::{AddressTable, Ofi, OfiError, Options, Secret};
use shmem_core::transport::{AtomicOp, Lane, Remote, Tracking, Transport as _, Until, Width};

/// Tries the provider and the interface of the options: a put, an addition and a get of the PE to itself.
///
/// A failure inside an operation ends the process with a message.
///
/// # Safety
///
/// The library that the options name must be libfabric.
pub(crate) unsafe fn try_alone(options: &Options) -> Result<(), String> {
    let on_failure = |message: String| -> Infallible { process_exit::end(1, || println!("{message}")) };
    let refused = |error: OfiError| error.to_string();
    let (arena, bytes) = alone().map_err(|error| error.to_string())?;
    let place = arena.start_of(0);
    let secret = Secret::throw().map_err(|error| error.to_string())?;
    // SAFETY: the caller's promise.
    let ofi = unsafe { Ofi::open(options, 0, 1, secret, Box::new(on_failure)) }.map_err(refused)?;
    // SAFETY: nobody but this function knows of the PE, and nothing is issued to it but below.
    let me = unsafe { Pe::new(0, Pe::OFF_NODE) };
    // SAFETY: the slot is mapped until the arena is dropped, and forgotten before.
    let key = unsafe { ofi.register(SYSTEM, place, 0, bytes) }?;
    // SAFETY: `register` just gave this key.
    unsafe { ofi.learn(SYSTEM, me, &key) };
    let own = ofi.address().map_err(refused)?;
    let address = ofi.address_in(me, &own, &own).map_err(refused)?.to_vec();
    let each = address.len();
    // SAFETY: the only address is that which the provider gave for this very PE.
    unsafe { ofi.connect(AddressTable::new(Box::new(address), each)) }.map_err(refused)?;
    ofi.trust_atomics();
    let channel = ofi.open(Lane { unit: 0, shared: false, tracking: Tracking::Counter, patient: false })?;
    // After the runtime's words.
    let offset = size_of::<SystemArea>();
    let (word, sent) = (Remote { pe: me, segment: SYSTEM, offset }, 40_u64.to_ne_bytes());
    // SAFETY: eight bytes are readable, and the registered words have eight at the offset.
    unsafe { ofi.put(channel, word, sent.as_ptr(), sent.len(), Until::Return) };
    ofi.quiet(channel);
    // SAFETY: an aligned word of the registered ones.
    let before = unsafe { ofi.atomic(channel, word, Width::W8, AtomicOp::Add(2)) };
    let mut read = [0; 8];
    // SAFETY: eight bytes are writable, and the registered words have eight at the offset.
    unsafe { ofi.get(channel, read.as_mut_ptr(), word, read.len(), Until::Return) };
    // SAFETY: an aligned word of the slot, which only the transport has changed.
    let there = unsafe { AtomicU64::from_ptr(place.wrapping_add(offset).cast()) }.load(Ordering::Acquire);
    let found = (before, u64::from_ne_bytes(read), there);
    // SAFETY: nothing is under way: each operation above was waited for.
    unsafe { ofi.close(channel) };
    // SAFETY: nothing is under way: each operation above was waited for; there is no other PE.
    unsafe { ofi.finish() };
    // SAFETY: there is no other PE, and no segment is in use.
    unsafe { ofi.forget(SYSTEM) };
    match found {
        (40, 42, 42) => Ok(()),
        found => Err(format!("40 was put, 2 was added, and 40, 42, 42 should be found: {found:?}")),
    }
}

/// The memory of a PE without partitions, and its bytes.
pub(crate) fn alone() -> Result<(Arena, usize), MemoryError> {
    let layout = SlotLayout::new(&[], 0, 0, &Topology::default())?;
    let (arena, bytes) = (Arena::reserve(0, layout.clone(), 1, 1, Machine::default())?, layout.bytes());
    arena.create(0, &BTreeMap::new())?;
    Ok((arena, bytes))
}
