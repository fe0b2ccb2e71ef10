//! Whole arrays of words, against an array of numbers.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 64 }))]
    #[test]
    fn are_written_and_read_word_for_word(
        writes in prop::collection::vec((0..12_usize, prop::collection::vec(any::<i32>(), 0..12)), 0..6),
        excluded in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (pair, words) = (pair(), boxed::<[Atomic<i32>]>(64, 12));
        let mut naive = [0; 12];
        for owner in 0..2 {
            naive.fill(0);
            for (first, numbers) in &writes {
                let range = *first..(first + numbers.len()).min(12);
                let numbers = &numbers[..range.len()];
                pair.set_all(words.on(pe(owner)).index(range.clone()), numbers);
                naive[range].copy_from_slice(numbers);
            }
            let mut found = [7; 12];
            pair.fetch_all(&mut found, words.on(pe(owner)));
            prop_assert_eq!(found, naive);
            pair.fetch_all(&mut found[2..5], words.on(pe(owner)).index(2..5));
            prop_assert_eq!(found, naive);
        }
        pair.set_all(words.on(pe(0)), &naive);
        prop_assert_eq!(words.here(&pair).values(), naive);
        prop_assert_eq!(words.here(&pair).index(3).value(), naive[3]);
        let left: Vec<i32> = (0..12).filter(|i| !excluded[*i]).map(|i| naive[i]).collect();
        prop_assert_eq!(words.here(&pair).excluding(&excluded).values(), left);
    }
}

#[test]
fn are_plain_numbers_where_nobody_else_is() {
    let mut words = [Atomic::new(1.5), Atomic::new(2.5)];
    Atomic::values_mut(&mut words)[1] = -1.0;
    assert_eq!(words.each_ref().map(Atomic::value), [1.5, -1.0]);
    let mut signals = [Signal::new(1), Signal::new(2)];
    Signal::values_mut(&mut signals).swap(0, 1);
    assert_eq!(signals.each_ref().map(Signal::value), [2, 1]);
}

#[test]
#[should_panic(expected = "the place has 4 words, and there are 3 numbers; each word has one")]
fn have_as_many_numbers_as_words() {
    pair().set_all(boxed::<[Atomic<u64>; 4]>(64, 1).on(pe(0)), &[1, 2, 3]);
}
