//! Blocking collectives of much data between nodes: the barrier opens the windows, and the [engine](super::engine) carries out a
//! schedule.
//!
//! What fits a barrier travels with its words. Of what is longer the barrier brings nothing: it opens the windows. Each PE has one for the
//! world, and one for every other team that has [taken](super::window) some, for chunks that come to it.
//!
//! All have come to the opening barrier, and all came to the end of the collective before. There, all chunks and all credits that
//! schedules make members send were waited for. So nothing is under way when a window is opened, and each begins with all slots free and
//! counters of zero: they are cleared before the barrier.
//!
//! Transfers read what the program gave from the place where it lies. It is borrowed for the call, or an object whose handle is, and neither
//! the call nor the process ends before they have ([`under_way`]).

use shmem_core::primitive::mutant;
use shmem_core::system::Window;
use shmem_core::transport::under_way;

use super::buffer::{RecvBuf, SendBuf};
use super::choose::Pattern;
use super::engine::Progress;
use super::placement::{Carrier, Slots};
use super::reduction::Reduction;
use super::schedule::{Chunks, Cut, HalvingDoubling, Pairwise, Radices, RingAllgather, Schedule, TwoTree};
use super::tree::PARTIALS;
use crate::group::{Collective, Purpose};

/// Most bytes of an item that is combined where it comes: there is room for as many as are partial results of a group.
const LARGEST: usize = 1 << 10;

const _: () = assert!(LARGEST * Radices::MOST.next_power_of_two().ilog2() as usize <= PARTIALS);

/// Whether items of so many bytes can be combined where they come in chunks.
pub(super) const fn fits_a_tile(size: usize) -> bool {
    size <= LARGEST
}

/// What a collective reads and writes, besides its schedule.
struct Data<'d> {
    source: SendBuf<'d>,
    result: RecvBuf<'d>,
    /// What goes no way: from where in the source, to where in the result, and how many bytes.
    own: Option<(usize, usize, usize)>,
    op: Option<&'d dyn Reduction>,
}

impl Collective<'_> {
    /// Gives every member what the root has.
    pub(super) fn pipelined_broadcast(&self, purpose: &Purpose<'_>, data: RecvBuf<'_>, root: usize) {
        let (ranks, rank) = (self.team.size(), self.team.rank());
        let cut = Pattern::Broadcast(data.len()).cut(ranks, data.object().is_some());
        let trees = TwoTree::both(ranks, rank, root, Chunks::new(data.len(), cut.most, 1), cut.slots);
        let data = Data { source: SendBuf::EMPTY, result: data, own: None, op: None };
        self.pipelined(purpose, &trees[..TwoTree::ways(ranks)], cut, data);
    }

    /// Combines what all members have. What comes of that is settled.
    pub(super) fn pipelined_reduction(&self, purpose: &Purpose<'_>, data: RecvBuf<'_>, op: &dyn Reduction) {
        let (ranks, rank, bytes) = (self.team.size(), self.team.rank(), data.len());
        let radices = Radices::of(ranks);
        let cut = Pattern::Reduction(bytes).cut(ranks, data.object().is_some());
        let schedule = HalvingDoubling::new(rank, radices, bytes, cut.most, op.size(), cut.slots);
        let data = Data { source: SendBuf::EMPTY, result: data, own: None, op: Some(op) };
        self.pipelined(purpose, &[schedule], cut, data);
    }

    /// Writes what each member has to `all`.
    pub(super) fn pipelined_allgather(&self, purpose: &Purpose<'_>, mine: SendBuf<'_>, all: RecvBuf<'_>) {
        let (ranks, rank, bytes) = (self.team.size(), self.team.rank(), mine.len());
        let cut = Pattern::Fcollect(bytes).cut(ranks, all.object().is_some());
        let schedule = RingAllgather::new(ranks, rank, Chunks::new(bytes, cut.most, 1), cut.slots);
        let data = Data { source: mine, result: all, own: Some((0, rank * bytes, bytes)), op: None };
        self.pipelined(purpose, &[schedule], cut, data);
    }

    /// Sends each member its part.
    pub(super) fn pipelined_alltoall(&self, purpose: &Purpose<'_>, source: SendBuf<'_>, into: RecvBuf<'_>) {
        let (ranks, rank) = (self.team.size(), self.team.rank());
        let bytes = source.len() / ranks;
        let cut = Pattern::Alltoall(bytes).cut(ranks, into.object().is_some());
        let schedule = Pairwise::new(ranks, rank, Chunks::new(bytes, cut.most, 1), cut.slots);
        let data = Data { source, result: into, own: Some((rank * bytes, rank * bytes, bytes)), op: None };
        self.pipelined(purpose, &[schedule], cut, data);
    }

    /// Opens the windows, and carries out schedules side by side.
    fn pipelined(&self, purpose: &Purpose<'_>, schedules: &[impl Schedule], cut: Cut, data: Data<'_>) {
        let Self { team, endpoint, .. } = *self;
        // The stream of the runtime: what the program has started is not waited for here.
        let far = team.job.network.own.as_ref();
        let far = far.unwrap_or_else(|| unreachable!("several nodes have a transport"));
        // SAFETY: that of the world is a part of the system area. For another team all its members have taken as many bytes there, aligned
        // as a window is, for nothing else, as long as the team has a handle; they know so, word for word (`take_windows`). It is
        // atomics.
        let window = unsafe { &*endpoint.mine(team.window()).cast::<Window>() };
        window.clear(schedules[0].credits());
        let count = self.next_meeting();
        if !mutant("stream-unopened") {
            self.meet(purpose);
        }
        let Data { source, result, own, op } = data;
        let object = result.object().map(|place| {
            let segment = endpoint.segments().holding(place.offset, place.bytes);
            (segment.unwrap_or_else(|| unreachable!("an object lies in a segment")), place)
        });
        let quiet = || {
            if !mutant("stream-without-quiet") {
                far.transport.quiet(far.channel);
            }
        };
        under_way(quiet, || {
            let pipelines = schedules
                .iter()
                .map(|schedule| (schedule.sends(), [schedule.receives(), schedule.receives()]));
            let mut progress = Progress::new(pipelines, cut.slots);
            let mut carrier = Carrier {
                job: &team.job,
                members: team.members(),
                rank: team.rank(),
                slots: Slots::of_window(team, cut),
                source,
                result,
                object,
                op,
            };
            let mut is_over = progress.poll(&mut carrier);
            if let Some((from, into, bytes)) = own {
                carrier.result.copy_from(into, source.part(from..from + bytes));
            }
            let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
            while !is_over {
                // Each chunk is waited for anew: who has just got on will soon again.
                let moved = progress.moved();
                let got_on = || {
                    is_over = progress.poll(&mut carrier);
                    is_over || progress.moved() != moved
                };
                endpoint.waiting().until_brought(
                    cut.most,
                    endpoint,
                    got_on,
                    |timeout, done| bell.sleep(timeout, done),
                    || purpose.activity(team.index(), count),
                );
            }
        });
    }
}
