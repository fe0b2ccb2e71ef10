//! Units of a node among its PEs.

use proptest::prelude::*;

use super::super::{by_need, evenly};

#[test]
fn what_is_left_over_goes_to_the_first() {
    let parts = |limit, pes| (0..pes).map(|slot| evenly(limit, pes, slot)).collect::<Vec<_>>();
    assert_eq!(parts(120, 2), [60, 60]);
    assert_eq!(parts(7, 3), [3, 2, 2]);
    assert_eq!(parts(2, 3), [1, 1, 0]);
}

#[test]
fn needs_are_met_before_the_rest_is_shared_out() {
    assert_eq!(by_need(12, &[9, 2]), [10, 2]);
    assert_eq!(by_need(12, &[2, 9]), [3, 9]);
    // Too few: he who wants little gets it, the others the same.
    assert_eq!(by_need(12, &[9, 2, 9]), [5, 2, 5]);
    assert_eq!(by_need(10, &[1, 1, 1]), [4, 3, 3]);
    assert_eq!(by_need(2, &[1, 1, 1]), [1, 1, 0]);
    assert_eq!(by_need(5, &[]), [0; 0]);
}

proptest! {
    #[test]
    fn all_units_are_shared_out_and_nobody_is_envied(
        limit in 0..200_usize,
        wants in proptest::collection::vec(0..40_usize, 1..8),
    ) {
        let parts = by_need(limit, &wants);
        prop_assert_eq!(parts.iter().sum::<usize>(), limit);
        prop_assert_eq!((0..wants.len()).map(|slot| evenly(limit, wants.len(), slot)).sum::<usize>(), limit);
        let short = (0..wants.len()).filter(|&pe| parts[pe] < wants[pe]);
        for pe in short {
            // Nobody has more than one unit more than he who has too few.
            prop_assert!(parts.iter().all(|part| *part <= parts[pe] + 1), "{:?} of {:?}", parts, wants);
        }
        if wants.iter().sum::<usize>() <= limit {
            prop_assert!(parts.iter().zip(&wants).all(|(part, want)| part >= want));
        }
    }
}
