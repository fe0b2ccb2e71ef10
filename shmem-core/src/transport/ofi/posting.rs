//! Operations of a unit (an endpoint with its queue and counter): starting them, waiting for them, and reading their completions.
//!
//! [`Tracking`](crate::transport::Tracking) says whether an operation is *counted*, or an *event* of its stream, which is its
//! channel's completion state. A quiet learns from the unit's counter that counted operations are complete, and from the queue's
//! reports that events are. An event keeps a record until its completion is reported. A read into a record's buffer is always an
//! event, because the counter could count it before the bytes are copied to the destination.

use core::ffi::{c_int, c_void};

use super::Fabric;
use super::backoff::Backoff;
use super::engine::{Sent, Wire as _};
use super::engine_network::Arrival;
use super::lent_buffers::Written;
use super::record::{Free, OnCompletion, Record};
use super::streams::Stream;
use super::unit::Unit;
use crate::libfabric::bindings::*;
use crate::libfabric::{Endpoint, Registration};
use crate::transport::Channel;

const COMPLETIONS: usize = 16;

/// The queue's entry of a failed operation or connection, and the operation, if its completion was to be reported.
type Failure = (fi_cq_err_entry, Option<OperationInfo>);

/// Description of an operation, for reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperationInfo {
    pub(super) operation: &'static str,
    pub(super) pe: usize,
    pub(super) bytes: usize,
}

/// Arguments with which an operation starts.
pub(super) struct Posting<'u> {
    pub(super) endpoint: &'u Endpoint,
    pub(super) record: Option<&'u Record>,
    /// Descriptor of the memory of records, if local memory must be registered.
    pub(super) description: *mut c_void,
    pub(super) context: *mut c_void,
    pub(super) flags: u64,
}

/// A unit (an endpoint with its queue and counter), and its fabric.
#[derive(Clone, Copy)]
pub(super) struct Port<'f> {
    pub(super) fabric: &'f Fabric,
    pub(super) unit: &'f Unit,
}

impl Port<'_> {
    /// Starts an operation for which the next quiet of its channel waits. If there is no room in the queue, or no free record,
    /// waits for it if `waits`, and otherwise returns `Sent::Full`. The operation has a record, which `prepare` fills in, if its
    /// completion is to be reported (an event), or if `keeps`.
    ///
    /// # Safety
    ///
    /// As [`start`](Self::start).
    #[inline(always)]
    pub(super) unsafe fn issue(
        &self,
        channel: Channel,
        what: OperationInfo,
        on_completion: OnCompletion,
        (keeps, waits): (bool, bool),
        prepare: impl FnOnce(&Record),
        mut attempt: impl FnMut(&Posting<'_>) -> isize,
    ) -> Sent {
        let (stream, is_event) =
            (self.fabric.stream(channel), !matches!(on_completion, OnCompletion::Counted));
        if is_event {
            stream.expect();
        }
        let started = if keeps || is_event {
            // SAFETY: the caller's promise.
            unsafe { self.start(what, on_completion, waits, prepare, attempt) }
                .map(|number| number.map(|_| ()))
        } else {
            // The context is null: a provider that asks for contexts (`FI_CONTEXT`) ignores that of an operation without a report.
            let posting = Posting {
                endpoint: &self.unit.endpoint,
                record: None,
                description: core::ptr::null_mut(),
                context: core::ptr::null_mut(),
                flags: u64::from(FI_DELIVERY_COMPLETE),
            };
            self.until_done(what, waits, || self.post_once(what.pe, || attempt(&posting)))
        };
        let started = started.unwrap_or_else(|error| self.refuse(what, error));
        match (started, is_event) {
            (Some(()), false) => stream.count(self.unit.counter.started()),
            (None, true) => stream.ended(),
            _ => {}
        }
        started.map_or(Sent::Full, |()| Sent::Done)
    }

    /// Starts an operation with a record, and waits for its completion. `prepare` fills the record in, and `read` reads it at the
    /// end. Errors are libfabric's negative answers.
    ///
    /// # Safety
    ///
    /// As [`start`](Self::start).
    #[inline]
    pub(super) unsafe fn carry_out<R>(
        &self,
        what: OperationInfo,
        prepare: impl FnOnce(&Record),
        attempt: impl FnMut(&Posting<'_>) -> isize,
        read: impl FnOnce(&Record) -> R,
    ) -> Result<R, isize> {
        // SAFETY: the caller's promise.
        let started = unsafe { self.start(what, OnCompletion::Awaited, true, prepare, attempt) }?;
        let number = started.unwrap_or_else(|| unreachable!("there was room in the end"));
        let record = self.unit.records.get(number);
        self.wait_until(|| record.is_done().then_some(()), || self.describe(what));
        let result = read(record);
        self.unit.lock().give_back(number);
        Ok(result)
    }

    /// Starts an operation with a record, which `prepare` fills in. Returns the number of the record; `None`: there is no room now
    /// (in the queue, or a free record), and `waits` is false. Errors are libfabric's negative answers.
    ///
    /// # Safety
    ///
    /// `attempt` must hand one operation to the provider, with the context and at least the flags of the posting, and return its
    /// answer. Local memory of the operation must stay until the operation is complete.
    #[inline]
    unsafe fn start(
        &self,
        what: OperationInfo,
        on_completion: OnCompletion,
        waits: bool,
        prepare: impl FnOnce(&Record),
        mut attempt: impl FnMut(&Posting<'_>) -> isize,
    ) -> Result<Option<u32>, isize> {
        let take = || Ok(self.unit.lock().take(&self.unit.records, on_completion, what));
        let Some(number) = self.until_done(what, waits, take)? else { return Ok(None) };
        let record = self.unit.records.get(number);
        let registered = self.unit.registered.as_ref();
        let posting = Posting {
            endpoint: &self.unit.endpoint,
            record: Some(record),
            description: registered.map_or(core::ptr::null_mut(), Registration::description),
            context: record.context(),
            flags: u64::from(FI_DELIVERY_COMPLETE | FI_COMPLETION),
        };
        prepare(record);
        let posted = self.until_done(what, waits, || self.post_once(what.pe, || attempt(&posting)));
        if posted != Ok(Some(())) {
            self.unit.lock().give_back(number);
        }
        posted.map(|posted| posted.map(|()| number))
    }

    /// Calls `attempt`. If `waits`, repeats it until it returns a value or an error.
    #[inline]
    fn until_done<T>(
        &self,
        what: OperationInfo,
        waits: bool,
        mut attempt: impl FnMut() -> Result<Option<T>, isize>,
    ) -> Result<Option<T>, isize> {
        if !waits {
            return attempt();
        }
        self.wait_until(|| attempt().transpose(), || self.describe(what)).map(Some)
    }

    /// Makes progress until `attempt` returns a value. Holds no lock meanwhile.
    #[inline]
    fn wait_until<T>(&self, mut attempt: impl FnMut() -> Option<T>, what: impl Fn() -> String) -> T {
        let mut backoff = Backoff::new(self.fabric);
        loop {
            if let Some(done) = attempt() {
                return done;
            }
            self.drive(&backoff);
            backoff.pause(|| self.completed(), &what);
        }
    }

    /// Starts one operation by `attempt`, and counts it; `None`: no room now. Errors are libfabric's negative answers.
    #[inline]
    pub(super) fn post_once(&self, pe: usize, attempt: impl FnOnce() -> isize) -> Result<Option<()>, isize> {
        let _held = self.unit.lock();
        if !self.unit.counter.is_open() {
            return Ok(None);
        }
        if self.unit.counter.is_settled(self.unit.counter.started()) {
            self.unit.addressed.clear();
        }
        self.unit.addressed.add(pe);
        self.unit.counter.begin();
        match attempt() {
            0 => {
                // Counts as a poll, so that the progress thread parks: a thread that starts many operations will read completions
                // soon.
                self.unit.looked();
                Ok(Some(()))
            }
            answer => {
                self.unit.counter.undo();
                if answer == -(FI_EAGAIN as isize) { Ok(None) } else { Err(answer) }
            }
        }
    }

    /// Waits until the first `operations` operations of the unit are complete. Reads no counter if they are known to be complete.
    #[inline]
    pub(super) fn quiet(&self, operations: u64) {
        if self.unit.counter.is_settled(operations) {
            return;
        }
        let (mut backoff, mut waiting) = (Backoff::new(self.fabric), self.unit.counter.wait());
        loop {
            let completed = self.completed();
            if self.unit.counter.is_complete(completed) || self.unit.counter.is_settled(operations) {
                return;
            }
            if backoff.is_eighth() {
                self.drive(&backoff);
            }
            waiting.looked();
            let started = || self.unit.counter.started();
            backoff.pause(
                || completed,
                || format!("{completed} of {} operations of this PE are complete", started()),
            );
        }
    }

    /// Whether the first `operations` operations of the unit are known to be complete.
    pub(super) fn is_quiet(&self, operations: u64) -> bool {
        let counter = &self.unit.counter;
        counter.is_settled(operations)
            || counter.is_complete(self.completed())
            || counter.is_settled(operations)
    }

    /// Makes progress while `goes_on` returns true, to wait for operations of `stream` whose completion is reported (events).
    #[inline]
    pub(super) fn wait_while(&self, stream: &Stream, mut goes_on: impl FnMut() -> bool) {
        let is_over = || (!goes_on()).then_some(());
        self.wait_until(is_over, || format!("{} operations of a context", stream.events()));
    }

    /// Whether an operation with a PE may be in flight whose completion is only counted, not reported.
    pub(super) fn may_have(&self, pe: usize) -> bool {
        // Locked, because another thread may be changing the list of PEs.
        let _held = self.unit.lock();
        self.unit.addressed.may_have(pe)
    }

    /// The number of complete operations of the unit. Makes progress, and counts as a poll, which lets the progress thread park.
    #[inline(always)]
    pub(super) fn completed(&self) -> u64 {
        self.unit.looked();
        self.unit.endpoint.completed()
    }

    /// Reads completions of this unit, and, every eighth time, of the unit that other PEs address.
    #[inline]
    pub(super) fn drive(&self, backoff: &Backoff<'_>) {
        self.progress();
        if backoff.is_eighth() {
            self.fabric.progress();
        }
    }

    /// Upper bound on the unit's operations in flight. Makes progress.
    pub(super) fn in_flight(&self) -> u64 {
        self.unit.counter.in_flight(self.unit.endpoint.completed())
    }

    /// As [`serve`](Self::serve), but counts as a poll of the program, which lets the progress thread park.
    #[inline]
    pub(super) fn progress(&self) -> bool {
        self.unit.looked();
        self.serve()
    }

    /// Reads completions, unless another thread holds the unit's lock. Has the engine carry out messages that have arrived, and
    /// sends answers and signals. Returns whether there were any completions.
    #[inline]
    pub(super) fn serve(&self) -> bool {
        let Some(mut free) = self.unit.free.try_lock() else { return false };
        let (mut arrivals, mut arrived) = ([Arrival::Sent { number: 0, bytes: 0 }; COMPLETIONS], 0);
        let read = self.read(&mut free, |arrival| {
            arrivals[arrived] = arrival;
            arrived += 1;
        });
        drop(free);
        // The lock is released before messages are carried out and failures are reported, because both lock the unit again, while
        // they hold locks of the buffers or the engine.
        let any = read.unwrap_or_else(|failure| {
            self.report(failure);
            true
        });
        let Fabric { engine, buffers, signals, .. } = self.fabric;
        if arrived > 0 || engine.owes() || buffers.wait() || signals.delivered() > 0 {
            self.fabric.take(&arrivals[..arrived]);
        }
        any
    }

    /// Reads completions, and passes messages that have arrived to `add`. Returns whether there were any completions.
    fn read(&self, free: &mut Free, mut add: impl FnMut(Arrival)) -> Result<bool, Failure> {
        let mut entries = [const { core::mem::MaybeUninit::<fi_cq_data_entry>::uninit() }; COMPLETIONS];
        let entries = self.unit.endpoint.read(&mut entries).map_err(|answer| self.failure(free, answer))?;
        for entry in entries {
            if entry.flags & u64::from(FI_REMOTE_WRITE) != 0 {
                add(Arrival::Written(Written::decoded(entry.data)));
            } else if let Some(number) = self.unit.records.find(entry.op_context) {
                match free.complete(&self.unit.records, number) {
                    Some(OnCompletion::Event(channel) | OnCompletion::ReadToBuffer(channel, _)) => {
                        self.fabric.stream(channel).ended();
                    }
                    Some(OnCompletion::Signalled(update)) => self.fabric.signals.deliver(update),
                    Some(OnCompletion::Awaited | OnCompletion::Counted) | None => {}
                }
            } else {
                match self.fabric.buffers.find(entry.op_context) {
                    Some((number, true)) => add(Arrival::Sent { number, bytes: entry.len }),
                    Some((number, false)) => self.fabric.buffers.give_back(number),
                    None => {}
                }
            }
        }
        Ok(!entries.is_empty())
    }

    #[cold]
    fn failure(&self, free: &Free, read: isize) -> Failure {
        // The error entry names the operation only if the operation's completion was to be reported.
        let entry = self.unit.endpoint.read_error(read as c_int);
        let number = self.unit.records.find(entry.op_context);
        (entry, number.and_then(|number| free.holder(number)))
    }

    /// Ends the job because of a failure, unless a process outside the job may have caused it.
    ///
    /// A message that arrives incompletely (too long, or its sender died) may be from outside. If it was a PE's, that PE waits for
    /// the answer, and reports the loss. An error without an operation is a connection's, from outside if nothing is in flight.
    #[cold]
    fn report(&self, (entry, what): Failure) {
        if let Some((number, true)) = self.fabric.buffers.find(entry.op_context) {
            self.fabric.buffers.keep(number);
            return self.fabric.engine.ignore();
        }
        let is_of_none = entry.op_context.is_null() && entry.flags == 0;
        if is_of_none && self.in_flight() == 0 && self.fabric.engine.unanswered().next().is_none() {
            return self.fabric.engine.ignore();
        }
        let what = what.map_or_else(|| self.suspects(), |what| self.describe(what));
        self.fabric.fail(&what, &self.fabric.domain.library().describe(entry.err.into()))
    }

    /// Names PEs whose operation may have failed, for reports.
    fn suspects(&self) -> String {
        let (addressed, others) = self.unit.addressed.list();
        let mut pes: Vec<_> = addressed.chain(self.fabric.engine.unanswered().map(|(pe, _)| pe)).collect();
        pes.sort_unstable();
        pes.dedup();
        let names: Vec<_> = pes.into_iter().map(|pe| self.fabric.name_of(pe)).collect();
        match (&names[..], others) {
            ([], _) => "an operation".to_owned(),
            ([name], false) => format!("an operation with {name}"),
            (names, false) => format!("an operation with one of {}", names.join(", ")),
            (names, true) => format!("an operation with one of {}, and others", names.join(", ")),
        }
    }

    #[cold]
    pub(super) fn refuse(&self, what: OperationInfo, answer: isize) -> ! {
        self.fabric.fail(&self.describe(what), &self.fabric.domain.library().describe(answer as i64))
    }

    fn describe(&self, what: OperationInfo) -> String {
        let OperationInfo { operation, pe, bytes } = what;
        format!("{operation} of {bytes} bytes with {}", self.fabric.name_of(pe))
    }
}

impl Fabric {
    /// Waits for the operations and messages of a channel. Waits for events first: a signal is an event until it is sent, and then
    /// an operation.
    pub(super) fn quiet(&self, channel: Channel) {
        let (stream, port) = (self.stream(channel), self.port(channel));
        port.wait_while(stream, || stream.events() > 0);
        port.quiet(stream.counted());
        self.wait_while(|| !self.engine.is_quiet(channel));
    }

    /// Whether all operations and messages of a channel are complete. Makes progress, then checks in the order in which
    /// [`quiet`](Self::quiet) waits, so that no later step invalidates an earlier check.
    pub(super) fn is_quiet(&self, channel: Channel) -> bool {
        let (stream, port) = (self.stream(channel), self.port(channel));
        port.progress();
        self.progress();
        stream.events() == 0 && port.is_quiet(stream.counted()) && self.engine.is_quiet(channel)
    }

    /// Waits for the operations and messages of a channel with one PE. If the PEs of operations are not known, waits for all.
    pub(super) fn quiet_pe(&self, channel: Channel, pe: usize) {
        let (stream, port) = (self.stream(channel), self.port(channel));
        // Signals are checked first, because a signal that is no longer pending is an operation in flight, or complete.
        let has = || self.signals.any() || port.unit.lock().has(channel, pe);
        port.wait_while(stream, || stream.events() > 0 && has());
        if port.may_have(pe) {
            port.quiet(stream.counted());
        }
        self.wait_while(|| !self.engine.is_quiet(channel) && self.engine.unanswered_by(pe) > 0);
    }

    fn wait_while(&self, goes_on: impl Fn() -> bool) {
        let wire = self.wire();
        while goes_on() {
            wire.progress();
        }
    }
}
