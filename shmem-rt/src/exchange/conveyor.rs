//! A round of an exchange: items come and go until nobody has any more.

use std::marker::PhantomData;
use std::panic::Location;

use shmem_core::data::PlainData;
use shmem_core::pe::Pe;

use super::post::{Kind, Message, Post, Through};

/// A round of an [`Exchange`](crate::Exchange), in which all PEs take part until [`go_on`](Self::go_on) says that it is over. One
/// that is dropped before is given up, and with it the exchange.
pub(super) struct Conveyor<'x, T> {
    belt: &'x mut Belt,
    token: Through<'x>,
    location: &'static Location<'static>,
    _items: PhantomData<T>,
}

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

impl<'x, T: PlainData> Conveyor<'x, T> {
    pub(super) fn new(belt: &'x mut Belt, token: Through<'x>, location: &'static Location<'static>) -> Self {
        Self { belt, token, location, _items: PhantomData }
    }

    /// Sends an item to a PE, which may be this one, together with others; says whether there was room for it. There is again
    /// when the other PE has pulled. Items to one PE come in the order in which they were pushed.
    #[inline]
    pub(super) fn push(&mut self, to: Pe, item: &T) -> bool {
        let capacity = self.belt.capacity;
        self.put(Kind::Item, to.number(), bytemuck::bytes_of(item), capacity)
    }

    /// Takes an item, and tells who has sent it. None: nothing has come.
    ///
    /// # Panics
    ///
    /// If others do not take part in this round, but ask.
    #[inline]
    #[track_caller]
    pub(super) fn pull(&mut self) -> Option<(Pe, T)> {
        let Come { from, kind } = self.look()?;
        let (from, item) = (self.belt.post.rings.pes[from], self.read::<T>());
        if kind == Kind::Answer {
            answered(from);
        }
        Some((from, item))
    }

    /// Sends what is to be sent, and says whether the round goes on: `false` on all PEs when all rest, and every item was pulled.
    /// A PE that `has_more` pushes it when others have pulled, or something has come; any other rests unless something comes.
    /// While there is something to pull it does not wait at all.
    pub(super) fn go_on(&mut self, has_more: bool) -> bool {
        if self.look().is_some() {
            // Whoever always has something to pull would keep what others wait for.
            self.send(false);
            return true;
        }
        loop {
            if self.send(true) && has_more {
                return true;
            }
            let unsent = self.unsent();
            if !has_more && unsent.is_empty() {
                break;
            }
            self.belt.post.wait(self.token, &unsent, self.location);
            if has_more || self.look().is_some() {
                return true;
            }
        }
        if self.belt.post.rest(self.token, self.location) {
            return true;
        }
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

#[cold]
#[track_caller]
fn answered(by: Pe) -> ! {
    panic!("PE {by} answers in a round in which this PE does not ask: all PEs call `ask`, or none does")
}
