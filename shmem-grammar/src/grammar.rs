//! The value of a partition variable:
//! `SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]`.
//!
//! Traits may be in any order, names and values in any case. Kinds and policies are given by name or by a unique beginning (`F`,
//! `N`, `M`, `P`), as in the published examples. A special kind needs a policy, for machines that lack the kind; NORMALMEM and
//! SYSDEFAULT exist everywhere. The path of PMEM cannot contain a colon or a space.

use core::convert::Infallible;

use crate::kind::{Kind, Policy, Traits};
use crate::size::{check_page_size, parse_size, short_size};
use crate::{did_you_mean, nearest};

const NAMES: [&str; 5] = ["SIZE", "PGSIZE", "KIND", "POLICY", "PMEM"];
const FORM: &str = "SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]";

/// The error that the traits of a partition cannot be read, or do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TraitError(String);

impl TraitError {
    /// Returns the error of traits without `SIZE`.
    pub fn no_size() -> Self {
        Self("SIZE is missing; it is the one trait that must be given, for example SIZE=2G".into())
    }

    /// Returns the error that `text` asks for a size of 0.
    pub fn zero(text: &str) -> Self {
        Self(format!("`{text}`: a partition of no bytes cannot hold anything; give a size of at least 1"))
    }

    /// Returns the error that `text` asks for a file for a partition that is made while the job runs.
    pub fn late_file(text: &str) -> Self {
        Self(format!(
            "`{text}`: a partition in a file exists from the start of the job; declare it with `partitions!`, or give it in the environment"
        ))
    }
}

/// Lets functions take either finished traits, whose conversion cannot fail, or a text.
impl From<Infallible> for TraitError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Reads all traits of a partition that must not have a file.
///
/// # Errors
///
/// If traits violate the grammar, have no size, do not fit together, or name a file.
pub fn parse_traits(value: &str) -> Result<Traits, TraitError> {
    let (traits, path) = parse_traits_and_file(value)?;
    if traits.size.is_none() {
        return Err(TraitError::no_size());
    }
    check_policy(&traits)?;
    match path {
        None => Ok(traits),
        Some(path) => Err(TraitError::late_file(&format!("PMEM={path}"))),
    }
}

/// Reads the value of a partition variable: traits, and the path of the partition's file. [`check_traits`] checks these traits
/// after they are merged with those that the program declares.
///
/// # Errors
///
/// If the value violates the grammar.
pub fn parse_traits_and_file(value: &str) -> Result<(Traits, Option<&str>), TraitError> {
    if value.is_empty() {
        return Err(TraitError(format!("no traits are given; write {FORM}")));
    }
    let mut given: [Option<&str>; NAMES.len()] = [None; NAMES.len()];
    let mut traits = Traits::NONE;
    let mut path = None;
    for (index, text) in value.split(':').enumerate() {
        let (name, value) = split(index, text)?;
        let place = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let place = place.ok_or_else(|| {
            let meant = did_you_mean(nearest(name, NAMES));
            TraitError(format!(
                "unknown trait `{name}` in `{text}`; allowed are SIZE, PGSIZE, KIND, POLICY, PMEM{meant}"
            ))
        })?;
        if let Some(first) = given[place].replace(text) {
            let name = NAMES[place];
            return Err(TraitError(format!(
                "`{name}` is given twice, by `{first}` and by `{text}`; a partition takes each trait once"
            )));
        }
        let bytes = || parse_size(value).map_err(|fault| TraitError(format!("`{text}`: {fault}")));
        let unknown = |allowed: &str, meant| {
            let meant = did_you_mean(meant);
            TraitError(format!("`{text}`: allowed are {allowed}, or a beginning of one{meant}"))
        };
        match NAMES[place] {
            "SIZE" => traits.size = Some(bytes()?),
            "PGSIZE" => traits.pgsize = Some(page_size(text, bytes()?)?),
            "KIND" => {
                let names = Kind::ALL.map(Kind::name);
                let kind = Kind::from_beginning(value);
                traits.kind = Some(kind.ok_or_else(|| unknown(&names.join(", "), nearest(value, names)))?);
            }
            "POLICY" => {
                let names = Policy::ALL.map(Policy::name);
                let policy = Policy::from_beginning(value);
                traits.policy =
                    Some(policy.ok_or_else(|| unknown(&names.join(", "), nearest(value, names)))?);
            }
            _ => path = Some(file(text, value)?),
        }
        if traits.size == Some(0) {
            return Err(TraitError::zero(text));
        }
    }
    Ok((traits, path))
}

/// Checks the traits of a declaration as [`parse_traits`] does, but allows traits without a size: they have the default size.
///
/// # Errors
///
/// If the page size is invalid, or the traits do not fit together.
pub fn check_traits(traits: &Traits) -> Result<(), TraitError> {
    if let Some(pgsize) = traits.pgsize {
        page_size(&format!("PGSIZE={}", short_size(pgsize)), pgsize)?;
    }
    check_policy(traits)
}

fn check_policy(traits: &Traits) -> Result<(), TraitError> {
    match traits.kind {
        Some(Kind::Pmem) if traits.policy.is_none() => Err(TraitError(
            "KIND=PMEM needs a POLICY, because not every machine has it; add :POLICY=MANDATORY".into(),
        )),
        Some(kind) if kind.is_special() && traits.policy.is_none() => Err(TraitError(format!(
            "KIND={kind} needs a POLICY, because not every machine has it: MANDATORY ends the job there, PREFERRED runs in other memory and reports it; add for example :POLICY=PREFERRED"
        ))),
        _ => Ok(()),
    }
}

fn split(index: usize, text: &str) -> Result<(&str, &str), TraitError> {
    if text.is_empty() {
        let number = index + 1;
        return Err(TraitError(format!(
            "trait {number} is empty; write one `:` between two traits and none at the ends"
        )));
    }
    if text.contains(char::is_whitespace) {
        return Err(TraitError(format!("`{text}` contains a space; write the traits without spaces")));
    }
    let Some((name, value)) = text.split_once('=') else {
        return Err(TraitError(format!(
            "`{text}` is not a trait; a trait is a name, `=` and a value, for example SIZE=2G"
        )));
    };
    // A path may contain `,` and `;`, but a trait after one of them is a mistake.
    let is_trait = |rest: &str| match rest.split_once('=') {
        Some((next, _)) => {
            !name.eq_ignore_ascii_case("PMEM") || NAMES.iter().any(|n| n.eq_ignore_ascii_case(next))
        }
        None => false,
    };
    if let Some(at) = value.find([',', ';'])
        && is_trait(&value[at + 1..])
    {
        let separator = char::from(value.as_bytes()[at]);
        return Err(TraitError(format!(
            "`{text}`: `{separator}` does not separate traits; write `:` instead"
        )));
    }
    Ok((name, value))
}

fn file<'v>(text: &str, value: &'v str) -> Result<&'v str, TraitError> {
    let fault = match value {
        "" => "no path is given",
        _ if value.ends_with('/') => "that is a directory",
        _ if value.contains(char::REPLACEMENT_CHARACTER) => "that is not UTF-8",
        _ => return Ok(value),
    };
    Err(TraitError(format!(
        "`{text}`: {fault}; write the path of a file in a directory that exists, for example PMEM=/mnt/pmem0/heap"
    )))
}

fn page_size(text: &str, bytes: u64) -> Result<u64, TraitError> {
    check_page_size(bytes).map_err(|fault| TraitError(format!("`{text}`: {fault}")))?;
    Ok(bytes)
}
