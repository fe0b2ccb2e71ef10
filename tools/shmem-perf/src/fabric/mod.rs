//! The bare program: the baseline over libfabric. It calls libfabric directly, as the library's transport does: with the same
//! provider, delivery completion, a completion counter, a queue for errors only, and a progress thread at the target. It runs
//! inside the measured PEs, with endpoints and memory of its own, so that it and the library take turns between the same two
//! processes.

mod lane;
mod pair;

use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memmap2::MmapMut;
use shmem_core::libfabric::bindings::{
    FI_ATOMIC, FI_MR_ALLOCATED, FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_READ, FI_REMOTE_READ,
    FI_REMOTE_WRITE, FI_RMA, FI_WRITE, fi_addr_t,
};
use shmem_core::libfabric::{Addresses, Domain, Hints, Library, Refused, Registration};

pub(crate) use self::lane::Lane;
pub(crate) use self::pair::{Pair, TargetState, steadily};
use crate::bench::PeArguments;
use crate::jobs::Asked;
use crate::runner::Runner;

pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// The variable that names the provider, for the library and for the bare program. [`LIBFABRIC`] is for both, too.
const OFI_PROVIDER: &str = "SHMEM_OFI_PROVIDER";
pub(crate) const LIBFABRIC: &str = "SHMEM_LIBFABRIC";

/// Returns the environment variables of a job over `provider`. The bare program reads only the second one.
pub(crate) fn variables(provider: &str) -> [(&'static str, String); 2] {
    [("SHMEM_TRANSPORT", "ofi".to_owned()), (OFI_PROVIDER, provider.to_owned())]
}

pub(crate) fn over(runner: &Runner, task: &str, given: PeArguments) -> Asked {
    runner.job(task, 2, given).with(variables(runner.provider()))
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn possible() -> Result<(), String> {
    Bare::open(PROVIDER, 8).map(drop)
}

/// The key that is requested for the registered memory. Some providers choose another one.
const KEY: u64 = 0xBA5E;

pub(crate) const CARD: usize = 1024;

/// The bare program's domain, with an address vector and registered memory. Fields are dropped in their order.
///
/// Each process has one domain. Its endpoints are [`Lane`]s.
#[derive(Debug)]
pub(crate) struct Bare {
    provider: String,
    /// Upper limit on the bytes of a write that the provider copies before the call returns.
    inject_size: usize,
    registration: Registration,
    /// The mapping of the registered memory, which is accessed through `start` only. Dropped after `registration`.
    _map: MmapMut,
    start: *mut u8,
    bytes: usize,
    base: u64,
    /// The descriptor of the registered memory, for local buffers.
    description: *mut c_void,
    addresses: Arc<Addresses>,
}

// SAFETY: the memory belongs to no thread. Threads access it by the raw pointer, and the benchmark orders their accesses.
unsafe impl Send for Bare {}
// SAFETY: the memory belongs to no thread. Threads access it by the raw pointer, and the benchmark orders their accesses.
unsafe impl Sync for Bare {}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    address: fi_addr_t,
    /// Remote address of the first byte of the peer's memory; 0 if the provider uses offsets.
    base: u64,
    key: u64,
}

impl Bare {
    /// Opens a provider and registers `bytes` bytes, with the libfabric and the interface that the environment names, or else the
    /// provider's first interface.
    fn open(provider: &str, bytes: usize) -> Result<Arc<Self>, String> {
        // SAFETY: the user of the benchmark selects the libfabric, and vouches for its initialisers.
        let library = unsafe { Library::load(variable(LIBFABRIC).as_deref()) };
        let library = library.map_err(|error| error.to_string())?;
        let failed = |refused| failed(library, provider, refused);
        let named = CString::new(provider).map_err(|error| error.to_string())?;
        let asked = Hints {
            capabilities: u64::from(FI_RMA | FI_ATOMIC),
            registration: FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
            provider: Some(&named),
            ..Hints::default()
        };
        let offers = library.offers(&asked).map_err(failed)?;
        let interface = variable("SHMEM_OFI_INTERFACE");
        let mut entries = offers.entries();
        let entry =
            entries.find(|entry| interface.as_ref().is_none_or(|name| entry.interface() == name.as_str()));
        let entry =
            entry.ok_or_else(|| format!("{provider} has no interface {}", interface.unwrap_or_default()))?;
        let domain = Domain::open(entry).map_err(failed)?;
        let addresses = Addresses::open(&domain, 0).map_err(failed)?;
        let mut map =
            MmapMut::map_anon(bytes).map_err(|error| format!("no memory to measure with: {error}"))?;
        let start = map.as_mut_ptr();
        let access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
        // SAFETY: `map` is dropped after `registration` (order of fields), and is accessed through pointers only.
        let registration =
            unsafe { Registration::new(&domain, (start, bytes), access, KEY) }.map_err(failed)?;
        let entry = domain.entry();
        let counts_addresses = entry.domain().mr_mode.cast_unsigned() & FI_MR_VIRT_ADDR != 0;
        Ok(Arc::new(Self {
            provider: provider.to_owned(),
            inject_size: entry.transmit().inject_size,
            description: registration.description(),
            registration,
            _map: map,
            start,
            bytes,
            base: if counts_addresses { start as u64 } else { 0 },
            addresses,
        }))
    }

    /// Returns what other processes need to reach this one: the base of its memory, the key, and the address of `lane`'s endpoint.
    fn card(&self, lane: &Lane) -> Result<Vec<u8>, String> {
        let card = (self.base, self.registration.key(), lane.name()?);
        let mut card = serde_json::to_vec(&card).unwrap_or_else(|error| unreachable!("numbers: {error}"));
        assert!(card.len() <= CARD, "an address of {} bytes, as text", card.len());
        card.resize(CARD, b' ');
        Ok(card)
    }

    fn meet(&self, card: &[u8]) -> Result<Peer, String> {
        let (base, key, name): (_, _, Vec<u8>) = serde_json::from_slice(card)
            .map_err(|error| format!("a PE said of itself what is no address and no key: {error}"))?;
        // SAFETY: `name` is the whole address of an endpoint of the same provider in another process.
        let address = unsafe { self.addresses.insert(&name) }.map_err(|refused| self.failed(refused))?;
        Ok(Peer { address, base, key })
    }

    #[inline]
    fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.bytes, "{bytes} bytes at {offset} of {}", self.bytes);
        self.start.wrapping_add(offset)
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        let word: *mut u64 = self.at(offset, 8).cast();
        assert!(word.is_aligned(), "the word at {offset} is not aligned");
        // SAFETY: the word is mapped as long as `self` lives, aligned, and accessed by pointers and atomics only.
        unsafe { AtomicU64::from_ptr(word) }
    }

    fn fill(&self, offset: usize, bytes: usize, value: u8) {
        // SAFETY: `at` checks that the bytes are mapped. They are accessed by pointers only, and no operation reads them now.
        unsafe { self.at(offset, bytes).write_bytes(value, bytes) };
    }

    fn failed(&self, refused: Refused) -> String {
        failed(self.addresses.domain().library(), &self.provider, refused)
    }
}

fn failed(library: &Library, provider: &str, refused: Refused) -> String {
    format!("{} of provider `{provider}` failed: {}", refused.call, library.describe(refused.code.into()))
}
