//! What is required of partitions, within one `partitions!`.
//!
//! That no two crates of a program claim one name or ID is found at init, and by
//! `shmem-info layout`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use shmem_grammar::{Kind, MAX_PARTITION_ID, MAX_PARTITION_NAME, Policy, TraitError};
use syn::ext::IdentExt;
use syn::{Attribute, Lit, Visibility};

use super::parse::{Entry, Written};
use crate::arguments::{self, Arguments, Value};
use crate::diag::{self, Errors};
use crate::size;

const OWNER: &str = "a partition";
const ARGUMENTS: &[&str] = &["id", "size", "kind", "policy", "pgsize"];

/// A partition, in order. What was not given, or given wrongly and reported, is absent.
pub(super) struct Partition {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) id: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) pgsize: Option<u64>,
    pub(super) kind: Option<Kind>,
    pub(super) policy: Option<Policy>,
}

impl Partition {
    /// The name without `r#`.
    pub(super) fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

/// All of one invocation.
pub(super) struct Partitions {
    /// The path of this library.
    pub(super) root: TokenStream,
    /// Where it is promised that this is its path.
    pub(super) promise: Option<Span>,
    pub(super) list: Vec<Partition>,
}

/// Checks the partitions of one invocation.
pub(super) fn partitions(written: Written, errors: &mut Errors) -> Partitions {
    let root = written.root.map_or_else(arguments::root, ToTokens::into_token_stream);
    let mut list: Vec<Partition> = Vec::new();
    for entry in written.entries {
        // A second type of the same name would be rustc's error again.
        if list.iter().any(|earlier| earlier.name == entry.name) {
            errors.push(&entry.name, diag::partition_declared_twice(&entry.name.to_string()));
            continue;
        }
        let partition = partition(entry, &list, errors);
        list.push(partition);
    }
    Partitions { root, promise: written.promise, list }
}

fn partition(entry: Entry, earlier: &[Partition], errors: &mut Errors) -> Partition {
    if entry.name.unraw().to_string().len() > MAX_PARTITION_NAME {
        errors.push(&entry.name, diag::partition_name_too_long());
    }
    let mut refused = Errors::default();
    let mut arguments = Arguments::parse(entry.arguments, OWNER, ARGUMENTS, &mut refused);
    // A policy may be among what was refused.
    let is_complete = refused.is_empty();
    errors.append(refused);
    let written_kind = arguments.take("kind");
    let kind_token = written_kind.as_ref().map(ToTokens::to_token_stream);
    let has_policy = arguments.contains("policy");
    let kinds = Kind::ALL.map(Kind::identifier);
    let policies = Policy::ALL.map(Policy::identifier);
    let partition = Partition {
        attributes: entry.attributes,
        visibility: entry.visibility,
        name: entry.name,
        id: arguments.take("id").and_then(|value| id(value, earlier, errors)),
        size: arguments.take("size").and_then(|value| heap_size(value, errors)),
        pgsize: arguments.take("pgsize").and_then(|value| size::page(value, errors)).map(|page| page.bytes),
        kind: written_kind.and_then(|value| one_of("kind", &kinds, Kind::from_beginning, value, errors)),
        policy: arguments
            .take("policy")
            .and_then(|value| one_of("policy", &policies, Policy::from_beginning, value, errors)),
    };
    if let Some(kind) = partition.kind
        && kind.is_special()
        && !has_policy
        && is_complete
    {
        errors.push(kind_token, diag::kind_needs_policy(kind.identifier(), &policies));
    }
    partition
}

fn id(value: Value, earlier: &[Partition], errors: &mut Errors) -> Option<u32> {
    let id = match &value {
        Value::Lit(Lit::Int(number)) => number.base10_parse().ok(),
        _ => None,
    };
    match id.filter(|id| (1..=MAX_PARTITION_ID).contains(id)) {
        None => errors.push(value, diag::not_an_id()),
        Some(id) => match earlier.iter().find(|earlier| earlier.id == Some(id)) {
            None => return Some(id),
            Some(owner) => errors.push(value, diag::id_declared_twice(id, &owner.text())),
        },
    }
    None
}

fn heap_size(value: Value, errors: &mut Errors) -> Option<u64> {
    let refusal = match &value {
        Value::Lit(literal) => match size::parse(literal) {
            Ok((0, text)) => TraitError::Zero(text).to_string(),
            Ok((bytes, _)) => return Some(bytes),
            Err(refusal) => refusal,
        },
        _ => diag::SIZE.to_owned(),
    };
    errors.push(value, refusal);
    None
}

/// The kind or policy that is meant, in any case: `FastMem` as in Rust, `FASTMEM` as in the environment, or a beginning
/// of it.
fn one_of<T>(
    what: &str,
    allowed: &[&str],
    from_beginning: impl Fn(&str) -> Option<T>,
    value: Value,
    errors: &mut Errors,
) -> Option<T> {
    let written = value.name();
    let meant = written.as_deref().and_then(from_beginning);
    if meant.is_none() {
        let found = written.unwrap_or_else(|| quote!(#value).to_string());
        errors.push(value, diag::unknown_trait(what, &found, allowed));
    }
    meant
}
