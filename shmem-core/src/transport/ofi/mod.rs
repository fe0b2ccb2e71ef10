//! PEs of other nodes through libfabric.
//!
//! Every PE has units: endpoints with a completion queue and a counter each. Others address the first one. Puts,
//! gets and atomics are the provider's own; each asks for delivery, so that what is counted is remotely visible.
//! Connections are made when they are first needed, by the provider.
//!
//! ```text
//! provider    which provider, and what it demands
//! domain      what all endpoints share: addresses, limits
//! keys        registered memory and its names on every PE
//! streams     channels by number
//! unit        an endpoint: starting operations, progress, completion
//! record      what an operation keeps until its completion is reported
//! operation   messages for the provider
//! rma         the operations of a transport
//! stall       how long to wait
//! engine      what the target does: messages between PEs, where the provider has no operation
//! ```
//!
//! Nothing is allocated per operation, and every queue is bounded: where one is full (`-FI_EAGAIN`, no record) the
//! caller makes progress and tries again.

mod domain;
pub mod engine;
mod error;
mod keys;
mod object;
mod operation;
mod provider;
mod record;
mod rma;
mod stall;
mod streams;
mod unit;

use core::convert::Infallible;
use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use error::OfiError;
pub use provider::Options;

use crate::pe::Pe;
use crate::transport::{Channel, Lane};
use domain::Domain;
use keys::Keys;
use provider::Chosen;
use streams::Streams;
use unit::{Port, Unit};

/// Most units of a PE.
const UNITS: usize = 256;

/// Ends the job with a message; never returns.
pub type OnFailure = Box<dyn Fn(String) -> Infallible + Send + Sync>;

/// One PE's way through the fabric.
pub struct Ofi {
    fabric: Arc<Fabric>,
}

/// What everything on the fabric shares. Fields are closed in order.
struct Fabric {
    keys: Keys,
    units: Box<[OnceLock<Unit>]>,
    /// Behind it, units are made.
    making: Mutex<()>,
    streams: Streams,
    domain: Domain,
    me: usize,
    timeout: Option<Duration>,
    spins: bool,
    on_failure: OnFailure,
}

impl Ofi {
    /// Opens the fabric for PE `me` of `pes`. `on_failure` ends the job: it is called when the fabric cannot
    /// deliver.
    ///
    /// # Errors
    ///
    /// If there is no libfabric, no provider fits, or it refuses.
    pub fn open(
        options: &Options,
        me: usize,
        pes: usize,
        on_failure: OnFailure,
    ) -> Result<Arc<Self>, OfiError> {
        let domain = Domain::open(Chosen::find(options)?, pes)?;
        let fabric = Fabric {
            keys: Keys::new(pes),
            units: (0..UNITS.min(domain.demands.endpoints)).map(|_| OnceLock::new()).collect(),
            making: Mutex::new(()),
            streams: Streams::new(),
            domain,
            me,
            timeout: options.timeout,
            spins: options.spins,
            on_failure,
        };
        fabric.make_unit(0)?;
        Ok(Arc::new(Self { fabric: Arc::new(fabric) }))
    }

    /// The provider, the interface, and the version of libfabric, for reports.
    pub fn describe(&self) -> String {
        let Domain { provider, interface, library, .. } = &self.fabric.domain;
        let (major, minor) = library.version();
        format!("{provider} on {interface} (libfabric {major}.{minor})")
    }

    /// Where other PEs find this one.
    ///
    /// # Errors
    ///
    /// If the provider does not say.
    pub fn address(&self) -> Result<Vec<u8>, OfiError> {
        self.fabric.domain.address_of(self.fabric.first().unit.endpoint())
    }

    /// Learns where other PEs are. Connections are made when they are first needed.
    ///
    /// # Errors
    ///
    /// If an address is none of this provider's.
    pub fn connect(&self, addresses: &[(Pe, Vec<u8>)]) -> Result<(), OfiError> {
        addresses.iter().try_for_each(|(pe, address)| self.fabric.domain.learn(pe.number(), address))
    }
}

impl fmt::Debug for Ofi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ofi").field(&self.describe()).finish()
    }
}

impl Fabric {
    /// The unit that others address.
    #[inline(always)]
    fn first(&self) -> Port<'_> {
        let unit = self.units[0].get().unwrap_or_else(|| unreachable!("the first unit is made at the start"));
        Port { fabric: self, unit }
    }

    /// The unit of a channel.
    #[inline(always)]
    fn port(&self, channel: Channel) -> Port<'_> {
        let unit = self.units[self.streams.get(channel).unit()].get();
        Port {
            fabric: self,
            unit: unit.unwrap_or_else(|| unreachable!("a channel whose unit was never made")),
        }
    }

    fn make_unit(&self, number: usize) -> Result<(), OfiError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.units[number].get().is_none() {
            // SAFETY: the domain is the field that is dropped behind the units.
            let unit = unsafe { Unit::open(&self.domain, number == 0) }?;
            self.units[number].get_or_init(|| unit);
        }
        Ok(())
    }

    /// A stream on a lane.
    fn open_stream(&self, lane: Lane) -> Result<Channel, String> {
        let number = lane.unit as usize;
        if number >= self.units.len() {
            let (units, provider) = (self.units.len(), &self.domain.provider);
            return Err(format!("unit {number} was asked for, and {provider} has {units} for this PE"));
        }
        self.make_unit(number).map_err(|error| error.to_string())?;
        self.streams.open(lane).ok_or_else(|| format!("{} streams are open", streams::STREAMS))
    }

    /// Delivers what has arrived on the unit that others address.
    #[inline]
    fn progress(&self) {
        self.first().progress();
    }

    /// Waited long enough.
    #[cold]
    fn give_up(&self, what: &str, waited: Duration) -> ! {
        let seconds = waited.as_secs();
        self.end(format!(
            "the fabric has not moved for {seconds} s: {what}; look whether the host is still reachable, or allow more time (SHMEM_TIMEOUT=<seconds>, 0: for ever)"
        ))
    }

    /// The provider has failed.
    #[cold]
    fn fail(&self, what: &str, why: &str) -> ! {
        self.end(format!("{what} failed: {why}; the PE may have died, or its host cannot be reached"))
    }

    fn end(&self, message: String) -> ! {
        let Domain { provider, interface, .. } = &self.domain;
        match (self.on_failure)(format!("{provider} on {interface}: {message}")) {}
    }
}
