//! `#[symmetric]` on a `static` and on a `let`.

mod check;
mod emit;
mod parse;

use proc_macro2::TokenStream;
use syn::Local;

use crate::arguments::Arguments;
use crate::diag::Errors;

const OWNER: &str = "`#[symmetric]`";
const ARGUMENTS: &[&str] = &["partition", "pgsize"];

/// Expands the attribute with `arguments` on `item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut arguments = Arguments::parse(arguments, OWNER, ARGUMENTS, &mut errors);
    let placement = check::placement(&mut arguments, &mut errors);
    match parse::item(item, &mut errors) {
        parse::Item::Static(declared) => {
            let object = check::object(*declared, &mut errors);
            emit::object(&object, &placement, errors)
        }
        parse::Item::Let(local) => {
            let binding = check::binding(&local, &mut errors);
            emit::unattached(&local, binding.as_ref(), &placement, errors)
        }
        parse::Item::Other(tokens) => emit::unchanged(tokens, errors),
    }
}

/// Rewrites a `let` that carries the attribute into an allocation from `world`, in a function whose
/// own attribute looks for such. `world` is an expression for a reference to it.
pub(crate) fn rewrite(local: &mut Local, world: Option<&TokenStream>, errors: &mut Errors) {
    let Some(arguments) = parse::attribute(local) else { return };
    let mut arguments = Arguments::parse(arguments, OWNER, ARGUMENTS, errors);
    let placement = check::placement(&mut arguments, errors);
    let binding = check::binding(local, errors);
    emit::attach(local, binding.as_ref(), &placement, world, errors);
}
