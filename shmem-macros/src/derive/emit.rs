//! The expansion of `#[derive(Symmetric)]`: the implementations, and the checks that only rustc can
//! make: that each field is plain data, and that there is no padding.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Generics, Member, Type, parse_quote};

use super::check::Structure;
use super::padding::Proof;
use crate::diag::{self, Errors, respanned};

pub(super) fn structure(structure: &Structure, errors: Errors) -> TokenStream {
    let Structure { root, name, fields, members, hopeless, .. } = structure;
    let text = name.to_string();
    let generics = bounded(&structure.generics, root);
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let names = members.iter().map(|(member, _)| match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    });
    let (tokens, types): (Vec<_>, Vec<_>) = members.iter().map(|(member, ty)| (member, ty)).unzip();
    // Whatever is wrong with the struct, it goes on to count as plain data, so that its uses do not
    // complain once more.
    let implementations = (!hopeless).then(|| {
        quote! {
            #[automatically_derived]
            unsafe impl #parameters #root::__private::Zeroable for #name #arguments #conditions {}
            #[automatically_derived]
            unsafe impl #parameters #root::__private::Pod for #name #arguments #conditions {}
            // What a field is made of: its type's own answer, or, if it has none, that of the trait.
            #[allow(unused_imports)]
            use #root::__private::Undivided as _;
            #[automatically_derived]
            unsafe impl #parameters #root::__private::Shaped for #name #arguments #conditions {
                type Element = Self;
                const SHAPE: #root::__private::Shape =
                    #root::__private::Shape::element(::core::mem::size_of::<Self>());
                const FIELDS: &'static [#root::__private::Field] = &[#(
                    #root::__private::Field::new(
                        #names,
                        ::core::mem::offset_of!(Self, #tokens),
                        <#root::__private::Fields<#types>>::CONTENTS,
                    )
                ),*];
            }
        }
    });
    let contents = (structure.generics.lifetimes().next().is_none()).then(|| {
        quote! {
            #[automatically_derived]
            unsafe impl #parameters #root::__private::SymmetricData for #name #arguments #conditions {}
        }
    });
    let holds = (!fields.is_empty() && !hopeless).then(|| {
        let holds = holds(&text, root);
        quote! {
            #holds
            #[allow(clippy::multiple_bound_locations)]
            const fn __fields #parameters () #conditions {
                #(let () = <#fields as __Holds>::CHECKED;)*
            }
        }
    });
    let proof = (!hopeless).then(|| proof(structure, &text));
    let errors = errors.into_tokens();
    quote! {
        #errors
        const _: () = {
            #holds
            #proof
            #implementations
            #contents
        };
    }
}

/// The struct's parameters, each type among them plain data.
fn bounded(generics: &Generics, root: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    let names: Vec<_> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    if !names.is_empty() {
        let conditions = generics.make_where_clause();
        for name in names {
            conditions.predicates.push(parse_quote!(#name: #root::__private::PlainData));
        }
    }
    generics
}

/// A trait for this one struct, so that the message can name it; see `#[symmetric]`.
fn holds(name: &str, root: &TokenStream) -> TokenStream {
    let message = diag::holds(name);
    let (label, note) = (diag::HOLDS_LABEL, diag::HOLDS_NOTE);
    let (words, derive) = (diag::HOLDS_WORDS_NOTE, diag::HOLDS_DERIVE_NOTE);
    quote! {
        #[diagnostic::on_unimplemented(
            message = #message, label = #label, note = #note, note = #words, note = #derive
        )]
        trait __Holds {
            const CHECKED: () = ();
        }
        #[diagnostic::do_not_recommend]
        impl<T: #root::__private::PlainData> __Holds for T {}
    }
}

fn proof(structure: &Structure, text: &str) -> TokenStream {
    let name = &structure.name;
    let root = respanned(structure.root.clone(), name.span());
    let sizes = |types: &[Type]| quote!(&[#(::core::mem::size_of::<#types>()),*]);
    match &structure.proof {
        Proof::Shape => TokenStream::new(),
        Proof::Sizes(fields) => {
            let sizes = sizes(fields);
            let size = quote!(::core::mem::size_of::<#name>());
            quote_spanned!(name.span()=> #root::__private::require_no_padding(#text, #size, #sizes);)
        }
        Proof::Alignments(elements) => {
            let alignments = quote!(&[#(::core::mem::align_of::<#elements>()),*]);
            quote_spanned!(name.span()=> #root::__private::require_one_alignment(#text, #alignments);)
        }
    }
}
