//! Parses and checks functions with an attribute of this library, and rewrites each `#[symmetric] let` in them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, Item, ItemFn, Local, Pat, PathArguments, Signature, Type, parse_quote};

use super::phases;
use crate::arguments::{Arguments, MAIN, Owner, Value};
use crate::messages::{self, Errors};
use crate::symmetric;
use crate::tokens::names;

const LEVELS: &[&str] = &["single", "funneled", "serialized", "multiple"];

/// Parses the function. If the item is not a function, reports an error and returns the item as `Err`.
pub(super) fn parse(item: TokenStream, owner: &str, errors: &mut Errors) -> Result<ItemFn, TokenStream> {
    match syn::parse2(item.clone()) {
        Ok(Item::Fn(function)) => return Ok(function),
        Ok(_) => errors.push(&item, messages::not_a_function(owner)),
        Err(error) => errors.push_error(error),
    }
    let errors = std::mem::take(errors);
    Err(quote!(#errors #item))
}

/// Parses a function that the expansion calls, and sets the thread level of its world. Returns whether it can be called.
pub(super) fn entry(
    item: TokenStream,
    owner: Owner,
    arguments: &Arguments,
    root: &TokenStream,
    errors: &mut Errors,
) -> Result<(ItemFn, bool), TokenStream> {
    let level = arguments.read("threads", errors, level);
    let mut function = parse(item, owner.0, errors)?;
    if owner == MAIN && function.sig.ident != "main" {
        errors.push(&function.sig.ident, messages::MAIN_NAME);
    } else {
        check_entry(&function.sig, owner.0, errors);
    }
    if let Some(level) = level.filter(|_| errors.is_empty()) {
        set_level(&mut function.sig, &level, root, errors);
    }
    let can_be_called = errors.is_empty();
    rewrite_lets(&mut function, errors);
    phases::refuse_nested(&mut function);
    Ok((function, can_be_called))
}

/// Checks that a function that the expansion calls is a plain function with one parameter, the world.
fn check_entry(signature: &Signature, owner: &str, errors: &mut Errors) {
    let Signature { constness, asyncness, safety, abi, generics, variadic, .. } = signature;
    let qualifiers: [&dyn ToTokens; 5] = [constness, asyncness, abi, variadic, safety];
    let qualifiers =
        qualifiers.map(ToTokens::to_token_stream).into_iter().filter(|tokens| !tokens.is_empty());
    errors.extend(qualifiers.map(|tokens| (messages::qualified_function(owner, &tokens), tokens)));
    if generics.type_params().next().is_some() || generics.const_params().next().is_some() {
        errors.push(generics, messages::generic_function(owner));
    }
    match signature.inputs.first() {
        Some(FnArg::Typed(parameter)) if signature.inputs.len() == 1 => {
            if !matches!(&*parameter.ty, Type::Reference(reference) if reference.mutability.is_some()) {
                errors.push(&parameter.ty, messages::WORLD_TYPE);
            }
        }
        Some(_) => errors.push(&signature.inputs, messages::one_world(owner)),
        None => errors.push(&signature.ident, messages::one_world(owner)),
    }
}

fn level(value: &Value) -> Result<Ident, String> {
    let find = |found: &str| LEVELS.iter().find(|level| level.eq_ignore_ascii_case(found));
    let level = value.one_of(find, |found| messages::unknown_value("thread level", found, LEVELS))?;
    Ok(Ident::new(&(level[..1].to_uppercase() + &level[1..]), Span::call_site()))
}

/// Writes the thread level into the type of the world: `World` becomes `World<Multiple>`.
fn set_level(signature: &mut Signature, level: &Ident, root: &TokenStream, errors: &mut Errors) {
    let Some(FnArg::Typed(parameter)) = signature.inputs.first_mut() else { return };
    let Type::Reference(reference) = &mut *parameter.ty else { return };
    match &mut *reference.elem {
        Type::Path(world) if world.path.segments.last().is_some_and(|last| last.ident == "World") => {
            let arguments = &mut world.path.segments.last_mut().expect("seen above").arguments;
            if arguments.is_none() {
                *arguments = PathArguments::AngleBracketed(parse_quote!(<#root::__private::#level>));
            } else {
                errors.push(arguments, messages::LEVEL_TWICE);
            }
        }
        other => errors.push(other, messages::WORLD_TYPE),
    }
}

/// Rewrites each `#[symmetric] let` of the function into an allocation from its first parameter of type `World`.
pub(super) fn rewrite_lets(function: &mut ItemFn, errors: &mut Errors) {
    let world = function.sig.inputs.iter().find_map(world);
    Lets { world, errors }.visit_block_mut(&mut function.block);
}

/// Returns an expression that is a reference to the world, if the parameter is a world.
fn world(parameter: &FnArg) -> Option<TokenStream> {
    let FnArg::Typed(parameter) = parameter else { return None };
    let Pat::Ident(name) = &*parameter.pat else { return None };
    let name = &name.ident;
    let world = match &*parameter.ty {
        Type::Reference(reference) if reference.mutability.is_some() => quote!(&*#name),
        Type::Reference(_) => quote!(#name),
        _ => quote!(&#name),
    };
    names(parameter.ty.to_token_stream()).iter().any(|name| name == "World").then_some(world)
}

struct Lets<'a> {
    world: Option<TokenStream>,
    errors: &'a mut Errors,
}

impl VisitMut for Lets<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        visit_mut::visit_local_mut(self, local);
        symmetric::rewrite(local, self.world.as_ref(), self.errors);
    }

    // An inner function does not see the outer one's parameters.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Returns the function as `__body`, without attributes, for use inside the function that replaces it.
pub(super) fn body(function: &ItemFn) -> TokenStream {
    let mut function = function.clone();
    function.attrs.clear();
    function.vis = syn::Visibility::Inherited;
    function.sig.ident = Ident::new("__body", function.sig.ident.span());
    function.into_token_stream()
}
