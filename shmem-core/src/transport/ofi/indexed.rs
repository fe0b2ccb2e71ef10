//! Elements by index: which way they take.
//!
//! A list of one element is the single operation. Longer ones are messages of the [engine](super::engine), which brings many
//! elements at once and has the target's processor move them; where the [model](super::strided::Row) says that a few single
//! operations are over sooner than a target is woken, and for elements that fit no message, each goes by itself. The engine may
//! always change words: it does so by the processor's atomics, and a provider's are used only where they are atomic against these.

use super::strided::{Blocks, Reach, Way};
use super::{Fabric, Ofi};
use crate::transport::indexed::position;
use crate::transport::{Change, Channel, Completes, Elements, Transport, Until};

impl Fabric {
    /// Whether elements go in messages, if one of them fits a message.
    fn lists(&self, elements: Elements<'_>, fits: bool) -> bool {
        let (count, size) = (elements.len(), elements.size);
        if count < 2 || !fits {
            return false;
        }
        let message = self.engine.limits().carries(count.saturating_mul(size), false);
        self.row().choose(Blocks { count, bytes: size }, Reach { pieces: 1, message }) == Way::Messages
    }

    /// Whether words are changed by messages.
    fn lists_words(&self, words: Elements<'_>, change: Change<'_>) -> bool {
        // What only the engine does is a message for each word otherwise.
        let is_cheaper = words.len() > 1 && !self.carries_out(change.width, change.at(0));
        is_cheaper || self.lists(words, true)
    }
}

impl Ofi {
    /// Reads elements.
    ///
    /// # Safety
    ///
    /// As [`Transport::pick`].
    pub(super) unsafe fn pick_elements(
        &self,
        channel: Channel,
        into: *mut u8,
        positions: Option<&[u32]>,
        from: Elements<'_>,
        until: Until,
    ) {
        let fabric = &*self.fabric;
        if fabric.lists(from, fabric.engine.limits().picks(from.size)) {
            // SAFETY: the caller's promise.
            return unsafe { fabric.engine.pick(&fabric.line(), channel, into, positions, from, until) };
        }
        // All of several are under way before the first is waited for.
        let together = until == Until::Return && from.len() > 1;
        let _end = together.then(|| Completes(|| self.quiet_pe(channel, from.first.pe)));
        let until = if together { Until::Quiet } else { until };
        for (k, place) in from.places().enumerate() {
            let to = into.wrapping_add(position(positions, k) * from.size);
            // SAFETY: the caller's promise, for one element; what goes on is complete when `_end` is dropped.
            unsafe { self.get(channel, to, place, from.size, until) };
        }
    }

    /// Writes elements.
    ///
    /// # Safety
    ///
    /// As [`Transport::place`].
    pub(super) unsafe fn place_elements(
        &self,
        channel: Channel,
        to: Elements<'_>,
        source: *const u8,
        until: Until,
    ) {
        let fabric = &*self.fabric;
        if fabric.lists(to, fabric.engine.limits().places(to.size)) {
            // SAFETY: the caller's promise.
            return unsafe { fabric.engine.place(&fabric.line(), channel, to, source) };
        }
        for (k, place) in to.places().enumerate() {
            // SAFETY: the caller's promise, for one element.
            unsafe { self.put(channel, place, source.wrapping_add(k * to.size), to.size, until) };
        }
    }

    /// Changes words.
    ///
    /// # Safety
    ///
    /// As [`Transport::each`].
    pub(super) unsafe fn change_words(&self, channel: Channel, words: Elements<'_>, change: Change<'_>) {
        let fabric = &*self.fabric;
        if words.is_empty() {
            return;
        }
        if fabric.lists_words(words, change) {
            return fabric.engine.each(&fabric.line(), channel, words, change);
        }
        for (k, word) in words.places().enumerate() {
            // SAFETY: the caller's promise, for one word.
            unsafe { self.atomic_update(channel, word, change.width, change.at(k)) };
        }
    }

    /// Changes words, and gives what they were.
    ///
    /// # Safety
    ///
    /// As [`Transport::fetch_each`].
    pub(super) unsafe fn fetch_words(
        &self,
        channel: Channel,
        before: *mut u8,
        positions: Option<&[u32]>,
        words: Elements<'_>,
        change: Change<'_>,
        until: Until,
    ) {
        let (fabric, width) = (&*self.fabric, change.width);
        if words.is_empty() {
            return;
        }
        if fabric.lists_words(words, change) {
            let (engine, line) = (&fabric.engine, fabric.line());
            // SAFETY: the caller's promise.
            return unsafe { engine.fetch_each(&line, channel, before, positions, words, change, until) };
        }
        let together = until == Until::Return && words.len() > 1;
        let _end = together.then(|| Completes(|| self.quiet_pe(channel, words.first.pe)));
        for (k, word) in words.places().enumerate() {
            let to = before.wrapping_add(position(positions, k) * width.bytes());
            if together || until == Until::Quiet {
                // SAFETY: the caller's promise, for one word, and for its result until quiet, which comes when `_end` is
                // dropped, or later.
                unsafe { self.atomic_nbi(channel, word, width, change.at(k), to) };
                continue;
            }
            // SAFETY: the caller's promise, for one word.
            let found = unsafe { self.atomic(channel, word, width, change.at(k)) };
            // SAFETY: aligned and writable for a value (caller).
            unsafe { width.write(to, found) };
        }
    }
}
