//! Lists of PEs in texts: `PEs 0, 2-5`.

use std::fmt::Write as _;

/// Returns a list of PEs as text: `PE 3`, or `PEs 0, 2-5`. The numbers in `pes` must ascend.
pub fn numbers(pes: &[usize]) -> String {
    let mut text = String::from(if pes.len() == 1 { "PE " } else { "PEs " });
    let mut rest = pes;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate().take_while(|&(i, &pe)| first.checked_add(i) == Some(pe)).count();
        if rest.len() != pes.len() {
            text.push_str(", ");
        }
        let _ = match run {
            1 => write!(text, "{first}"),
            2 => write!(text, "{first}, {}", rest[1]),
            _ => write!(text, "{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_name_each_pe_once(pes in prop::collection::btree_set(prop_oneof![0..30_usize, usize::MAX - 9..=usize::MAX], 1..30)) {
            let pes: Vec<usize> = pes.into_iter().collect();
            let text = numbers(&pes);
            let list = text.trim_start_matches("PEs ").trim_start_matches("PE ");
            let back: Vec<usize> = list.split(", ").flat_map(|part| {
                let (a, b) = part.split_once('-').unwrap_or((part, part));
                a.parse::<usize>().unwrap()..=b.parse().unwrap()
            }).collect();
            prop_assert_eq!(back, pes);
        }
    }
}
