//! Sizes as people write them, and sizes of pages: `64M`, `1.5G`, `4096`.
//!
//! A size is a number, possibly with a fraction, and at most one suffix: K, M, G or T in either case, which are powers of 1024. A
//! fraction of a byte is rounded up. The arithmetic is exact for any number of digits. Text after the suffix is an error. OpenSHMEM
//! ignores such text (`environment_variables.tex`): `20kk` is 20 KiB. So `SHMEM_SYMMETRIC_SIZE` is read by [`parse_size_prefix`].

const SUFFIXES: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// The error that a size cannot be read, or is no page size of any machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SizeError(String);

/// Reads a size: a number of bytes, rounded up.
///
/// # Errors
///
/// If `text` is anything but a number and at most one suffix, or does not fit in 64 bits.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let refuse = |what: std::fmt::Arguments<'_>| Err(SizeError(what.to_string()));
    if text.is_empty() {
        return refuse(format_args!(
            "no size is given; write a number and one of K, M, G, T, for example 64M"
        ));
    }
    if text.contains(char::is_whitespace) {
        return refuse(format_args!(
            "`{text}` contains a space; write a size without spaces, for example 64M"
        ));
    }
    if text.starts_with('-') {
        return refuse(format_args!("`{text}` is negative; a size counts bytes from 0 up"));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 || fraction.contains('.') {
        return refuse(format_args!(
            "`{text}` is not a size; write a number and at most one of K, M, G, T, for example 64M or 1.5G"
        ));
    }
    let mut letters = suffix.chars();
    let (letter, shift) = match letters.next().map(|first| (first, unit(first))) {
        None => (' ', 0),
        Some((_, Some(unit))) => unit,
        Some((_, None)) => {
            return refuse(format_args!(
                "`{text}`: `{suffix}` is not a suffix; allowed are K, M, G, T (powers of 1024), and none for bytes"
            ));
        }
    };
    let behind = letters.as_str();
    if !behind.is_empty() {
        return refuse(format_args!("`{text}`: `{behind}` stands behind the suffix; write {number}{letter}"));
    }
    // Only digits are left here, so reading them fails only if the number is too large.
    let whole = if whole.is_empty() { Some(0) } else { whole.parse::<u64>().ok() };
    whole
        .and_then(|whole| whole.checked_mul(1 << shift))
        .and_then(|bytes| bytes.checked_add(fraction_of(fraction, shift)))
        .ok_or_else(|| SizeError(format!("`{text}` does not fit in 64 bits; the largest size is 16777215T")))
}

/// Reads the size at the start of a text. Returns the bytes, the text that was read, and the text that was ignored. Spaces around
/// the text do not count.
///
/// # Errors
///
/// If the text does not begin with a size that fits in 64 bits, or has no suffix, but other text after the number.
pub fn parse_size_prefix(text: &str) -> Result<(u64, &str, &str), SizeError> {
    let text = text.trim();
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let suffix = text[number..].chars().next().filter(|first| unit(*first).is_some());
    let (taken, ignored) = text.split_at(suffix.map_or(text.len(), |suffix| number + suffix.len_utf8()));
    Ok((parse_size(taken)?, taken, ignored))
}

/// Returns the suffix that a letter stands for, and the binary logarithm of its factor.
fn unit(letter: char) -> Option<(char, u32)> {
    SUFFIXES.into_iter().find(|(suffix, _)| suffix.eq_ignore_ascii_case(&letter))
}

/// Computes `0.fraction * 2^shift`, rounded up, by doubling the decimal digits `shift` times.
fn fraction_of(fraction: &str, shift: u32) -> u64 {
    let mut digits: Vec<u8> = fraction.bytes().map(|digit| digit - b'0').collect();
    let mut bytes = 0;
    for _ in 0..shift {
        let mut carry = 0;
        for digit in digits.iter_mut().rev() {
            let doubled = *digit * 2 + carry;
            *digit = doubled % 10;
            carry = doubled / 10;
        }
        bytes = bytes * 2 + u64::from(carry);
    }
    bytes + u64::from(digits.iter().any(|&digit| digit != 0))
}

/// Writes a size for reports, as `64M`, `1.5G`, `4K` or `123 bytes`. The text is exact, in the largest unit of which the size has
/// whole quarters.
pub fn show_size(bytes: u64) -> String {
    let short = short_size(bytes);
    match bytes {
        1 => "1 byte".into(),
        _ if short.bytes().all(|c| c.is_ascii_digit()) => short + " bytes",
        _ => short,
    }
}

/// Writes a size rounded to tenths of a unit, as `23.4G`.
pub fn round_size(bytes: u64) -> String {
    let Some((unit, shift)) = SUFFIXES.into_iter().rev().find(|&(_, shift)| bytes >> shift != 0) else {
        return bytes.to_string();
    };
    let tenths = (u128::from(bytes) * 10 + (1_u128 << (shift - 1))) >> shift;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole}{unit}"),
        (whole, tenth) => format!("{whole}.{tenth}{unit}"),
    }
}

/// Writes a size exactly, in the units of [`show_size`], and in a form that [`parse_size`] reads.
pub fn short_size(bytes: u64) -> String {
    for (letter, shift) in SUFFIXES.into_iter().rev() {
        let quarter = 1 << (shift - 2);
        if bytes >> shift != 0 && bytes.is_multiple_of(quarter) {
            let fraction = ["", ".25", ".5", ".75"][(bytes / quarter % 4) as usize];
            return format!("{}{fraction}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// The smallest page of any supported machine.
pub const MIN_PAGE: u64 = 4096;

/// Checks that `bytes` may be the size of a page.
///
/// # Errors
///
/// If `bytes` is not a power of two, or less than [`MIN_PAGE`].
pub fn check_page_size(bytes: u64) -> Result<(), SizeError> {
    if bytes.is_power_of_two() && bytes >= MIN_PAGE {
        return Ok(());
    }
    let below = if bytes == 0 { 0 } else { 1 << bytes.ilog2() };
    let write = match bytes.checked_next_power_of_two() {
        Some(above) if below >= MIN_PAGE => format!("{} or {}", short_size(below), short_size(above)),
        Some(_) => short_size(MIN_PAGE),
        None => short_size(below),
    };
    let least = short_size(MIN_PAGE);
    Err(SizeError(format!("a page size is a power of two of at least {least}; write {write}")))
}
