//! The expansion of `#[derive(Symmetric)]`: the implementations, and what only rustc can prove: that each field is plain
//! data, and that there is no padding.
//!
//! An attribute below the derive can change the struct after the derive has seen it, a macro that stands for a type can
//! mean another one each time, and whatever stands in a type can name what stands around it. So nothing is proved by the
//! words of the struct, and nothing by what the expansion declares for itself, to which those words could add. All proofs
//! stand in one function, `Derived::seen`, and ask items of the library; it takes a value of the struct, whatever that is
//! by now, apart, and compiles if the struct has these fields, and no others, with exactly these types. What is
//! implemented besides holds only where that function was judged.
//!
//! The library itself may be somebody else's, handed on with other checks. So whatever proves something is asked of
//! `Derived` by the path by which it is implemented, and what has no items to know it by is implemented by a macro of the
//! library (`plain_data!`), whose names are its own. What is named besides words messages.
//!
//! * Fields are plain data: each gives a type of `FieldOf` that proves it.
//! * A struct without parameters has no padding: a constant compares sizes.
//! * One with parameters has none because (`padding.rs`) its elements are aligned alike: the arrays around them are taken
//!   off the types that were found, and what remains is compared, with each other, or with types that a constant could
//!   compare.
//!
//! A struct that holds words is proved in the same way, by `DerivedWords`: it lives in symmetric memory, and no more is
//! implemented for it.
//!
//! `__Types` gives the type of each field one name, for messages and for tables.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{
    BoundLifetimes, ConstParam, Generics, Index, Member, PredicateType, Type, TypeParamBound, WherePredicate,
    parse_quote,
};

use super::Structure;
use super::padding::{self, Element, Proof};
use crate::diag::{self, Errors, respanned};
use crate::library::Sealed;

pub(super) fn structure(structure: &Structure, errors: Errors) -> TokenStream {
    let Structure { sealed, name, is_hopeless, .. } = structure;
    let errors = errors.into_sealed(sealed);
    let Sealed { begin, promise, root } = sealed;
    let generics = bounded(&structure.generics, root);
    let (parameters, arguments, conditions) = generics.split_for_impl();
    if *is_hopeless {
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
    let (types, layout) = (types(structure, &generics), layout(structure));
    let derived = derived(structure, &generics);
    // Whatever is wrong with the struct, it goes on to count as plain data, so that its uses do not complain once more.
    let data = if structure.has_words {
        quote!(#root::__private::words_data! { #name })
    } else {
        let (names, plain) = (names(structure, &generics), plain(structure, &generics));
        quote! {
            // What a field is made of: its type's own answer, or, if it has none, that of the trait.
            #[allow(unused_imports)]
            use #root::__private::Undivided as _;
            #names
            #plain
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

/// The struct's parameters, each type among them plain data. Conditions of a struct without parameters hold, or it does
/// not compile.
fn bounded(generics: &Generics, root: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    if !padding::is_generic(&generics) {
        generics.where_clause = None;
    }
    let names: Vec<_> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    if !names.is_empty() {
        let conditions = generics.make_where_clause();
        for name in names {
            conditions.predicates.push(parse_quote!(#name: #root::__private::PlainData));
        }
    }
    generics
}

/// The trait that has the types of the fields.
fn types(structure: &Structure, generics: &Generics) -> TokenStream {
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let name = &structure.name;
    let numbers: Vec<Ident> = (0..structure.fields.len()).map(number).collect();
    let written = structure.fields.iter().map(|field| -> Type {
        // What was refused goes on as what can be there.
        if field.refusal.is_some() { parse_quote!(u8) } else { field.ty.clone() }
    });
    let first = match &structure.proof {
        Proof::Alike(elements) => Some(&elements[0].ty),
        _ => None,
    };
    let element = first.map(|_| {
        quote!(
            type __Element;
        )
    });
    let first = first.map(|first| quote!(type __Element = #first;));
    quote! {
        trait __Types {
            #(type #numbers;)*
            #element
        }
        #[automatically_derived]
        impl #parameters __Types for #name #arguments #conditions {
            #(type #numbers = #written;)*
            #first
        }
    }
}

/// The type of a field.
fn number(at: usize) -> Ident {
    format_ident!("__Field{at}")
}

/// The type of a field. What rustc says of it stands where the user wrote it.
fn field_type(structure: &Structure, generics: &Generics, at: usize) -> TokenStream {
    let (_, arguments, _) = generics.split_for_impl();
    let (first, last) = diag::ends(&structure.fields[at].ty);
    let name = respanned(structure.name.clone().into_token_stream(), first);
    let number = Ident::new(&format!("__Field{at}"), last);
    quote_spanned!(first=> <#name #arguments as __Types>::#number)
}

/// What must be known of the layout besides what `seen` proves.
fn layout(structure: &Structure) -> TokenStream {
    if !structure.is_good {
        return TokenStream::new();
    }
    let name = &structure.name;
    let text = name.to_string();
    let root = respanned(structure.sealed.root.clone(), name.span());
    let derived = Ident::new(derived_name(structure), name.span());
    match &structure.proof {
        Proof::Sizes => {
            let fields = (0..structure.fields.len()).map(number);
            quote_spanned!(name.span()=>
                <#name as #root::__private::#derived>::LAYOUT
                    #(.less::<<#name as __Types>::#fields>())*
                    .require_no_padding(#text);
            )
        }
        Proof::Single | Proof::Alike(_) => TokenStream::new(),
        Proof::Alignments(elements) => {
            let numbers: Vec<Ident> = (0..elements.len()).map(number).collect();
            let written = elements.iter().map(|element| &element.ty);
            let elements = numbers.iter().map(|number| quote!(<__Elements as __ElementTypes>::#number));
            let require = quote_spanned!(name.span()=>
                <__Elements as #root::__private::AlignedAlike>::ALIGNMENTS
                    #(.and::<#elements>())*
                    .require_one(#text);
            );
            quote! {
                trait __ElementTypes {
                    #(type #numbers;)*
                }
                enum __Elements {}
                #[automatically_derived]
                impl __ElementTypes for __Elements {
                    #(type #numbers = #written;)*
                }
                #[automatically_derived]
                unsafe impl #root::__private::AlignedAlike for __Elements {
                    const ALIGNMENT_IS_COMPARED_BESIDE: () = ();
                }
                #require
            }
        }
    }
}

/// The trait that all is asked of.
fn derived_name(structure: &Structure) -> &'static str {
    if structure.has_words { "DerivedWords" } else { "Derived" }
}

/// That the struct may have its fields.
fn held(structure: &Structure, generics: &Generics) -> TokenStream {
    let (_, arguments, _) = generics.split_for_impl();
    let (root, name) = (&structure.sealed.root, &structure.name);
    let held = structure.fields.iter().enumerate().filter(|(_, field)| field.refusal.is_none());
    let held = held.map(|(at, field)| {
        let (first, last) = diag::ends(&field.ty);
        let ty = field_type(structure, generics, at);
        let (root, name) =
            (respanned(root.clone(), first), respanned(name.clone().into_token_stream(), first));
        let checked = Ident::new("CHECKED", last);
        let derived = Ident::new(derived_name(structure), first);
        let field = Ident::new(if structure.has_words { "WordFieldOf" } else { "FieldOf" }, first);
        quote_spanned!(first=>
            let () = <#ty as #root::__private::#field<#name #arguments>>::#checked;
            <#name #arguments as #root::__private::#derived>::holds::<#ty>();
        )
    });
    quote!(#(#held)*)
}

/// All that is proved of the struct.
fn derived(structure: &Structure, generics: &Generics) -> TokenStream {
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let (root, name) = (&structure.sealed.root, &structure.name);
    let derived = format_ident!("{}", derived_name(structure));
    let held = held(structure, generics);
    let seen = structure.is_good.then(|| seen(structure, generics));
    let items = if structure.has_words {
        quote!(
            const MOVED_BY_NOTHING: () = ();
        )
    } else {
        let (names, fields) = (mirror(structure), fields(structure, generics));
        quote! {
            type Names = #names #arguments;
            const FIELDS: &'static [#root::__private::Field] = &[#fields];
        }
    };
    quote! {
        #[automatically_derived]
        unsafe impl #parameters #root::__private::#derived for #name #arguments #conditions {
            #items
            #[allow(clippy::multiple_bound_locations)]
            fn seen(self) {
                #held
                #seen
            }
        }
    }
}

/// The implementations of traits without items, by the library's own macro: nobody else's names stand behind `unsafe`
/// there. It takes parameters and conditions apart, one bound to each.
fn plain(structure: &Structure, generics: &Generics) -> TokenStream {
    let (root, name) = (&structure.sealed.root, &structure.name);
    let (_, arguments, _) = generics.split_for_impl();
    let types = generics.type_params().map(|parameter| &parameter.ident);
    let constants = generics.const_params().map(|ConstParam { ident, ty, .. }| quote!((#ident: #ty)));
    let (mut conditions, mut lasting) = (Vec::new(), Vec::new());
    let mut condition =
        |lifetimes: Option<&BoundLifetimes>, bounded: &dyn ToTokens, bound: &TypeParamBound| {
            let lifetimes = lifetimes.iter().flat_map(|lifetimes| &lifetimes.lifetimes);
            match bound {
                // Each parameter is plain data, and so has a size.
                TypeParamBound::Trait(bound) if bound.maybe.is_none() => {
                    let own = bound.lifetimes.iter().flat_map(|lifetimes| &lifetimes.lifetimes);
                    let (lifetimes, path) = (lifetimes.chain(own), &bound.path);
                    conditions.push(quote!((for<#(#lifetimes),*> #bounded: #path)));
                }
                TypeParamBound::Lifetime(bound) => lasting.push(quote!((#bounded: #bound))),
                _ => {}
            }
        };
    for parameter in generics.type_params() {
        parameter.bounds.iter().for_each(|bound| condition(None, &parameter.ident, bound));
    }
    for predicate in generics.where_clause.iter().flat_map(|conditions| &conditions.predicates) {
        if let WherePredicate::Type(PredicateType { lifetimes, bounded_ty, bounds, .. }) = predicate {
            bounds.iter().for_each(|bound| condition(lifetimes.as_ref(), bounded_ty, bound));
        }
    }
    quote! {
        #root::__private::plain_data! {
            #name #arguments, [#(#types)*], [#(#constants)*], [#(#conditions)*], [#(#lasting)*]
        }
    }
}

/// The proof that the struct is the one that was seen here, and that its elements are alike.
fn seen(structure: &Structure, generics: &Generics) -> TokenStream {
    let Structure { sealed: Sealed { root, .. }, name, fields, .. } = structure;
    let derived = format_ident!("{}", derived_name(structure));
    let derived = quote!(<Self as #root::__private::#derived>);
    let members = fields.iter().map(|field| &field.member);
    // A variable and its uses must have spans of one macro: fields may come from another one than the struct.
    let bindings: Vec<Ident> = (0..fields.len()).map(|at| format_ident!("__field{at}")).collect();
    let compared = bindings.iter().enumerate().map(|(at, value)| {
        let (ty, (first, _)) = (field_type(structure, generics, at), diag::ends(&fields[at].ty));
        let found = Ident::new("__found", first);
        // In two steps: what a type is compared with must not have been asked for when it was inferred.
        let compared = quote_spanned!(first=> #found.require_seen::<#ty>(););
        quote! {
            let #found = #derived::type_of(&#value);
            #compared
        }
    });
    let found = |at: usize, element: &Element| {
        let value = &bindings[at];
        let found = quote!(#derived::type_of(&#value));
        (0..element.depth).fold(found, |found, _| quote!(#derived::item_of(#found)))
    };
    let alike = match &structure.proof {
        Proof::Alike(elements) => {
            let elements = elements.iter().enumerate().map(|(at, element)| {
                let (found, span) = (found(at, element), diag::ends(&fields[at].ty).0);
                let name = Ident::new("__element", span);
                let (_, arguments, _) = generics.split_for_impl();
                let this = respanned(structure.name.to_token_stream(), span);
                let alike =
                    quote_spanned!(span=> #name.require_alike::<<#this #arguments as __Types>::__Element>(););
                quote!(let #name = #found; #alike)
            });
            quote!(#(#elements)*)
        }
        Proof::Alignments(elements) => {
            let elements = elements.iter().enumerate().map(|(at, element)| {
                let (found, number) = (found(at, element), number(at));
                quote! {
                    let __element = #found;
                    __element.require_seen::<<__Elements as __ElementTypes>::#number>();
                }
            });
            quote!(#derived::is_made_of::<__Elements>(); #(#elements)*)
        }
        Proof::Sizes | Proof::Single => TokenStream::new(),
    };
    let this = Ident::new("Self", name.span());
    quote! {
        let #this { #(#members: #bindings),* } = self;
        #(#compared)*
        #alike
    }
}

/// The name of the struct that has the names of the fields. Nothing else in the expansion begins so.
fn mirror(structure: &Structure) -> Ident {
    format_ident!("__NamesOf{}", structure.name.unraw())
}

/// A struct with the same fields, as visible as they are, in which `strided!` looks names up: the struct itself may
/// lend others by `Deref`. This one lends nothing, which it says itself, or somebody else could.
fn names(structure: &Structure, generics: &Generics) -> TokenStream {
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let (root, mirror) = (&structure.sealed.root, mirror(structure));
    let is_named = structure.fields.first().is_some_and(|field| matches!(field.member, Member::Named(_)));
    let fields = structure.fields.iter().enumerate().map(|(at, field)| {
        let (visibility, ty) = (&field.visibility, field_type(structure, generics, at));
        match &field.member {
            Member::Named(name) => quote!(#visibility #name: #ty),
            Member::Unnamed(_) => quote!(#visibility #ty),
        }
    });
    let fields = quote!(#(#fields),*);
    let body = if is_named { quote!(#conditions { #fields }) } else { quote!((#fields) #conditions;) };
    quote! {
        #[allow(
            dead_code, unreachable_pub, private_interfaces, private_bounds, non_camel_case_types,
            clippy::multiple_bound_locations
        )]
        pub struct #mirror #parameters #body
        #[automatically_derived]
        impl #parameters #root::__private::core::ops::Deref for #mirror #arguments #conditions {
            type Target = ();
            fn deref(&self) -> &() {
                &()
            }
        }
    }
}

/// The table of the fields.
fn fields(structure: &Structure, generics: &Generics) -> TokenStream {
    if !structure.is_good {
        return TokenStream::new();
    }
    let root = &structure.sealed.root;
    let fields = structure.fields.iter().enumerate().map(|(at, field)| {
        let ty = field_type(structure, generics, at);
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
