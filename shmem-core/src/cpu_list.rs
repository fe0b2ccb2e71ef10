//! Lists of numbers written as ranges, as the kernel writes lists of CPUs: `0-3,8`.
//!
//! A short text may stand for a long range. So numbers must ascend and be below 8192, which bounds any list to 64 KiB.

/// Upper limit on the numbers of lists: Linux has at most 8192 CPUs (`NR_CPUS`) and 1024 memory nodes (`NODES_SHIFT`).
const NUMBERS: usize = 8192;

/// Reads a list. An empty text is an empty list. `None`: the text is malformed, or its numbers do not ascend or are not below 8192.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let mut numbers = Vec::new();
    if text.is_empty() {
        return Some(numbers);
    }
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || numbers.last().is_some_and(|before| first <= *before) {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Reads a number of a list: digits without a sign.
fn number(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number < NUMBERS)
}

/// Writes ascending numbers as ranges.
pub fn show(numbers: &[usize]) -> String {
    let ranges: Vec<String> = numbers
        .chunk_by(|one, next| one.checked_add(1) == Some(*next))
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            only => only.iter().map(ToString::to_string).collect(),
        })
        .collect();
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_read_as_the_same(numbers: BTreeSet<u8>) {
            let numbers: Vec<usize> = numbers.into_iter().map(usize::from).collect();
            prop_assert_eq!(parse(&show(&numbers)), Some(numbers));
        }

        #[test]
        fn what_is_read_ascends_and_has_an_end(text in "[0-9]{1,5}([-,]{1,2}[0-9]{1,5}){0,6}") {
            if let Some(numbers) = parse(&text) {
                prop_assert!(numbers.is_sorted_by(|one, next| one < next), "{}: {:?}", text, numbers);
                prop_assert!(numbers.iter().all(|number| *number < NUMBERS), "{}", text);
                prop_assert_eq!(parse(&show(&numbers)), Some(numbers));
            }
        }
    }

    #[test]
    fn lists_are_as_the_kernel_writes_them() {
        for text in ["", "0", "0-3", "0-3,8", "1,3,5-6", "0-8191"] {
            assert_eq!(show(&parse(text).unwrap()), text);
        }
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        let no_lists = ["a-b", "3-", "nonsense,5", "+3", "0,,3", "0 - 3", "0-1-2"];
        let not_ascending = ["5-3", "3,1", "3,3", "0-3,2-5", "8,0-3"];
        let not_of_a_machine = ["8192", "0-8192", "0-1048576", "0-99999999999", "99999999999999999999"];
        for text in no_lists.into_iter().chain(not_ascending).chain(not_of_a_machine) {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(show(&[usize::MAX, 5]), format!("{},5", usize::MAX));
    }
}
