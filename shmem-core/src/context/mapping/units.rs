//! The units of a PE: how many of the node's units the PE may use, and which of them are in use.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
struct Unit {
    locked: bool,
    /// Whether the unit counts as one that hints announce: it was assigned to a domain, or to a context with `Design::Context`.
    is_hinted: bool,
    /// Number of domains and contexts that use the unit.
    holders: usize,
}

#[derive(Debug)]
pub(super) struct Units {
    pub(super) limit: Option<usize>,
    pub(super) world: Option<u32>,
    /// Number of units in use that have `is_hinted`: without a lock, and with a lock.
    pub(super) hinted: [usize; 2],
    used: BTreeMap<u32, Unit>,
    /// The units, by number, that were in use and are free again.
    gaps: BTreeSet<u32>,
}

impl Units {
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self { limit, world: None, hinted: [0; 2], used: BTreeMap::new(), gaps: BTreeSet::new() }
    }

    pub(super) fn used(&self) -> usize {
        self.used.len()
    }

    pub(super) fn free(&self) -> usize {
        self.limit.unwrap_or(usize::MAX).saturating_sub(self.used.len())
    }

    pub(super) fn is_locked(&self, unit: u32) -> bool {
        self.used.get(&unit).is_some_and(|unit| unit.locked)
    }

    /// Assigns the free unit with the smallest number, or returns `None` if no unit is free.
    pub(super) fn take(&mut self, locked: bool, is_hinted: bool) -> Option<u32> {
        if self.free() == 0 {
            return None;
        }
        let unit = self.gaps.pop_first().unwrap_or(self.used.len() as u32);
        self.used.insert(unit, Unit { locked, is_hinted, holders: 1 });
        self.hinted[usize::from(locked)] += usize::from(is_hinted);
        Some(unit)
    }

    pub(super) fn join(&mut self, unit: u32) {
        self.used.entry(unit).and_modify(|unit| unit.holders += 1);
    }

    pub(super) fn leave(&mut self, unit: u32) {
        let Some(held) = self.used.get_mut(&unit) else { return };
        held.holders -= 1;
        if let Unit { locked, is_hinted, holders: 0 } = *held {
            self.used.remove(&unit);
            self.gaps.insert(unit);
            self.hinted[usize::from(locked)] -= usize::from(is_hinted);
        }
    }

    /// Returns the unit with a lock that has the fewest holders. The world's unit is returned only if no other unit has a lock.
    pub(super) fn least_shared(&self) -> Option<u32> {
        let locked = self.used.iter().filter(|(_, unit)| unit.locked);
        let least =
            locked.min_by_key(|(number, unit)| (self.world == Some(**number), unit.holders, **number));
        least.map(|(number, _)| *number)
    }
}

/// Returns the number of units of the PE with index `slot` on its node, when `limit` units are divided evenly among `pes` PEs. The
/// first PEs get one unit more if there is a remainder.
pub const fn evenly(limit: usize, pes: usize, slot: usize) -> usize {
    limit / pes + (slot < limit % pes) as usize
}

/// Divides `limit` units among PEs that want `wants` units each (max-min fairness). If units suffice, each PE gets the number that
/// it wants, and the rest is divided evenly. Otherwise units are divided evenly, but no PE gets more than it wants.
pub fn by_need(limit: usize, wants: &[usize]) -> Vec<usize> {
    let mut parts = vec![0; wants.len()];
    let mut left = limit;
    loop {
        let wanting: Vec<usize> = (0..wants.len()).filter(|&pe| parts[pe] < wants[pe]).collect();
        if wanting.is_empty() || left == 0 {
            break;
        }
        // The same number for each PE, or one unit for the first PEs if there are fewer units than PEs.
        let each = (left / wanting.len()).max(1);
        for pe in wanting {
            let part = each.min(wants[pe] - parts[pe]).min(left);
            parts[pe] += part;
            left -= part;
        }
    }
    parts.iter().enumerate().map(|(pe, part)| part + evenly(left, wants.len(), pe)).collect()
}
