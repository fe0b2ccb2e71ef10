//! The expansion of `partitions!`: for each partition an empty type, its declaration, and the same
//! declaration in the section `shmem_par`, where `shmem-info` and init find it.
//!
//! An empty `enum`, and not a unit struct or a constant, keeps the name out of the namespace of
//! values: `let fast = true;` goes on to work where `fast` is a partition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::check::{Partition, Partitions};
use crate::arguments::{self, Sealed};
use crate::diag::Errors;

pub(super) fn partitions(partitions: &Partitions, mut errors: Errors) -> TokenStream {
    let Some(sealed) = arguments::sealed(&partitions.root, partitions.promise, &mut errors) else {
        return errors.into_tokens();
    };
    let errors = errors.into_tokens();
    let list = partitions.list.iter().map(|one| partition(one, &partitions.root, &sealed));
    quote!(#errors #(#list)*)
}

fn partition(
    partition: &Partition,
    root: &TokenStream,
    Sealed { begin, promise, root: sealed_root }: &Sealed,
) -> TokenStream {
    let Partition { attributes, visibility, name, .. } = partition;
    let conditions: Vec<_> = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let text = partition.text();
    let id = partition.id.unwrap_or(0);
    let size = option(partition.size.map(|bytes| quote!(#bytes)));
    let pgsize = option(partition.pgsize.map(|bytes| quote!(#bytes)));
    let variant = |identifier| Ident::new(identifier, Span::call_site());
    let kind = partition.kind.map(|kind| variant(kind.identifier()));
    let kind = option(kind.map(|kind| quote!(#root::__private::Kind::#kind)));
    let policy = partition.policy.map(|policy| variant(policy.identifier()));
    let policy = option(policy.map(|policy| quote!(#root::__private::Policy::#policy)));
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
                #root::__private::Traits { size: #size, pgsize: #pgsize, kind: #kind, policy: #policy },
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

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
