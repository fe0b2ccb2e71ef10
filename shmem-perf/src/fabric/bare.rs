//! A provider opened by hand, and memory that another process may reach through it.

use std::ffi::{CString, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use memmap2::MmapMut;
use shmem_core::libfabric::bindings::{
    FI_ATOMIC, FI_AV_TABLE, FI_EP_RDM, FI_MR_ALLOCATED, FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR,
    FI_PROGRESS_MANUAL, FI_READ, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RMA, FI_THREAD_SAFE, FI_WRITE,
    fi_addr_t, fi_av_attr, fi_info, fi_mr_attr, fid, fid_av, fid_domain, fid_fabric, fid_mr,
};
use shmem_core::libfabric::{Info, Library, LibraryError, calls};

use super::Lane;
use crate::samples::nanoseconds_each;

/// The key under which memory is registered where the provider takes ours.
const KEY: u64 = 0xBA5E;

/// Bytes of a [`card`](Bare::card) at most.
pub const CARD: usize = 256;

/// Why the bare program cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BareError {
    /// libfabric is not there.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A call has failed.
    #[error("{call} of provider `{provider}` failed: {why}")]
    Call {
        /// Which one.
        call: &'static str,
        /// What was asked for.
        provider: String,
        /// What libfabric says.
        why: String,
    },
    /// There is no memory to reach.
    #[error("no memory to measure with: {0}")]
    Memory(#[from] std::io::Error),
    /// What another process said of itself is not what this one says of itself.
    #[error("a PE said {0} bytes of itself, which is no address and no key")]
    Card(usize),
}

/// A provider with a domain and a table of addresses, and memory that is registered with it.
///
/// One for each process; its endpoints are [`Lane`]s.
#[derive(Debug)]
pub struct Bare {
    library: &'static Library,
    provider: String,
    info: Info,
    inject_size: usize,
    pub(super) fabric: NonNull<fid_fabric>,
    pub(super) domain: NonNull<fid_domain>,
    pub(super) av: NonNull<fid_av>,
    memory: Memory,
}

/// Memory that is registered.
#[derive(Debug)]
struct Memory {
    mr: NonNull<fid_mr>,
    /// Mapped for as long as it is registered; reached through the pointer alone.
    _map: MmapMut,
    start: *mut u8,
    bytes: usize,
    /// What other processes count from.
    base: u64,
    key: u64,
    /// What the provider wants to be told of it.
    descriptor: *mut c_void,
}

// SAFETY: libfabric was asked for FI_THREAD_SAFE, so its objects may be used by any thread; the memory is
// read and written through pointers, by whoever the measure says.
unsafe impl Send for Bare {}
// SAFETY: as above.
unsafe impl Sync for Bare {}

/// Another process, as an operation names it.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub(super) address: fi_addr_t,
    /// What its memory begins at: an address, or 0 where providers count from the start.
    pub(super) base: u64,
    pub(super) key: u64,
}

impl Bare {
    /// Opens a provider of a libfabric, or the system's, on an interface, or on the first that it names, and
    /// registers `bytes` bytes.
    ///
    /// # Errors
    ///
    /// If libfabric is not there, or refuses anything.
    pub fn open(
        library: Option<&str>,
        provider: &str,
        interface: Option<&str>,
        bytes: usize,
    ) -> Result<Arc<Self>, BareError> {
        let library = Library::load(library)?;
        let failed = |call| move |code: i32| BareError::new(library, provider, call, code);
        let info = ask(library, provider, interface).map_err(failed("fi_getinfo"))?;
        // SAFETY: an entry of the list that was just given.
        let fabric = unsafe { library.fabric(info.as_ptr()) }.map_err(failed("fi_fabric"))?;
        let fabric = NonNull::new(fabric).ok_or(0).map_err(failed("fi_fabric"))?;
        let domain = open_with(|out| {
            // SAFETY: the fabric is open, and `info` is of it.
            unsafe { calls::domain(fabric.as_ptr(), info.as_ptr(), out, ptr::null_mut()) }
        });
        let domain = domain.map_err(failed("fi_domain"))?;
        // SAFETY: all zeroes asks for nothing.
        let mut attr: fi_av_attr = unsafe { std::mem::zeroed() };
        attr.type_ = FI_AV_TABLE;
        let av = open_with(|out| {
            // SAFETY: the domain is open.
            unsafe { calls::av_open(domain.as_ptr(), &raw mut attr, out, ptr::null_mut()) }
        });
        let av = av.map_err(failed("fi_av_open"))?;
        let map = MmapMut::map_anon(bytes)?;
        let memory = register(domain, map, mr_mode(&info), KEY).map_err(failed("fi_mr_regattr"))?;
        let provider = provider.to_owned();
        let inject_size = inject_size(&info);
        Ok(Arc::new(Self { library, provider, info, inject_size, fabric, domain, av, memory }))
    }

    /// What other processes need to reach this one through `lane`.
    ///
    /// # Errors
    ///
    /// If the provider does not say.
    pub fn card(&self, lane: &Lane) -> Result<Vec<u8>, BareError> {
        let Memory { base, key, .. } = self.memory;
        let name = lane.name()?;
        let card = [&[name.len() as u8][..], &base.to_le_bytes(), &key.to_le_bytes(), &name].concat();
        if card.len() > CARD { Err(BareError::Card(card.len())) } else { Ok(card) }
    }

    /// Takes the card of another process; what lies behind it does not count.
    ///
    /// # Errors
    ///
    /// If it is none, or the provider does not take the address.
    pub fn meet(&self, card: &[u8]) -> Result<Peer, BareError> {
        let malformed = || BareError::Card(card.len());
        let ([length], rest) = card.split_first_chunk().ok_or_else(malformed)?;
        let (base, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let (key, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let name = rest.get(..usize::from(*length)).ok_or_else(malformed)?;
        let mut address: fi_addr_t = u64::MAX;
        // SAFETY: the table is open, and the name one address as the provider of another process gave it.
        let inserted = unsafe {
            calls::av_insert(
                self.av.as_ptr(),
                name.as_ptr().cast(),
                1,
                &raw mut address,
                0,
                ptr::null_mut::<c_void>(),
            )
        };
        if inserted != 1 {
            return Err(self.failed("fi_av_insert", inserted));
        }
        Ok(Peer { address, base: u64::from_le_bytes(*base), key: u64::from_le_bytes(*key) })
    }

    /// Registers `n` regions of `bytes` bytes more, and gives them back: nanoseconds of both for each.
    ///
    /// # Errors
    ///
    /// If there is no memory, or the provider registers no more.
    pub fn registration(&self, n: usize, bytes: usize) -> Result<f64, BareError> {
        let maps = (0..n).map(|_| MmapMut::map_anon(bytes)).collect::<Result<Vec<_>, _>>()?;
        let mode = mr_mode(&self.info);
        let mut registered = Vec::with_capacity(n);
        let mut refused = None;
        let time = nanoseconds_each(n, || {
            for (key, map) in (KEY + 1..).zip(maps) {
                match register(self.domain, map, mode, key) {
                    Ok(memory) => registered.push(memory),
                    Err(code) => refused = Some(code),
                }
            }
            for memory in &registered {
                // SAFETY: open, and closed once; its memory is unmapped behind this.
                unsafe { calls::close(memory.mr.as_ptr().cast()) };
            }
        });
        match refused {
            Some(code) => Err(self.failed("fi_mr_regattr", code)),
            None => Ok(time),
        }
    }

    /// Bytes that are registered.
    pub fn bytes(&self) -> usize {
        self.memory.bytes
    }

    /// Where `bytes` bytes at an offset lie.
    ///
    /// # Panics
    ///
    /// If they are not registered.
    #[inline]
    pub(super) fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.memory.bytes, "{bytes} bytes at {offset} of {}", self.memory.bytes);
        self.memory.start.wrapping_add(offset)
    }

    /// The word at an offset, as it is now.
    ///
    /// # Panics
    ///
    /// If there is none, or it is not aligned.
    pub fn word(&self, offset: usize) -> u64 {
        let word: *const u64 = self.at(offset, 8).cast();
        assert!(word.is_aligned(), "the word at {offset} is not aligned");
        // SAFETY: mapped and aligned. Volatile: others change it.
        unsafe { word.read_volatile() }
    }

    /// Sets the word at an offset.
    ///
    /// # Panics
    ///
    /// As [`word`](Self::word).
    pub(super) fn set_word(&self, offset: usize, value: u64) {
        let word: *mut u64 = self.at(offset, 8).cast();
        assert!(word.is_aligned(), "the word at {offset} is not aligned");
        // SAFETY: mapped, aligned, and reached through pointers only. Volatile: the provider reads it.
        unsafe { word.write_volatile(value) };
    }

    /// What the provider offers.
    pub(super) fn info(&self) -> *mut fi_info {
        self.info.as_ptr()
    }

    /// What the provider wants to be told of local memory.
    pub(super) fn descriptor(&self) -> *mut c_void {
        self.memory.descriptor
    }

    /// Bytes that it may be handed without their being kept.
    pub(super) fn inject_size(&self) -> usize {
        self.inject_size
    }

    /// The error of a call that has given `code`.
    pub(super) fn failed(&self, call: &'static str, code: i32) -> BareError {
        BareError::new(self.library, &self.provider, call, code)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let fids: [*mut fid; 4] = [
            self.memory.mr.as_ptr().cast(),
            self.av.as_ptr().cast(),
            self.domain.as_ptr().cast(),
            self.fabric.as_ptr().cast(),
        ];
        for fid in fids {
            // SAFETY: open, closed once, and what stands on it was closed before: lanes hold the whole.
            // The memory is unmapped behind this.
            unsafe { calls::close(fid) };
        }
    }
}

impl BareError {
    fn new(library: &Library, provider: &str, call: &'static str, code: i32) -> Self {
        Self::Call { call, provider: provider.to_owned(), why: library.describe(code.into()) }
    }
}

/// Asks for the provider that can do what is measured.
fn ask(library: &'static Library, provider: &str, interface: Option<&str>) -> Result<Info, i32> {
    let hints = library.hints();
    // SAFETY: libfabric's own, with all its attributes, and nobody else's.
    let info = unsafe { &mut *hints.as_ptr() };
    info.caps = u64::from(FI_RMA | FI_ATOMIC);
    // SAFETY: as above.
    unsafe { (*info.ep_attr).type_ = FI_EP_RDM };
    // SAFETY: as above.
    let domain = unsafe { &mut *info.domain_attr };
    domain.mr_mode = (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY).cast_signed();
    domain.threading = FI_THREAD_SAFE;
    domain.data_progress = FI_PROGRESS_MANUAL;
    domain.name = interface.map_or(ptr::null_mut(), name);
    // SAFETY: as above.
    unsafe { (*info.fabric_attr).prov_name = name(provider) };
    library.info(&hints)
}

/// A name that libfabric will free.
fn name(text: &str) -> *mut libc::c_char {
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: a text that ends.
    unsafe { libc::strdup(text.as_ptr()) }
}

fn mr_mode(info: &Info) -> u32 {
    // SAFETY: what libfabric offers has all its attributes.
    let attr = unsafe { (*info.as_ptr()).domain_attr };
    // SAFETY: as above.
    unsafe { (*attr).mr_mode }.cast_unsigned()
}

fn inject_size(info: &Info) -> usize {
    // SAFETY: what libfabric offers has all its attributes.
    let attr = unsafe { (*info.as_ptr()).tx_attr };
    // SAFETY: as above.
    unsafe { (*attr).inject_size }
}

fn register(domain: NonNull<fid_domain>, mut map: MmapMut, mode: u32, key: u64) -> Result<Memory, i32> {
    let (start, bytes) = (map.as_mut_ptr(), map.len());
    let iov = libc::iovec { iov_base: start.cast(), iov_len: bytes };
    // SAFETY: all zeroes asks for nothing.
    let mut attr: fi_mr_attr = unsafe { std::mem::zeroed() };
    attr.mr_iov = &raw const iov;
    attr.iov_count = 1;
    attr.access = u64::from(FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
    attr.requested_key = key;
    let mr = open_with(|out| {
        // SAFETY: the domain is open, and the memory mapped until the registration is closed.
        unsafe { calls::mr_regattr(domain.as_ptr(), &raw const attr, 0, out) }
    })?;
    // SAFETY: the registration is open.
    let key = unsafe { (*mr.as_ptr()).key };
    // SAFETY: as above.
    let descriptor = unsafe { (*mr.as_ptr()).mem_desc };
    let base = if mode & FI_MR_VIRT_ADDR != 0 { start as u64 } else { 0 };
    Ok(Memory { mr, _map: map, start, bytes, base, key, descriptor })
}

/// Opens an object of libfabric.
pub(super) fn open_with<T>(open: impl FnOnce(*mut *mut T) -> i32) -> Result<NonNull<T>, i32> {
    let mut object = ptr::null_mut();
    let code = open(&raw mut object);
    NonNull::new(object).filter(|_| code == 0).ok_or(code)
}
