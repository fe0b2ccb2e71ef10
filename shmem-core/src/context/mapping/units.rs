//! The units of a PE: its share of the node's units, and which of them are in use.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
struct Unit {
    locked: bool,
    /// Whether the unit counts against hints: taken for a domain, or for a context if contexts have units.
    is_hinted: bool,
    /// Number of domains and contexts.
    holders: usize,
}

#[derive(Debug)]
pub(super) struct Units {
    pub(super) limit: Option<usize>,
    pub(super) world: Option<u32>,
    /// Number of hinted units: without a lock, and with a lock.
    pub(super) hinted: [usize; 2],
    used: BTreeMap<u32, Unit>,
    /// Free numbers below the highest number that was ever in use.
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

    /// Takes the free unit with the smallest number.
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

    /// The unit with a lock that has the fewest holders; the world's unit only where there is no other.
    pub(super) fn least_shared(&self) -> Option<u32> {
        let locked = self.used.iter().filter(|(_, unit)| unit.locked);
        let least =
            locked.min_by_key(|(number, unit)| (self.world == Some(**number), unit.holders, **number));
        least.map(|(number, _)| *number)
    }
}

/// The share of the PE in slot `slot` when `limit` units are divided evenly among `pes` PEs. The first PEs share the remainder,
/// one each.
pub const fn evenly(limit: usize, pes: usize, slot: usize) -> usize {
    limit / pes + (slot < limit % pes) as usize
}

/// The shares of PEs by the number of units that each wants (max-min fairness). If units suffice, each PE gets that number, and the
/// rest is divided evenly. Otherwise no PE gets more units than a PE that wants more than its share.
pub fn by_need(limit: usize, wants: &[usize]) -> Vec<usize> {
    let mut parts = vec![0; wants.len()];
    let mut left = limit;
    loop {
        let wanting: Vec<usize> = (0..wants.len()).filter(|&pe| parts[pe] < wants[pe]).collect();
        if wanting.is_empty() || left == 0 {
            break;
        }
        // Equal parts, until fewer units than PEs are left.
        let each = (left / wanting.len()).max(1);
        for pe in wanting {
            let part = each.min(wants[pe] - parts[pe]).min(left);
            parts[pe] += part;
            left -= part;
        }
    }
    parts.iter().enumerate().map(|(pe, part)| part + evenly(left, wants.len(), pe)).collect()
}
