//! Sizes as people write them: `"64M"`, `64M`, `"1.5G"`, `4096`.
//!
//! The grammar is that of the environment variables (`SHMEM_SYMMETRIC_PARTITION1=SIZE=1.5G`): a
//! number, with a fraction if need be, and one of K, M, G and T in either case, powers of 1024.
//! `64M` without quotes is a legal Rust token: an integer literal with the suffix `M`.

use proc_macro2::Span;
use syn::Lit;

use crate::arguments::Value;
use crate::diag::{self, Errors};

/// A page size, and where it was written.
pub(crate) struct PageSize {
    /// A power of two.
    pub(crate) bytes: u64,
    pub(crate) span: Span,
}

/// The page size that an argument gives.
pub(crate) fn page(value: Value, errors: &mut Errors) -> Option<PageSize> {
    let Value::Lit(literal) = value else {
        errors.push(value, diag::SIZE);
        return None;
    };
    let refusal = match parse(&literal) {
        Ok((bytes, _)) if bytes.is_power_of_two() => {
            return Some(PageSize { bytes, span: literal.span() });
        }
        Ok((0, _)) => diag::PAGE_SIZE_ZERO.to_owned(),
        Ok((_, text)) => diag::page_size_not_a_power_of_two(&text),
        Err(refusal) => refusal,
    };
    errors.push(literal, refusal);
    None
}

/// Bytes of the size that `literal` writes, and the text it was written as.
pub(crate) fn parse(literal: &Lit) -> Result<(u64, String), String> {
    let text = match literal {
        Lit::Str(text) => text.value(),
        Lit::Int(number) => format!("{}{}", number.base10_digits(), number.suffix()),
        Lit::Float(number) => format!("{}{}", number.base10_digits(), number.suffix()),
        _ => return Err(diag::SIZE.to_owned()),
    };
    Ok((bytes(&text)?, text))
}

/// Bytes, rounded up.
fn bytes(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 || fraction.contains('.') {
        return Err(if text.is_empty() { diag::SIZE.to_owned() } else { diag::not_a_size(text) });
    }
    let shift = match unit {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err(diag::unknown_unit(unit)),
    };
    scaled(whole, fraction, shift).ok_or_else(|| diag::size_too_large(text))
}

/// `whole.fraction * 2^shift`, rounded up; nothing if 64 bits do not hold it.
fn scaled(whole: &str, fraction: &str, shift: u32) -> Option<u64> {
    let fraction = fraction.trim_end_matches('0');
    let scale = 10u128.checked_pow(fraction.len().try_into().ok()?)?;
    let digits: u128 = format!("0{whole}{fraction}").parse().ok()?;
    let bytes = digits.checked_mul(1 << shift)?.div_ceil(scale);
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    #[test]
    fn numbers_units_and_fractions() {
        let table: &[(&str, u64)] = &[
            ("\"64M\"", 64 << 20),
            ("64M", 64 << 20),
            ("64m", 64 << 20),
            ("4096", 4096),
            ("1_024", 1024),
            ("\"2K\"", 2048),
            ("1G", 1 << 30),
            ("3T", 3 << 40),
            ("1.5G", 3 << 29),
            ("\"1.5G\"", 3 << 29),
            ("\"0.001K\"", 2),
            ("\"0\"", 0),
            ("\".5G\"", 1 << 29),
            ("\"1.M\"", 1 << 20),
            ("\"18446744073709551615\"", u64::MAX),
        ];
        for (text, bytes) in table {
            let (found, written) = parse(&parse_str(text).unwrap()).unwrap();
            assert_eq!(found, *bytes, "{text}");
            assert_eq!(in_environment(&written), Some(*bytes), "{text}");
        }
    }

    /// What the same text means in an environment variable.
    fn in_environment(text: &str) -> Option<u64> {
        let variable = ("SHMEM_LATER_SIZE".to_owned(), text.to_owned());
        shmem::env::Settings::from_env([variable]).ok().map(|settings| settings.later_size)
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let table = [
            ("64Q", "unknown size unit `Q`"),
            ("\"64 M\"", "unknown size unit ` M`"),
            ("\"64MiB\"", "unknown size unit `MiB`"),
            ("\"M\"", "`M` is not a size"),
            ("\"\"", "expected a size"),
            ("\"1.2.3\"", "`1.2.3` is not a size"),
            ("\" 8 \"", "` 8 ` is not a size"),
            ("\"-1\"", "`-1` is not a size"),
            ("true", "expected a size"),
            ("\"18446744073709551616\"", "more than 64 bits"),
            ("99999999T", "more than 64 bits"),
        ];
        for (text, message) in table {
            let refusal = parse(&parse_str(text).unwrap()).unwrap_err();
            assert!(refusal.contains(message), "{text}: {refusal}");
            assert_eq!(in_environment(text.trim_matches('"')), None, "{text}");
        }
    }
}
