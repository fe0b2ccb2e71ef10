//! Units, and the streams of contexts on them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use core::sync::atomic::{AtomicU64, Ordering};

use super::outstanding::Outstanding;
use super::provider::{Busy, Descriptor, Event, Provider};
use crate::context::mapping::Tracking;

/// Most streams on a unit.
pub const STREAMS: usize = 64;

/// A unit and its streams.
///
/// Streams, counters and the provider's queues lie on lines of their own: two units share none.
#[repr(align(128))]
pub struct Unit<P> {
    /// Operations started that are counted.
    counted: AtomicU64,
    tracking: Tracking,
    lock: Option<Mutex<()>>,
    provider: P,
    /// The events of each stream that is or was open.
    events: Box<[OnceLock<Outstanding>]>,
    /// Whether a stream is open.
    open: Mutex<[bool; STREAMS]>,
}

impl<P: Provider> Unit<P> {
    /// A unit with a lock: any thread uses its streams at any time.
    pub fn locked(provider: P, tracking: Tracking) -> Arc<Self> {
        Arc::new(Self::new(provider, tracking, Some(Mutex::new(()))))
    }

    /// A unit without a lock.
    ///
    /// # Safety
    ///
    /// No two threads may use streams of this unit at the same time. That is what a
    /// [`Grant`](crate::context::mapping::Grant) without a lock says of the contexts on a unit.
    pub unsafe fn unlocked(provider: P, tracking: Tracking) -> Arc<Self> {
        Arc::new(Self::new(provider, tracking, None))
    }

    fn new(provider: P, tracking: Tracking, lock: Option<Mutex<()>>) -> Self {
        let events = (0..STREAMS).map(|_| OnceLock::new()).collect();
        let (counted, open) = (AtomicU64::new(0), Mutex::new([false; STREAMS]));
        Self { counted, tracking, lock, provider, events, open }
    }

    /// What injects and completes.
    pub fn provider(&self) -> &P {
        &self.provider
    }

    /// A stream of its own for a context; `None`: there are [`STREAMS`] already.
    pub fn open(self: &Arc<Self>) -> Option<Stream<P>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let number = open.iter().position(|open| !open)?;
        open[number] = true;
        self.events[number].get_or_init(Outstanding::new);
        Some(Stream { unit: Arc::clone(self), number: number as u32 })
    }

    #[inline(always)]
    fn enter(&self) -> Option<MutexGuard<'_, ()>> {
        self.lock.as_ref().map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The events of a stream.
    #[inline(always)]
    fn events(&self, stream: u32) -> &Outstanding {
        self.events[stream as usize].get().unwrap_or_else(|| unreachable!("a stream that was never opened"))
    }

    /// Reads what has been reported, of whichever stream. Behind the lock.
    #[inline]
    fn reap(&self) {
        // SAFETY: behind the lock, or where there is none by the promise of `unlocked`, one thread is here.
        while let Some(Event { stream, place }) = unsafe { self.provider.poll() } {
            self.events(stream).complete(place);
        }
    }
}

/// The operations of one context on a unit. Dropping it completes them.
pub struct Stream<P: Provider> {
    unit: Arc<Unit<P>>,
    number: u32,
}

impl<P: Provider> Stream<P> {
    /// The unit.
    pub fn unit(&self) -> &Arc<Unit<P>> {
        &self.unit
    }

    /// Starts an operation.
    ///
    /// # Safety
    ///
    /// The source must be readable until [`quiet`](Self::quiet) has returned, and the target be memory of its
    /// segment.
    #[inline]
    pub unsafe fn put(&self, descriptor: &Descriptor) {
        let unit = &*self.unit;
        let is_event = unit.tracking.is_event(descriptor.bytes);
        let _entered = unit.enter();
        if is_event {
            // SAFETY: the caller's promise; nobody else is on this unit (`enter`, `unlocked`).
            unsafe { self.put_event(descriptor) };
            return;
        }
        // SAFETY: as above.
        while unsafe { unit.provider.post(descriptor) } == Err(Busy) {
            unit.reap();
            core::hint::spin_loop();
        }
        let counted = unit.counted.load(Ordering::Relaxed);
        unit.counted.store(counted + 1, Ordering::Release);
    }

    /// # Safety
    ///
    /// As [`put`](Self::put), and behind the lock.
    #[inline]
    unsafe fn put_event(&self, descriptor: &Descriptor) {
        let unit = &*self.unit;
        let events = unit.events(self.number);
        loop {
            if let Some(place) = events.place() {
                let event = Event { stream: self.number, place };
                // SAFETY: the caller's promise.
                if unsafe { unit.provider.post_event(descriptor, event) }.is_ok() {
                    events.start(place);
                    return;
                }
            }
            unit.reap();
            core::hint::spin_loop();
        }
    }

    /// Waits until what the stream has started is remotely visible; of counted operations, what the unit
    /// has.
    #[inline]
    pub fn quiet(&self) {
        let unit = &*self.unit;
        if unit.tracking != Tracking::Events {
            // Operations of others that start from now on need not be waited for.
            let counted = unit.counted.load(Ordering::Acquire);
            while unit.provider.completed() < counted {
                core::hint::spin_loop();
            }
        }
        if unit.tracking == Tracking::Counter {
            return;
        }
        loop {
            let entered = unit.enter();
            if unit.events(self.number).len() == 0 {
                return;
            }
            unit.reap();
            if unit.events(self.number).len() == 0 {
                return;
            }
            drop(entered);
            core::hint::spin_loop();
        }
    }
}

impl<P: Provider> Drop for Stream<P> {
    fn drop(&mut self) {
        self.quiet();
        self.unit.open.lock().unwrap_or_else(PoisonError::into_inner)[self.number as usize] = false;
    }
}
