//! Sizes as people write them: `"64M"`, `64M`, `"1.5G"`, `4096`.
//!
//! What a size is says `shmem-grammar`, as it does for the environment (`SHMEM_SYMMETRIC_PARTITION1=SIZE=1.5G`).
//! `64M` without quotes is a legal Rust token: an integer literal with the suffix `M`.

use proc_macro2::Span;
use shmem_grammar::{check_page_size, parse_size};
use syn::Lit;

use crate::arguments::Value;
use crate::diag::{self, Errors};

/// A page size, and where it was written.
pub(crate) struct PageSize {
    /// A page size that some machine may have.
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
        Ok((bytes, text)) => match check_page_size(bytes) {
            Ok(()) => return Some(PageSize { bytes, span: literal.span() }),
            Err(fault) => format!("`{text}`: {fault}"),
        },
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
    match parse_size(&text) {
        Ok(bytes) => Ok((bytes, text)),
        Err(fault) => Err(fault.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    #[test]
    fn literals_are_sizes_with_and_without_quotes() {
        let table: &[(&str, u64)] = &[
            ("\"64M\"", 64 << 20),
            ("64M", 64 << 20),
            ("64m", 64 << 20),
            ("4096", 4096),
            ("1_024", 1024),
            ("1.5G", 3 << 29),
            ("\"1.5G\"", 3 << 29),
            ("\".5G\"", 1 << 29),
        ];
        for (text, bytes) in table {
            assert_eq!(parse(&parse_str(text).unwrap()).unwrap().0, *bytes, "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let table = [
            ("64Q", "`64Q`: `Q` is not a suffix"),
            ("\"64 M\"", "`64 M` contains a space"),
            ("\"64MiB\"", "`iB` stands behind the suffix; write 64M"),
            ("\"\"", "no size is given"),
            ("true", "expected a size"),
            ("99999999T", "does not fit in 64 bits"),
        ];
        for (text, message) in table {
            let refusal = parse(&parse_str(text).unwrap()).unwrap_err();
            assert!(refusal.contains(message), "{text}: {refusal}");
        }
    }
}
