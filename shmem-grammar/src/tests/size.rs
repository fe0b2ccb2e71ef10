use proptest::prelude::*;

use crate::{SizeError, parse_size, parse_size_prefix, round_size, short_size, show_size};

#[test]
fn sizes_of_the_specification() {
    for (text, bytes) in [
        ("0", 0),
        ("1", 1),
        ("4096", 4096),
        ("4K", 4096),
        ("4k", 4096),
        ("20m", 20 << 20),
        (".5m", 512 << 10),
        ("3.1M", 3_250_586),
        ("1.", 1),
        ("1.5G", 3 << 29),
        ("007K", 7168),
        ("0.1", 1),
        ("1.0000", 1),
        ("2T", 2 << 40),
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
        ("-", "negative"),
        ("nan", "`nan` is not a size"),
        ("inf", "`inf` is not a size"),
        (".", "`.` is not a size"),
        ("M", "`M` is not a size"),
        ("1.2.3", "`1.2.3` is not a size"),
        ("+5", "`+5` is not a size"),
        ("20MB", "`B` stands behind the suffix; write 20M"),
        ("20kk", "`k` stands behind the suffix; write 20K"),
        ("1.5GiB", "`iB` stands behind the suffix; write 1.5G"),
        ("20Mü", "`ü` stands behind the suffix; write 20M"),
        ("20B", "`B` is not a suffix; allowed are K, M, G, T"),
        ("5P", "`P` is not a suffix"),
        ("1e9", "`e9` is not a suffix"),
        ("0x10", "`x10` is not a suffix"),
        ("1,5G", "`,5G` is not a suffix"),
        ("20 M", "`20 M` contains a space; write a size without spaces"),
        (" 8", "` 8` contains a space"),
        ("٣M", "`٣M` is not a size"),
        ("18446744073709551616", "does not fit in 64 bits"),
        ("18446744073709551615.5", "does not fit in 64 bits"),
        ("16777216T", "does not fit in 64 bits; the largest size is 16777215T"),
        ("99999999999999999999999999", "does not fit in 64 bits"),
    ] {
        let error = parse_size(text).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    assert_eq!(parse_size(""), Err(SizeError::Empty));
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
fn sizes_are_shown_in_the_largest_unit_that_is_exact() {
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
}

#[test]
fn amounts_are_rounded_to_tenths() {
    for (bytes, shown) in [
        (0, "0"),
        (1023, "1023"),
        (2048, "2K"),
        ((1 << 30) + (1 << 29), "1.5G"),
        (25_034_012 << 10, "23.9G"),
        (u64::MAX, "16777216T"),
    ] {
        assert_eq!(round_size(bytes), shown);
    }
}

/// `number * 2^shift`, rounded up, in integers that are large enough: `number` has `decimals` digits
/// behind the point.
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
    fn any_text_gives_a_size_or_an_error(text: String) {
        if let Err(error) = parse_size(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn what_is_shown_is_read_again(bits in 1..=64u32, bytes: u64) {
        let bytes = bytes >> (64 - bits);
        prop_assert_eq!(parse_size(&short_size(bytes)), Ok(bytes));
        let shown = show_size(bytes);
        let number = shown.split(' ').next().unwrap_or_default();
        prop_assert_eq!(parse_size(number), Ok(bytes));
    }
}
