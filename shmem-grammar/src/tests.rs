//! The grammar from outside: texts in, values and messages out.

use proptest::prelude::*;

use crate::{
    Kind, Policy, Traits, check_traits, parse_size, parse_size_prefix, parse_traits, parse_traits_and_file,
    round_size, short_size, show_size,
};

#[test]
fn sizes_of_the_specification() {
    for (text, bytes) in [
        ("4k", 4096),
        (".5m", 512 << 10),
        ("3.1M", 3_250_586),
        ("1.", 1),
        ("007K", 7168),
        ("0.1", 1),
        ("18446744073709551615", u64::MAX),
        ("16777215T", 0xFFFF_FF00_0000_0000),
    ] {
        assert_eq!(parse_size(text), Ok(bytes), "{text}");
    }
}

#[test]
fn what_is_no_size_says_what_is_wrong() {
    for (text, message) in [
        ("", "no size is given"),
        ("-5M", "`-5M` is negative"),
        ("nan", "`nan` is not a size"),
        (".", "`.` is not a size"),
        ("1.2.3", "`1.2.3` is not a size"),
        ("+5", "`+5` is not a size"),
        ("20MB", "`B` stands behind the suffix; write 20M"),
        ("1.5GiB", "`iB` stands behind the suffix; write 1.5G"),
        ("20Mü", "`ü` stands behind the suffix; write 20M"),
        ("20B", "`B` is not a suffix; allowed are K, M, G, T"),
        ("1e9", "`e9` is not a suffix"),
        ("1,5G", "`,5G` is not a suffix"),
        ("20 M", "`20 M` contains a space; write a size without spaces"),
        ("٣M", "`٣M` is not a size"),
        ("18446744073709551616", "does not fit in 64 bits"),
        ("18446744073709551615.5", "does not fit in 64 bits"),
        ("16777216T", "does not fit in 64 bits; the largest size is 16777215T"),
    ] {
        let error = parse_size(text).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_prefix_ends_with_its_suffix() {
    for (text, bytes, taken, ignored) in [
        ("1GB", 1 << 30, "1G", "B"),
        ("20kk", 20 << 10, "20k", "k"),
        ("64MiB", 64 << 20, "64M", "iB"),
        ("3.1M MB", 3_250_586, "3.1M", " MB"),
        ("5mü", 5 << 20, "5m", "ü"),
        ("  64M\t", 64 << 20, "64M", ""),
        ("0", 0, "0", ""),
    ] {
        assert_eq!(parse_size_prefix(text), Ok((bytes, taken, ignored)), "{text}");
    }
    for text in ["", " ", "M", "20B", "1 GB", "1e9", "0x10", "-5M", "1.2.3M", "16777216TB"] {
        let whole = parse_size(text.trim()).expect_err(text);
        let error = parse_size_prefix(text).expect_err(text);
        assert!(error == whole || text.ends_with("TB"), "{text}: {error}");
    }
}

#[test]
fn sizes_are_shown_in_the_largest_unit_that_is_exact_or_rounded_to_tenths() {
    for (bytes, shown) in [
        (0, "0 bytes"),
        (1, "1 byte"),
        (123, "123 bytes"),
        (1024, "1K"),
        (1025, "1025 bytes"),
        (4096, "4K"),
        (64 << 20, "64M"),
        (3 << 29, "1.5G"),
        ((2 << 30) + (256 << 20), "2.25G"),
        ((1 << 30) + 4096, "1048580K"),
        (3 << 40, "3T"),
        (3_250_586, "3250586 bytes"),
        (u64::MAX, "18446744073709551615 bytes"),
    ] {
        assert_eq!(show_size(bytes), shown);
    }
    for (bytes, shown) in
        [(0, "0"), (1023, "1023"), (2048, "2K"), (25_034_012 << 10, "23.9G"), (u64::MAX, "16777216T")]
    {
        assert_eq!(round_size(bytes), shown);
    }
}

/// `number / 10^decimals * 2^shift`, rounded up.
fn model(number: u128, decimals: u32, shift: u32) -> Option<u64> {
    (number << shift).div_ceil(10u128.pow(decimals)).try_into().ok()
}

fn written(number: u128, decimals: u32, suffix: &str) -> String {
    let digits = format!("{number:0>width$}", width = decimals as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals as usize);
    match decimals {
        0 => format!("{whole}{suffix}"),
        _ => format!("{whole}.{fraction}{suffix}"),
    }
}

proptest! {
    // Up to 87 bits of number and 40 of suffix: the model stays within 128.
    #[test]
    fn parsing_is_exact(
        bits in 1..=87u32, number: u128, decimals in 0..=26u32,
        (suffix, shift) in proptest::sample::select(vec![
            ("", 0), ("k", 10), ("K", 10), ("m", 20), ("M", 20), ("g", 30), ("G", 30), ("t", 40), ("T", 40),
        ]),
    ) {
        let number = number >> (128 - bits);
        let text = written(number, decimals, suffix);
        prop_assert_eq!(parse_size(&text).ok(), model(number, decimals, shift), "{}", text);
    }

    #[test]
    fn sizes_that_are_shown_are_read_again(bits in 1..=64u32, bytes: u64) {
        let bytes = bytes >> (64 - bits);
        prop_assert_eq!(parse_size(&short_size(bytes)), Ok(bytes));
        let shown = show_size(bytes);
        let number = shown.split(' ').next().unwrap_or_default();
        prop_assert_eq!(parse_size(number), Ok(bytes));
    }
}

fn traits(size: u64, pgsize: Option<u64>, kind: Option<Kind>, policy: Option<Policy>) -> Traits {
    Traits { size: Some(size), pgsize, kind, policy }
}

#[test]
fn published_examples() {
    use Kind::{FastMem, LargeMem, NormalMem, Pmem, SysDefault};
    use Policy::{Interleaved, Mandatory, Preferred};
    let g = 1 << 30;
    for (text, expected) in [
        ("SIZE=2G:PGSIZE=4K", traits(2 * g, Some(4096), None, None)),
        ("size=2G:kind=FASTMEM:policy=MANDATORY", traits(2 * g, None, Some(FastMem), Some(Mandatory))),
        ("size=2G:kind=N:policy=P", traits(2 * g, None, Some(NormalMem), Some(Preferred))),
        (
            "size=500M:kind=F:policy=M:pgsize=4K",
            traits(500 << 20, Some(4096), Some(FastMem), Some(Mandatory)),
        ),
        (
            "SIZE=1G:PGSIZE=2M:KIND=SYSDEFAULT:POLICY=SYSDEFAULT",
            traits(g, Some(2 << 20), Some(SysDefault), Some(Policy::SysDefault)),
        ),
        ("policy=i:size=1G:kind=fast", traits(g, None, Some(FastMem), Some(Interleaved))),
        ("kInD=LaRgE:PoLiCy=pReF:sIzE=.5g", traits(g / 2, None, Some(LargeMem), Some(Preferred))),
        ("size=1G:kind=p:policy=m", traits(g, None, Some(Pmem), Some(Mandatory))),
    ] {
        assert_eq!(parse_traits(text), Ok(expected), "{text}");
    }
}

/// Malformed values, with a part of the message; one of each kind is whole.
const MALFORMED: &[(&str, &str)] = &[
    (
        "",
        "no traits are given; write SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]",
    ),
    ("SIZE=2G::KIND=N", "trait 2 is empty; write one `:` between two traits and none at the ends"),
    (" SIZE=2G", "` SIZE=2G` contains a space; write the traits without spaces"),
    ("SIZE=2G:KIND=PMEM:POLICY=M:PMEM=/my heap", "`PMEM=/my heap` contains a space"),
    ("2G", "`2G` is not a trait; a trait is a name, `=` and a value, for example SIZE=2G"),
    ("SIZE=2G:FASTMEM", "`FASTMEM` is not a trait"),
    ("SIZE=2G,KIND=N", "`SIZE=2G,KIND=N`: `,` does not separate traits; write `:` instead"),
    ("SIZE=2G;KIND=N", "`;` does not separate traits"),
    ("SIZE=2G:PMEM=/a,Kind=PMEM", "`PMEM=/a,Kind=PMEM`: `,` does not separate traits"),
    ("KIND=N", "SIZE is missing; it is the one trait that must be given, for example SIZE=2G"),
    ("=2G", "unknown trait `` in `=2G`"),
    ("SIZE=2G:NODE=1", "unknown trait `NODE` in `NODE=1`; allowed are SIZE, PGSIZE, KIND, POLICY, PMEM"),
    (
        "SIZ=2G",
        "unknown trait `SIZ` in `SIZ=2G`; allowed are SIZE, PGSIZE, KIND, POLICY, PMEM; did you mean SIZE?",
    ),
    ("SIZE=2G:PAGESIZE=2M", "did you mean PGSIZE?"),
    (
        "SIZE=2G:KIND=PMEM:POLICY=M:PMEM=",
        "`PMEM=`: no path is given; write the path of a file in a directory that exists, for example PMEM=/mnt/pmem0/heap",
    ),
    ("SIZE=2G:KIND=PMEM:POLICY=M:pmem=/mnt/", "`pmem=/mnt/`: that is a directory"),
    (
        "SIZE=1:SIZE=2",
        "`SIZE` is given twice, by `SIZE=1` and by `SIZE=2`; a partition takes each trait once",
    ),
    ("size=2G:KIND=N:POLICY=M:PGSIZE=4K:Size=1G", "`SIZE` is given twice, by `size=2G` and by `Size=1G`"),
    ("SIZE=", "`SIZE=`: no size is given"),
    ("SIZE==2G", "`SIZE==2G`: `=2G` is not a size"),
    ("SIZE=0", "`SIZE=0`: a partition of no bytes cannot hold anything; give a size of at least 1"),
    ("SIZE=2G:PGSIZE=3M", "`PGSIZE=3M`: a page size is a power of two of at least 4K; write 2M or 4M"),
    ("SIZE=2G:PGSIZE=1K", "at least 4K; write 4K"),
    ("SIZE=2G:PGSIZE=4097", "at least 4K; write 4K or 8K"),
    ("SIZE=2G:PGSIZE=16777215T", "at least 4K; write 8388608T"),
    ("SIZE=2G:PGSIZE=2MB", "`PGSIZE=2MB`: `2MB`: `B` stands behind the suffix"),
    (
        "SIZE=2G:KIND=",
        "`KIND=`: allowed are NORMALMEM, FASTMEM, SYSDEFAULT, LARGEMEM, PMEM, or a beginning of one",
    ),
    ("SIZE=2G:KIND=ﬁ", "`KIND=ﬁ`: allowed are"),
    ("SIZE=2G:KIND=FSATMEM:POLICY=M", "did you mean FASTMEM?"),
    (
        "SIZE=2G:POLICY=",
        "`POLICY=`: allowed are MANDATORY, PREFERRED, INTERLEAVED, SYSDEFAULT, or a beginning of one",
    ),
    ("SIZE=2G:POLICY=PREFERED", "did you mean PREFERRED?"),
    (
        "SIZE=2G:KIND=FASTMEM",
        "KIND=FASTMEM needs a POLICY, because not every machine has it: MANDATORY ends the job there, PREFERRED runs in other memory and reports it; add for example :POLICY=PREFERRED",
    ),
    ("SIZE=2G:KIND=P", "KIND=PMEM needs a POLICY"),
];

#[test]
fn malformed_values_say_what_is_wrong() {
    for (text, part) in MALFORMED {
        let said = parse_traits(text).expect_err(text).to_string();
        let suggests = |said: &str| said.contains("did you mean");
        assert!(said.contains(part) && suggests(&said) == suggests(part), "{text}: {said}");
    }
}

#[test]
fn every_beginning_of_a_name_is_read() {
    for (kind, policy) in Kind::ALL.into_iter().flat_map(|kind| Policy::ALL.map(|policy| (kind, policy))) {
        for end in 1..=10 {
            let begun = |name: &'static str| &name[..name.len().min(end)];
            let text =
                format!("SIZE=1:POLICY={}:KIND={}", begun(policy.name()).to_lowercase(), begun(kind.name()));
            let read = parse_traits(&text).map(|traits| (traits.kind, traits.policy));
            assert_eq!(read, Ok((Some(kind), Some(policy))), "{text}");
        }
    }
}

#[test]
fn traits_without_text_are_checked_alike() {
    let special = Traits { kind: Some(Kind::FastMem), ..Traits::NONE };
    assert!(check_traits(&special).is_err());
    assert_eq!(check_traits(&Traits { policy: Some(Policy::Preferred), ..special }), Ok(()));
    assert_eq!(check_traits(&Traits::NONE), Ok(()));
    let error = check_traits(&Traits { pgsize: Some(12345), ..Traits::NONE }).expect_err("no page size");
    assert_eq!(
        error.to_string(),
        "`PGSIZE=12345`: a page size is a power of two of at least 4K; write 8K or 16K"
    );
}

pub(super) fn any_traits() -> impl Strategy<Value = Traits> {
    (
        1..=u64::MAX,
        proptest::option::of(12..=40u32),
        proptest::option::of(proptest::sample::select(Kind::ALL.as_slice())),
        proptest::sample::select(Policy::ALL.as_slice()),
        any::<bool>(),
    )
        .prop_map(|(size, page, kind, policy, with_policy)| Traits {
            size: Some(size),
            pgsize: page.map(|shift| 1 << shift),
            kind,
            policy: (with_policy || kind.is_some_and(Kind::is_special)).then_some(policy),
        })
}

fn recased(text: &str, cases: u64) -> String {
    text.chars()
        .enumerate()
        .map(|(i, c)| if cases >> (i % 64) & 1 == 0 { c.to_ascii_lowercase() } else { c })
        .collect()
}

proptest! {
    #[test]
    fn traits_that_are_shown_are_read_again(traits in any_traits(), cases: u64, turn in 0..4usize) {
        let shown = traits.to_string();
        let mut parts: Vec<_> = shown.split(':').collect();
        let turn = turn % parts.len();
        parts.rotate_left(turn);
        prop_assert_eq!(parse_traits(&recased(&parts.join(":"), cases)), Ok(traits));
    }

    #[test]
    fn any_text_gives_a_value_or_an_error(text: String) {
        let _ = parse_traits(&text).map_err(|error| error.to_string());
        prop_assert!(parse_size(&text).map_err(|error| error.to_string()) != Err(String::new()));
    }

    // Texts that look like the grammar reach further into the parser than arbitrary ones.
    #[test]
    fn any_text_of_the_alphabet_gives_valid_traits_or_an_error(text in "((size|PGSIZE|kind|POLICY|pmem|x)?(=|==)?[0-9.]{0,3}[KMGTkmFNSLPI,;é ]{0,2}:?){0,6}") {
        match parse_traits(&text) {
            Ok(traits) => {
                prop_assert!(traits.size.is_some_and(|size| size > 0));
                prop_assert_eq!(check_traits(&traits), Ok(()));
                prop_assert_eq!(parse_traits(&traits.to_string()), Ok(traits));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn the_path_of_a_file_keeps_its_case() {
    let (traits, file) = parse_traits_and_file("pmem=/Mnt/Heap,a=1:kind=pmem:size=1M:policy=m").unwrap();
    assert_eq!((traits.kind, file), (Some(Kind::Pmem), Some("/Mnt/Heap,a=1")));
    assert_eq!(parse_traits_and_file("SIZE=1M").unwrap().1, None);
}
