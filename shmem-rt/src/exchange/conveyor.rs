//! A round of an exchange: items come and go until nobody has any more.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use shmem_core::data::PlainData;
use shmem_core::pe::Pe;

use super::post::{Kind, Message, Post, Through};

/// A round of an [`Exchange`](crate::Exchange): from [`Exchange::begin`](crate::Exchange::begin). All PEs take part in it until
/// [`advance`](Self::advance) says that it is over.
///
/// ```
/// use shmem::prelude::*;
///
/// #[shmem::main]
/// fn main(world: &mut World) -> Result<()> {
///     let mut exchange = world.exchange::<u64>(ExchangeOptions::default())?;
///     let (_, east) = world.ring_neighbours();
///     let mut numbers = 0..1000_u64;
///     let mut next = numbers.next();
///     let mut sum = 0;
///     let mut conveyor = exchange.begin(world);
///     while conveyor.advance(next.is_none()) {
///         while let Some(number) = next {
///             if conveyor.push(east, number).is_err() {
///                 break;                              // no room: again, after others have pulled
///             }
///             next = numbers.next();
///         }
///         while let Some((_from, number)) = conveyor.pull() {
///             sum += number;
///         }
///     }
///     assert_eq!(sum, 499_500);
///     Ok(())
/// }
/// ```
///
/// A round that is dropped before it is over is given up, and with it the exchange.
#[must_use = "a round goes on until `advance` says `false`"]
pub struct Conveyor<'x, T> {
    belt: &'x mut Belt,
    token: Through<'x>,
    is_refused: bool,
    is_over: bool,
    /// Calls of `advance` that have said that there is something to pull, since the last `pull`.
    ignored: u32,
    location: &'static Location<'static>,
    _items: PhantomData<T>,
    /// It stays in the thread of the token.
    _thread: PhantomData<*const ()>,
}

/// So often a program that has nothing else to do may ignore that there is something to pull, before that is an error.
const IGNORED: u32 = 1 << 20;

/// One PE's part of an exchange.
pub(super) struct Belt {
    pub(super) post: Post,
    /// Items that a message has room for.
    pub(super) capacity: usize,
    /// What is to be sent, by its kind and to whom.
    pub(super) buffers: [Vec<Message>; 2],
    /// The message that is taken apart.
    pub(super) inbox: Message,
    pub(super) come: Option<Come>,
    /// Items of it that were taken.
    pub(super) read: usize,
    /// Where the round that is under way was begun.
    pub(super) begun: Option<&'static Location<'static>>,
}

#[derive(Clone, Copy)]
pub(super) struct Come {
    pub(super) from: usize,
    pub(super) kind: Kind,
}

impl Belt {
    /// For items of `size` bytes.
    pub(super) fn new(post: Post, size: usize) -> Self {
        let messages = || post.rings.pes.iter().map(|_| Message::default()).collect();
        Self {
            capacity: post.capacity(size),
            buffers: [messages(), messages()],
            post,
            inbox: Message::default(),
            come: None,
            read: 0,
            begun: None,
        }
    }
}

/// There was no room for an item, which this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<T>(pub T);

/// What a PE that has nothing to pull does next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It pushes more.
    Push,
    /// It pushes more when others have pulled, or something has come.
    Wait,
    /// Nothing, unless something comes.
    Rest,
}

impl<'x, T: PlainData> Conveyor<'x, T> {
    pub(super) fn new(belt: &'x mut Belt, token: Through<'x>, location: &'static Location<'static>) -> Self {
        let (_items, _thread) = (PhantomData, PhantomData);
        Self { belt, token, is_refused: false, is_over: false, ignored: 0, location, _items, _thread }
    }

    /// Sends an item to a PE, which may be this one, together with others. Items to one PE come in the order in which they were
    /// pushed.
    ///
    /// # Errors
    ///
    /// If there is no room now; gives the item back. There is again when the other PE has pulled: pull as well meanwhile, and
    /// [`advance`](Self::advance), which waits for it.
    ///
    /// # Panics
    ///
    /// If the round is over.
    #[inline]
    #[track_caller]
    pub fn push(&mut self, to: Pe, item: T) -> Result<(), Full<T>> {
        assert!(!self.is_over, "this round is over, and nobody pulls any more: begin another one");
        let capacity = self.belt.capacity;
        self.is_refused = !self.put(Kind::Item, to.number(), bytemuck::bytes_of(&item), capacity);
        if self.is_refused { Err(Full(item)) } else { Ok(()) }
    }

    /// Takes an item, and tells who has sent it. None: nothing has come, or the round is over.
    ///
    /// # Panics
    ///
    /// If others do not take part in this round, but ask.
    #[inline]
    #[track_caller]
    pub fn pull(&mut self) -> Option<(Pe, T)> {
        self.ignored = 0;
        // What comes behind the end is of the next round.
        let Come { from, kind } = if self.is_over { None } else { self.look() }?;
        let item = self.read::<T>();
        match kind {
            Kind::Item => Some((self.belt.post.rings.pes[from], item)),
            Kind::Answer => answered(self.belt.post.rings.pes[from]),
        }
    }

    /// Goes on: sends what is to be sent, and says whether the round does. `false` on all PEs when all are done, and every item
    /// was pulled.
    ///
    /// A PE is `done` if it pushes no more unless something comes: then this waits until something has come, or all is over. It may
    /// push again when it has pulled. Otherwise this waits only if the last push found no room, until there may be some. While there is
    /// something to pull it does not wait at all.
    ///
    /// # Panics
    ///
    /// If a PE that is done has called this a million times, and not [`pull`](Self::pull), though there is something: the round
    /// would never end.
    #[track_caller]
    pub fn advance(&mut self, done: bool) -> bool {
        let is_refused = std::mem::take(&mut self.is_refused);
        let goes_on = self.go_on(match (done, is_refused) {
            (true, _) => Next::Rest,
            (false, true) => Next::Wait,
            (false, false) => Next::Push,
        });
        if done && goes_on {
            self.ignored += 1;
            if self.ignored == IGNORED {
                self.is_ignored();
            }
        }
        goes_on
    }

    pub(super) fn go_on(&mut self, next: Next) -> bool {
        if self.is_over {
            return false;
        }
        if self.look().is_some() {
            // Whoever always has something to pull would keep what others wait for.
            self.send(false);
            return true;
        }
        loop {
            let has_sent = self.send(next != Next::Push);
            if next == Next::Push || (next == Next::Wait && has_sent) {
                return true;
            }
            let unsent = self.unsent();
            if next == Next::Rest && unsent.is_empty() {
                break;
            }
            self.belt.post.wait(self.token, &unsent, self.location);
            if next == Next::Wait || self.look().is_some() {
                return true;
            }
        }
        if self.belt.post.rest(self.token, self.location) {
            return true;
        }
        self.is_over = true;
        self.belt.begun = None;
        false
    }

    /// Adds something to the message for a PE, of which it has room for so many; says whether there is room.
    #[inline]
    pub(super) fn put(&mut self, kind: Kind, to: usize, item: &[u8], capacity: usize) -> bool {
        let Belt { post, buffers, .. } = &mut *self.belt;
        let message = &mut buffers[kind as usize][to];
        if message.count == capacity && !post.send(self.token, to, kind, message) {
            return false;
        }
        message.add(item, post.bytes());
        if message.count == capacity {
            post.send(self.token, to, kind, message);
        }
        true
    }

    /// Whether there is room for an answer.
    pub(super) fn has_room(&mut self, to: usize, capacity: usize) -> bool {
        let Belt { post, buffers, .. } = &mut *self.belt;
        buffers[Kind::Answer as usize][to].count < capacity || post.rings.room(&self.token, to) > 0
    }

    /// Who has sent the next thing that has come, and what it is.
    #[inline]
    pub(super) fn look(&mut self) -> Option<Come> {
        let Belt { inbox, read, come, .. } = &mut *self.belt;
        if *read < inbox.count { *come } else { self.receive() }
    }

    /// Takes that next thing.
    ///
    /// # Panics
    ///
    /// If nothing has come, or something of another size.
    #[inline]
    #[track_caller]
    pub(super) fn read<A: PlainData>(&mut self) -> A {
        let Belt { inbox, read, .. } = &mut *self.belt;
        if *read == 0 && !inbox.has_items_of(size_of::<A>()) {
            self.is_of_another_size(size_of::<A>());
        }
        let item = bytemuck::pod_read_unaligned(inbox.item(*read, size_of::<A>()));
        *read += 1;
        item
    }

    #[cold]
    #[track_caller]
    fn is_ignored(&self) -> ! {
        let from = self.belt.come.map_or(self.belt.post.rings.me, |come| self.belt.post.rings.pes[come.from]);
        panic!(
            "`advance(true)` was called {IGNORED} times, and `pull` never, though something has come from PE {from}: the round ends \
             when all was pulled; call `pull` until it gives `None`, and then `advance`"
        )
    }

    #[cold]
    #[track_caller]
    fn is_of_another_size(&self, size: usize) -> ! {
        let Belt { post, come, .. } = &*self.belt;
        let by = come.map_or(post.rings.me, |come| post.rings.pes[come.from]);
        panic!(
            "what PE {by} sends is not of {size} bytes, as what this PE takes: all PEs give `ask` answers of one type"
        )
    }

    #[cold]
    #[inline(never)]
    fn receive(&mut self) -> Option<Come> {
        let Belt { post, inbox, read, come, .. } = &mut *self.belt;
        let (from, kind) = post.take(self.token, inbox)?;
        *read = 0;
        *come = Some(Come { from, kind });
        *come
    }

    /// Sends what there is room for: all of it, or only to PEs that have nothing else to take. Says whether it has sent
    /// anything.
    fn send(&mut self, all: bool) -> bool {
        let Belt { post, buffers, .. } = &mut *self.belt;
        let mut has_sent = false;
        for kind in Kind::ALL.into_iter().rev() {
            for (to, message) in buffers[kind as usize].iter_mut().enumerate() {
                if message.count > 0 && (all || post.rings.under_way(&self.token, to, 0) == 0) {
                    has_sent |= post.send(self.token, to, kind, message);
                }
            }
        }
        has_sent
    }

    /// The PEs for which something is left.
    fn unsent(&self) -> Vec<usize> {
        let buffers = &self.belt.buffers;
        let has = |to: &usize| buffers.iter().any(|of_kind| of_kind[*to].count > 0);
        (0..self.belt.post.rings.pes.len()).filter(has).collect()
    }
}

impl<T> fmt::Debug for Conveyor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conveyor (PE {} of {})", self.belt.post.rings.me, self.belt.post.rings.pes.len())
    }
}

#[cold]
#[track_caller]
fn answered(by: Pe) -> ! {
    panic!("PE {by} answers in a round in which this PE does not ask: all PEs call `ask`, or none does")
}
