//! Opens the fabric that connects PEs on different hosts, if the job needs it.
//!
//! PEs on one host share memory. PEs on other hosts are reached through the fabric. The launcher knows the host of each
//! PE. With `SHMEM_TRANSPORT=ofi`, every PE counts as alone on its host.

use std::convert::Infallible;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use shmem_core::memory::{Sealed, SlotLayout};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::transport::Transport as _;
use shmem_core::transport::ofi::{AddressTable, Ofi, Options, Secret};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec;
use shmem_launch::env::{Settings, TransportChoice};

use crate::error::{Error, ErrorKind, Result};

/// Returns whether each PE counts as alone on its host, so that all PEs communicate through the fabric.
pub(crate) fn keeps_apart(settings: &Settings) -> bool {
    settings.transport == TransportChoice::Ofi
}

/// Returns an error if `SHMEM_TRANSPORT=shm` is set for a job on several hosts.
pub(crate) fn check_hosts(settings: &Settings, bootstrap: &dyn Bootstrap) -> Result<()> {
    if settings.transport != TransportChoice::Shm || !spans_hosts(bootstrap) {
        return Ok(());
    }
    let text =
        "SHMEM_TRANSPORT=shm, and the PEs are on several hosts; set it to auto, or start all on one host";
    Err(ErrorKind::Start(text.to_owned()).into())
}

fn spans_hosts(bootstrap: &dyn Bootstrap) -> bool {
    let hosts = bootstrap.hosts();
    hosts.iter().any(|host| *host != hosts[0])
}

/// Opens the fabric, if the job is on several hosts. Other PEs cannot reach this PE before [`join`].
pub(crate) fn open(
    settings: &Settings,
    bootstrap: &Arc<dyn Bootstrap>,
    spins: bool,
) -> Result<Option<Arc<Ofi>>> {
    if !spans_hosts(bootstrap.as_ref()) {
        return Ok(None);
    }
    let (hosts, me) = (bootstrap.hosts(), bootstrap.number());
    let turn = hosts[..me].iter().filter(|host| **host == hosts[me]).count();
    let options = Options { spins, ..settings.fabric(turn) };
    let ending = Arc::clone(bootstrap);
    let on_failure = move |message: String| -> Infallible { ending.suspect(&message) };
    let secret = share_secret(bootstrap.as_ref())?;
    let (number, count) = (bootstrap.number(), bootstrap.count());
    // SAFETY: the libfabric is trusted, because only the user sets a PE's environment, which also names its other libraries.
    let ofi = unsafe { Ofi::open(&options, number, count, secret, Box::new(on_failure)) };
    Ok(Some(ofi?))
}

/// Returns the secret of the job: a random number that the first PE sends to the other PEs through the launcher.
fn share_secret(bootstrap: &dyn Bootstrap) -> Result<Secret> {
    let mine = if bootstrap.number() == 0 {
        Secret::throw().map_err(Error::launcher)?.bytes().to_vec()
    } else {
        Vec::new()
    };
    let said = bootstrap.gather_from(&[0], "secret", &mine).map_err(Error::launcher)?;
    let bytes = said.first().and_then(|said| said.as_slice().try_into().ok());
    let garbled = || Error::launcher("what PE 0 says of the job's secret is garbled");
    Ok(Secret::of_bytes(bytes.ok_or_else(garbled)?))
}

/// Exchanges keys and addresses with all PEs on other hosts, which can then be reached. Returns a description of the provider.
pub(crate) fn join(
    ofi: &Arc<Ofi>,
    bootstrap: &dyn Bootstrap,
    pes: &[Pe],
    layout: &SlotLayout,
    place: *mut u8,
) -> Result<String> {
    let own = ofi.address()?;
    let mut said = vec![own.clone()];
    let segments = layout.segments().list();
    let begun = Instant::now();
    for (index, segment) in &segments {
        // SAFETY: the segment is mapped in the slot, as the layout says, for as long as the job lives.
        let key = unsafe { ofi.register(*index, place, segment.start, segment.bytes) };
        said.push(key.map_err(|why| {
            let name = &segment.name;
            ErrorKind::Start(format!("segment `{name}` of symmetric memory cannot be registered: {why}"))
        })?);
    }
    let bytes: usize = segments.iter().map(|(_, segment)| segment.bytes).sum();
    let registered = format!(
        "{}, {} segments of together {} registered in {:.1} ms",
        ofi.describe(),
        segments.len(),
        show_size(bytes as u64),
        begun.elapsed().as_secs_f64() * 1e3
    );
    let said = bootstrap.exchange("fabric", &codec::encode(&said)).map_err(Error::launcher)?;
    let each = ofi.address_in(pes[bootstrap.number()], &own, &own)?.len();
    let mut addresses = vec![0; pes.len() * each];
    for (pe, said) in pes.iter().zip(&said).filter(|(pe, _)| pe.on_node().is_none()) {
        let garbled = || Error::launcher(format!("what PE {pe} says of its fabric is garbled"));
        let mut said: Vec<Vec<u8>> = codec::decode(said).map_err(|_| garbled())?;
        if said.len() != segments.len() + 1 {
            return Err(garbled());
        }
        let address = said.remove(0);
        let address = ofi.address_in(*pe, &address, &own)?;
        addresses[pe.number() * each..][..each].copy_from_slice(address);
        for ((index, _), key) in segments.iter().zip(&said) {
            // SAFETY: `register` returned this key on that PE. No token exists yet, so no operation uses it.
            unsafe { ofi.learn(*index, *pe, key) };
        }
    }
    let all = AddressTable::new(of_the_node(addresses, bootstrap, pes)?, each);
    // SAFETY: `address_in` has checked each address, on this PE or on the node's first PE, whose table equals this PE's.
    unsafe { ofi.connect(all) }?;
    // After the fence, every PE knows the address of each PE that sends to it. The provider udp;ofi_rxd fails without that.
    bootstrap.fence().map_err(Error::launcher)?;
    if try_atomics(ofi, bootstrap, pes, place)? {
        ofi.trust_atomics();
    }
    Ok(registered)
}

/// Replaces bytes that are equal on all PEs of a node by memory that its first PE shares. A PE alone on its node keeps its own.
fn of_the_node(
    own: Vec<u8>,
    bootstrap: &dyn Bootstrap,
    pes: &[Pe],
) -> Result<Box<dyn AsRef<[u8]> + Send + Sync>> {
    let near = || pes.iter().filter(|pe| pe.on_node().is_some());
    let (is_alone, first) = (near().nth(1).is_none(), near().next().map_or(0, |pe| pe.number()));
    let made = (!is_alone && first == bootstrap.number())
        .then(|| Sealed::make(&own))
        .transpose()
        .map_err(Error::launcher)?;
    let given: Vec<_> = made.iter().map(AsFd::as_fd).collect();
    let mut shared = bootstrap.share(&given).map_err(Error::launcher)?;
    if is_alone {
        return Ok(Box::new(own));
    }
    let other = |why: String| {
        Error::launcher(format!(
            "the addresses that PE {first} has put together for its node are not theirs: {why}"
        ))
    };
    let memory = shared.first_mut().and_then(Vec::pop).ok_or_else(|| other("it shares none".to_owned()))?;
    let memory = Sealed::in_place_of(&own, memory).map_err(|why| other(why.to_string()))?;
    Ok(Box::new(memory))
}

/// Returns whether the provider's atomics may be used: the first PE of each host tests them on the first PE of the next host.
fn try_atomics(ofi: &Ofi, bootstrap: &dyn Bootstrap, pes: &[Pe], place: *mut u8) -> Result<bool> {
    let (me, firsts) = (bootstrap.number(), bootstrap.firsts());
    let trial = firsts.iter().position(|first| *first == me).map(|turn| {
        let next = pes[firsts[(turn + 1) % firsts.len()]];
        // SAFETY: the system area was registered, and no team that could use its words exists before this function returns.
        unsafe { ofi.begin_trial(next, place) }
    });
    bootstrap.fence().map_err(Error::launcher)?;
    let verdict = trial.and_then(|trial| trial.end().err()).unwrap_or_default();
    let verdicts = bootstrap.gather_from(&firsts, "atomics", verdict.as_bytes()).map_err(Error::launcher)?;
    Ok(verdicts.iter().all(Vec::is_empty))
}
