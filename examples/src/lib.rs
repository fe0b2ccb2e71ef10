//! Helpers for these examples: a command line, random numbers, blocks of equal size, and checksums. Your own programs need none.

#![forbid(unsafe_code)]

#[cfg(doctest)]
mod documents;

use std::ops::Range;

use shmem::prelude::*;

/// Parses the command line, which is the same on all PEs. Returns `None` if the command line asks for help, which PE 0 prints.
///
/// # Errors
///
/// If an argument is invalid: the same error on every PE. If `main` returns that error, the job ends with one error text.
pub fn options<O: clap::Parser>(world: &World) -> Result<Option<O>, String> {
    match O::try_parse() {
        Ok(options) => Ok(Some(options)),
        Err(error) if error.use_stderr() => Err(error.to_string().trim_end().to_owned()),
        Err(help) => {
            if world.my_pe() == 0 {
                print!("{help}");
            }
            Ok(None)
        }
    }
}

/// Returns the `part`-th of `parts` ranges of `things` indices. Lengths differ by at most one, and longer ranges come first.
pub fn share(things: usize, parts: usize, part: usize) -> Range<usize> {
    let (each, larger) = (things / parts, things % parts);
    let start = part * each + part.min(larger);
    start..start + each + usize::from(part < larger)
}

/// Returns the number of the range of [`share`] that contains index `thing`.
pub fn owner(things: usize, parts: usize, thing: usize) -> usize {
    let (each, larger) = (things / parts, things % parts);
    let in_larger = larger * (each + 1);
    if thing < in_larger { thing / (each + 1) } else { larger + (thing - in_larger) / each }
}

/// Returns a pseudo-random number that depends on `number` alone.
pub fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// Returns the sum of each element's bits times its index plus 1. The sum is the same for any number of PEs.
pub fn checksum(elements: impl IntoIterator<Item = (usize, f64)>) -> u64 {
    let products = elements.into_iter().map(|(at, element)| element.to_bits().wrapping_mul(at as u64 + 1));
    products.fold(0, u64::wrapping_add)
}

/// Returns `1 PE`, `2 PEs` and so on.
pub fn counted(pes: usize) -> String {
    format!("{pes} PE{}", if pes == 1 { "" } else { "s" })
}
