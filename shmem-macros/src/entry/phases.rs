//! A phase inside a phase: `world.local(&A, |a| world.local(&B, ..))`.
//!
//! rustc refuses it twice, by borrows of the world, and knows no remedy. Where an attribute sees the function, the inner
//! one becomes an error with the remedy: what contains an error is not looked at for borrows.

use proc_macro2::Ident;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, FnArg, Item, ItemFn, Pat, PatIdent, Type};

use crate::diag;

/// The methods that open a phase.
const PHASES: &[&str] = &["local", "local_with_halos", "local_with_exchanges", "frozen"];

/// Refuses phases of the world that a function was given exclusively, inside others.
pub(super) fn refuse_nested(function: &mut ItemFn) {
    let mut worlds: Vec<_> = function.sig.inputs.iter().filter_map(world).collect();
    // Something else may have the name of a world in there.
    Others(&mut worlds).visit_block_mut(&mut function.block);
    Search { worlds, outer: None }.visit_block_mut(&mut function.block);
}

/// Takes out the names that stand for something else, too.
struct Others<'a>(&'a mut Vec<Ident>);

impl VisitMut for Others<'_> {
    fn visit_pat_ident_mut(&mut self, name: &mut PatIdent) {
        self.0.retain(|world| *world != name.ident);
        visit_mut::visit_pat_ident_mut(self, name);
    }
}

/// The name of a parameter `world: &mut World`.
fn world(parameter: &FnArg) -> Option<Ident> {
    let FnArg::Typed(parameter) = parameter else { return None };
    let Pat::Ident(name) = &*parameter.pat else { return None };
    let Type::Reference(reference) = &*parameter.ty else { return None };
    let Type::Path(path) = &*reference.elem else { return None };
    let is_world = path.path.segments.last().is_some_and(|last| last.ident == "World");
    (is_world && reference.mutability.is_some()).then(|| name.ident.clone())
}

struct Search {
    worlds: Vec<Ident>,
    /// What the phase is opened by in whose body this is.
    outer: Option<Ident>,
}

impl Search {
    fn opens(&self, call: &ExprMethodCall) -> bool {
        let receiver = match &*call.receiver {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        receiver.is_some_and(|name| self.worlds.contains(name))
            && PHASES.iter().any(|phase| call.method == phase)
            && matches!(call.args.last(), Some(Expr::Closure(_)))
    }
}

impl VisitMut for Search {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let Expr::MethodCall(call) = expr else { return visit_mut::visit_expr_mut(self, expr) };
        if !self.opens(call) {
            return visit_mut::visit_expr_mut(self, expr);
        }
        if let Some(outer) = &self.outer {
            let message = diag::phase_inside_a_phase(&outer.to_string(), &call.method.to_string());
            let error = syn::Error::new(call.method.span(), message).to_compile_error();
            *expr = Expr::Verbatim(quote::quote!({ #error }));
            return;
        }
        self.outer = Some(call.method.clone());
        visit_mut::visit_expr_mut(self, expr);
        self.outer = None;
    }

    // A function inside the function does not see its parameters.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
