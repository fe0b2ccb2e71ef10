//! Waiting for words of a row, against a naive model.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A condition for each value, and the same as everybody would write it.
type Relation = (fn(i32) -> Condition<i32>, fn(&i32, &i32) -> bool);

const RELATIONS: [Relation; 6] = [
    (eq, |a, b| a == b),
    (ne, |a, b| a != b),
    (gt, |a, b| a > b),
    (ge, |a, b| a >= b),
    (lt, |a, b| a < b),
    (le, |a, b| a <= b),
];

/// Words, a value for each, and whether it is excluded; the first value is that of the forms without.
fn words() -> impl Strategy<Value = Vec<(i32, i32, bool)>> {
    proptest::collection::vec((-2..3, -2..3, any::<bool>()), 0..9)
}

proptest! {
    #[test]
    fn every_form_says_what_is_so(words in words(), relation in 0..6_usize, masked: bool) {
        let pair = pair();
        let (relation, naive) = RELATIONS[relation];
        let row = boxed::<[Atomic<i32>]>(0, words.len());
        for (i, &(word, ..)) in words.iter().enumerate() {
            pair.set(row.on(pe(0)).index(i), word);
        }
        let excluded: Vec<bool> = words.iter().map(|word| masked && word.2).collect();
        let values: Vec<i32> = words.iter().map(|word| word.1).collect();
        let value = values.first().copied().unwrap_or_default();
        let set = if masked { row.here(&pair).excluding(&excluded) } else { row.here(&pair).wait_set() };
        let mut indices = vec![usize::MAX; words.len() + 1];

        for vector in [false, true] {
            let of = |i: usize| if vector { values[i] } else { value };
            let holding: Vec<usize> =
                (0..words.len()).filter(|&i| !excluded[i] && naive(&words[i].0, &of(i))).collect();
            let looked_at = excluded.iter().filter(|excluded| !**excluded).count();
            let (all, any, some) = if vector {
                (
                    set.test_all_vector(relation, &values),
                    set.test_any_vector(relation, &values),
                    set.test_some_vector(relation, &values, &mut indices),
                )
            } else {
                let condition = relation(value);
                (set.test_all(condition), set.test_any(condition), set.test_some(condition, &mut indices))
            };
            prop_assert_eq!(all, holding.len() == looked_at);
            prop_assert!(any.map_or(holding.is_empty(), |i| holding.contains(&i)));
            prop_assert_eq!(some, &holding);

            // What would wait for ever is not waited for.
            if holding.len() == looked_at {
                if vector { set.wait_until_all_vector(relation, &values) } else { set.wait_until_all(relation(value)) }
            }
            if !holding.is_empty() || looked_at == 0 {
                let (any, some) = if vector {
                    (
                        set.wait_until_any_vector(relation, &values),
                        set.wait_until_some_vector(relation, &values, &mut indices),
                    )
                } else {
                    (set.wait_until_any(relation(value)), set.wait_until_some(relation(value), &mut indices))
                };
                prop_assert!(any.map_or(holding.is_empty(), |i| holding.contains(&i)));
                prop_assert_eq!(some, &holding);
            }
            // What stays so is given in turn.
            let next = |_| if vector { set.test_any_vector(relation, &values) } else { set.test_any(relation(value)) };
            let given: BTreeSet<usize> = (0..holding.len()).filter_map(next).collect();
            prop_assert_eq!(given.len(), holding.len());
        }
        prop_assert_eq!(indices[words.len()], usize::MAX);
    }
}

#[test]
fn lists_of_another_length_are_refused() {
    let pair = pair();
    let row = boxed::<[Signal]>(0, 3);
    let words = || row.here(&pair);
    let message = refusal(|| words().excluding(&[true; 2]).test_all(eq(1)));
    assert_eq!(message, "3 words have 2 states; each word has one, which excludes it or not");
    let message = refusal(|| words().wait_until_any_vector(eq, &[1; 4]));
    assert_eq!(message, "3 words are compared with 4 values; each word has one");
    let message = refusal(|| _ = words().test_some(eq(0), &mut [0; 2]));
    assert_eq!(message, "there is room for the numbers of 2 words, and there are 3");
}
