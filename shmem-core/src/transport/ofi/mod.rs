//! PEs of other nodes through libfabric.
//!
//! A PE has *units*: endpoints, each with a completion queue and a counter. Other PEs address unit 0. Puts, gets and atomics are
//! operations of the provider. Puts and atomics without a result ask for completion on delivery, so a complete one is visible at
//! the target. The provider makes connections when they are first needed. Files by layer:
//!
//! ```text
//! endpoints and completion
//!   unit, posting            an endpoint, its queue and its counter; starting operations, progress, completion
//!   record                   what an operation keeps until its completion is reported
//!   streams                  completion state of each channel
//!   backoff                  how long to wait
//!   progress_thread          progress while the program computes
//!   file_descriptors         the descriptors that connections need
//! remote keys and addresses
//!   provider                 choice of the provider, and its demands
//!   interface                choice among interfaces of one network
//!   domain                   addresses of PEs, limits: shared by all endpoints
//!   job_secret, keys         the job's secret, the keys that follow from it, and registered memory
//!   sparse                   tables with an entry for each PE, of which few are used
//! RMA and atomics by the provider
//!   operation                the provider's operations, in libfabric's form
//!   rma, amo                 the operations of a transport
//!   put_signal               signals that wait until their data is delivered
//!   atomics_trial            a test whether the provider's atomics are atomic
//!   strided                  the cost model that chooses how blocks are sent
//! messages for what the provider does not do
//!   engine                   operations that the target carries out
//!   engine_network, buffers  how those messages travel, and their memory
//!   lent_buffers             bounce buffers that are lent to other PEs, for long messages
//! ```
//!
//! Only operations on lists allocate memory at each call. Every queue is bounded. If a queue is full (`-FI_EAGAIN`, no free
//! record), the caller makes progress and retries.
//!
//! These files implement one type, `Fabric`, and import each other, because a thread that waits in one layer makes progress for all
//! layers, and progress starts operations.

mod amo;
mod atomics_trial;
mod backoff;
mod buffers;
mod domain;
mod engine;
mod engine_network;
mod error;
mod file_descriptors;
mod interface;
mod job_secret;
mod keys;
mod lent_buffers;
mod operation;
mod posting;
mod progress_thread;
mod provider;
mod put_signal;
mod record;
mod rma;
mod sparse;
mod streams;
pub mod strided;
mod unit;

use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::io;
use std::sync::{Arc, OnceLock};

pub use atomics_trial::Trial;
pub use domain::AddressTable;
pub use error::OfiError;
pub use interface::{Nearness, Offer};
pub use job_secret::Secret;
pub use provider::{Options, offers};

use crate::exclusion::Mutex;
use crate::libfabric::bindings::fi_addr_t;
use crate::pe::Pe;
use crate::transport::target::Target;
use crate::transport::{Channel, ChannelOptions};
use buffers::Buffers;
use domain::Domain;
use engine::Engine;
use keys::Keys;
use lent_buffers::LentBuffers;
use posting::Port;
use progress_thread::{Handover, ProgressThread};
use provider::Demands;
use put_signal::PendingSignals;
use streams::Stream;
use unit::Unit;

const UNITS: usize = 256;

/// Ends the job with an error text, and never returns.
pub type OnFailure = Box<dyn Fn(String) -> Infallible + Send + Sync>;

/// One PE's access to the fabric.
pub struct Ofi {
    /// The progress thread, which ends before `fabric` is dropped.
    thread: Mutex<Option<ProgressThread>>,
    fabric: Arc<Fabric>,
}

/// State of all operations of a PE. Fields are in drop order: registrations, units, buffers, domain.
struct Fabric {
    keys: Keys,
    lent_buffers: LentBuffers,
    units: Box<[OnceLock<Box<Unit>>]>,
    making: Mutex<()>,
    /// One more than the highest number of a unit (endpoint) that was made: a bound for loops over units.
    bound: AtomicUsize,
    signals: PendingSignals,
    engine: Engine,
    buffers: Buffers,
    domain: Domain,
    /// This PE's system area. It contains the bell, which wakes threads that sleep until a word of this PE changes.
    slot: OnceLock<Target>,
    handover: Handover,
    unawaited: Mutex<Unawaited>,
    /// Whether the provider's atomics are used.
    atomics: AtomicBool,
    timeout: Option<Duration>,
    spins: bool,
    on_failure: OnFailure,
}

/// Operations of [`tell`](crate::transport::Transport::tell), which no thread awaits: their channel, and how many were started
/// since the channel was last found to have none in flight.
#[derive(Default)]
struct Unawaited {
    channel: Option<Channel>,
    sent: u64,
}

impl Ofi {
    /// Opens the fabric for PE `me` of `pes`, in the job with that secret. `on_failure` ends the job if the fabric cannot deliver.
    ///
    /// # Errors
    ///
    /// If there is no libfabric, no provider fits, or a call fails.
    ///
    /// # Safety
    ///
    /// The library that the options name must be libfabric.
    pub unsafe fn open(
        options: &Options,
        me: usize,
        pes: usize,
        secret: Secret,
        on_failure: OnFailure,
    ) -> Result<Arc<Self>, OfiError> {
        // SAFETY: the caller's promise.
        let chosen = unsafe { Demands::find(options) }?;
        let domain = Domain::open(chosen, pes, secret.clone())?;
        let mut limits = domain.demands.known.limits.with_message_of(domain.demands.max_message);
        if domain.demands.cq_data < size_of::<u64>() {
            limits.grants = 0;
        }
        // SAFETY: units, with their endpoints, are dropped before the buffers (order of fields).
        let buffers = unsafe { Buffers::new(&domain, limits.longest()) }?;
        let fabric = Fabric {
            keys: Keys::new(pes),
            lent_buffers: LentBuffers::new(limits.grants, limits.slot),
            units: units(domain.demands.endpoints),
            making: Mutex::new(()),
            bound: AtomicUsize::new(0),
            signals: PendingSignals::default(),
            engine: Engine::new(me, pes, limits, secret),
            buffers,
            domain,
            slot: OnceLock::new(),
            handover: Handover::new().map_err(no_thread)?,
            unawaited: Mutex::default(),
            atomics: AtomicBool::new(false),
            timeout: options.timeout,
            spins: options.spins,
            on_failure,
        };
        fabric.make_unit(0)?;
        fabric.listen();
        let fabric = Arc::new(fabric);
        let thread = ProgressThread::start(&fabric).map_err(no_thread)?;
        Ok(Arc::new(Self { thread: Mutex::new(Some(thread)), fabric }))
    }

    /// Names provider, interface and libfabric's version, for reports. Adds whether remote keys have fewer than 8 bytes, or are
    /// chosen by the provider.
    pub fn describe(&self) -> String {
        let Domain { provider, interface, demands, .. } = &self.fabric.domain;
        let (major, minor) = self.fabric.domain.library().version();
        let keys = match demands.key {
            _ if demands.provider_keys => ", keys of the provider's own".to_owned(),
            bytes @ 1..8 => format!(", keys of {bytes} bytes"),
            _ => String::new(),
        };
        format!("{provider} on {interface} (libfabric {major}.{minor}){keys}")
    }

    /// The address of this PE, for [`address_in`](Self::address_in) on other PEs.
    ///
    /// # Errors
    ///
    /// If the provider reports none.
    pub fn address(&self) -> Result<Vec<u8>, OfiError> {
        let domain = &self.fabric.domain;
        let name = self.fabric.first().unit.endpoint.name().map_err(|refused| domain.refused(refused))?;
        Ok([domain.provider.as_bytes(), &[0], &name].concat())
    }

    /// Returns the part of `said` that [`AddressTable`] stores for `pe`: the address without the provider's name. `said` and `own`
    /// are the results of [`address`](Self::address) on `pe` and on the calling PE.
    ///
    /// # Errors
    ///
    /// If the address is of another provider.
    pub fn address_in<'s>(&self, pe: Pe, said: &'s [u8], own: &[u8]) -> Result<&'s [u8], OfiError> {
        let head = self.fabric.domain.provider.len() + 1;
        // Lengths must be equal, because the provider reads as many bytes as an address of its own has.
        match said.get(head..) {
            Some(address) if said.len() == own.len() && said[..head] == own[..head] => Ok(address),
            _ => Err(domain::elsewhere(pe.number(), &domain::describe(said), own)),
        }
    }

    /// Stores the addresses of all PEs, once. Enters them in the provider's table if the provider must know all senders.
    ///
    /// # Errors
    ///
    /// If addresses have another length than this provider's.
    ///
    /// # Safety
    ///
    /// Addresses must be results of [`address_in`](Self::address_in).
    pub unsafe fn connect(&self, all: AddressTable) -> Result<(), OfiError> {
        let (domain, own) = (&self.fabric.domain, self.address()?);
        if all.each != own.len() - domain.provider.len() - 1 {
            return Err(domain::elsewhere(0, &format!("addresses of {} bytes", all.each), &own));
        }
        let all = domain.told.get_or_init(|| all);
        if domain.demands.known.late {
            return Ok(());
        }
        (0..all.len()).try_for_each(|pe| domain.enter(pe).map(drop))
    }
}

fn no_thread(why: io::Error) -> OfiError {
    OfiError(format!(
        "the thread that serves other PEs cannot be started: {why}; raise the limits of threads and of open descriptors \
         (ulimit -u, ulimit -n)"
    ))
}

/// Empty places for units (endpoints), of which the provider allows at most `most`.
fn units(most: usize) -> Box<[OnceLock<Box<Unit>>]> {
    (0..UNITS.min(most)).map(|_| OnceLock::new()).collect()
}

impl Fabric {
    /// Unit 0, the endpoint that other PEs address.
    #[inline(always)]
    fn first(&self) -> Port<'_> {
        let unit = self.units[0].get().unwrap_or_else(|| unreachable!("the first unit is made at the start"));
        Port { fabric: self, unit }
    }

    #[inline(always)]
    fn stream(&self, channel: Channel) -> &Stream {
        self.engine.streams.get(channel)
    }

    #[inline(always)]
    fn port(&self, channel: Channel) -> Port<'_> {
        let unit = self.units[self.stream(channel).unit()].get();
        Port {
            fabric: self,
            unit: unit.unwrap_or_else(|| unreachable!("a channel whose unit was never made")),
        }
    }

    #[inline(always)]
    fn peer(&self, pe: usize) -> fi_addr_t {
        self.domain.entered(pe).unwrap_or_else(|| self.enter(pe))
    }

    #[cold]
    fn enter(&self, pe: usize) -> fi_addr_t {
        let what = format!("to address PE {pe}");
        match self.domain.enter(pe) {
            Ok(Some(found)) => found,
            Ok(None) => self.fail(&what, "it has no address"),
            Err(error) => self.fail(&what, &error.to_string()),
        }
    }

    fn make_unit(&self, number: usize) -> Result<(), OfiError> {
        let _making = self.making.lock();
        if self.units[number].get().is_none() {
            let unit = Unit::open(&self.domain, number == 0)?;
            if number > 0 && self.domain.demands.known.connects {
                let peers = self.domain.peers_known();
                let made = self.made().count();
                file_descriptors::leave_room(made + 1, peers)?;
            }
            self.units[number].get_or_init(|| Box::new(unit));
            self.bound.fetch_max(number + 1, Ordering::Release);
        }
        Ok(())
    }

    fn open_stream(&self, lane: ChannelOptions) -> Result<Channel, String> {
        let number = lane.unit as usize;
        if number >= self.units.len() {
            let (units, provider) = (self.units.len(), &self.domain.provider);
            return Err(format!("unit {number} was asked for, and {provider} has {units} for this PE"));
        }
        self.make_unit(number).map_err(|error| error.to_string())?;
        self.engine.streams.open(lane).ok_or_else(|| format!("{} streams are open", streams::STREAMS))
    }

    fn made(&self) -> impl Iterator<Item = Port<'_>> {
        self.units[..self.bound.load(Ordering::Acquire)]
            .iter()
            .filter_map(OnceLock::get)
            .map(|unit| Port { fabric: self, unit })
    }

    /// Reads the completions of all units (endpoints). Returns whether there were any.
    fn serve(&self) -> bool {
        // Not `any`, which would skip the units after the first one with completions.
        self.made().filter(|port| port.serve()).count() > 0
    }

    /// Whether an answer, a receive or a signal is still to be passed to the provider.
    fn waits_for_room(&self) -> bool {
        self.engine.owes() || self.buffers.wait() || self.signals.any()
    }

    /// Whether the provider has an operation of this PE in flight, or something is still to be passed to the provider.
    fn is_under_way(&self) -> bool {
        self.waits_for_room() || self.made().any(|port| port.in_flight() > 0)
    }

    /// As [`is_under_way`](Self::is_under_way); also true while a message of this PE is unanswered.
    fn awaits(&self) -> bool {
        self.is_under_way() || self.engine.unanswered().next().is_some()
    }

    /// Whether operations are incomplete, other than those that no thread awaits ([`Unawaited`]).
    fn awaits_more(&self) -> bool {
        if !self.awaits() {
            return false;
        }
        // The lock's holder is starting an operation that no thread awaits, but may wait for room itself, so something is awaited.
        let Some(mut unawaited) = self.unawaited.try_lock() else { return true };
        if unawaited.channel.is_some_and(|channel| self.is_quiet(channel)) {
            *unawaited = Unawaited::default();
        }
        let operations = self.made().map(|port| port.in_flight());
        let messages = self.engine.unanswered().map(|(_, count)| count.into());
        self.waits_for_room() || operations.chain(messages).sum::<u64>() > unawaited.sent
    }

    /// Describes for reports what this PE waits for: answers to messages, or, if all are answered, `other`.
    fn awaited(&self, other: &str) -> String {
        let list: Vec<_> =
            self.engine.unanswered().map(|(pe, count)| format!("{count} of PE {pe}")).collect();
        match list[..] {
            [] => other.to_owned(),
            _ => format!("answers to messages: {}", list.join(", ")),
        }
    }

    /// A number that changes when a message is received, a buffer's message is sent, or a counted operation completes. The check
    /// for stalled operations compares it.
    fn moved(&self) -> u64 {
        let messages = self.buffers.moved.load(Ordering::Relaxed);
        self.made().fold(messages, |moved, port| moved.wrapping_add(port.unit.endpoint.completed()))
    }

    /// A number that changes while threads of the program poll. The progress thread then parks.
    fn activity(&self) -> u64 {
        self.made().fold(0, |looks, port| looks.wrapping_add(port.unit.looks.load(Ordering::Relaxed)))
    }

    /// A PE and its address, for reports.
    fn name_of(&self, pe: usize) -> String {
        format!("PE {pe} ({})", self.domain.place_of(pe))
    }

    /// Wakes threads that sleep until a word of this PE changes.
    fn ring(&self) {
        if let Some(slot) = self.slot.get() {
            slot.ring();
        }
    }

    /// Reads completions of the endpoint that other PEs address (unit 0), and of all endpoints while signals wait for their data.
    #[inline]
    fn progress(&self) {
        self.first().progress();
        if self.signals.any() {
            self.serve();
        }
    }

    #[cold]
    fn give_up(&self, what: &str, waited: Duration) -> ! {
        let seconds = waited.as_secs();
        let strangers = match self.engine.strangers() {
            0 => String::new(),
            count => format!("; {count} messages that no PE of this job has sent were dropped"),
        };
        self.end(format!(
            "the fabric has not moved for {seconds} s: {what}{strangers}; look whether the host is still reachable, or allow more time (SHMEM_TIMEOUT=<seconds>, 0: for ever)"
        ))
    }

    #[cold]
    fn fail(&self, what: &str, why: &str) -> ! {
        self.end(format!("{what} failed: {why}; the PE may have died, or its host cannot be reached"))
    }

    fn end(&self, message: String) -> ! {
        let Domain { provider, interface, .. } = &self.domain;
        match (self.on_failure)(format!("{provider} on {interface}: {message}")) {}
    }
}

#[cfg(all(test, not(miri)))]
mod tests;
