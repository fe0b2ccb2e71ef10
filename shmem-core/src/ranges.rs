//! Lists of numbers written as ranges, as the kernel writes lists of CPUs: `0-3,8`.

/// Lists with larger numbers are not read: no machine has so many CPUs or memory nodes, and a range is
/// as long as its text says.
const MOST: usize = 1 << 20;

/// Reads a list. Nothing is an empty one; `None`: it is no list.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse().ok()?);
        if last > MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Writes ascending numbers.
pub fn show(numbers: &[usize]) -> String {
    let ranges: Vec<String> = numbers
        .chunk_by(|one, next| one + 1 == *next)
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
    }

    #[test]
    fn lists_are_as_the_kernel_writes_them() {
        for text in ["", "0", "0-3", "0-3,8", "1,3,5-6"] {
            assert_eq!(show(&parse(text).unwrap()), text);
        }
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        for text in ["a-b", "3-", "nonsense,5", "0-99999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
