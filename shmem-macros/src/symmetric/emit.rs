//! The expansion of `#[symmetric]`.
//!
//! A static becomes its handle and, in a block of its own, a descriptor in the section `shmem_sym`
//! and the checks that only rustc can make. Names made up here start with `__`: the user's type and
//! initial value stand in the same scope and must not meet them. Tokens of `unsafe` carry the span
//! of the call, not of the user's code, so that a crate that forbids unsafe code can use the
//! attribute.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr, Local, LocalInit, Pat, Token};

use super::check::{Binding, Object, Placement};
use crate::diag::{self, Errors, respanned};

/// A static.
pub(super) fn object(object: &Object, placement: &Placement, errors: Errors) -> TokenStream {
    let Placement { root, partition, pgsize, .. } = placement;
    let Object { attributes, visibility, name, contents, image, refused } = object;
    // Without the static there must be no descriptor of it either.
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let text = name.to_string();
    let bytes = pgsize.as_ref().map_or(0, |pgsize| pgsize.bytes);
    let holds = (!refused).then(|| holds(&text, contents, root));
    let require_pages = pgsize.as_ref().map(|pgsize| {
        let root = respanned(root.clone(), pgsize.span);
        quote_spanned!(pgsize.span=> #root::__private::require_pages(&__PARTITION, #bytes);)
    });
    let name_root = respanned(root.clone(), name.span());
    let require_room = quote_spanned!(name.span()=>
        #name_root::__private::require_room(&__PARTITION, #text, &#name);
    );
    let (image, image_reference) = match image {
        None => (None, quote!(::core::option::Option::None)),
        Some(image) => (
            Some(quote!(static __IMAGE: #contents = #image;)),
            quote!(::core::option::Option::Some(&__IMAGE)),
        ),
    };
    let module = quote!(::core::module_path!());
    // Spanned at the name: `line!` gives the line of the name then, not that of the attribute.
    let (file, line) = (quote!(::core::file!()), quote_spanned!(name.span()=> ::core::line!()));
    let errors = errors.into_tokens();
    quote! {
        #errors
        #(#attributes)*
        #visibility static #name: #root::__private::Symmetric<#contents> =
            unsafe { #root::__private::Symmetric::__new() };
        #(#conditions)*
        const _: () = {
            #holds
            const __PARTITION: #root::__private::Declaration =
                <#partition as #root::__private::Partition>::DECLARATION;
            #require_pages
            #require_room
            #image
            #[used]
            #[unsafe(link_section = "shmem_sym")]
            static __DESCRIPTOR: #root::__private::Descriptor = unsafe {
                #root::__private::Descriptor::new(
                    &#name, #image_reference, __PARTITION, #bytes, #text, #module, #file, #line,
                )
            };
        };
    }
}

/// The check that the contents may live in symmetric memory: a trait for this one object, so that
/// the message can name it and nothing else is said. Asking for a constant of the trait, and not
/// for a function bounded by it, leaves out "required by a bound in ..".
fn holds(name: &str, contents: &TokenStream, root: &TokenStream) -> TokenStream {
    let message = diag::holds(name);
    let (label, note, derive) = (diag::HOLDS_LABEL, diag::HOLDS_NOTE, diag::HOLDS_DERIVE_NOTE);
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note, note = #derive)]
        trait __Holds {
            const CHECKED: () = ();
        }
        #[diagnostic::do_not_recommend]
        impl<T: #root::__private::SymmetricData> __Holds for T {}
        let () = <#contents as __Holds>::CHECKED;
    }
}

/// An item that the attribute cannot stand on.
pub(super) fn unchanged(item: TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.into_tokens();
    quote!(#errors #item)
}

/// A `let` that no attribute on the function saw: the sentence, and a `let` of the right type.
pub(super) fn unattached(
    local: &Local,
    binding: Option<&Binding>,
    placement: &Placement,
    mut errors: Errors,
) -> TokenStream {
    if errors.is_empty() {
        let call = format!("world.alloc_in::<{}, _>(..)?", placement.partition_text);
        errors.push(&local.pat, diag::let_outside(&call));
    }
    let mut local = local.clone();
    refuse(&mut local, binding, placement);
    let errors = errors.into_tokens();
    quote!(#errors #local)
}

/// A `let` that becomes an allocation.
pub(super) fn attach(
    local: &mut Local,
    binding: Option<&Binding>,
    placement: &Placement,
    world: Option<&TokenStream>,
    errors: &mut Errors,
) {
    if world.is_none() {
        errors.push(&local.pat, diag::LET_WORLD);
    }
    let (Some(world), Some(Binding { initial, span })) = (world, binding) else {
        return refuse(local, binding, placement);
    };
    let Placement { root, partition, pgsize, .. } = placement;
    let bytes = pgsize.as_ref().map_or(0, |pgsize| pgsize.bytes);
    let declaration = quote!(<#partition as #root::__private::Partition>::DECLARATION);
    // The partition is named once, or rustc says everything about it twice. A constant can be
    // checked, but cannot name a type parameter of the function: it is there only if it must be.
    let (require_pages, declaration) = match pgsize {
        None => (None, declaration),
        Some(pgsize) => {
            let at = respanned(root.clone(), pgsize.span);
            let require = quote_spanned!(pgsize.span=> #at::__private::require_pages(&__PARTITION, #bytes));
            let constants = quote! {
                const __PARTITION: #root::__private::Declaration = #declaration;
                const _: () = #require;
            };
            (Some(constants), quote!(__PARTITION))
        }
    };
    // Spanned at the contents: errors about their type stand there, and so does the line that a
    // message at run time names.
    let root = respanned(root.clone(), *span);
    let call = quote_spanned! {*span=>
        #root::__private::alloc_in(#world, &#declaration, #initial, #bytes)?
    };
    set(local, quote!({ #require_pages #call }));
}

/// Gives a `let` that was reported a value of the right type, which is never made.
fn refuse(local: &mut Local, binding: Option<&Binding>, placement: &Placement) {
    let root = &placement.root;
    let value = match (binding, &local.pat) {
        (Some(Binding { initial, .. }), _) => {
            let partition = &placement.partition;
            quote!(#root::__private::refused_box::<#partition, _>(#initial))
        }
        (None, Pat::Type(_)) => quote!(#root::__private::refused()),
        (None, _) => return,
    };
    set(local, value);
}

fn set(local: &mut Local, value: TokenStream) {
    let expr = Box::new(Expr::Verbatim(value));
    // A pattern that needs its `else` was reported for what it is; without `else` it would be twice.
    let diverge = local.init.take().and_then(|init| init.diverge).filter(|_| !is_name(&local.pat));
    local.init = Some(LocalInit { eq_token: <Token![=]>::default(), expr, diverge });
}

fn is_name(pattern: &Pat) -> bool {
    match pattern {
        Pat::Type(typed) => is_name(&typed.pat),
        other => matches!(other, Pat::Ident(_)),
    }
}
