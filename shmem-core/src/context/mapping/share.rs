//! The part of a node's units that each of its PEs gets.

/// The part of the PE in slot `slot` when `limit` units are shared out evenly among `pes` PEs: the same for
/// all, and what is left over goes to the first ones, one each.
pub const fn evenly(limit: usize, pes: usize, slot: usize) -> usize {
    limit / pes + (slot < limit % pes) as usize
}

/// The parts of PEs that want so many units each. Where there are enough, everybody gets what he wants, and
/// the rest is shared out evenly; where there are not, nobody gets more than another who wants more than
/// he has.
pub fn by_need(limit: usize, wants: &[usize]) -> Vec<usize> {
    let mut parts = vec![0; wants.len()];
    let mut left = limit;
    loop {
        let wanting: Vec<usize> = (0..wants.len()).filter(|&pe| parts[pe] < wants[pe]).collect();
        if wanting.is_empty() || left == 0 {
            break;
        }
        // The same for all, until there is less than one for each.
        let each = (left / wanting.len()).max(1);
        for pe in wanting {
            let part = each.min(wants[pe] - parts[pe]).min(left);
            parts[pe] += part;
            left -= part;
        }
    }
    let pes = wants.len();
    parts
        .iter()
        .enumerate()
        .map(|(pe, part)| part + if left > 0 { evenly(left, pes, pe) } else { 0 })
        .collect()
}
