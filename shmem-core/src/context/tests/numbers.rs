//! Sums and bounds of words, of every type of number, against what is naively so.

use proptest::prelude::*;

use super::*;
use crate::object::AmoValue;

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
