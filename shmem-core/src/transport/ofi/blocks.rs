//! Strided transfers: which way they take, and how they go along it.

use super::operation::{List, MOST_VECTORS, Vector};
use super::port::{Posting, What};
use super::strided::{self, Blocks, Reach, Row, Way};
use super::{Fabric, Ofi};
use crate::strided::{Algorithm, Pattern, settings};
use crate::transport::{Channel, Remote, Transport, Until};

/// A block of a list: where it starts on either side.
#[derive(Clone, Copy, Default)]
struct Start {
    remote: usize,
    local: usize,
}

impl Fabric {
    /// What operations of the provider cost.
    pub(super) fn row(&self) -> &Row {
        self.row.get_or_init(|| strided::row_of(&self.domain.provider))
    }

    /// The way that blocks take, if `message` bytes of them go in a message.
    fn way(&self, pattern: &Pattern, message: usize) -> Way {
        let is_one = pattern.levels().is_empty();
        // Algorithm 1 is a put for each block, wherever it goes.
        if is_one || settings().algorithm == Algorithm::One {
            return Way::Each;
        }
        let blocks = Blocks { count: pattern.count(), bytes: pattern.block() };
        let pieces = self.pieces(pattern.block());
        self.row().choose(blocks, Reach { pieces, message })
    }

    /// Blocks that one operation moves in pieces.
    fn pieces(&self, block: usize) -> usize {
        let demands = &self.domain.demands;
        demands.pieces.min(MOST_VECTORS).min(demands.max_message / block.max(1))
    }
}

impl Ofi {
    /// Writes blocks.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_strided`].
    pub(super) unsafe fn put_blocks(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        until: Until,
    ) {
        let fabric = &*self.fabric;
        match fabric.way(pattern, fabric.engine.carries(to.pe.number(), pattern.bytes())) {
            // SAFETY: the caller's promise.
            Way::Messages => unsafe { fabric.engine.put(&fabric.line(), channel, to, source, pattern) },
            Way::Lists if self.is_described(source, pattern.hulls().1) => {
                // SAFETY: the caller's promise; if the source may change on return, all is waited for.
                unsafe { self.put_lists(channel, to, source, pattern) };
                if until == Until::Return {
                    fabric.quiet(channel);
                }
            }
            Way::Lists | Way::Each => pattern.each_block(|at, of| {
                let (to, source) = (Remote { offset: to.offset + at, ..to }, source.wrapping_add(of));
                // SAFETY: the caller's promise covers each block.
                unsafe { self.put(channel, to, source, pattern.block(), until) };
            }),
        }
    }

    /// Reads blocks.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_strided`].
    pub(super) unsafe fn get_blocks(
        &self,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        let fabric = &*self.fabric;
        match fabric.way(pattern, fabric.engine.limits().carries(pattern.bytes(), false)) {
            Way::Messages => {
                // SAFETY: the caller's promise.
                return unsafe { fabric.engine.get(&fabric.line(), channel, into, from, pattern, until) };
            }
            Way::Lists if self.is_described(into, pattern.hulls().0) => {
                // SAFETY: the caller's promise.
                unsafe { self.get_lists(channel, into, from, pattern) };
            }
            Way::Lists | Way::Each => pattern.each_block(|at, of| {
                let (from, into) = (Remote { offset: from.offset + of, ..from }, into.wrapping_add(at));
                // SAFETY: the caller's promise covers each block; all are waited for before this returns, if they must be.
                unsafe { self.get(channel, into, from, pattern.block(), Until::Quiet) };
            }),
        }
        if until == Until::Return {
            fabric.quiet(channel);
        }
    }

    /// Whether local memory may be given to the provider as it is.
    fn is_described(&self, start: *const u8, bytes: usize) -> bool {
        self.fabric.keys.describe(&self.fabric.domain, start, bytes).is_some()
    }

    /// # Safety
    ///
    /// As [`Transport::put_strided`] until quiet; the source must be described.
    unsafe fn put_lists(&self, channel: Channel, to: Remote, source: *const u8, pattern: &Pattern) {
        let fabric = &*self.fabric;
        let (at, what) = (fabric.target(to), self.what("strided put", to, pattern));
        self.each_list(
            pattern,
            source,
            |start| Start { remote: start.0, local: start.1 },
            |list| {
                // SAFETY: pieces of both sides, which stay until quiet (caller).
                let write = |posting: &Posting<'_>| unsafe { at.write_list(posting, list) };
                // SAFETY: one operation; what it reads stays until quiet (caller).
                unsafe { fabric.issue(channel, fabric.port(channel), what, write) };
            },
        );
    }

    /// # Safety
    ///
    /// As [`Transport::get_strided`] until quiet; the destination must be described.
    unsafe fn get_lists(&self, channel: Channel, into: *mut u8, from: Remote, pattern: &Pattern) {
        let fabric = &*self.fabric;
        let (at, what) = (fabric.target(from), self.what("strided get", from, pattern));
        self.each_list(
            pattern,
            into,
            |start| Start { remote: start.1, local: start.0 },
            |list| {
                // SAFETY: pieces of both sides, which stay until quiet (caller).
                let read = |posting: &Posting<'_>| unsafe { at.read_list(posting, list) };
                // SAFETY: one operation; what it writes stays until quiet (caller).
                unsafe { fabric.issue(channel, fabric.port(channel), what, read) };
            },
        );
    }

    /// Calls `each` for as many blocks at a time as an operation has pieces.
    fn each_list(
        &self,
        pattern: &Pattern,
        local: *const u8,
        start: impl Fn((usize, usize)) -> Start,
        mut each: impl FnMut(&List<'_>),
    ) {
        let (most, bytes) = (self.fabric.pieces(pattern.block()), pattern.block());
        let description = self.fabric.keys.describe(&self.fabric.domain, local, pattern.block());
        let description = description.unwrap_or(core::ptr::null_mut());
        let none = Vector { from: core::ptr::null_mut(), bytes };
        let (mut pieces, mut remote, mut count) = ([none; MOST_VECTORS], [(0, bytes); MOST_VECTORS], 0);
        let mut flush = |pieces: &[Vector], remote: &[(usize, usize)]| {
            if !pieces.is_empty() {
                each(&List { local: pieces, description, remote });
            }
        };
        pattern.each_block(|to, from| {
            let start = start((to, from));
            pieces[count].from = local.wrapping_add(start.local).cast_mut();
            remote[count].0 = start.remote;
            count += 1;
            if count == most {
                flush(&pieces[..count], &remote[..count]);
                count = 0;
            }
        });
        flush(&pieces[..count], &remote[..count]);
    }

    fn what(&self, operation: &'static str, place: Remote, pattern: &Pattern) -> What {
        What { operation, pe: place.pe.number(), bytes: pattern.bytes() }
    }
}
