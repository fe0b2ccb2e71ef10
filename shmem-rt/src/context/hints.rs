//! Hints about the domains that a program will have.

use shmem_core::context::Initiator;
use shmem_core::context::mapping::{Hints, by_need};
use shmem_core::observe::Family;

use crate::error::Result;
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The PEs to which hints apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintScope {
    /// The calling PE alone. Its share of the node's units (endpoints) does not change.
    Local,
    /// All PEs, each with its own hints. The units (endpoints) of each node are divided anew. Collective.
    Global,
}

impl<L: ThreadLevel> World<L> {
    /// Announces how many domains of each level the program will have at a time, so that units (endpoints) are reserved for them.
    /// Hints apply until the next call, and impose no limit.
    ///
    /// With [`HintScope::Global`] a PE asks for one unit for each announced domain, and one for itself. If the node has enough
    /// units, the remaining ones are divided evenly. Otherwise small requests are met, and the other PEs get equal shares.
    ///
    /// # Errors
    ///
    /// [`ContextError::Live`](crate::ContextError::Live) while domains or contexts exist besides the world's own. The error names
    /// them. With [`HintScope::Global`] all PEs return this error if any PE has such domains or contexts.
    ///
    /// Source: "Context-Domain in Cray SHMEM" (2016), `shmem_domain_config`.
    #[track_caller]
    pub fn domain_config(&self, hints: Hints, scope: HintScope) -> Result<()> {
        // The lock is held until all units are divided, so that no other thread creates a context meanwhile.
        let mut holdings = self.job().contexts.holdings.lock();
        let idle = holdings.idle();
        if scope == HintScope::Local {
            idle?;
            holdings.configure(hints, None);
            return Ok(());
        }
        let family = Family::DomainConfig;
        let signature = CallSignature::of_call(family, family.name(), &[], &String::new);
        let wanted = hints.total().saturating_add(1) as u64;
        let said = idle.map(|()| wanted.to_le_bytes().to_vec()).map_err(Into::into);
        let all = self.team().agree_on(self.endpoint(), &signature).settle(said)?;
        let part = holdings.node.map(|limit| {
            let team = self.team();
            let wants = |said: &Vec<u8>| said.as_slice().try_into().map_or(1, u64::from_le_bytes) as usize;
            let on_node = |pe: &&shmem_core::pe::Pe| team.neighbours().contains(pe);
            let on_node: Vec<_> = team.members.iter().zip(&all).filter(|(pe, _)| on_node(pe)).collect();
            let wanted: Vec<_> = on_node.iter().map(|(_, said)| wants(said)).collect();
            let me = on_node.iter().position(|(pe, _)| **pe == self.me()).unwrap_or_default();
            by_need(limit, &wanted)[me]
        });
        holdings.configure(hints, part);
        Ok(())
    }
}
