//! Words, several of them and whole arrays, of every type of number, against what is naively so: waiting, sums and bounds.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::object::AmoValue;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 64 }))]
    #[test]
    fn the_own_words_are_read_as_numbers(
        naive in any::<[i32; 12]>(),
        excluded in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (pair, words) = (pair(), boxed::<[Atomic<i32>]>(64, 12));
        for (i, number) in naive.iter().enumerate() {
            pair.set(words.on(pe(0)).index(i), *number);
        }
        prop_assert_eq!(words.here(&pair).values(), naive);
        prop_assert_eq!(words.here(&pair).index(3).value(), naive[3]);
        let left: Vec<i32> = (0..12).filter(|i| !excluded[*i]).map(|i| naive[i]).collect();
        prop_assert_eq!(words.here(&pair).excluding(&excluded).values(), left);
    }
}

#[test]
fn arrays_of_words_are_plain_numbers_where_nobody_else_is() {
    let mut words = [Atomic::new(1.5), Atomic::new(2.5)];
    Atomic::values_mut(&mut words)[1] = -1.0;
    assert_eq!(words.each_ref().map(Atomic::value), [1.5, -1.0]);
    let mut signals = [Signal::new(1), Signal::new(2)];
    Signal::values_mut(&mut signals).swap(0, 1);
    assert_eq!(signals.each_ref().map(Signal::value), [2, 1]);
}

/// What an update is to leave of two numbers.
#[derive(Clone, Copy, Debug)]
enum Update {
    Add,
    Min,
    Max,
}

/// What a word is after all updates, and what each of those found that give something back.
fn applied<V: AmoValue>(
    first: V,
    updates: &[(Update, bool, V)],
    naive: impl Fn(Update, V, V) -> V,
) -> Result<(), TestCaseError> {
    let (pair, word) = (pair(), boxed::<Atomic<V>>(64, 1));
    let place = word.on(pe(1));
    pair.set(place, first);
    let mut value = first;
    for &(update, gives, other) in updates {
        let before = match (update, gives) {
            (Update::Add, true) => Some(pair.fetch_add(place, other)),
            (Update::Min, true) => Some(pair.fetch_min(place, other)),
            (Update::Max, true) => Some(pair.fetch_max(place, other)),
            (_, false) => {
                match update {
                    Update::Add => pair.add(place, other),
                    Update::Min => pair.set_min(place, other),
                    Update::Max => pair.set_max(place, other),
                }
                None
            }
        };
        prop_assert_eq!(before.map(V::to_bits64), gives.then(|| value.to_bits64()));
        value = naive(update, value, other);
        prop_assert_eq!(pair.fetch(place).to_bits64(), value.to_bits64(), "{:?} of {:?}", update, other);
    }
    Ok(())
}

fn updates<V: Strategy>(numbers: V) -> impl Strategy<Value = Vec<(Update, bool, V::Value)>> {
    let update = prop_oneof![Just(Update::Add), Just(Update::Min), Just(Update::Max)];
    prop::collection::vec((update, any::<bool>(), numbers), 0..12)
}

macro_rules! integers {
    ($($number:ident)*) => {$(
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 128 }))]
            #[test]
            fn $number(first: $number, updates in updates(any::<$number>())) {
                applied(first, &updates, |update, a, b| match update {
                    Update::Add => a.wrapping_add(b),
                    Update::Min if b < a => b,
                    Update::Max if b > a => b,
                    _ => a,
                })?;
            }
        }
    )*};
}
integers!(u32 i32 u64 i64 usize isize);

macro_rules! floats {
    ($($number:ident)*) => {$(
        /// Few numbers, so that equal ones meet, and what is special among them.
        mod $number {
            use super::*;

            fn numbers() -> impl Strategy<Value = $number> {
                let special = [0.0, -0.0, $number::NAN, -$number::NAN, $number::INFINITY, $number::NEG_INFINITY];
                let tiny = [$number::MIN_POSITIVE / 4.0, $number::MAX, 0.1];
                prop_oneof![
                    any::<$number>(),
                    prop::sample::select(special.to_vec()),
                    prop::sample::select(tiny.to_vec()),
                ]
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]
                #[test]
                fn leaves_what_is_naively_so(first in numbers(), updates in updates(numbers())) {
                    applied(first, &updates, |update, a, b| {
                        let are_zeroes = a == 0.0 && b == 0.0;
                        match update {
                            Update::Add if (a + b).is_nan() => $number::NAN,
                            Update::Add => a + b,
                            _ if b.is_nan() => a,
                            _ if a.is_nan() => b,
                            Update::Min if b < a || (are_zeroes && b.is_sign_negative()) => b,
                            Update::Max if b > a || (are_zeroes && b.is_sign_positive()) => b,
                            _ => a,
                        }
                    })?;
                }
            }
        }
    )*};
}
floats!(f32 f64);
