//! Sessions: what a program says of the operations to come.
//!
//! A [`Session`] is a token that stands for the one it was begun on, until it is dropped. The transport is told
//! when it begins and when it ends, and may buffer and join what comes in between; operations between PEs of
//! one node are loads and stores, for which there is nothing to prepare. Several may be open on one token:
//! what they say holds together.

use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::transport::SessionOptions;

/// Tokens of which a program can say how it will use them: all of them.
pub trait Sessions: Initiator {
    /// Begins a session: until it is dropped, what goes through this token is expected to be as `options` say.
    /// That is a hint. Results, order and completion are what they are without it; what has to arrive needs its
    /// `quiet` inside or after the session.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_session_start`, `shmem_ctx_session_stop`.
    #[must_use = "a session that is not kept ends at once"]
    fn session(&self, options: SessionOptions) -> Session<'_, Self> {
        if let Some(far) = self.endpoint().far_if_any() {
            far.transport.begin_session(far.channel, options);
        }
        Session { token: self, options }
    }
}

impl<I: Initiator + ?Sized> Sessions for I {}

/// A session that is open. From [`Sessions::session`].
pub struct Session<'t, I: Initiator + ?Sized> {
    token: &'t I,
    options: SessionOptions,
}

impl<I: Initiator + ?Sized> Session<'_, I> {
    /// What it was begun with.
    pub fn options(&self) -> SessionOptions {
        self.options
    }
}

// SAFETY: it borrows a token, and lives no longer.
unsafe impl<I: Initiator + ?Sized> Initiator for Session<'_, I> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.token.endpoint()
    }
}

impl<I: Stores + ?Sized> Stores for Session<'_, I> {}

impl<I: Initiator + ?Sized> Drop for Session<'_, I> {
    fn drop(&mut self) {
        if let Some(far) = self.endpoint().far_if_any() {
            far.transport.end_session(far.channel, self.options);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Far, Waiting};
    use crate::exclusion::Mutex;
    use crate::pe::Pe;
    use crate::segment::Segments;
    use crate::slots::Slots;
    use crate::sync::Patience;
    use crate::transport::{AtomicOp, Channel, Lane, Remote, Transport, Until, Width};

    /// A transport that writes down what it is told.
    #[derive(Default)]
    struct Noted(Mutex<Vec<(&'static str, Channel, SessionOptions)>>);

    // SAFETY: it reaches no memory, and nobody enters an exclusive phase.
    unsafe impl Transport for Noted {
        fn name(&self) -> &'static str {
            "noted"
        }

        fn open(&self, _: Lane) -> Result<Channel, String> {
            Ok(Channel(0))
        }

        unsafe fn put(&self, _: Channel, _: Remote, _: *const u8, _: usize, _: Until) {
            unreachable!("no operation is issued")
        }

        unsafe fn get(&self, _: Channel, _: *mut u8, _: Remote, _: usize, _: Until) {
            unreachable!("no operation is issued")
        }

        unsafe fn atomic(&self, _: Channel, _: Remote, _: Width, _: AtomicOp) -> u64 {
            unreachable!("no operation is issued")
        }

        unsafe fn atomic_update(&self, _: Channel, _: Remote, _: Width, _: AtomicOp) {
            unreachable!("no operation is issued")
        }

        fn fence(&self, _: Channel) {}

        fn quiet(&self, _: Channel) {}

        fn is_quiet(&self, _: Channel) -> bool {
            true
        }

        fn progress(&self) {}

        fn begin_session(&self, channel: Channel, options: SessionOptions) {
            self.0.lock().push(("begin", channel, options));
        }

        fn end_session(&self, channel: Channel, options: SessionOptions) {
            self.0.lock().push(("end", channel, options));
        }
    }

    struct Token {
        endpoint: Endpoint,
        _places: Slots,
    }

    // SAFETY: there is no exclusive phase in these tests.
    unsafe impl Initiator for Token {
        fn endpoint(&self) -> &Endpoint {
            &self.endpoint
        }
    }

    fn token(transport: &Arc<Noted>, channel: Channel) -> Token {
        let places = Slots::new(1, 0);
        let base = places.start_of(0);
        // SAFETY: the place exists as long as the token.
        let me = unsafe { Pe::new(0, 0) };
        let waiting = Waiting::new(Patience::for_node(1, 1), || false, None, |_| String::new(), |_| ());
        let far = Far { transport: Arc::clone(transport) as Arc<dyn Transport>, channel };
        let segments = Arc::new(Segments::new(places.stride(), 21));
        // SAFETY: one zeroed place, which lives as long as the endpoint.
        let endpoint =
            unsafe { Endpoint::new(base, places.stride(), base, me, Some(far), segments, Arc::new(waiting)) };
        Token { endpoint, _places: places }
    }

    #[test]
    fn a_transport_knows_what_is_open_on_which_channel() {
        let transport = Arc::default();
        let (one, other) = (token(&transport, Channel(1)), token(&transport, Channel(2)));
        let (batch, counted) = (SessionOptions::batch(), SessionOptions::default().total_ops(7));
        let outer = one.session(batch);
        {
            let _inner = outer.session(counted);
            let _elsewhere = other.session(batch);
        }
        assert_eq!(outer.options(), batch);
        drop(outer);
        let panics = || {
            let _open = one.session(counted);
            panic!("inside");
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(
            *transport.0.lock(),
            [
                ("begin", Channel(1), batch),
                ("begin", Channel(1), counted),
                ("begin", Channel(2), batch),
                ("end", Channel(2), batch),
                ("end", Channel(1), counted),
                ("end", Channel(1), batch),
                ("begin", Channel(1), counted),
                ("end", Channel(1), counted),
            ]
        );
    }
}
