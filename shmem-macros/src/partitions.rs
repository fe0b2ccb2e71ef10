//! `partitions!`: as written, `/// docs  pub fast { id = 2, size = "256M" }`; checked within one invocation; and expanded.
//!
//! For each partition the expansion has an empty type, its declaration, and the same
//! declaration in the section `shmem_par`, where `shmem-info` and init find it.
//!
//! An empty `enum`, and not a unit struct or a constant, keeps the name out of the namespace of
//! values: `let fast = true;` goes on to work where `fast` is a partition.
//!
//! That no two crates of a program claim one name or ID is found at init, and by
//! `shmem-info layout`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use shmem_grammar::{Kind, MAX_PARTITION_ID, MAX_PARTITION_NAME, Policy, TraitError, Traits};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Lit, Path, Token, Visibility};

use crate::arguments::{self, Arguments, Sealed, Value};
use crate::diag::{self, Errors};

/// Expands the body of the macro.
pub(crate) fn expand(body: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let (mut root, mut promise, mut partitions) = (None, None, Vec::new());
    let parser = |input: ParseStream| {
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            root = Some(Path::parse_mod_style(input)?);
            input.parse::<Token![;]>()?;
        }
        if input.peek(Token![unsafe]) && input.peek2(syn::token::Paren) {
            let (argument, at) = arguments::promised(input)?;
            match argument.value {
                Some(Value::Path(path)) => (root, promise) = (Some(path), Some(at)),
                other => errors.push(other, diag::CRATE),
            }
            input.parse::<Token![;]>()?;
        }
        while !input.is_empty() {
            let entry = match input.parse() {
                Ok(entry) => entry,
                Err(error) => {
                    // What follows is as likely a consequence of this mistake as a new one.
                    input.parse::<TokenStream>()?;
                    return Err(error);
                }
            };
            partitions.extend(partition(entry, &partitions, &mut errors));
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    // What stands before a mistake is kept.
    if let Err(error) = parser.parse2(body) {
        errors.push_error(error);
    }
    let root = root.map_or_else(arguments::root, ToTokens::into_token_stream);
    let Some(sealed) = arguments::sealed(&root, promise, &mut errors) else {
        return errors.into_tokens();
    };
    let errors = errors.into_tokens();
    let declared = partitions.iter().map(|one| declared(one, &root, &sealed));
    quote!(#errors #(#declared)*)
}

/// A partition as it is written.
struct Entry {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    arguments: TokenStream,
}

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Ident::peek_any) || !input.peek2(syn::token::Brace) {
            return Err(input.error(diag::PARTITION_ENTRY));
        }
        let name = input.parse()?;
        let arguments;
        syn::braced!(arguments in input);
        Ok(Self { attributes, visibility, name, arguments: arguments.parse()? })
    }
}

const OWNER: &str = "a partition";
const ARGUMENTS: &[&str] = &["id", "size", "kind", "policy", "pgsize"];

/// A partition, in order. What was not given, or given wrongly and reported, is absent.
struct Partition {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    id: Option<u32>,
    traits: Traits,
}

/// Checks a partition that stands behind others. A second type of the same name would be rustc's error again.
fn partition(entry: Entry, earlier: &[Partition], errors: &mut Errors) -> Option<Partition> {
    if earlier.iter().any(|earlier| earlier.name == entry.name) {
        errors.push(&entry.name, diag::partition_declared_twice(&entry.name));
        return None;
    }
    if entry.name.unraw().to_string().len() > MAX_PARTITION_NAME {
        errors.push(&entry.name, diag::partition_name_too_long());
    }
    let mut refused = Errors::default();
    let mut arguments = Arguments::parse(entry.arguments.clone(), OWNER, ARGUMENTS, &mut refused);
    // A policy may be among what was refused.
    let is_complete = refused.is_empty();
    errors.append(refused);
    let written_kind = arguments.take("kind");
    let kind_token = written_kind.as_ref().map(ToTokens::to_token_stream);
    let has_policy = arguments.contains("policy");
    let kinds = Kind::ALL.map(Kind::identifier);
    let policies = Policy::ALL.map(Policy::identifier);
    let id = arguments.take("id").and_then(|value| id(value, earlier, errors));
    let pgsize = arguments.take("pgsize").and_then(|value| arguments::page_size(value, errors));
    let traits = Traits {
        size: arguments.take("size").and_then(|value| heap_size(value, errors)),
        pgsize: pgsize.map(|page| page.bytes),
        kind: written_kind.and_then(|value| one_of("kind", &kinds, Kind::from_beginning, value, errors)),
        policy: arguments
            .take("policy")
            .and_then(|value| one_of("policy", &policies, Policy::from_beginning, value, errors)),
    };
    if let Some(kind) = traits.kind
        && kind.is_special()
        && !has_policy
        && is_complete
    {
        errors.push(kind_token, diag::kind_needs_policy(kind.identifier(), &policies));
    }
    let Entry { attributes, visibility, name, .. } = entry;
    Some(Partition { attributes, visibility, name, id, traits })
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
            Some(owner) => errors.push(value, diag::id_declared_twice(id, owner.name.unraw())),
        },
    }
    None
}

fn heap_size(value: Value, errors: &mut Errors) -> Option<u64> {
    let refusal = match &value {
        Value::Lit(literal) => match arguments::size(literal) {
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

fn declared(
    partition: &Partition,
    root: &TokenStream,
    Sealed { begin, promise, root: sealed_root }: &Sealed,
) -> TokenStream {
    let Partition { attributes, visibility, name, .. } = partition;
    let conditions: Vec<_> = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let text = name.unraw().to_string();
    let id = partition.id.unwrap_or(0);
    let traits = traits(&partition.traits, root);
    // Spanned at the name: `line!` gives the line of this partition then, not that of the macro.
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

/// The fields of what is asked of a partition.
pub(crate) fn traits(Traits { size, pgsize, kind, policy }: &Traits, root: &TokenStream) -> TokenStream {
    let option = |value: Option<TokenStream>| match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    };
    let name = |identifier| Ident::new(identifier, Span::call_site());
    let (size, pgsize) =
        (option(size.map(|bytes| quote!(#bytes))), option(pgsize.map(|bytes| quote!(#bytes))));
    let (kind, policy) =
        (kind.map(|kind| name(kind.identifier())), policy.map(|policy| name(policy.identifier())));
    let kind = option(kind.map(|kind| quote!(#root::__private::Kind::#kind)));
    let policy = option(policy.map(|policy| quote!(#root::__private::Policy::#policy)));
    quote!({ size: #size, pgsize: #pgsize, kind: #kind, policy: #policy })
}
