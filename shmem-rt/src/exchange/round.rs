//! A round of an exchange, in which items travel until no PE has any left. It packs items into messages, and unpacks arrived ones.

use std::panic::Location;

use shmem_core::symmetric_data::PlainData;

use super::Exchange;
use super::item_messages::{Content, Through};

/// A round of an [`Exchange`], in which all PEs take part until [`go_on`](Self::go_on) returns `false`. If a round is dropped
/// before that, the exchange is unusable.
pub(super) struct ExchangeRound<'x, T> {
    pub(super) exchange: &'x mut Exchange<T>,
    pub(super) token: Through<'x>,
    pub(super) location: &'static Location<'static>,
}

impl<T: PlainData> ExchangeRound<'_, T> {
    /// Sends an item, batched with others, to a PE (also to this one). Returns `false`, and keeps no item, if the batch is full and
    /// no slot of the receiver is free. The receiver frees slots when it takes items. Items to one PE arrive in order.
    #[inline]
    pub(super) fn put<A: PlainData>(&mut self, content: Content, to: usize, item: &A) -> bool {
        let Exchange { post, buffers, .. } = &mut *self.exchange;
        let message = &mut buffers[content as usize][to];
        if !message.fits::<A>(post.bytes()) && !post.send(self.token, to, content, message) {
            return false;
        }
        message.add(item, post.bytes());
        if !message.fits::<A>(post.bytes()) {
            post.send(self.token, to, content, message);
        }
        true
    }

    /// Whether an answer of type `A` to PE `to` can be put now.
    pub(super) fn has_room<A>(&mut self, to: usize) -> bool {
        let Exchange { post, buffers, .. } = &mut *self.exchange;
        buffers[Content::Answers as usize][to].fits::<A>(post.bytes()) || post.rings.room(&self.token, to) > 0
    }

    /// Returns (sender, content) of the next arrived item, which stays in the inbox.
    #[inline]
    pub(super) fn look(&mut self) -> Option<(usize, Content)> {
        let Exchange { inbox, read, arrived, .. } = &mut *self.exchange;
        if *read < inbox.count { *arrived } else { self.receive() }
    }

    /// Takes the item that [`look`](Self::look) has found.
    ///
    /// # Panics
    ///
    /// If the size of the item is not that of `A`.
    #[inline]
    #[track_caller]
    pub(super) fn read<A: PlainData>(&mut self) -> A {
        let Exchange { inbox, read, .. } = &mut *self.exchange;
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
        let Exchange { post, arrived, .. } = &*self.exchange;
        let by = arrived.map_or(post.rings.me, |(from, _)| post.rings.pes[from]);
        panic!(
            "what PE {by} sends is not of {size} bytes, as what this PE takes: all PEs give `ask` answers of one type"
        )
    }

    #[cold]
    #[inline(never)]
    fn receive(&mut self) -> Option<(usize, Content)> {
        let Exchange { post, inbox, read, arrived, .. } = &mut *self.exchange;
        let found = post.take(self.token, inbox)?;
        (*read, *arrived) = (0, Some(found));
        *arrived
    }

    /// Sends buffered messages and waits. Returns whether the round goes on: `false` on all PEs when all are idle and every item
    /// was taken. A PE that `has_more` items waits for a free slot or an arrived item. Other PEs are idle until an item arrives.
    pub(super) fn go_on(&mut self, has_more: bool) -> bool {
        if self.look().is_some() {
            // Without this call, a PE to which items keep arriving would not send its own.
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
            self.exchange.post.wait(self.token, &unsent, self.location);
            if has_more || self.look().is_some() {
                return true;
            }
        }
        if self.exchange.post.rest(self.token, self.location) {
            return true;
        }
        self.exchange.begun = None;
        false
    }

    /// Sends messages that have a free slot; without `all`, only to PEs that took all earlier ones. Returns whether any was sent.
    fn send(&mut self, all: bool) -> bool {
        let Exchange { post, buffers, .. } = &mut *self.exchange;
        let mut has_sent = false;
        for content in Content::ALL.into_iter().rev() {
            for (to, message) in buffers[content as usize].iter_mut().enumerate() {
                if message.count > 0 && (all || post.rings.under_way(&self.token, to, 0) == 0) {
                    has_sent |= post.send(self.token, to, content, message);
                }
            }
        }
        has_sent
    }

    fn unsent(&self) -> Vec<usize> {
        let has = |to: &usize| self.exchange.buffers.iter().any(|messages| messages[*to].count > 0);
        (0..self.exchange.post.rings.pes.len()).filter(has).collect()
    }
}
