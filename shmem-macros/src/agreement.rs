//! A declaration means the same in a program and in the environment, or is refused by both. (What is said then, `ui-tests` keeps.)

use proc_macro2::{Ident, TokenStream};
use proptest::prelude::*;
use quote::quote;
use shmem_grammar::{Kind, Policy, TraitError, Traits, parse_traits};
use syn::{File, Item, LitStr};

use crate::partitions;

/// Traits in the order in which they are written, each a name and a value.
type Written = Vec<(&'static str, String)>;

/// As `partitions!` takes them.
fn in_program(id: u32, traits: &Written, is_quoted: bool) -> TokenStream {
    let id = (id != 0).then(|| format!("id = {id}, "));
    let traits = traits.iter().map(|(name, value)| {
        let is_plain = !is_quoted && is_token(name, value);
        let value = if is_plain { value.clone() } else { format!("{value:?}") };
        format!("{} = {value}, ", name.to_lowercase())
    });
    let body: String = id.into_iter().chain(traits).collect();
    format!("it {{ {body} }}").parse().unwrap()
}

/// Whether a value can be written without quotes: a name, or a number as the grammar writes it.
fn is_token(name: &str, value: &str) -> bool {
    if matches!(name, "KIND" | "POLICY") {
        return syn::parse_str::<Ident>(value).is_ok();
    }
    let number = value.trim_end_matches(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let is_number = number.split_once('.').map_or_else(
        || number.parse::<u64>().is_ok_and(|read| read.to_string() == number),
        |(whole, behind)| [whole, behind].iter().all(|part| part.parse::<u64>().is_ok()),
    );
    is_number && value.len() <= number.len() + 1
}

/// As a variable has them.
fn in_environment(traits: &Written) -> Result<Traits, TraitError> {
    let traits: Vec<String> = traits.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parse_traits(&traits.join(":"))
}

/// The errors of an expansion.
fn errors(expansion: TokenStream) -> Vec<String> {
    let file: File = syn::parse2(expansion).unwrap();
    let errors = file.items.into_iter().filter_map(|item| match item {
        Item::Macro(call) if call.mac.path.segments.last()?.ident == "compile_error" => Some(call.mac.tokens),
        _ => None,
    });
    errors.map(|text| syn::parse2::<LitStr>(text).unwrap().value()).collect()
}

/// Good and bad ones.
const SIZES: &str = "64M|2M|4K|1K|4095|4096|3M|0|0K|1.5G|.5m|1.|0.1|1T|16777216T|18446744073709551615|18446744073709551616|\
    9223372036854775808|64Q|64MiB|64 M| 4K||-1|1.2.3|1e9|0x10|1_024|huge|4K,|2M=1";

fn size() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(SIZES.split('|').collect::<Vec<_>>()).prop_map(str::to_owned),
        (0..=64u32).prop_map(|bits| 1u64.checked_shl(bits).unwrap_or(0).to_string()),
        "[0-9]{0,3}[.]?[0-9]{0,2}[kKmMgGtTB ]{0,2}",
    ]
}

/// A name, a beginning of it, or one that is misspelt, in any case.
fn name_of(names: Vec<&'static str>) -> impl Strategy<Value = String> {
    (prop::sample::select(names), 1..10usize, any::<u16>(), prop::option::of((0..10usize, "[a-z]?")))
        .prop_map(|(name, length, cases, slip)| {
            let mut text = name[..length.min(name.len())].to_owned();
            if let Some((at, letter)) = slip {
                let at = at.min(text.len() - 1);
                text.replace_range(at..=at, &letter);
            }
            let cased = text.chars().enumerate().map(|(at, letter)| match cases >> at & 1 {
                0 => letter.to_ascii_lowercase(),
                _ => letter.to_ascii_uppercase(),
            });
            cased.collect()
        })
}

/// One trait.
fn one() -> impl Strategy<Value = (&'static str, String)> {
    prop_oneof![
        size().prop_map(|value| ("SIZE", value)),
        size().prop_map(|value| ("PGSIZE", value)),
        name_of(Kind::ALL.map(Kind::name).into()).prop_map(|value| ("KIND", value)),
        name_of(Policy::ALL.map(Policy::name).into()).prop_map(|value| ("POLICY", value)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn programs_and_the_environment_agree(
        traits in prop::collection::vec(one(), 0..5), is_quoted: bool, id in 1..256u32,
    ) {
        let said = errors(partitions::expand(in_program(id, &traits, is_quoted)));
        // What a program may leave out is the one difference: there is a default.
        let mut whole = traits.clone();
        let has_size = traits.iter().any(|(name, _)| *name == "SIZE");
        if !has_size {
            whole.push(("SIZE", "64M".into()));
        }
        match in_environment(&whole) {
            Ok(mut read) => {
                read.size = read.size.filter(|_| has_size);
                prop_assert!(said.is_empty(), "{traits:?}: {said:?}");
                let expansion = partitions::expand(in_program(id, &traits, is_quoted)).to_string();
                let declared = partitions::traits(&read, &quote!(::shmem)).to_string();
                prop_assert!(expansion.contains(&declared), "{read:?}: {expansion}");
            }
            Err(fault) => {
                // Between its traits, the environment has no spaces and commas.
                let is_of_text = matches!(fault, TraitError::Space(_) | TraitError::Separator { .. });
                prop_assert!(is_of_text || !said.is_empty(), "{traits:?}: the environment says: {fault}");
            }
        }
    }
}
