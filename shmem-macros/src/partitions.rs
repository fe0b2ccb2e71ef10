//! `partitions!`: parses partitions such as `pub fast { id = 2, size = "256M" }`, compares those of one call, and expands them.
//!
//! Each partition expands to an empty type, its declaration, and a copy of the declaration in the linker section
//! `shmem_par`. `shmem-info` and init read this section.
//!
//! The type is an empty `enum`, because a unit struct or a constant would put the name into the namespace of values,
//! where `let fast = true;` would no longer compile.
//!
//! Init and `shmem-info layout` check that no two crates of a program use one name or ID.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use shmem_grammar::{Kind, MAX_PARTITION_ID, MAX_PARTITION_NAME, Policy, TraitError, Traits};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Lit, Token, Visibility};

use crate::arguments::{Arguments, PARTITION, Value};
use crate::library::{self, Sealed};
use crate::messages::{self, Errors};
use crate::tokens::option;

pub(crate) fn expand(body: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let (mut path, mut partitions) = (None, Vec::new());
    let parser = |input: ParseStream| {
        let is_path = input.peek(Token![crate]) && input.peek2(Token![=]);
        if is_path || input.peek(Token![unsafe]) && input.peek2(syn::token::Paren) {
            path = Some(input.parse()?);
            input.parse::<Token![;]>()?;
        }
        while !input.is_empty() {
            let entry = match input.parse() {
                Ok(entry) => entry,
                Err(error) => {
                    // Skips the partitions that follow, because their errors may be consequences of this one.
                    input.parse::<TokenStream>()?;
                    return Err(error);
                }
            };
            partitions.extend(partition(entry, &partitions, &mut errors));
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    // Partitions before the first syntax error are kept.
    if let Err(error) = parser.parse2(body) {
        errors.push_error(error);
    }
    let library = Arguments::one(path);
    let root = library.root(&mut errors);
    let Some(sealed) = library::sealed(&root, library.promise(), &mut errors) else {
        return quote!(#errors);
    };
    let declared = partitions.iter().map(|one| declared(one, &root, &sealed));
    quote!(#errors #(#declared)*)
}

struct PartitionItem {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    arguments: TokenStream,
}

impl Parse for PartitionItem {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Ident::peek_any) || !input.peek2(syn::token::Brace) {
            return Err(input.error(messages::PARTITION_ENTRY));
        }
        let name = input.parse()?;
        let arguments;
        syn::braced!(arguments in input);
        Ok(Self { attributes, visibility, name, arguments: arguments.parse()? })
    }
}

/// A checked partition. Arguments that were refused are absent.
struct Partition {
    entry: PartitionItem,
    id: Option<u32>,
    traits: Traits,
}

/// Checks a partition against earlier ones. A repeated name is not emitted, because rustc would report it again.
fn partition(entry: PartitionItem, earlier: &[Partition], errors: &mut Errors) -> Option<Partition> {
    if earlier.iter().any(|earlier| earlier.entry.name == entry.name) {
        errors.push(&entry.name, messages::partition_declared_twice(&entry.name));
        return None;
    }
    if entry.name.unraw().to_string().len() > MAX_PARTITION_NAME {
        errors.push(&entry.name, messages::partition_name_too_long());
    }
    let mut refused = Errors::default();
    let arguments = Arguments::parse(entry.arguments.clone(), PARTITION, &mut refused);
    // A policy that is absent may be one of the refused arguments, so it counts as missing only if no argument was refused.
    let is_complete = refused.is_empty();
    errors.append(refused);
    let kinds = Kind::ALL.map(Kind::identifier);
    let policies = Policy::ALL.map(Policy::identifier);
    // The case of letters does not matter (`FastMem` as in Rust, `FASTMEM` as in the environment), and a name may be abbreviated.
    let kind = |value: &Value| {
        value.one_of(Kind::from_beginning, |found| messages::unknown_trait("kind", found, &kinds))
    };
    let policy = |value: &Value| {
        value.one_of(Policy::from_beginning, |found| messages::unknown_trait("policy", found, &policies))
    };
    let id = arguments.read("id", errors, |value| id(value, earlier));
    let pgsize = arguments.read("pgsize", errors, Value::page_size);
    let traits = Traits {
        size: arguments.read("size", errors, heap_size),
        pgsize: pgsize.map(|page| page.bytes),
        kind: arguments.read("kind", errors, kind),
        policy: arguments.read("policy", errors, policy),
    };
    if let Some(kind) = traits.kind
        && kind.is_special()
        && arguments.value("policy").is_none()
        && is_complete
    {
        errors.push(arguments.value("kind"), messages::kind_needs_policy(kind.identifier(), &policies));
    }
    Some(Partition { entry, id, traits })
}

fn id(value: &Value, earlier: &[Partition]) -> Result<u32, String> {
    let id = match value {
        Value::Lit(Lit::Int(number)) => number.base10_parse().ok(),
        _ => None,
    };
    let id = id.filter(|id| (1..=MAX_PARTITION_ID).contains(id)).ok_or_else(messages::not_an_id)?;
    match earlier.iter().find(|earlier| earlier.id == Some(id)) {
        None => Ok(id),
        Some(owner) => Err(messages::id_declared_twice(id, owner.entry.name.unraw())),
    }
}

fn heap_size(value: &Value) -> Result<u64, String> {
    match value.size()? {
        (0, text) => Err(TraitError::zero(&text).to_string()),
        (bytes, _) => Ok(bytes),
    }
}

fn declared(
    partition: &Partition,
    root: &TokenStream,
    Sealed { begin, promise, root: sealed_root }: &Sealed,
) -> TokenStream {
    let PartitionItem { attributes, visibility, name, .. } = &partition.entry;
    let conditions: Vec<_> = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let text = name.unraw().to_string();
    let id = partition.id.unwrap_or(0);
    let traits = traits(&partition.traits, root);
    // The span of the name makes `line!` return the line of this partition instead of the line of the macro call.
    let line = quote_spanned!(name.span()=> ::core::line!());
    quote! {
        #(#attributes)*
        #[allow(non_camel_case_types)]
        #[derive(::core::fmt::Debug)]
        #visibility enum #name {}

        #(#conditions)*
        impl #root::__private::Partition for #name {
            const DECLARATION: #root::__private::Declaration = #root::__private::Declaration::new(
                #text,
                #id,
                #root::__private::Traits #traits,
                ::core::file!(),
                #line,
            );
        }

        #(#conditions)*
        const _: () = {
            #begin
            #promise
            #[used]
            #[unsafe(link_section = "shmem_par")]
            static __DECLARATION: #sealed_root::__private::Declaration =
                <#name as #sealed_root::__private::Partition>::DECLARATION;
        };
    }
}

/// Emits the fields of the struct of a partition's traits.
pub(crate) fn traits(Traits { size, pgsize, kind, policy }: &Traits, root: &TokenStream) -> TokenStream {
    let name = |identifier| Ident::new(identifier, Span::call_site());
    let [size, pgsize] = [size, pgsize].map(|size| option(*size));
    let [kind, policy] = [kind.map(Kind::identifier), policy.map(Policy::identifier)].map(|of| of.map(name));
    let kind = option(kind.map(|kind| quote!(#root::__private::Kind::#kind)));
    let policy = option(policy.map(|policy| quote!(#root::__private::Policy::#policy)));
    quote!({ size: #size, pgsize: #pgsize, kind: #kind, policy: #policy })
}
