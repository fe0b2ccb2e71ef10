//! Steps: what members contribute to one meeting, and read of each other behind it.

use shmem_core::context::Endpoint;
use shmem_core::pe::Pe;
use shmem_core::sync::{LINE_BYTES, MeetingLines};
use shmem_core::system::{SCRATCH_BYTES, SystemArea, TeamArea};
use shmem_core::transport::Remote;

use super::meeting::Meeting;
use super::number::Number;
use crate::team::Collective;

/// One meeting, and the room for contributions that belongs to it: of a line where that is enough, or half of
/// the scratch. There are several of both, used in turn, so one meeting for each step is enough: who writes
/// again has met, since, all who read.
pub(super) struct Step {
    offset: usize,
    room: usize,
}

impl Step {
    /// The next meeting of a team, for which no member contributes more than `bytes` bytes: as many on all
    /// members.
    pub(super) fn next(collective: &Collective<'_>, bytes: usize) -> Self {
        let meeting = collective.next_meeting();
        let team = core::mem::offset_of!(SystemArea, teams) + collective.team.index() * size_of::<TeamArea>();
        if collective.team.meeting() == Meeting::Lines && bytes <= LINE_BYTES {
            let lines = team + core::mem::offset_of!(TeamArea, lines);
            Self { offset: lines + MeetingLines::room(meeting), room: LINE_BYTES }
        } else {
            let half =
                team + core::mem::offset_of!(TeamArea, scratch) + (meeting % 2) as usize * SCRATCH_BYTES;
            Self { offset: half, room: SCRATCH_BYTES }
        }
    }

    /// Writes a part of the calling PE's contribution, before the meeting.
    #[inline]
    pub(super) fn contribute(&self, endpoint: &Endpoint, at: usize, data: &[u8]) {
        assert!(at + data.len() <= self.room, "{} bytes at {at} in a room of {}", data.len(), self.room);
        let to = endpoint.mine(self.offset + at);
        if let Some(word) = data.first_chunk::<8>().filter(|_| data.len() == 8) {
            // A store where a copy would be a call.
            // SAFETY: as below.
            unsafe { to.cast::<[u8; 8]>().write(*word) };
            return;
        }
        // SAFETY: the room has that many bytes, as just checked, and nobody reads it now: its last readers
        // have since met this PE for the step in between, and no other thread of this PE is in a collective.
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Reads a part of a member's contribution, after the meeting.
    #[inline]
    pub(super) fn read(&self, endpoint: &Endpoint, pe: Pe, at: usize, into: &mut [u8]) {
        assert!(at + into.len() <= self.room, "{} bytes at {at} in a room of {}", into.len(), self.room);
        if let Some(from) = endpoint.mapped(pe, self.offset + at) {
            if into.len() == 8 {
                // A load where a copy would be a call.
                // SAFETY: as below.
                into.copy_from_slice(&unsafe { from.cast::<[u8; 8]>().read() });
                return;
            }
            // SAFETY: the room of a PE on this node has that many bytes; its owner wrote it before the
            // meeting and writes it again only after the meeting of the next step.
            unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        } else if let Some(far) = endpoint.far_if_any() {
            let from = Remote { pe, segment: shmem_core::segment::SYSTEM, offset: self.offset + at };
            // SAFETY: as above; `into` is an exclusive reference.
            unsafe { far.transport.get(far.channel, into.as_mut_ptr(), from, into.len()) };
        }
    }

    /// Combines numbers with those that a member has contributed, after the meeting: theirs on the right.
    #[inline]
    pub(super) fn combine<N: Number>(
        &self,
        endpoint: &Endpoint,
        pe: Pe,
        at: usize,
        into: &mut [u8],
        op: impl Fn(N, N) -> N,
    ) {
        assert!(at + into.len() <= self.room, "{} bytes at {at} in a room of {}", into.len(), self.room);
        let size = size_of::<N>();
        if let Some(from) = endpoint.mapped(pe, self.offset + at) {
            for (k, into) in into.chunks_exact_mut(size).enumerate() {
                // SAFETY: as in `read`; every bit pattern is a number.
                let theirs = unsafe { from.wrapping_add(k * size).cast::<N>().read_unaligned() };
                into.copy_from_slice(bytemuck::bytes_of(&op(bytemuck::pod_read_unaligned(into), theirs)));
            }
        } else {
            let mut theirs = vec![0; into.len()];
            self.read(endpoint, pe, at, &mut theirs);
            for (into, theirs) in into.chunks_exact_mut(size).zip(theirs.chunks_exact(size)) {
                let result = op(bytemuck::pod_read_unaligned(into), bytemuck::pod_read_unaligned(theirs));
                into.copy_from_slice(bytemuck::bytes_of(&result));
            }
        }
    }
}
