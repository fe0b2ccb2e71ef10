//! Emits the expansion of `#[derive(Symmetric)]`: implementations, and proofs by rustc that fields are plain data without padding.
//!
//! An attribute below the derive can change the struct afterwards, a macro in place of a type can expand to another type each time,
//! and a type can name items that the expansion declares. So neither the tokens of the struct nor such items prove anything. The
//! proofs about fields are the body of one function, `Derived::seen`, and use items of the library. The function destructures a
//! value of the struct, so it compiles only if the struct has exactly these fields with exactly these types. All other
//! implementations rest on this function.
//!
//! The program chooses the path of the library (`crate = ..`), which may lead to an imitation with weaker checks. So each check is
//! an item of the very trait that the expansion implements, `Derived`: an imitated check comes with an imitated trait, which the
//! library does not accept. Traits without items are implemented by a macro of the library (`plain_data!`), whose names are
//! hygienic. All other names only affect error texts.
//!
//! * Fields are plain data: the type of each implements `FieldOf`.
//! * A struct has no padding: a constant compares sizes.
//!
//! A struct with words (`Atomic`, `Signal`) implements `DerivedWords` instead, with the same proofs. It may be in symmetric memory,
//! but is no plain data.
//!
//! The trait `__Types` gives the type of each field one name, which the checks and error texts use.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Index, Member, Type, parse_quote};

use super::Structure;
use crate::library::Sealed;
use crate::messages::{self, Errors, respanned};

pub(super) fn structure(structure: &Structure, errors: Errors) -> TokenStream {
    let Structure { sealed, name, is_hopeless, .. } = structure;
    let errors = errors.into_sealed(sealed);
    let Sealed { begin, promise, root } = sealed;
    if *is_hopeless {
        let mut generics = structure.generics.clone();
        generics.type_params_mut().for_each(|parameter| parameter.bounds.push(parse_quote!('static)));
        let (parameters, arguments, conditions) = generics.split_for_impl();
        let contents = structure.generics.lifetimes().next().is_none().then(|| {
            quote! {
                const _: () = {
                    #begin
                    #promise
                    #[automatically_derived]
                    unsafe impl #parameters #root::__private::SymmetricData for #name #arguments #conditions {}
                };
            }
        });
        return quote!(#errors #contents);
    }
    let (types, layout, derived) = (types(structure), layout(structure), derived(structure));
    // A struct with errors still counts as plain data, so that its uses cause no further errors.
    let data = if structure.has_words {
        quote!(#root::__private::words_data! { #name })
    } else {
        let names = names(structure);
        quote! {
            // For the types of fields that have no inherent constant `CONTENTS`: brings this trait's constant of that name into
            // scope.
            #[allow(unused_imports)]
            use #root::__private::Undivided as _;
            #names
            #root::__private::plain_data! { #name }
        }
    };
    quote! {
        #errors
        const _: () = {
            #begin
            #promise
            #types
            #layout
            #derived
            #data
        };
    }
}

/// Declares and implements the trait `__Types`, whose associated types are the types of the fields.
fn types(structure: &Structure) -> TokenStream {
    let name = &structure.name;
    let numbers: Vec<Ident> = (0..structure.fields.len()).map(number).collect();
    let written = structure.fields.iter().map(|field| -> Type {
        // The type of a refused field becomes `u8`, because rustc may refuse the written type again.
        if field.refusal.is_some() { parse_quote!(u8) } else { field.ty.clone() }
    });
    quote! {
        trait __Types {
            #(type #numbers;)*
        }
        #[automatically_derived]
        impl __Types for #name {
            #(type #numbers = #written;)*
        }
    }
}

fn number(at: usize) -> Ident {
    format_ident!("__Field{at}")
}

/// Returns tokens that name the type of a field. rustc shows errors about this type at the field.
fn field_type(structure: &Structure, at: usize) -> TokenStream {
    let (first, last) = messages::ends(&structure.fields[at].ty);
    let name = respanned(structure.name.clone().into_token_stream(), first);
    let number = Ident::new(&format!("__Field{at}"), last);
    quote_spanned!(first=> <#name as __Types>::#number)
}

fn layout(structure: &Structure) -> TokenStream {
    if !structure.is_good {
        return TokenStream::new();
    }
    let name = &structure.name;
    let text = name.to_string();
    let root = respanned(structure.sealed.root.clone(), name.span());
    let derived = Ident::new(derived_name(structure), name.span());
    let fields = (0..structure.fields.len()).map(number);
    quote_spanned!(name.span()=>
        <#name as #root::__private::#derived>::LAYOUT
            #(.less::<<#name as __Types>::#fields>())*
            .require_no_padding(#text);
    )
}

/// Returns the name of the trait that the expansion implements, whose items check the struct.
fn derived_name(structure: &Structure) -> &'static str {
    if structure.has_words { "DerivedWords" } else { "Derived" }
}

/// Emits a check that each field's type may be in the struct.
fn held(structure: &Structure) -> TokenStream {
    let (root, name) = (&structure.sealed.root, &structure.name);
    let held = structure.fields.iter().enumerate().filter(|(_, field)| field.refusal.is_none());
    let held = held.map(|(at, field)| {
        let (first, last) = messages::ends(&field.ty);
        let ty = field_type(structure, at);
        let (root, name) =
            (respanned(root.clone(), first), respanned(name.clone().into_token_stream(), first));
        let checked = Ident::new("CHECKED", last);
        let derived = Ident::new(derived_name(structure), first);
        let field = Ident::new(if structure.has_words { "WordFieldOf" } else { "FieldOf" }, first);
        quote_spanned!(first=>
            let () = <#ty as #root::__private::#field<#name>>::#checked;
            <#name as #root::__private::#derived>::holds::<#ty>();
        )
    });
    quote!(#(#held)*)
}

/// Emits the implementation of `Derived` or `DerivedWords`, which contains the proofs about fields.
fn derived(structure: &Structure) -> TokenStream {
    let (root, name) = (&structure.sealed.root, &structure.name);
    let derived = format_ident!("{}", derived_name(structure));
    let held = held(structure);
    let seen = structure.is_good.then(|| seen(structure));
    let items = if structure.has_words {
        quote!(
            const MOVED_BY_NOTHING: () = ();
        )
    } else {
        let (names, fields) = (mirror(structure), fields(structure));
        quote! {
            type Names = #names;
            const FIELDS: &'static [#root::__private::Field] = &[#fields];
        }
    };
    quote! {
        #[automatically_derived]
        unsafe impl #root::__private::#derived for #name {
            #items
            fn seen(self) {
                #held
                #seen
            }
        }
    }
}

/// Emits the proof that the struct is the one that the derive saw.
fn seen(structure: &Structure) -> TokenStream {
    let Structure { sealed: Sealed { root, .. }, name, fields, .. } = structure;
    let derived = format_ident!("{}", derived_name(structure));
    let derived = quote!(<Self as #root::__private::#derived>);
    let members = fields.iter().map(|field| &field.member);
    // New names: a variable and its uses need spans of one macro, but a field's name may come from another macro than its struct.
    let bindings: Vec<Ident> = (0..fields.len()).map(|at| format_ident!("__field{at}")).collect();
    let compared = bindings.iter().enumerate().map(|(at, value)| {
        let (ty, (first, _)) = (field_type(structure, at), messages::ends(&fields[at].ty));
        let found = Ident::new("__found", first);
        // Two statements: in one expression, the type that `require_seen` expects could influence the type that rustc infers.
        let compared = quote_spanned!(first=> #found.require_seen::<#ty>(););
        quote! {
            let #found = #derived::type_of(&#value);
            #compared
        }
    });
    let this = Ident::new("Self", name.span());
    quote! {
        let #this { #(#members: #bindings),* } = self;
        #(#compared)*
    }
}

/// Returns the name of the struct that [`names`] emits.
fn mirror(structure: &Structure) -> Ident {
    format_ident!("__NamesOf{}", structure.name.unraw())
}

/// Emits a struct with the same fields and visibilities, in which the fields that `strided!` names are looked up. The program's
/// struct would also find fields through a `Deref`. The emitted struct has a `Deref` already, to `()`, which has no fields, so a
/// program cannot add one.
fn names(structure: &Structure) -> TokenStream {
    let (root, mirror) = (&structure.sealed.root, mirror(structure));
    let is_named = structure.fields.first().is_some_and(|field| matches!(field.member, Member::Named(_)));
    let fields = structure.fields.iter().enumerate().map(|(at, field)| {
        let (visibility, ty) = (&field.visibility, field_type(structure, at));
        match &field.member {
            Member::Named(name) => quote!(#visibility #name: #ty),
            Member::Unnamed(_) => quote!(#visibility #ty),
        }
    });
    let fields = quote!(#(#fields),*);
    let body = if is_named { quote!({ #fields }) } else { quote!((#fields);) };
    quote! {
        #[allow(
            dead_code, unreachable_pub, private_interfaces, private_bounds, non_camel_case_types
        )]
        pub struct #mirror #body
        #[automatically_derived]
        impl #root::__private::core::ops::Deref for #mirror {
            type Target = ();
            fn deref(&self) -> &() {
                &()
            }
        }
    }
}

fn fields(structure: &Structure) -> TokenStream {
    if !structure.is_good {
        return TokenStream::new();
    }
    let root = &structure.sealed.root;
    let fields = structure.fields.iter().enumerate().map(|(at, field)| {
        let ty = field_type(structure, at);
        let (name, member) = match &field.member {
            Member::Named(name) => (name.unraw().to_string(), quote!(#name)),
            Member::Unnamed(Index { index, .. }) => (index.to_string(), field.member.to_token_stream()),
        };
        quote! {
            #root::__private::Field::new(
                #name,
                #root::__private::core::mem::offset_of!(Self, #member),
                <#root::__private::Fields<#ty>>::CONTENTS,
            )
        }
    });
    quote!(#(#fields),*)
}
