//! Emits the expansion of `#[symmetric]`.
//!
//! A static becomes a handle, followed by a constant with checks that rustc evaluates. The value of the handle is a block with
//! a descriptor in the linker section `shmem_sym`. Generated names start with `__`, since the user's type and initial value are
//! in the same scope. The keyword `unsafe` has the span of the macro call, so that a crate that forbids unsafe code can use the
//! attribute. For the same reason an `unsafe` block contains no code of the user: only a call of a library function with names.
//!
//! The path of the library may lead to an imitation, which cannot make objects for this library: a handle is made from
//! its descriptor by a function of the descriptor's type, so an imitation's descriptor gives an imitation's handle. Nor
//! can it forge a record in the section, because a record contains a type that only the library can name (`Library`).
//! The remaining checks only improve error texts: without them, the start refuses an object that cannot be placed, and
//! contents of a wrong type cannot be used.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Local, LocalInit, Pat, Token, parse_quote};

use super::Static;
use super::check::{Binding, Placement};
use crate::library::{self, Sealed};
use crate::messages::{self, Errors, readable, respanned};

pub(super) fn object(
    declared: &Static,
    is_judged: bool,
    placement: &Placement,
    mut errors: Errors,
) -> TokenStream {
    let Placement { root, promise, partition, pgsize, .. } = placement;
    let Static { attributes, visibility, name, contents, image, .. } = declared;
    let contents = contents.to_token_stream();
    // The checks have the `cfg` attributes of the static, because without the static they would not compile.
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let text = name.to_string();
    let bytes = pgsize.as_ref().map_or(0, |pgsize| pgsize.bytes);
    let Some(sealed) = library::sealed(root, *promise, &mut errors) else {
        return quote!(#errors);
    };
    let errors = errors.into_sealed(&sealed);
    let Sealed { begin, promise, root: sealed_root } = sealed;
    let holds = is_judged.then(|| holds(name, &contents, &sealed_root));
    let require_pages = pgsize.as_ref().map(|pgsize| {
        let root = respanned(sealed_root.clone(), pgsize.span);
        quote_spanned!(pgsize.span=> #root::__private::require_pages(&__PARTITION, #bytes);)
    });
    let name_root = respanned(sealed_root.clone(), name.span());
    let require_room = quote_spanned!(name.span()=>
        #name_root::__private::require_room(&__PARTITION, #text, &#name);
    );
    let core = quote!(#root::__private::core);
    let (image, image_reference) = match image {
        None => (None, quote!(#core::option::Option::None)),
        Some(image) => {
            (Some(quote!(static __IMAGE: #contents = #image;)), quote!(#core::option::Option::Some(&__IMAGE)))
        }
    };
    // The span of the name makes `line!` return the line of the name.
    let (name_core, at) = (respanned(core.clone(), name.span()), name.span());
    let line = quote_spanned!(at=> #name_core::line!());
    // The partition is named by two paths of the library. A wrong partition gives equal errors for both, which rustc shows once.
    let declaration = |root: &TokenStream| quote!(<#partition as #root::__private::Partition>::DECLARATION);
    let (declared, checked) = (declaration(root), declaration(&sealed_root));
    quote! {
        #errors
        #(#attributes)*
        #visibility static #name: #root::__private::Symmetric<#contents> = {
            #image
            #[used]
            #[unsafe(link_section = "shmem_sym")]
            static __DESCRIPTOR: #root::__private::Descriptor = {
                let (__object, __image) = (&#name, #image_reference);
                let (__module, __file, __line) = (#core::module_path!(), #core::file!(), #line);
                const __PARTITION: #root::__private::Declaration = #declared;
                unsafe {
                    #root::__private::Descriptor::new(
                        __object, __image, __PARTITION, #bytes, #text, __module, __file, __line,
                    )
                }
            };
            unsafe { #root::__private::Symmetric::__described(&__DESCRIPTOR) }
        };
        #(#conditions)*
        const _: () = {
            #begin
            #promise
            #holds
            const __PARTITION: #sealed_root::__private::Declaration = #checked;
            #require_pages
            #require_room
        };
    }
}

/// Emits the check that the contents may be in symmetric memory. A type that is called like the static makes the static's name
/// appear in the error text. The type of the contents is inferred, because rustc would report an error in a written type twice.
fn holds(name: &Ident, contents: &TokenStream, root: &TokenStream) -> TokenStream {
    let (first, last) = messages::ends(contents);
    let (checked, end) = (Ident::new("CHECKED", last), quote_spanned!(last=> >));
    let holder = respanned(quote!(#root::__private::ContentsOf<<() as __Named>::Name>), first);
    let checked = quote_spanned!(first=> <__Contents<_ #end as #holder>::#checked);
    quote! {
        trait __Named {
            type Name;
        }
        #[allow(non_camel_case_types, non_local_definitions, clippy::upper_case_acronyms)]
        const _: () = {
            pub enum #name {}
            impl __Named for () {
                type Name = #name;
            }
        };
        type __Contents<T> = T;
        let _ = [#root::__private::contents_of(&#name), #checked];
    }
}

/// Upper limit on the bytes of initial contents that an error text repeats.
const LONGEST_INITIAL: usize = 40;

/// Expands a `let` outside of functions with an attribute of this library: to an error, and a `let` of the right type.
pub(super) fn unattached(
    local: &Local,
    binding: Option<&Binding>,
    placement: &Placement,
    mut errors: Errors,
) -> TokenStream {
    if errors.is_empty() {
        let initial = local.init.as_ref().map(|init| readable(&init.expr));
        let initial =
            initial.filter(|text| text.len() <= LONGEST_INITIAL).unwrap_or_else(|| "contents".to_owned());
        let call = match &placement.partition_text {
            Some(partition) => format!("world.alloc_in::<{partition}, _>({initial})?"),
            None => format!("world.alloc({initial})?"),
        };
        errors.push(&local.pat, messages::let_outside(call));
    }
    let mut local = local.clone();
    // The `default` partition stands in for the named partition, so that no error about the name follows.
    let root = &placement.root;
    refuse(&mut local, binding, root, &quote!(#root::__private::default));
    quote!(#errors #local)
}

/// Turns a `let` into an allocation from `world`.
pub(super) fn attach(
    local: &mut Local,
    binding: Option<&Binding>,
    placement: &Placement,
    world: Option<&TokenStream>,
    errors: &mut Errors,
) {
    if world.is_none() {
        errors.push(&local.pat, messages::LET_WORLD);
    }
    let (Some(world), Some(Binding { name, initial, span })) = (world, binding) else {
        return refuse(local, binding, &placement.root, &placement.partition);
    };
    let Placement { root, partition, pgsize, .. } = placement;
    let bytes = pgsize.as_ref().map_or(0, |pgsize| pgsize.bytes);
    let declaration = quote!(<#partition as #root::__private::Partition>::DECLARATION);
    // The partition's path is emitted once, because rustc would report an error in it twice. The check of page sizes needs
    // it in a constant, which cannot name a type parameter of the function. So there is a constant only with `pgsize`.
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
    // With the span of the contents, errors about their type are shown there, and diagnostics at run time name their line.
    let root = respanned(root.clone(), *span);
    let call = quote_spanned! {*span=>
        #root::__private::alloc_in(#world, #name, &#declaration, #initial, #bytes)?
    };
    set(local, quote!({ #require_pages #call }));
    // If the variable is unused, rustc warns about the variable, and would also warn about the value assigned here.
    local.attrs.push(parse_quote!(#[allow(unused_assignments)]));
}

/// Gives a refused `let` an expression of the right type, which never runs because the program does not compile.
fn refuse(local: &mut Local, binding: Option<&Binding>, root: &TokenStream, partition: &TokenStream) {
    let value = match (binding, &local.pat) {
        (Some(Binding { initial, .. }), _) => {
            quote!(#root::__private::refused_box::<#partition, _>(#initial))
        }
        (None, Pat::Type(_)) => quote!(#root::__private::refused()),
        (None, _) => return,
    };
    set(local, value);
}

fn set(local: &mut Local, value: TokenStream) {
    let expr = Box::new(Expr::Verbatim(value));
    // A pattern other than a name keeps its `else` branch, because rustc would report a missing branch as a second error.
    let diverge = local.init.take().and_then(|init| init.diverge).filter(|_| !is_name(&local.pat));
    local.init = Some(LocalInit { eq_token: <Token![=]>::default(), expr, diverge });
}

fn is_name(pattern: &Pat) -> bool {
    match pattern {
        Pat::Type(typed) => is_name(&typed.pat),
        other => matches!(other, Pat::Ident(_)),
    }
}
