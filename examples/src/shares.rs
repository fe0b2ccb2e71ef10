//! Consecutive things dealt out to parts whose sizes differ by at most one, the larger ones first. Where there are more
//! parts than things, the last ones have none.

use std::ops::Range;

/// What the part with number `part` has.
pub fn share(things: usize, parts: usize, part: usize) -> Range<usize> {
    let (each, larger) = (things / parts, things % parts);
    let start = part * each + part.min(larger);
    start..start + each + usize::from(part < larger)
}

/// The part that has a thing.
pub fn owner(things: usize, parts: usize, thing: usize) -> usize {
    let (each, larger) = (things / parts, things % parts);
    let in_larger = larger * (each + 1);
    if thing < in_larger { thing / (each + 1) } else { larger + (thing - in_larger) / each }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_thing_is_in_the_part_of_its_owner(things in 1..200_usize, parts in 1..30_usize) {
            let mut next = 0;
            for part in 0..parts {
                let share = share(things, parts, part);
                prop_assert_eq!(share.start, next);
                prop_assert!((things / parts..=things.div_ceil(parts)).contains(&share.len()));
                for thing in share.clone() {
                    prop_assert_eq!(owner(things, parts, thing), part);
                }
                next = share.end;
            }
            prop_assert_eq!(next, things);
        }
    }
}
