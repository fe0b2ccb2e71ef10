//! Emits the expansion of `strided!`.
//!
//! The expansion is a block with the constants as items, and one call. Generated names start with `__`, since the
//! user's constants are in the same scope. Every expression of the user is emitted once, and each call that can refuse
//! a region has the span of the region's brackets.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr, ExprRange, Member, RangeLimits};

use super::check::{Transfer, Way};
use super::parse::{Axis, Marked, Side, range};
use crate::messages::{Errors, respanned};
use crate::tokens::option;

pub(super) fn refused(errors: Errors) -> TokenStream {
    quote!({ #errors })
}

pub(super) fn transfer(transfer: &Transfer, errors: Errors) -> TokenStream {
    let body = if transfer.to.is_dynamic() || transfer.from.is_dynamic() {
        dynamic(transfer)
    } else {
        constant(transfer)
    };
    quote!({ #errors #body })
}

/// Emits a transfer with constant counts and strides. A `const` block computes them, because it can name generic parameters.
fn constant(transfer: &Transfer) -> TokenStream {
    let Transfer { root, way, to, from, equals, .. } = transfer;
    let sides = [(to, "__TO"), (from, "__FROM")];
    let sides = sides.map(|(side, name)| (side, Ident::new(name, Span::call_site())));
    // Where possible, a region is a `const` item, because `cargo check` evaluates such items.
    let items = sides.iter().filter(|(side, _)| side.is_nameable()).map(|(side, name)| {
        let region = constant_region(side, root, false);
        quote!(const #name: #root::__private::strided::Region<'static> = #region;)
    });
    let roles = match way {
        Way::Put { .. } => ["remote", "source"],
        Way::Get { .. } => ["destination", "remote"],
    };
    let checked = sides.iter().zip(roles).map(|((side, name), role)| {
        let role = Ident::new(role, side.span());
        let region = if side.is_nameable() { quote!(#name) } else { constant_region(side, root, true) };
        let root = respanned(root.clone(), side.span());
        // rustc shows errors about the object's type at the span of this `_`.
        let object = quote_spanned!(first(&side.object)=> _);
        quote_spanned!(side.span()=> #root::__private::strided::#role::<#object>(#region))
    });
    let (algorithm, at) = (algorithm(transfer), respanned(root.clone(), *equals));
    let constant = quote_spanned! {*equals=>
        #at::__private::strided::Constant::new(#(#checked,)* #algorithm)
    };
    let indices = [to, from].map(|side| {
        let indices = side.axes.iter().filter_map(Axis::open_index);
        quote!(#root::__private::strided::indices([#(#indices),*]))
    });
    let call = call(transfer, &quote!(#(#indices,)* &const { #constant },));
    let early = early(transfer, &sides);
    quote!(#(#items)* #early #call)
}

/// Emits a constant that checks the regions of statics, because `cargo check` evaluates it.
fn early(transfer: &Transfer, sides: &[(&Side, Ident)]) -> TokenStream {
    let regions = sides.iter().filter(|(side, _)| side.object.is_static() && side.is_nameable());
    let regions = regions.map(|(side, name)| {
        let (root, object) = (respanned(transfer.root.clone(), side.span()), &side.object);
        quote_spanned!(side.span()=> #root::__private::strided::region(&#name, &#object))
    });
    let checked = match &regions.collect::<Vec<_>>()[..] {
        [] => return TokenStream::new(),
        [to, from] => {
            let root = respanned(transfer.root.clone(), transfer.equals);
            quote_spanned!(transfer.equals=> let () = #root::__private::strided::agree(#to, #from);)
        }
        each => quote!(#(let _ = #each;)*),
    };
    quote!(const __REGION: () = { #checked };)
}

/// Emits a transfer with counts or strides known only at run time.
fn dynamic(transfer: &Transfer) -> TokenStream {
    let Transfer { root, to, from, .. } = transfer;
    let regions = [to, from].map(|side| dynamic_region(side, root));
    let (algorithm, at) = (algorithm(transfer), respanned(root.clone(), transfer.equals));
    let constant = quote_spanned!(transfer.equals=> #at::__private::strided::Constant::dynamic(#algorithm));
    call(transfer, &quote!(#(&#regions,)* &const { #constant },))
}

fn call(transfer: &Transfer, regions: &TokenStream) -> TokenStream {
    let Transfer { root, way, to, equals, from, .. } = transfer;
    let strided = quote!(#root::__private::strided);
    // rustc shows errors that concern both sides at the `=`.
    let at = respanned(strided.clone(), *equals);
    // The user's parentheses are replaced by new ones, about which rustc gives no warning.
    let object = |side: &Side| {
        let object = &side.object;
        if object.inside.is_some() { quote!((#object)) } else { quote!(#object) }
    };
    let shared = |side: &Side| {
        let object = object(side);
        quote_spanned!(first(&side.object)=> &#object)
    };
    let lent = |side: &Side| {
        let (object, lend) = (object(side), Ident::new("__strided_into", first(&side.object)));
        quote!(#object.#lend())
    };
    let on = |pe: &TokenStream| {
        let on = respanned(strided.clone(), first(pe));
        quote_spanned!(first(pe)=> #on::on(#pe))
    };
    let through = |token: &Expr, how: TokenStream| {
        let token = quote_spanned!(first(token)=> &#token);
        quote!(#strided::#how(#token),)
    };
    let (name, through, objects) = match way {
        Way::Put { token, pe } => {
            let (to, pe, from) = (shared(to), on(pe), shared(from));
            ("put", through(token, quote!(storing)), quote!(#to, #pe, #from))
        }
        Way::Get { token, pe } => {
            let (to, from, pe) = (lent(to), shared(from), on(pe));
            ("get", through(token, quote!(loading)), quote!(#to, #from, #pe))
        }
    };
    let name = Ident::new(name, *equals);
    let elements = [to, from].map(|side| elements(side, root));
    // Errors about a type are shown at the `_` that infers it.
    let objects_at = [first(&to.object), first(&from.object)];
    let inferred = [objects_at, objects_at, [to.span(), from.span()]].into_iter().flatten();
    let types = inferred.map(|span| quote_spanned!(span=> _,)).collect::<TokenStream>();
    let lend = (!matches!(way, Way::Put { .. })).then(|| quote!(use #strided::Lend as _;));
    quote! {
        #lend
        #at::#name::<#types _, _>(
            #through
            #objects,
            #regions
            #(#elements,)*
        );
    }
}

/// Returns the span of the first token of an expression.
fn first(expression: impl ToTokens) -> Span {
    expression.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

fn algorithm(transfer: &Transfer) -> TokenStream {
    let root = &transfer.root;
    option(transfer.algorithm.as_ref().map(|name| quote!(#root::__private::strided::Algorithm::#name)))
}

/// Emits a region of constant axes. Indices marked `dyn` are arguments of the call.
fn constant_region(side: &Side, root: &TokenStream, in_block: bool) -> TokenStream {
    let axes = side.axes.iter().map(|axis| match axis.open_index() {
        Some(_) => quote!(#root::__private::strided::Axis::dynamic()),
        None => self::axis(axis, root, side.span(), &|value| value.value.to_token_stream()),
    });
    let axes = quote!([#(#axes),*]);
    // In a `const` item, rustc promotes the axes to a static. In a block, the inner `const` block has the same effect.
    region(side, root, &if in_block { quote!(const { #axes }) } else { axes })
}

/// Emits a region that is made when the transfer runs. Its values without `dyn` are still constants.
fn dynamic_region(side: &Side, root: &TokenStream) -> TokenStream {
    let axes = side.axes.iter().map(|axis| {
        self::axis(axis, root, side.span(), &|Marked { dynamic, value }| match dynamic {
            Some(_) => value.to_token_stream(),
            None => quote!(const { #value }),
        })
    });
    region(side, root, &quote!([#(#axes),*]))
}

fn region(side: &Side, root: &TokenStream, axes: &TokenStream) -> TokenStream {
    let name = side.object.name();
    let fields = side.fields.iter().map(|step| {
        let names = step.iter().map(member_name);
        quote!(&[#(#names),*])
    });
    quote!(#root::__private::strided::Region::new(#name, &#axes, &[#(#fields),*]))
}

/// Emits one axis. `value` emits each expression of the axis.
fn axis(
    axis: &Axis,
    root: &TokenStream,
    span: Span,
    value: &dyn Fn(&Marked<&Expr>) -> TokenStream,
) -> TokenStream {
    let root = respanned(root.clone(), span);
    let path = quote_spanned!(span=> #root::__private::strided::Axis);
    let Axis { extent: Marked { dynamic, value: extent }, step, block } = axis;
    let given = |given: &Expr| value(&Marked { dynamic: *dynamic, value: given });
    let first = |first: &Option<Box<Expr>>| first.as_deref().map_or_else(|| quote!(0), given);
    let mut tokens = match range(extent) {
        None => {
            let index = given(extent);
            quote_spanned!(span=> #path::index(#index))
        }
        Some(ExprRange { start, limits, end: Some(end), .. }) => {
            let (start, end) = (first(start), given(end));
            let is_open = matches!(limits, RangeLimits::HalfOpen(_));
            let ends = Ident::new(if is_open { "range" } else { "through" }, span);
            quote_spanned!(span=> #path::#ends(#start, #end))
        }
        Some(ExprRange { start: Some(start), .. }) => {
            let start = given(start);
            quote_spanned!(span=> #path::from(#start))
        }
        Some(_) => quote_spanned!(span=> #path::all()),
    };
    for (what, given) in [("step", step), ("block", block)] {
        if let Some(Marked { dynamic, value: given }) = given {
            let what = Ident::new(what, span);
            let given = value(&Marked { dynamic: *dynamic, value: given });
            tokens = quote_spanned!(span=> #tokens.#what(#given));
        }
    }
    tokens
}

/// Emits a closure from a pointer to an element to pointers to the selected fields. rustc shows its errors at the region.
fn elements(side: &Side, root: &TokenStream) -> TokenStream {
    let span = side.span();
    let root = respanned(root.clone(), span);
    let strided = quote_spanned!(span=> #root::__private::strided);
    let field = |of: TokenStream, member: &Member| quote_spanned!(span=> #strided::field(#of, |__element| &raw const __element.#member));
    let element = side.fields.iter().fold(quote_spanned!(span=> __element), |of, step| match &step[..] {
        [member] => field(of, member),
        several => {
            let several = several.iter().map(|member| field(quote_spanned!(span=> __of), member));
            quote_spanned!(span=> { let __of = #of; #strided::run((#(#several),*)) })
        }
    });
    quote_spanned!(span=> |__element| #element)
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
