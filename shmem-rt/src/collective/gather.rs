//! What every member says, told to all of them, and agreement on it.

use shmem_core::system::SCRATCH_BYTES;

use super::number::Number;
use super::purpose::Purpose;
use super::step::Step;
use crate::error::{Error, Result};
use crate::team::Collective;

/// Most arguments of a purpose that are [compared](Collective::compare).
const MOST_ARGUMENTS: usize = 4;

/// Bytes of the length that goes before what is said.
const LENGTH: usize = size_of::<u64>();

impl Collective<'_> {
    /// What each member says, in the order of ranks. Lengths may differ; what fits into scratch takes
    /// one meeting.
    pub(crate) fn gather(&self, purpose: &Purpose<'_>, said: &[u8]) -> Vec<Vec<u8>> {
        let Self { team, endpoint, .. } = *self;
        let framed = [&(said.len() as u64).to_le_bytes(), said].concat();
        let mut mine = framed.chunks(SCRATCH_BYTES);
        let mut all = vec![Vec::new(); team.size()];
        let (mut round, mut rounds) = (0, 1);
        while round < rounds {
            let step = Step::next(self, SCRATCH_BYTES);
            step.contribute(endpoint, 0, mine.next().unwrap_or_default());
            self.meet(purpose);
            for (said, pe) in all.iter_mut().zip(team.members()) {
                if round == 0 {
                    let mut length = [0; LENGTH];
                    step.read(endpoint, *pe, 0, &mut length);
                    let framed = LENGTH + u64::from_le_bytes(length) as usize;
                    rounds = rounds.max(framed.div_ceil(SCRATCH_BYTES));
                    said.reserve(framed);
                    said.resize(framed.min(SCRATCH_BYTES), 0);
                    step.read(endpoint, *pe, 0, said);
                } else {
                    let length = said.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
                    let rest = (LENGTH + length as usize).saturating_sub(said.len()).min(SCRATCH_BYTES);
                    let from = said.len();
                    said.resize(from + rest, 0);
                    step.read(endpoint, *pe, 0, &mut said[from..]);
                }
            }
            round += 1;
        }
        for said in &mut all {
            said.drain(..LENGTH);
        }
        all
    }

    /// Ends the job unless all members have given the same arguments, to the bit. The hash in a purpose finds
    /// mistakes, but who chooses arguments can choose hashes: where members write to each other's memory by
    /// what they believe to have agreed on, they have to know.
    pub(crate) fn compare(&self, purpose: &Purpose<'_>) {
        let mut words = [0_u64; MOST_ARGUMENTS + 1];
        words[0] = purpose.arguments.len() as u64;
        words[1..=purpose.arguments.len()].copy_from_slice(purpose.arguments);
        // The greatest, and what is the least with its bits turned.
        let mut ends = words.map(|word| [word, !word]);
        self.reduce_for(purpose, bytemuck::cast_slice_mut(ends.as_flattened_mut()), u64::greater);
        if ends.iter().any(|[greatest, least]| *greatest != !*least) {
            self.disagree(purpose, self.next_meeting() - 1);
        }
    }

    /// Whether something worked on every member: what each of them says of it, in the order of ranks,
    /// or, if it failed on any, an error on all of them.
    ///
    /// # Errors
    ///
    /// The own error where all have the same, otherwise that of the first member that has one.
    pub(crate) fn agree(&self, purpose: &Purpose<'_>, mine: Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        const WORKED: u8 = 1;
        let said = match &mine {
            Ok(said) => [&[WORKED], said.as_slice()].concat(),
            Err(error) => [&[0], error.to_string().as_bytes()].concat(),
        };
        let mut all = self.gather(purpose, &said);
        let Some(failed) = all.iter().position(|said| said.first() != Some(&WORKED)) else {
            all.iter_mut().for_each(|said| drop(said.drain(..1)));
            return Ok(all);
        };
        match mine {
            Err(error) if all.iter().all(|said| *said == all[failed]) => Err(error),
            _ => Err(Error::OnPe {
                pe: self.team.members()[failed].number(),
                reason: String::from_utf8_lossy(&all[failed][1..]).into_owned(),
            }),
        }
    }
}
