//! Exchanges: PEs send items to the PEs that handle them. Irregular programs use exchanges for data that only the owner may change.
//!
//! [`Post`] carries messages of many items between any two PEs, in bounded memory;
//! [`Termination`](crate::termination_detection::Termination) detects that no PE has items left. An [`ExchangeRound`] packs items
//! into messages and unpacks them. [`run`](Exchange::run), [`react`](Exchange::react) and [`ask`](Exchange::ask) are loops over a
//! round.
//!
//! A sender that finds no free message slot at the receiver handles arrived items, so PEs that flood each other make progress. The
//! receiver stores queries while it has no space to send answers, so each sender limits its unanswered queries. Answers are always
//! received.
//!
//! An exchange may be used in a [phase](crate::phase). A phase allows no barrier before its end, so a round uses messages only, and
//! one word on PE 0 that counts messages.

mod item_messages;
mod queries;
mod round;

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use shmem_core::endpoint::Initiator as _;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;
use shmem_core::text::counted;

pub use self::item_messages::ExchangeToken;
use self::item_messages::{Content, Message, Post, Through};
use self::round::ExchangeRound;
use crate::error::Result;
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Makes an exchange, by which PEs send each other items that the receiver handles. Collective.
    ///
    /// In this example particles are sent to the owners of their cells. A phase opens the cells:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[symmetric]
    /// static CELLS: [f64; 100];
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let mut exchange = world.exchange::<[f64; 2]>(ExchangeOptions::default())?;
    ///     let (me, all) = (world.my_pe(), world.pes().iter().collect::<Vec<_>>());
    ///     let particles = (0..1000).map(|k| [((k * 7 + me) % (100 * all.len())) as f64, 0.5]);
    ///     let items = particles.map(|particle| (all[particle[0] as usize / 100], particle));
    ///     world.local_with_exchanges(&CELLS, |cells, phase| {
    ///         exchange.run(phase, items, |_from, [place, charge]| cells[place as usize % 100] += charge);
    ///     });
    ///     let charge = world.frozen(&CELLS, |cells| cells.iter().sum::<f64>());
    ///     assert_eq!(world.sum(charge), 500.0 * world.n_pes() as f64);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the default heap is full: the same error on every PE.
    #[track_caller]
    pub fn exchange<T: PlainData>(&self, options: ExchangeOptions) -> Result<Exchange<T>> {
        let ExchangeOptions { bytes } = options;
        let subject = || {
            let (bytes, size) = (show_size(bytes as u64), show_size(size_of::<T>() as u64));
            format!("{bytes} for items of {size}")
        };
        let arguments = [bytes as u64, size_of::<T>() as u64, align_of::<T>() as u64];
        let signature = CallSignature::of_memory("exchange", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &signature);
        let post = Post::new(self, bytes, size_of::<T>())?;
        let messages = || (0..self.n_pes()).map(|_| Message::default()).collect();
        Ok(Exchange {
            buffers: [messages(), messages()],
            post,
            inbox: Message::default(),
            arrived: None,
            read: 0,
            begun: None,
            _items: PhantomData,
        })
    }
}

/// The memory of an [`Exchange`](crate::Exchange): by default, 1 MiB on each PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeOptions {
    /// Bytes of symmetric memory on each PE for incoming messages. Up to three times as much private memory is used. However small
    /// the number, there is space for a few items from each PE.
    pub bytes: usize,
}

impl ExchangeOptions {
    /// Returns options with `bytes` bytes on each PE.
    #[must_use]
    pub const fn with_bytes(bytes: usize) -> Self {
        Self { bytes }
    }
}

impl Default for ExchangeOptions {
    fn default() -> Self {
        Self::with_bytes(1 << 20)
    }
}

/// Items that PEs send to each other; the receiver handles each item. Made by [`World::exchange`].
///
/// Items are sent in batches. Any number of items needs only bounded memory, because a sender that finds no free slot at the
/// receiver handles incoming items first. Items of one PE are handled in the order in which they were sent. All PEs make each call,
/// which returns when no PE has items left. Then the exchange may be used again.
///
/// The token is the world, a context or, in a phase, the token of [`World::local_with_exchanges`]. Handlers in a phase may change
/// the opened objects, so that a PE can update plain data of any PE by sending it items.
///
/// # Panics
///
/// All methods panic if a handler panicked in an earlier call, or if the exchange is that of another PE (where PEs are threads).
pub struct Exchange<T> {
    post: Post,
    /// Messages that are being filled, indexed by content (items or answers) and receiver.
    buffers: [Vec<Message>; 2],
    /// The received message whose items are being taken.
    inbox: Message,
    /// Sender and content of `inbox`.
    arrived: Option<(usize, Content)>,
    /// Number of items of `inbox` that were taken.
    read: usize,
    /// Call that began the current round; None between rounds.
    begun: Option<&'static Location<'static>>,
    _items: PhantomData<T>,
}

impl<T: PlainData> Exchange<T> {
    /// Sends items, and calls `handle(sender, item)` for each incoming item, until all PEs' items are handled. All PEs call `run`.
    #[track_caller]
    pub fn run(
        &mut self,
        token: &(impl ExchangeToken + ?Sized),
        items: impl IntoIterator<Item = (Pe, T)>,
        mut handle: impl FnMut(Pe, T),
    ) {
        self.react(token, items, |_, from, item| handle(from, item));
    }

    /// As [`run`](Self::run), with a handler that may send further items by an outbox. Returns on all PEs when all PEs' items are
    /// handled.
    ///
    /// Items of different PEs arrive in any order, so the handlers' result must not depend on their order. In a breadth-first
    /// search a handler keeps the *least* level of a vertex, not the first that arrives. Or each level is a [`run`](Self::run) of
    /// its own.
    #[track_caller]
    pub fn react(
        &mut self,
        token: &(impl ExchangeToken + ?Sized),
        items: impl IntoIterator<Item = (Pe, T)>,
        mut handle: impl FnMut(&mut Outbox<T>, Pe, T),
    ) {
        let (mut outbox, mut items) = (Outbox { items: VecDeque::new() }, items.into_iter().fuse());
        let pes = self.post.rings.pes.clone();
        let mut round = self.begin(token);
        let mut refused = None;
        loop {
            put_all(&mut round, &mut refused, || outbox.items.pop_front().or_else(|| items.next()));
            while let Some((from, content)) = round.look() {
                let (from, item) = (pes[from], round.read());
                if content == Content::Answers {
                    panic!(
                        "PE {from} answers in a round in which this PE does not ask: all PEs call `ask`, or none does"
                    );
                }
                handle(&mut outbox, from, item);
                if refused.is_none() {
                    put_all(&mut round, &mut refused, || outbox.items.pop_front());
                }
            }
            if !round.go_on(refused.is_some()) {
                return;
            }
        }
    }

    #[track_caller]
    fn begin<'x>(&'x mut self, token: &'x (impl ExchangeToken + ?Sized)) -> ExchangeRound<'x, T> {
        let (token, location) = (Through(token.__endpoint()), Location::caller());
        self.post.rings.check(&token, "exchange");
        if let Some(begun) = self.begun {
            panic!(
                "the round begun at {begun} was given up by a panic before it was over, and others may still wait in it"
            );
        }
        self.begun = Some(location);
        ExchangeRound { exchange: self, token, location }
    }
}

/// Sends items until one finds no free message slot. That item is stored in `refused`, and is sent before others.
fn put_all<T: PlainData>(
    round: &mut ExchangeRound<'_, T>,
    refused: &mut Option<(Pe, T)>,
    mut next: impl FnMut() -> Option<(Pe, T)>,
) {
    while let Some((to, item)) = refused.take().or_else(&mut next) {
        if !round.put(Content::Items, to.number(), &item) {
            *refused = Some((to, item));
            return;
        }
    }
}

impl<T> fmt::Debug for Exchange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange (PE {} of {})", self.post.rings.me, self.post.rings.pes.len())
    }
}

/// Items that the handler of [`Exchange::react`](crate::Exchange::react) sends. They are stored in this PE's memory without a
/// bound, and are sent before further items of the call.
pub struct Outbox<T> {
    items: VecDeque<(Pe, T)>,
}

impl<T> Outbox<T> {
    /// Adds an item for a PE.
    pub fn push(&mut self, to: Pe, item: T) {
        self.items.push_back((to, item));
    }
}

impl<T> fmt::Debug for Outbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbox ({})", counted(self.items.len(), "item"))
    }
}
