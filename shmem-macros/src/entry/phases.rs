//! Refuses uses of the world inside its own phases (the closures of `world.local`, `world.frozen` and the like), as in
//! `world.local(&A, |a| world.local(&B, ..))` and `world.local(&A, |a| world.put(..))`.
//!
//! rustc refuses such a use by two borrow errors, neither of which names phases. In a function with an attribute of this library,
//! the macro replaces the use by one error that names the remedy. rustc adds no error of its own, because it does not check borrows
//! of an expression that contains an error.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, FnArg, Item, ItemFn, Macro, Pat, PatIdent, Stmt, Type};

use crate::messages;

const PHASES: &[&str] = &["local", "local_with_exchanges", "frozen"];

/// Refuses uses of the function's `&mut World` in the closures of the methods [`PHASES`] of that world.
pub(super) fn refuse_nested(function: &mut ItemFn) {
    let mut worlds: Vec<_> = function.sig.inputs.iter().filter_map(world).collect();
    // A name that a pattern binds again may no longer be the world, so its uses are left to rustc.
    Others(&mut worlds).visit_block_mut(&mut function.block);
    Search { worlds, outer: None }.visit_block_mut(&mut function.block);
}

/// The names of worlds. As a visitor, removes each name that a pattern in the function binds again.
struct Others<'a>(&'a mut Vec<Ident>);

impl VisitMut for Others<'_> {
    fn visit_pat_ident_mut(&mut self, name: &mut PatIdent) {
        self.0.retain(|world| *world != name.ident);
        visit_mut::visit_pat_ident_mut(self, name);
    }
}

/// Returns the name of a parameter `world: &mut World`.
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
    /// The method in whose closure (phase) the search is.
    outer: Option<Ident>,
}

impl Search {
    fn is_world(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        path.path.get_ident().is_some_and(|name| self.worlds.contains(name))
    }

    fn opens(&self, call: &ExprMethodCall) -> bool {
        self.is_world(&call.receiver)
            && PHASES.iter().any(|phase| call.method == phase)
            && matches!(call.args.last(), Some(Expr::Closure(_)))
    }

    /// Returns the error that replaces an expression in the closure of the method `outer`, if the expression uses the world.
    fn misuse(&self, expr: &Expr, outer: &Ident) -> Option<Expr> {
        match expr {
            Expr::MethodCall(call) if self.opens(call) => {
                Some(error(&call.method, messages::phase_inside_a_phase(outer, &call.method)))
            }
            Expr::MethodCall(call) if self.is_world(&call.receiver) => {
                Some(world_inside(&call.method, outer, &call.method))
            }
            Expr::Path(path) if self.is_world(expr) => {
                let name = path.path.get_ident()?;
                Some(world_inside(name, outer, name))
            }
            Expr::Macro(call) => self.misuse_in_macro(&call.mac, outer),
            _ => None,
        }
    }

    fn misuse_in_macro(&self, call: &Macro, outer: &Ident) -> Option<Expr> {
        let name = find(call.tokens.clone(), &|name| self.worlds.contains(name))?;
        Some(world_inside(&name, outer, &call.path.segments.last()?.ident))
    }
}

fn world_inside(at: &Ident, outer: &Ident, used: &Ident) -> Expr {
    error(at, messages::world_inside_a_phase(&outer.to_string(), used))
}

fn error(at: &Ident, message: String) -> Expr {
    let error = syn::Error::new(at.span(), message).to_compile_error();
    Expr::Verbatim(quote::quote!({ #error }))
}

/// Finds the first wanted name in tokens. Names of fields do not count, such as `world` in `config.world` and in `world: 3`.
fn find(tokens: TokenStream, is_wanted: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    let is = |token: Option<&TokenTree>, mark| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
    let (mut before, mut tokens) = (None, tokens.into_iter().peekable());
    while let Some(token) = tokens.next() {
        let is_field = is(before.as_ref(), '.') || is(tokens.peek(), ':');
        let found = match &token {
            TokenTree::Ident(name) => (is_wanted(name) && !is_field).then(|| name.clone()),
            TokenTree::Group(group) => find(group.stream(), is_wanted),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        before = Some(token);
    }
    None
}

impl VisitMut for Search {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(outer) = &self.outer {
            match self.misuse(expr, outer) {
                Some(misuse) => *expr = misuse,
                None => visit_mut::visit_expr_mut(self, expr),
            }
            return;
        }
        match expr {
            Expr::MethodCall(call) if self.opens(call) => {
                let method = call.method.clone();
                if let Some(body) = call.args.last_mut() {
                    self.outer = Some(method);
                    self.visit_expr_mut(body);
                    self.outer = None;
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let (Some(outer), Stmt::Macro(call)) = (&self.outer, &*stmt)
            && let Some(misuse) = self.misuse_in_macro(&call.mac, outer)
        {
            *stmt = Stmt::Expr(misuse, call.semi_token);
            return;
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    // An inner function does not see the outer one's parameters.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
