//! Much data, in jobs of several nodes: in chunks, which come one behind the other and are taken while others are on
//! their way.
//!
//! What fits a [meeting](super::step) travels with its words. Of what is longer the meeting brings nothing: it opens
//! the windows. Each PE has one for the world, and one for every other team that has [taken](super::windows) some, for
//! chunks that come to it; a [plan](super::plan) says what it sends and what comes,
//! and a [cursor](super::cursor) carries that out, asked again and again by whoever waits. A chunk is one put with a
//! signal: its bytes go to a slot of the window of another PE, and the word of that slot counts it. On the same node
//! it is a copy and an addition.
//!
//! Of what lies at one place of all members, an object, a chunk is written straight to where it belongs in the copy of
//! its receiver, and its word alone to the window. The plans are the same: where a chunk [lands](Departure::lands), and that
//! nothing is copied from a slot, is all that differs. Slots are words then, so chunks may be of any length. What is combined
//! comes to the window here as well.
//!
//! All have come to the opening meeting, and all came to the end of the collective before. There, all chunks and all
//! words that plans make members send were waited for. So nothing is under way when a window is opened, and each
//! begins with all slots free and words of zero: they are cleared before the meeting.
//!
//! # Soundness
//!
//! * **What others write** lies in windows, which are memory of the runtime: bytes that no reference leads to. They
//!   are written by puts to places that the plan of the *sender* says, all inside the window of any PE, and are read
//!   by copies that this PE's own plan says, which is bounded by the length of what the program gave. Both are accesses of
//!   [`shared`], which race with nobody: that a slot is empty when it is written rests on plans that agree, and nothing
//!   else rests on that. So a PE that has come for something else, or lies, costs a result or a wait. Who has come for
//!   something else is found at the meeting.
//! * **What others write to objects** they could write there by puts: each writes to the range of its own handle, which keeps these
//!   bytes reserved on all PEs that have the object, and no phase is open on any of them ([`direct`](super::direct)). No
//!   references to objects are made.
//! * **What the program gave** is read by transfers that go on after they were started, from the place where it lies.
//!   It is borrowed for the call, or an object whose handle is, and neither the call nor the process ends before they have
//!   ([`under_way`]).
//! * **What is read by a transfer is not written meanwhile**, by a collective: sources are shared; a result is sent on after it has
//!   come, and what a reduction writes where it has sent from is made of what was sent (`plan/levels.rs`).

use core::mem::offset_of;
use core::sync::atomic::Ordering;

use bytemuck::Pod;
use shmem_core::context::{Endpoint, Far};
use shmem_core::pe::Pe;
use shmem_core::primitive::mutant;
use shmem_core::segment::SYSTEM;
use shmem_core::shared;
use shmem_core::sync::Doorbell;
use shmem_core::system::{MOST_TOLD, WINDOW_BYTES, Window};
use shmem_core::transport::{Remote, SignalOp, Until, under_way};

use super::buffer::Buffer;
use super::carrier::Carrier;
use super::cursor::Cursor;
use super::cut::Cut;
use super::partials::Partials;
use super::passing::GRAIN;
use super::plan::{Chunks, Departure, Levels, Memory, Place, Plan, Radices, Relay, Rotation, Tree};
use super::tree;
use crate::group::{Collective, Purpose, Team};

/// Most bytes of an item that is combined where it comes: there is room for as many as lie half made of a group.
const LARGEST: usize = 1 << 10;

const _: () = assert!(LARGEST * Radices::MOST.next_power_of_two().ilog2() as usize <= Partials::BYTES);

impl Collective<'_> {
    /// Gives every member what the one with a rank has.
    pub(super) fn stream_broadcast(&self, purpose: &Purpose<'_>, data: Buffer<'_>, rank: usize) {
        let team = self.team;
        // Between two nobody passes anything on.
        let cut = Cut::of(data.len(), data.everywhere().is_some(), team.size() > 2);
        let chunks = Chunks::new(data.len(), cut.most, 1);
        self.stream(
            purpose,
            &Tree::both(team.size(), team.rank(), rank, chunks, cut.slots)[..Tree::ways(team.size())],
            &Given { source: Buffer::read(&[]), own: None, cut },
            data,
            combines_nothing,
        );
    }

    /// Combines what all members have. What comes of that is settled.
    pub(super) fn stream_reduction<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        data: Buffer<'_>,
        op: &impl Fn(N, N) -> N,
        settled: &impl Fn(N) -> N,
    ) {
        let (team, bytes) = (self.team, data.len());
        let (radices, grain) = (Radices::of(team.size()), size_of::<N>());
        let combine = |group: Group<'_>| group.combine(op, settled);
        let cut = Cut::in_windows(bytes / radices.each()[0], team.size() > 2);
        // What is combined comes to a window, wherever it goes from there.
        let given = Given { source: Buffer::read(&[]), own: None, cut };
        let plan = Levels::new(team.rank(), radices, bytes, cut.most, grain, cut.slots);
        self.stream(purpose, &[plan], &given, data, combine);
    }

    /// Writes what each member has to `all`.
    pub(super) fn stream_blocks(&self, purpose: &Purpose<'_>, mine: Buffer<'_>, all: Buffer<'_>) {
        let (team, bytes) = (self.team, mine.len());
        let cut = Cut::of(bytes, all.everywhere().is_some(), team.size() > 2);
        let plan = Relay::new(team.size(), team.rank(), Chunks::new(bytes, cut.most, 1), cut.slots);
        let own = Some((0, team.rank() * bytes, bytes));
        self.stream(purpose, &[plan], &Given { source: mine, own, cut }, all, combines_nothing);
    }

    /// Sends each member its part. Of each there is a word.
    pub(super) fn stream_parts(&self, purpose: &Purpose<'_>, source: Buffer<'_>, into: Buffer<'_>) {
        let (team, bytes) = (self.team, source.len() / self.team.size());
        let cut = Cut::of(bytes, into.everywhere().is_some(), false);
        let plan = Rotation::new(team.size(), team.rank(), Chunks::new(bytes, cut.most, 1), cut.slots);
        let own = Some((team.rank() * bytes, team.rank() * bytes, bytes));
        self.stream(purpose, &[plan], &Given { source, own, cut }, into, combines_nothing);
    }

    /// Opens the windows, and does what the plans say, of which each is a strand.
    fn stream(
        &self,
        purpose: &Purpose<'_>,
        plans: &[impl Plan],
        given: &Given<'_>,
        result: Buffer<'_>,
        combine: impl Fn(Group<'_>),
    ) {
        let Self { team, endpoint, .. } = *self;
        // The stream of the runtime: what the program has started is not waited for here.
        let far = team.job.network.own.as_ref();
        let far = far.unwrap_or_else(|| unreachable!("several nodes have a transport"));
        let system = team.system_at(endpoint, endpoint.me());
        let window = window(team, endpoint, endpoint.me());
        let window = window.unwrap_or_else(|| unreachable!("it is its own"));
        window.clear(plans[0].words());
        let count = self.next_meeting();
        if !mutant("stream-unopened") {
            self.meet(purpose);
        }
        let Given { source, own, cut } = *given;
        let strands = plans.iter().map(|plan| (plan.departures(), [plan.arrivals(), plan.arrivals()]));
        let mut cursor = Cursor::new(strands, cut.slots);
        let mut stream = Stream { team, endpoint, far, window, source, result, cut, combine };
        let quiet = || {
            if !mutant("stream-without-quiet") {
                far.transport.quiet(far.channel);
            }
        };
        under_way(quiet, || {
            let mut is_over = cursor.poll(&mut stream);
            if let Some((from, into, bytes)) = own {
                let (from, into) = (source.part(from, bytes), result.part(into, bytes));
                // SAFETY: both have so many bytes (`part`), which are borrowed or an object of this PE. No plan sends or writes
                // what goes no way.
                unsafe { shared::copy(into, from, bytes) };
            }
            while !is_over {
                // Each chunk is waited for anew: who has just got on will soon again.
                let moved = cursor.moved();
                let got_on = || {
                    is_over = cursor.poll(&mut stream);
                    is_over || cursor.moved() != moved
                };
                endpoint.waiting().until_brought(
                    cut.most,
                    endpoint,
                    got_on,
                    |timeout, done| system.doorbell.sleep(timeout, done),
                    || purpose.activity(team.index(), count),
                );
            }
        });
    }
}

/// What a stream is made from, besides its plan.
struct Given<'g> {
    source: Buffer<'g>,
    /// What goes no way: from where in the source, to where in the result, and how many bytes.
    own: Option<(usize, usize, usize)>,
    cut: Cut,
}

/// Chunks and words on their way, and in its own memory what they are made of.
struct Stream<'s, F> {
    team: &'s Team,
    endpoint: &'s Endpoint,
    far: &'s Far,
    window: &'s Window,
    source: Buffer<'s>,
    result: Buffer<'s>,
    cut: Cut,
    combine: F,
}

impl<F> Stream<'_, F> {
    /// Where a part of the result lies.
    fn result(&self, Place { memory, at, bytes }: Place) -> *mut u8 {
        assert!(memory == Memory::Result, "{bytes} bytes at {at} of the source");
        self.result.part(at, bytes)
    }

    /// Where a chunk of so many bytes lies in a slot, from the start of the window.
    fn slot(&self, slot: usize, bytes: usize) -> usize {
        let Cut { most, slots } = self.cut;
        assert!(
            slot < slots && bytes <= most && slots * most <= WINDOW_BYTES,
            "{bytes} bytes in slot {slot} of {most}"
        );
        slot * most
    }

    /// Where a chunk goes that is written to where it belongs: the segment, and from where on in the slot of each PE.
    fn landing(&self, departure: &Departure) -> Option<(u32, usize)> {
        let (object, at) = (self.result.everywhere()?, departure.lands?);
        Some((object.segment, object.part(at, departure.from.bytes)))
    }

    /// A word or byte of the window of a member.
    fn at(&self, rank: usize, offset: usize) -> Remote {
        let offset = self.team.window() + offset;
        Remote { pe: self.team.member(rank), segment: SYSTEM, offset }
    }

    /// The window of a member on this node, and its bell.
    fn near(&self, rank: usize) -> Option<(&Window, &Doorbell)> {
        let member = self.team.member(rank);
        // SAFETY: its bell is rung.
        let system = unsafe { self.endpoint.system_of(member) }?;
        Some((window(self.team, self.endpoint, member)?, &system.doorbell))
    }
}

impl<F: Fn(Group<'_>)> Carrier for Stream<'_, F> {
    fn come(&self, slot: usize) -> u64 {
        self.window.come[slot].load(Ordering::Acquire)
    }

    fn told(&self, word: usize) -> u64 {
        self.window.told[word].load(Ordering::Acquire)
    }

    fn send(&mut self, departure: &Departure, slot: usize) {
        let Departure { to, from, .. } = *departure;
        let source = match from.memory {
            Memory::Source => self.source.part(from.at, from.bytes).cast_const(),
            Memory::Result => self.result(from).cast_const(),
        };
        let landing = self.landing(departure);
        if let Some((window, bell)) = self.near(to) {
            let into = match landing {
                Some((_, offset)) => self.endpoint.mapped(self.team.member(to), offset),
                None => Some(window.room.as_ptr().wrapping_add(self.slot(slot, from.bytes))),
            };
            let into = into.unwrap_or_else(|| unreachable!("its window is on this node"));
            // SAFETY: the source was just found in what is borrowed, or an object. Either the object has that many bytes there
            // on every PE (`landing`), as its handle says, and the bytes are not those of the source, which is this PE's copy;
            // or the slot has (`slot`), and is empty: its owner has said so, or it has not been written since the windows were
            // opened; nobody else writes there (plan).
            unsafe { shared::copy(into, source, from.bytes) };
            window.come[slot].fetch_add(1, Ordering::AcqRel);
            return bell.ring();
        }
        let into = match landing {
            Some((segment, offset)) => Remote { pe: self.team.member(to), segment, offset },
            None => self.at(to, offset_of!(Window, room) + self.slot(slot, from.bytes)),
        };
        let word = self.at(to, offset_of!(Window, come) + slot * size_of::<u64>());
        // SAFETY: the source was just found in what is borrowed, or an object, until `under_way` has waited for its channel, and
        // is not written while it is read (head of the module). It goes to a part of an object that is reserved on every PE
        // (`landing`), or of a slot, which is a part of the room of every window; its word is an aligned `AtomicU64` of it.
        unsafe {
            let (transport, channel) = (&self.far.transport, self.far.channel);
            transport.put_signal(channel, into, source, from.bytes, word, SignalOp::Add(1), Until::Quiet);
        }
    }

    fn tell(&mut self, rank: usize, word: usize, chunks: u64) {
        assert!(word < MOST_TOLD, "word {word}");
        if let Some((window, bell)) = self.near(rank) {
            window.told[word].fetch_add(chunks, Ordering::AcqRel);
            return bell.ring();
        }
        let word = self.at(rank, offset_of!(Window, told) + word * size_of::<u64>());
        let nothing = core::ptr::dangling();
        // SAFETY: of no bytes the signal alone is changed; it is an aligned `AtomicU64` of every window.
        unsafe {
            let (transport, channel) = (&self.far.transport, self.far.channel);
            transport.put_signal(channel, word, nothing, 0, word, SignalOp::Add(chunks), Until::Return);
        }
    }

    fn keep(&mut self, slot: usize, into: Place) {
        if self.result.everywhere().is_some() {
            // It was written there.
            return;
        }
        let from = self.window.room.as_ptr().wrapping_add(self.slot(slot, into.bytes)).cast_const();
        let to = self.result(into);
        // SAFETY: the slot has that many bytes (`slot`), and nobody writes there between the word that has counted
        // the chunk, which was read, and the one by which the next may come; the result has as many (`result`), and
        // is elsewhere.
        unsafe { shared::copy(to, from, into.bytes) };
    }

    fn combine(&mut self, first: usize, members: usize, mine: usize, into: Place) {
        let result = self.result(into);
        let operand = |member: usize| match (mine + members - member) % members {
            0 => result.cast_const(),
            before => {
                let slot = self.slot((first + before - 1) % self.cut.slots, into.bytes);
                self.window.room.as_ptr().wrapping_add(slot).cast_const()
            }
        };
        let group = Group { members, operand: &operand, into: result, bytes: into.bytes };
        (self.combine)(group);
    }
}

/// Whether items can be combined where they come in chunks: tiles are aligned for numbers.
pub(super) const fn fits_a_tile<I>() -> bool {
    size_of::<I>() <= LARGEST && align_of::<I>() <= GRAIN
}

/// What is combined at a time: the operands of some members.
pub(super) struct Group<'g> {
    pub(super) members: usize,
    /// Where each one's lies, `bytes` long, readable and not written meanwhile; one of them where the result goes.
    pub(super) operand: &'g dyn Fn(usize) -> *const u8,
    pub(super) into: *mut u8,
    pub(super) bytes: usize,
}

impl Group<'_> {
    /// Combines them by the tree, and settles what comes of it. Of what is combined again nothing is lost by that: a NaN stays one.
    /// To be called where [`fits_a_tile`] says so.
    pub(super) fn combine<N: Pod>(self, op: &impl Fn(N, N) -> N, settled: &impl Fn(N) -> N) {
        let Self { members, operand, into, bytes } = self;
        let (mut made, mut partials) = (Partials::new(), Partials::new());
        let (made, partials) = (made.of::<N>(), partials.of::<N>());
        let most = made.len();
        for at in (0..bytes).step_by(size_of_val(made)) {
            let made = &mut made[..most.min((bytes - at) / size_of::<N>())];
            let read = |member: usize, first: usize, tile: &mut [N]| {
                let from = operand(member).wrapping_add(at + first * size_of::<N>());
                // SAFETY: an operand has `bytes` bytes, and nobody writes there now (`Carrier::combine` of `Stream`,
                // for whose call a group is made); a tile is our own.
                unsafe { shared::copy(tile.as_mut_ptr().cast(), from, size_of_val(tile)) };
            };
            tree::fold_read(members, &read, made, partials, op);
            made.iter_mut().for_each(|number| *number = settled(*number));
            let into = into.wrapping_add(at);
            // SAFETY: the place of the result has `bytes` bytes (`Stream::result`), borrowed or an object of this PE.
            unsafe { shared::copy(into, made.as_ptr().cast(), size_of_val(made)) };
        }
    }
}

/// The window that a member on this node has for a team which has windows.
fn window<'e>(team: &Team, endpoint: &'e Endpoint, member: Pe) -> Option<&'e Window> {
    let window = endpoint.mapped(member, team.window())?;
    // SAFETY: that of the world is a part of the system area. For another team all its members have taken as many bytes
    // there, aligned as a window is, for nothing else, as long as the team has a handle; they know so, word for word
    // (`take_windows`). It is atomics and room that is reached by copies, of which any bytes are a value.
    Some(unsafe { &*window.cast() })
}

/// For plans in which nothing is combined.
fn combines_nothing(_: Group<'_>) {
    unreachable!("only reductions combine")
}
