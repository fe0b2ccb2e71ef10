//! What is required of partitions, within one `partitions!`.
//!
//! That no two crates of a program claim one name or ID is found at init, and by
//! `shmem-info layout`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Lit, Visibility};

use super::parse::{Entry, Written};
use crate::arguments::{self, Arguments, Value};
use crate::diag::{self, Errors};
use crate::size;

const OWNER: &str = "a partition";
const ARGUMENTS: &[&str] = &["id", "size", "kind", "policy", "pgsize"];
const KINDS: &[&str] = &["NormalMem", "FastMem", "SysDefault", "LargeMem", "Pmem"];
const POLICIES: &[&str] = &["Mandatory", "Preferred", "Interleaved", "SysDefault"];
/// A machine may lack these kinds: the declaration must say what happens then.
const SPECIAL_KINDS: &[&str] = &["FastMem", "LargeMem", "Pmem"];
const MAX_ID: u32 = 255;
/// What a declaration in the binary has room for.
const MAX_NAME: usize = 32;

/// A partition, in order. What was not given, or given wrongly and reported, is absent.
pub(super) struct Partition {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) id: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) pgsize: Option<u64>,
    pub(super) kind: Option<Ident>,
    pub(super) policy: Option<Ident>,
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
    Partitions { root, list }
}

fn partition(entry: Entry, earlier: &[Partition], errors: &mut Errors) -> Partition {
    if entry.name.unraw().to_string().len() > MAX_NAME {
        errors.push(&entry.name, diag::partition_name_too_long(MAX_NAME));
    }
    let mut arguments = Arguments::parse(entry.arguments, OWNER, ARGUMENTS, errors);
    let written_kind = arguments.take("kind");
    let kind_token = written_kind.as_ref().map(ToTokens::to_token_stream);
    let has_policy = arguments.contains("policy");
    let partition = Partition {
        attributes: entry.attributes,
        visibility: entry.visibility,
        name: entry.name,
        id: arguments.take("id").and_then(|value| id(value, earlier, errors)),
        size: arguments.take("size").and_then(|value| heap_size(value, errors)),
        pgsize: arguments.take("pgsize").and_then(|value| size::page(value, errors)).map(|page| page.bytes),
        kind: written_kind.and_then(|value| one_of("kind", KINDS, value, errors)),
        policy: arguments.take("policy").and_then(|value| one_of("policy", POLICIES, value, errors)),
    };
    if let Some(kind) = &partition.kind
        && SPECIAL_KINDS.iter().any(|special| kind == special)
        && !has_policy
    {
        errors.push(kind_token, diag::kind_needs_policy(&kind.to_string(), POLICIES));
    }
    partition
}

fn id(value: Value, earlier: &[Partition], errors: &mut Errors) -> Option<u32> {
    let id = match &value {
        Value::Lit(Lit::Int(number)) => number.base10_parse().ok(),
        _ => None,
    };
    match id.filter(|id| (1..=MAX_ID).contains(id)) {
        None => errors.push(value, diag::ID),
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
            Ok((0, _)) => diag::SIZE_ZERO.to_owned(),
            Ok((bytes, _)) => return Some(bytes),
            Err(refusal) => refusal,
        },
        _ => diag::SIZE.to_owned(),
    };
    errors.push(value, refusal);
    None
}

/// The name in `allowed` that is meant, in any case: `FastMem` as in Rust, `FASTMEM` as in the
/// environment.
fn one_of(what: &str, allowed: &[&str], value: Value, errors: &mut Errors) -> Option<Ident> {
    let found = value.name().unwrap_or_else(|| quote!(#value).to_string());
    match allowed.iter().find(|name| name.eq_ignore_ascii_case(&found)) {
        Some(name) => Some(Ident::new(name, Span::call_site())),
        None => {
            errors.push(value, diag::unknown_value(what, &found, allowed));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use shmem::__private::{Declaration, Traits};
    use shmem::partition::{Kind, Policy};

    use super::*;

    #[test]
    fn names_and_bounds_are_those_of_the_library() {
        assert_eq!(Kind::ALL.map(|kind| format!("{kind:?}")), KINDS);
        assert_eq!(Policy::ALL.map(|policy| format!("{policy:?}")), POLICIES);
        let special = Kind::ALL.into_iter().filter(|kind| kind.is_special());
        assert_eq!(special.map(|kind| format!("{kind:?}")).collect::<Vec<_>>(), SPECIAL_KINDS);
        let declared = |name: usize, id| Declaration::new(&"n".repeat(name), id, Traits::NONE, "", 0);
        assert!(!declared(MAX_NAME, MAX_ID).name.as_str().ends_with(".."));
        assert!(declared(MAX_NAME + 1, MAX_ID).name.as_str().ends_with(".."));
        assert!(std::panic::catch_unwind(|| declared(1, MAX_ID + 1)).is_err());
    }
}
