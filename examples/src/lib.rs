//! What examples share: a command line, random numbers, parts of equal size, and checksums.
//!
//! A program of your own needs none of it.

#![forbid(unsafe_code)]

#[cfg(doctest)]
mod documents;

use std::ops::Range;

use shmem::prelude::*;

/// Parses the command line, which all PEs have. Returns `None` if it asks for help, which PE 0 prints.
///
/// # Errors
///
/// If it is not one of this program's: the same error on every PE. One that `main` returns ends the job with one message.
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

/// The range of part `part`, if `things` are dealt out to `parts` ranges whose lengths differ by at most one, the longer ones first.
pub fn share(things: usize, parts: usize, part: usize) -> Range<usize> {
    let (each, larger) = (things / parts, things % parts);
    let start = part * each + part.min(larger);
    start..start + each + usize::from(part < larger)
}

/// The part that has a thing, as [`share`] deals them out.
pub fn owner(things: usize, parts: usize, thing: usize) -> usize {
    let (each, larger) = (things / parts, things % parts);
    let in_larger = larger * (each + 1);
    if thing < in_larger { thing / (each + 1) } else { larger + (thing - in_larger) / each }
}

/// A pseudo-random number, the same in every run.
pub fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// The sum of the bits of each element times its number, counted from 1: the same on any number of PEs.
pub fn checksum(elements: impl IntoIterator<Item = (usize, f64)>) -> u64 {
    let products = elements.into_iter().map(|(at, element)| element.to_bits().wrapping_mul(at as u64 + 1));
    products.fold(0, u64::wrapping_add)
}

/// `1 PE`, `2 PEs`.
pub fn counted(pes: usize) -> String {
    format!("{pes} PE{}", if pes == 1 { "" } else { "s" })
}
