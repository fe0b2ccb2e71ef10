//! What every member says, told to all of them.

use shmem_core::system::SCRATCH_BYTES;

use super::blocks::{Shares, room_of_each};
use super::step::Step;

use crate::group::{Collective, Purpose};

/// Bytes that each member sends to other nodes at once, its length included.
pub(super) const SHORT: usize = 64;

/// Bytes of the length that goes before what is said.
pub(super) const LENGTH: usize = size_of::<u64>();

impl Collective<'_> {
    /// What each member says, in the order of ranks. Lengths may differ; what is short takes one meeting, on one
    /// node what fits into scratch. Then all know all lengths, and as many pieces follow as the longest needs.
    pub(crate) fn gather(&self, purpose: &Purpose<'_>, said: &[u8]) -> Vec<Vec<u8>> {
        let Self { team, endpoint, .. } = *self;
        let (most, members) = room_of_each(team);
        let short = if team.node_count() == 1 { most } else { most.min(SHORT) };
        let mut framed = [&(said.len() as u64).to_le_bytes(), said].concat();
        let length = framed.len();
        framed.resize(length.max(short), 0);
        let mut all = vec![Vec::new(); team.size()];
        // Bytes of each, its length included; at first what all send.
        let mut lengths = vec![short; team.size()];
        let mut sent = 0..short;
        while lengths.iter().any(|length| *length > sent.start) {
            let bytes = sent.len();
            let left = |length: usize| length.saturating_sub(sent.start).min(bytes);
            for first in (0..team.size()).step_by(members) {
                let ranks = first..(first + members).min(team.size());
                let mut step = Step::next(self, SCRATCH_BYTES);
                if ranks.contains(&team.rank()) {
                    let bytes = left(lengths[team.rank()]);
                    step.contribute(endpoint, 0, &framed[sent.start.min(framed.len())..][..bytes]);
                }
                let share = |from| if ranks.contains(&from) { left(lengths[from]) } else { 0 };
                step.meet(self, purpose, || Shares::each(team, share));
                for from in ranks {
                    let start = all[from].len();
                    all[from].resize(start + left(lengths[from]), 0);
                    step.read(self, from, 0, &mut all[from][start..]);
                }
            }
            if sent.start == 0 {
                let length_of = |said: &Vec<u8>| said.first_chunk().map_or(0, |n| u64::from_le_bytes(*n));
                lengths = all.iter().map(|said| LENGTH + length_of(said) as usize).collect();
            }
            sent = sent.end..sent.end + most;
        }
        for (said, length) in all.iter_mut().zip(lengths) {
            said.truncate(length);
            said.drain(..LENGTH);
        }
        all
    }
}
