//! Collectives whose members are certain to be in the same call: they compare all arguments, where other collectives compare a
//! hash.
//!
//! Members of collectives that write to other PEs' memory, or that keep tables equal on all PEs, exchange their call signatures
//! whole: operation, arguments and barrier numbers ([`SignatureWords`](shmem_core::sync::SignatureWords)). An [`Agreed`]
//! guarantees:
//!
//! 1. At the last exchange all members were in the same barrier of the same operation, with the same arguments, and had begun the
//!    operation at the same barrier. Each member compares the signatures of its node bit by bit, in memory used for nothing else.
//!    The member that acts for a node sends the node's signature in each round, and begins the next round only if it received an
//!    equal signature.
//! 2. After the exchange all members execute the same steps, because the steps depend only on the arguments and on the data
//!    exchanged since. No code of the program runs during the steps. So the barriers of these steps compare hashes only.
//! 3. Where a member may have left the collective (by an error, or a panic of the program), all members compare signatures
//!    [again](Agreed::again). A member that left and came back is detected by the number of its first barrier in the signature.

use bytemuck::Pod;
use shmem_core::context::Endpoint;

use super::barrier_payload::SignaturePayload;
use crate::error::{Error, ErrorKind, Result};
use crate::group::{CallSignature, Collective, Team};

/// A collective whose members have compared their call signatures and found them equal.
pub(crate) struct Agreed<'c> {
    pub(crate) collective: Collective<'c>,
    pub(crate) signature: &'c CallSignature<'c>,
}

impl Team {
    /// Completes this PE's operations and begins a collective. Ends the job unless all members pass equal arguments.
    ///
    /// # Panics
    ///
    /// If this thread or another one is in a collective of this team already.
    pub(crate) fn agree_on<'c>(
        &'c self,
        endpoint: &'c Endpoint,
        signature: &'c CallSignature<'c>,
    ) -> Agreed<'c> {
        let agreed = Agreed { collective: self.enter(endpoint, signature.location), signature };
        self.job.quiet_all();
        agreed.again();
        agreed
    }
}

impl Collective<'_> {
    /// Enters barriers that end the job unless all members are in the same call with the same arguments.
    pub(super) fn compare_signatures(&self, signature: &CallSignature<'_>) {
        for part in 0..signature.parts() {
            let count = self.next_barrier();
            let words = signature.words(part, count, self.began);
            self.barrier_with(signature, &mut SignaturePayload { words: &words, half: (count % 2) as usize });
        }
    }
}

impl Agreed<'_> {
    /// Compares the members' call signatures once more.
    pub(crate) fn again(&self) {
        self.collective.compare_signatures(self.signature);
    }

    /// Returns the bytes that each member passed, by rank. Lengths may differ.
    pub(crate) fn gather(&self, said: &[u8]) -> Vec<Vec<u8>> {
        self.collective.gather(self.signature, said)
    }

    /// Returns the words that each member passed, by rank.
    pub(crate) fn tell<const N: usize>(&self, words: [u64; N]) -> Vec<[u64; N]> {
        let mut all = vec![[0; N]; self.collective.team.size()];
        let into = bytemuck::cast_slice_mut(all.as_flattened_mut());
        self.collective.gather_equal(self.signature, bytemuck::cast_slice(&words), into);
        all
    }

    /// Combines `data`, of equal length on all members, element by element. The result replaces `data` on all members.
    pub(crate) fn reduce<N: Pod>(&self, data: &mut [u8], op: impl Fn(N, N) -> N) {
        self.collective.reduce_for(self.signature, data, op);
    }

    /// Returns the values of all members, by rank, if every member succeeded; otherwise an error on all members.
    ///
    /// # Errors
    ///
    /// This PE's error if all members have an equal one, else the error of the first failed member.
    pub(crate) fn settle(&self, mine: Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        const WORKED: u8 = 1;
        let said = match &mine {
            Ok(said) => [&[WORKED], said.as_slice()].concat(),
            Err(error) => [&[0], error.to_string().as_bytes()].concat(),
        };
        self.again();
        let mut all = self.gather(&said);
        let Some(failed) = all.iter().position(|said| said.first() != Some(&WORKED)) else {
            all.iter_mut().for_each(|said| drop(said.drain(..1)));
            return Ok(all);
        };
        match mine {
            Err(error) if all.iter().all(|said| *said == all[failed]) => Err(self.refused(error)),
            _ => {
                let pe = self.collective.team.member(failed).number();
                let reason = String::from_utf8_lossy(&all[failed][1..]);
                Err(self.refused(ErrorKind::Refused(format!("on PE {pe}: {reason}"))))
            }
        }
    }

    pub(crate) fn refused(&self, error: impl Into<Error>) -> Error {
        match self.signature.location {
            Some(call) => error.into().at(call),
            None => error.into(),
        }
    }
}
