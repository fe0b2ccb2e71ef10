//! Patterns in parts that fit a message.

use super::pattern::Pattern;

/// Calls `each` with parts of `pattern` of at most `most` bytes: where each starts at the destination and at the
/// source, and what it moves. Together they move what the pattern does; they are about as long as each other.
///
/// # Panics
///
/// If `most` is none, or the pattern reaches further than any memory.
pub fn each_fitting(pattern: &Pattern, most: usize, mut each: impl FnMut(usize, usize, Pattern)) {
    assert!(most > 0, "a part has at least a byte");
    if pattern.block() > 0 {
        pattern.require_memory();
        cut(pattern, 0, 0, most, &mut each);
    }
}

fn cut(pattern: &Pattern, to: usize, from: usize, most: usize, each: &mut dyn FnMut(usize, usize, Pattern)) {
    if pattern.bytes() <= most {
        return each(to, from, *pattern);
    }
    let Some(&outer) = pattern.levels().first() else {
        let block = pattern.block();
        return each_share(block, most, |at, bytes| each(to + at, from + at, Pattern::contiguous(bytes)));
    };
    let turn = pattern.with_count(0, 1);
    let place = |i: usize| (to + i * outer.to, from + i * outer.from);
    match most / turn.bytes() {
        0 => (0..outer.count).map(place).for_each(|(to, from)| cut(&turn, to, from, most, each)),
        turns => each_share(outer.count, turns, |first, count| {
            let (to, from) = place(first);
            each(to, from, pattern.with_count(0, count));
        }),
    }
}

/// Divides `all` into as few shares of at most `most` as there must be: where each starts, and how long it is.
fn each_share(all: usize, most: usize, mut each: impl FnMut(usize, usize)) {
    let share = all.div_ceil(all.div_ceil(most));
    (0..all).step_by(share).for_each(|start| each(start, share.min(all - start)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strided::Level;

    proptest! {
        #[test]
        fn parts_fit_and_move_what_the_pattern_moves(
            block in 1usize..60,
            levels in prop::collection::vec((1usize..7, 0usize..200, 0usize..200), 0..5),
            most in 1usize..500,
        ) {
            let levels: Vec<_> = levels.into_iter().map(|(count, to, from)| Level { count, to, from }).collect();
            let pattern = Pattern::of_levels(block, &levels);
            let bytes = |pattern: &Pattern, to: usize, from: usize| {
                let mut bytes = Vec::new();
                pattern.each_block(|a, b| bytes.extend((0..pattern.block()).map(|i| (to + a + i, from + b + i))));
                bytes
            };
            let (mut moved, mut parts) = (Vec::new(), 0);
            each_fitting(&pattern, most, |to, from, part| {
                assert!(part.bytes() <= most);
                moved.extend(bytes(&part, to, from));
                parts += 1;
            });
            let mut wanted = bytes(&pattern, 0, 0);
            wanted.sort_unstable();
            moved.sort_unstable();
            prop_assert_eq!(moved, wanted);
            if pattern.levels().len() <= 1 && pattern.block() <= most {
                let blocks_each = most / pattern.block();
                prop_assert_eq!(parts, pattern.count().div_ceil(blocks_each), "as few as there must be");
            }
        }

        #[test]
        fn what_is_nested_does_not_overlap(
            block in 1usize..20, levels in prop::collection::vec((1usize..6, 0usize..90), 0..4),
        ) {
            let levels: Vec<_> = levels.into_iter().map(|(count, to)| Level { count, to, from: 0 }).collect();
            let pattern = Pattern::of_levels(block, &levels);
            let mut written = std::collections::BTreeSet::new();
            let mut is_disjoint = true;
            pattern.each_block(|to, _| (to..to + pattern.block()).for_each(|byte| is_disjoint &= written.insert(byte)));
            prop_assert!(is_disjoint || !pattern.is_nested());
        }
    }

    #[test]
    fn what_programs_write_is_nested() {
        let rows = Level { count: 5, to: 1000, from: 1000 };
        for levels in [vec![], vec![rows], vec![rows, Level { count: 3, to: 24, from: 8 }]] {
            assert!(Pattern::of_levels(8, &levels).is_nested());
        }
    }
}
