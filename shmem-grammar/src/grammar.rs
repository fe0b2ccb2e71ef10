//! The value of a partition variable:
//! `SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]`.
//!
//! Names and values are read without regard to case, in any order; kinds and policies by name or
//! by a beginning of it that no other has (`F`, `N`, `M`, `P`): the published examples of partitions use
//! all of that. A special kind needs a policy, because it must be known what to do on a machine
//! without it; NORMALMEM and SYSDEFAULT exist everywhere. The path of PMEM is taken as it stands; it cannot
//! contain a colon or a space.

use core::convert::Infallible;

use crate::kind::{Kind, Policy, Traits};
use crate::size::{PageSizeError, SizeError, check_page_size, parse_size, short_size};
use crate::{did_you_mean, nearest};

const NAMES: [&str; 5] = ["SIZE", "PGSIZE", "KIND", "POLICY", "PMEM"];
const FORM: &str = "SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]";

/// The traits of a partition cannot be read, or do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraitError {
    /// The value is empty.
    #[error("no traits are given; write {FORM}")]
    Nothing,
    /// Two colons in a row, or one at an end.
    #[error("trait {0} is empty; write one `:` between two traits and none at the ends")]
    Empty(usize),
    /// A space.
    #[error("`{0}` contains a space; write the traits without spaces")]
    Space(String),
    /// A comma or semicolon where a colon belongs.
    #[error("`{text}`: `{separator}` does not separate traits; write `:` instead")]
    Separator {
        /// The trait.
        text: String,
        /// What stands for the colon.
        separator: char,
    },
    /// A trait without a value.
    #[error("`{0}` is not a trait; a trait is a name, `=` and a value, for example SIZE=2G")]
    NoEquals(String),
    /// A trait that does not exist.
    #[error("unknown trait `{name}` in `{text}`; allowed are SIZE, PGSIZE, KIND, POLICY, PMEM{}", did_you_mean(*.nearest))]
    Unknown {
        /// The trait.
        text: String,
        /// Its name.
        name: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The path of a PMEM partition is none.
    #[error(
        "`{text}`: {fault}; write the path of a file in a directory that exists, for example PMEM=/mnt/pmem0/heap"
    )]
    File {
        /// The trait.
        text: String,
        /// What is wrong with its value.
        fault: &'static str,
    },
    /// A file for a partition that is made when the job runs.
    #[error(
        "`{0}`: a partition in a file exists from the start of the job; declare it with `partitions!`, or give it in the environment"
    )]
    LateFile(String),
    /// A trait given twice.
    #[error("`{name}` is given twice, by `{first}` and by `{second}`; a partition takes each trait once")]
    Repeated {
        /// Its name.
        name: &'static str,
        /// The first time.
        first: String,
        /// The second time.
        second: String,
    },
    /// A size or page size that is not one.
    #[error("`{text}`: {fault}")]
    Size {
        /// The trait.
        text: String,
        /// What is wrong with its value.
        fault: SizeError,
    },
    /// A heap of no bytes.
    #[error("`{0}`: a partition of no bytes cannot hold anything; give a size of at least 1")]
    Zero(String),
    /// There is no `SIZE`.
    #[error("SIZE is missing; it is the one trait that must be given, for example SIZE=2G")]
    NoSize,
    /// A page size that no machine has.
    #[error("`{text}`: {fault}")]
    PageSize {
        /// The trait.
        text: String,
        /// What is wrong with its value.
        fault: PageSizeError,
    },
    /// A kind that does not exist.
    #[error(
        "`{text}`: allowed are NORMALMEM, FASTMEM, SYSDEFAULT, LARGEMEM, PMEM, or a beginning of one{}",
        did_you_mean(*.nearest)
    )]
    Kind {
        /// The trait.
        text: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A policy that does not exist.
    #[error(
        "`{text}`: allowed are MANDATORY, PREFERRED, INTERLEAVED, SYSDEFAULT, or a beginning of one{}",
        did_you_mean(*.nearest)
    )]
    Policy {
        /// The trait.
        text: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A special kind, and no word about machines without it.
    #[error(
        "KIND={kind} needs a POLICY, because not every machine has it: MANDATORY ends the job there, PREFERRED runs in other memory and reports it; add for example :POLICY=PREFERRED"
    )]
    NoPolicy {
        /// The kind.
        kind: Kind,
    },
}

/// For what need not be read.
impl From<Infallible> for TraitError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Reads all traits of a partition that cannot lie in a file.
///
/// # Errors
///
/// If they do not follow the grammar, have no size, do not fit together, or name a file.
pub fn parse_traits(value: &str) -> Result<Traits, TraitError> {
    let (traits, path) = parse_traits_and_file(value)?;
    if traits.size.is_none() {
        return Err(TraitError::NoSize);
    }
    check_policy(&traits)?;
    match path {
        None => Ok(traits),
        Some(path) => Err(TraitError::LateFile(format!("PMEM={path}"))),
    }
}

/// Reads the value of a partition variable: the traits that it gives, and the path of the file that the partition lies in.
/// Whether they suffice and fit together is seen where they have joined those of the program ([`check_traits`]).
///
/// # Errors
///
/// If it does not follow the grammar.
pub fn parse_traits_and_file(value: &str) -> Result<(Traits, Option<&str>), TraitError> {
    if value.is_empty() {
        return Err(TraitError::Nothing);
    }
    let mut given: [Option<&str>; NAMES.len()] = [None; NAMES.len()];
    let mut traits = Traits::NONE;
    let mut path = None;
    for (index, text) in value.split(':').enumerate() {
        let (name, value) = split(index, text)?;
        let place = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let place = place.ok_or_else(|| TraitError::Unknown {
            text: text.into(),
            name: name.into(),
            nearest: nearest(name, NAMES),
        })?;
        if let Some(first) = given[place].replace(text) {
            return Err(TraitError::Repeated {
                name: NAMES[place],
                first: first.into(),
                second: text.into(),
            });
        }
        let bytes = || parse_size(value).map_err(|fault| TraitError::Size { text: text.into(), fault });
        match NAMES[place] {
            "SIZE" => traits.size = Some(bytes()?),
            "PGSIZE" => traits.pgsize = Some(page_size(text, bytes()?)?),
            "KIND" => {
                let nearest = || nearest(value, Kind::ALL.map(Kind::name));
                let unknown = || TraitError::Kind { text: text.into(), nearest: nearest() };
                traits.kind = Some(Kind::from_beginning(value).ok_or_else(unknown)?);
            }
            "POLICY" => {
                let nearest = || nearest(value, Policy::ALL.map(Policy::name));
                let unknown = || TraitError::Policy { text: text.into(), nearest: nearest() };
                traits.policy = Some(Policy::from_beginning(value).ok_or_else(unknown)?);
            }
            _ => path = Some(file(text, value)?),
        }
        if traits.size == Some(0) {
            return Err(TraitError::Zero(text.into()));
        }
    }
    Ok((traits, path))
}

/// Checks traits that were not read from text, as those of a declaration: as [`parse_traits`], but
/// without a size the default size is meant.
///
/// # Errors
///
/// If a page size is none, or the traits do not fit together.
pub fn check_traits(traits: &Traits) -> Result<(), TraitError> {
    if let Some(pgsize) = traits.pgsize {
        page_size(&format!("PGSIZE={}", short_size(pgsize)), pgsize)?;
    }
    check_policy(traits)
}

fn check_policy(traits: &Traits) -> Result<(), TraitError> {
    match traits.kind {
        Some(kind) if kind.is_special() && traits.policy.is_none() => Err(TraitError::NoPolicy { kind }),
        _ => Ok(()),
    }
}

fn split(index: usize, text: &str) -> Result<(&str, &str), TraitError> {
    if text.is_empty() {
        return Err(TraitError::Empty(index + 1));
    }
    if text.contains(char::is_whitespace) {
        return Err(TraitError::Space(text.into()));
    }
    let Some((name, value)) = text.split_once('=') else {
        return Err(TraitError::NoEquals(text.into()));
    };
    // A path may contain both, but a trait behind them was meant as one.
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
        return Err(TraitError::Separator { text: text.into(), separator });
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
    Err(TraitError::File { text: text.into(), fault })
}

fn page_size(text: &str, bytes: u64) -> Result<u64, TraitError> {
    check_page_size(bytes).map_err(|fault| TraitError::PageSize { text: text.into(), fault })?;
    Ok(bytes)
}
