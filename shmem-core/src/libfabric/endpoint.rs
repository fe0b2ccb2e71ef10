//! Endpoints, each with a completion queue and a counter.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

use super::addresses::{ADDRESS_BYTES, Addresses};
use super::bindings::*;
use super::calls;
use super::object::{Object, Refused};

/// An endpoint, its completion queue and its counter. Fields are in drop order: the endpoint closes first.
///
/// Operations are the functions of [`calls`](super::calls) on [`as_ptr`](Self::as_ptr). Each returns libfabric's answer: 0, or a
/// negative error, `-FI_EAGAIN` while a queue is full. Callers must obey libfabric's manual pages:
///
/// * Local memory must stay until the operation is complete, and is passed with the descriptor that the provider demands. (The
///   source of an injected operation, `FI_INJECT`, must stay only until the call returns.)
/// * Remote memory must be registered for this access, under the key that the operation passes.
/// * The context (`fi_context`) must stay until the operation is complete, and have as many bytes as the provider's mode demands.
#[derive(Debug)]
pub struct Endpoint {
    endpoint: Object<fid_ep>,
    counter: Object<fid_cntr>,
    queue: Object<fid_cq>,
    addresses: Arc<Addresses>,
    /// File descriptor of the queue, readable when the queue has completions. `None`: not requested.
    descriptor: Option<RawFd>,
}

impl Endpoint {
    /// Opens an endpoint with a table of addresses, a completion queue of `entries` entries (at most 2^20), and a counter of
    /// complete reads, writes and atomics. The queue reports operations with the flag `FI_COMPLETION`, received messages, writes of
    /// other PEs with `FI_REMOTE_CQ_DATA`, and failures. If `sleeps`, threads can sleep on the queue.
    ///
    /// # Errors
    ///
    /// If the provider refuses a call. If `sleeps` is the reason, the call is `fi_cq_open` or `fi_control`.
    pub fn open(addresses: &Arc<Addresses>, entries: usize, sleeps: bool) -> Result<Self, Refused> {
        let (domain, none) = (addresses.domain(), core::ptr::null_mut());
        // SAFETY: all fields are numbers and pointers, for which zeroes are valid.
        let mut attributes: fi_cq_attr = unsafe { core::mem::zeroed() };
        attributes.format = FI_CQ_FORMAT_DATA;
        attributes.wait_obj = if sleeps { FI_WAIT_FD } else { FI_WAIT_NONE };
        attributes.size = entries.min(MOST_ENTRIES);
        // SAFETY: the domain is open. The attributes are read during the call.
        let open = |queue| unsafe { calls::cq_open(domain.as_ptr(), &raw mut attributes, queue, none) };
        // SAFETY: `Endpoint` alone owns the queue, and closes it before the address table, which keeps the domain.
        let queue = unsafe { Object::open("fi_cq_open", open) }?;
        // SAFETY: all fields are numbers and pointers, for which zeroes are valid.
        let mut attributes: fi_cntr_attr = unsafe { core::mem::zeroed() };
        attributes.events = FI_CNTR_EVENTS_COMP;
        attributes.wait_obj = FI_WAIT_NONE;
        // SAFETY: the domain is open. The attributes are read during the call.
        let open = |counter| unsafe { calls::cntr_open(domain.as_ptr(), &raw mut attributes, counter, none) };
        // SAFETY: `Endpoint` alone owns the counter, and closes it before the address table, which keeps the domain.
        let counter = unsafe { Object::open("fi_cntr_open", open) }?;
        // SAFETY: the domain is open, and the entry is the one that opened it.
        let open = |endpoint| unsafe { calls::endpoint(domain.as_ptr(), domain.info(), endpoint, none) };
        // SAFETY: `Endpoint` alone owns the endpoint, and closes it before counter, queue and addresses, to which it is bound
        // below. (If binding fails, locals drop in reverse order: the endpoint before counter and queue.)
        let endpoint: Object<fid_ep> = unsafe { Object::open("fi_endpoint", open) }?;
        let bindings = [
            (addresses.fid(), 0),
            (queue.fid(), u64::from(FI_TRANSMIT) | FI_SELECTIVE_COMPLETION),
            (queue.fid(), u64::from(FI_RECV)),
            (counter.fid(), u64::from(FI_READ | FI_WRITE)),
        ];
        for (to, flags) in bindings {
            // SAFETY: the objects are open and belong to one domain, and the endpoint is not enabled yet.
            Refused::unless_done("fi_ep_bind", unsafe { calls::bind(endpoint.fid(), to, flags) })?;
        }
        // SAFETY: the endpoint is open and has all bindings. The command has no argument.
        Refused::unless_done("fi_enable", unsafe {
            calls::control(endpoint.fid(), FI_ENABLE.cast_signed(), none)
        })?;
        let mut descriptor: RawFd = -1;
        if sleeps {
            let to = (&raw mut descriptor).cast();
            // SAFETY: the queue is open, and `to` has room for one descriptor.
            let answer = unsafe { calls::control(queue.fid(), FI_GETWAIT.cast_signed(), to) };
            Refused::unless_done("fi_control", answer)?;
            if descriptor < 0 {
                return Err(Refused::of("fi_control", FI_ENOSYS.cast_signed()));
            }
        }
        let descriptor = sleeps.then_some(descriptor);
        Ok(Self { endpoint, counter, queue, addresses: Arc::clone(addresses), descriptor })
    }

    /// Returns the endpoint's address, by which other processes reach it.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn name(&self) -> Result<Vec<u8>, Refused> {
        let mut bytes = vec![0; ADDRESS_BYTES];
        let mut length = bytes.len();
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: the endpoint is open and enabled, and `to` has room for `length` bytes.
        let answer = unsafe { calls::getname(self.endpoint.as_ptr(), to, &raw mut length) };
        Refused::unless_done("fi_getname", answer)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    /// The endpoint's table of addresses.
    pub fn addresses(&self) -> &Arc<Addresses> {
        &self.addresses
    }

    /// The number of complete reads, writes and atomics of this endpoint. Messages are not counted. Providers make progress in this
    /// call.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        // SAFETY: the counter is open.
        unsafe { calls::cntr_read(self.counter.as_ptr()) }
    }

    /// Reads completions from the queue, at most `room.len()` of them. Providers make progress in this call.
    ///
    /// # Errors
    ///
    /// libfabric's negative answer, if an operation has failed. [`read_error`](Self::read_error) then returns the operation.
    #[inline(always)]
    pub fn read<'r>(
        &self,
        room: &'r mut [MaybeUninit<fi_cq_data_entry>],
    ) -> Result<&'r [fi_cq_data_entry], isize> {
        const NOTHING: isize = -(FI_EAGAIN as isize);
        // SAFETY: the queue is open and has entries of this format. `room` has room for `room.len()` entries.
        match unsafe { calls::cq_read(self.queue.as_ptr(), room.as_mut_ptr().cast(), room.len()) } {
            0 | NOTHING => Ok(&[]),
            failed if failed < 0 => Err(failed),
            read => {
                let written: *const [MaybeUninit<fi_cq_data_entry>] = &raw const room[..read as usize];
                // SAFETY: the queue has written `read` entries. The result borrows `room`.
                Ok(unsafe { &*(written as *const [fi_cq_data_entry]) })
            }
        }
    }

    /// Returns the queue's entry of the failed operation, after [`read`](Self::read) has returned `answer`. If the queue has none,
    /// returns an entry with `answer` as its error. All flags of that entry are set, so that a caller that looks for an operation's
    /// flags finds them.
    pub fn read_error(&self, answer: c_int) -> fi_cq_err_entry {
        // SAFETY: all fields are numbers and pointers. Zeroes are a valid entry, without room for the provider's own error data.
        let mut entry: fi_cq_err_entry = unsafe { core::mem::zeroed() };
        // SAFETY: the queue is open, and the entry has the layout of the requested version.
        if unsafe { calls::cq_readerr(self.queue.as_ptr(), &raw mut entry, 0) } <= 0 {
            (entry.err, entry.flags) = (answer, u64::MAX);
        }
        entry
    }

    /// The queue's file descriptor, readable when the queue has completions. `None`: threads cannot sleep on the queue.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor belongs to the queue, which is open for as long as `self`.
        self.descriptor.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// Whether all completions were read, so that the next completion makes the descriptor readable. `false` without a descriptor.
    pub fn may_sleep(&self) -> bool {
        let mut queue = self.queue.fid();
        let fabric = self.addresses.domain().fabric();
        if self.descriptor.is_none() {
            return false;
        }
        // SAFETY: the fabric is open. The queue is open, belongs to this fabric, and allows threads to sleep.
        unsafe { calls::trywait(fabric, &raw mut queue, 1) == 0 }
    }

    /// The endpoint, for the operations of [`calls`](super::calls).
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut fid_ep {
        self.endpoint.as_ptr()
    }

    pub(super) fn fid(&self) -> *mut fid {
        self.endpoint.fid()
    }
}

/// Upper limit on the entries of a queue. Some providers compute a size from the number without a check for overflow.
const MOST_ENTRIES: usize = 1 << 20;

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::{Domain, Hints, InfoEntry, Library, Registration};
    use core::ffi::CStr;

    use super::*;

    /// The provider that runs anywhere.
    const ANYWHERE: &CStr = c"tcp;ofi_rxm";

    /// A table of addresses of a provider on the interface `lo`, if this libfabric has it.
    fn addresses(provider: &CStr) -> Option<Arc<Addresses>> {
        // SAFETY: no library is named: the system's.
        let library = unsafe { Library::load(None) }.inspect_err(|why| eprintln!("skipped: {why}")).ok()?;
        let capabilities = u64::from(FI_MSG | FI_RMA);
        let hints = Hints { capabilities, provider: Some(provider), ..Hints::default() };
        let skipped = |why: &Refused| eprintln!("skipped: {provider:?}: {why:?}");
        let offers = library.offers(&hints).inspect_err(skipped).ok()?;
        assert!(offers.entries().all(|entry| Ok(&*entry.provider()) == provider.to_str()));
        let is_there =
            |entry: &InfoEntry<'_>| entry.interface() == "lo" && entry.address_format() == FI_SOCKADDR_IN;
        let domain = Domain::open(offers.entries().find(is_there).unwrap()).unwrap();
        Some(Addresses::open(&domain, 0).unwrap())
    }

    /// The number is limited, since providers compute with it.
    #[test]
    fn any_number_of_entries_may_be_requested() {
        let Some(addresses) = addresses(ANYWHERE) else { return };
        let domain = addresses.domain();
        for asked in [1 << 32, 1 << 58, 1 << 60, usize::MAX] {
            let queue = Endpoint::open(&addresses, asked, false).map(drop);
            for opened in [queue, Addresses::open(domain, asked).map(drop)] {
                assert!(opened.is_ok() || opened.is_err_and(|refused| refused.code == libc::ENOMEM));
            }
        }
    }

    /// Some providers read as many bytes as the kind of an address implies.
    #[test]
    fn nothing_is_read_behind_an_address() {
        const PAGE: usize = 1 << 16;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, wherever there is room.
        let start = unsafe { libc::mmap(core::ptr::null_mut(), 2 * PAGE, access, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let behind = start.cast::<u8>().wrapping_add(PAGE);
        // SAFETY: the second half of that memory, which nobody uses.
        assert_eq!(unsafe { libc::mprotect(behind.cast(), PAGE, libc::PROT_NONE) }, 0);
        let place = behind.wrapping_sub(16);
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_UNSPEC, 27, 0xFF].map(|family| family as u8);
        for provider in [ANYWHERE, c"sockets"] {
            let Some(addresses) = addresses(provider) else { continue };
            for family in families {
                let address = [family, 0, 0x30, 0x39, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
                // SAFETY: the end of the first half, of which there is no reference.
                unsafe { place.copy_from_nonoverlapping(address.as_ptr(), address.len()) };
                // SAFETY: so many bytes, which stay, and nobody changes them while they are borrowed.
                let address = unsafe { core::slice::from_raw_parts(place, address.len()) };
                // SAFETY: as long as an address of this provider.
                let inserted = unsafe { addresses.insert(address) };
                assert!(inserted.is_ok() || i32::from(family) != libc::AF_INET, "{provider:?}: {inserted:?}");
            }
        }
    }

    #[test]
    fn memory_is_bound_inside_one_domain() {
        let (Some(one), Some(other)) = (addresses(ANYWHERE), addresses(ANYWHERE)) else { return };
        let other = Endpoint::open(&other, 16, false).unwrap();
        let mut memory = [0_u64; 8];
        let (start, domain) = (memory.as_mut_ptr().cast(), one.domain());
        // SAFETY: the memory goes behind what is given, and nobody is told its key.
        let registered = unsafe { Registration::new(domain, (start, 64), FI_READ, 7) };
        let refused = registered.unwrap().bind(&other).unwrap_err();
        assert_eq!((refused.call, refused.code), ("fi_mr_bind", FI_EINVAL.cast_signed()));
    }
}
