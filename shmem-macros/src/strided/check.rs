//! Syntax checks of a `strided!` transfer.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use shmem_grammar::ALGORITHMS;
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprPath, UnOp};

use super::parse::{self, Axis, Marked, Object, Side, Written};
use crate::arguments;
use crate::messages::{self, Errors};

/// Upper limit on the fields that a region names in braces, as in `.{x, y}`.
const MAX_FIELDS: usize = 8;

pub(super) struct Transfer {
    pub(super) root: TokenStream,
    pub(super) way: Way,
    pub(super) to: Side,
    pub(super) equals: Span,
    pub(super) from: Side,
    /// The variant of `Algorithm`, if one is given.
    pub(super) algorithm: Option<Ident>,
}

pub(super) enum Way {
    /// A transfer to a PE, through the world or a context.
    Put { token: Expr, pe: TokenStream },
    /// A transfer from a PE, through the world or a context.
    Get { token: Expr, pe: TokenStream },
}

impl Side {
    /// Returns the span of the region's brackets.
    pub(super) fn span(&self) -> Span {
        self.bracket.span.join()
    }

    /// Returns whether a count or stride of the region is marked `dyn`.
    pub(super) fn is_dynamic(&self) -> bool {
        self.axes.iter().any(Axis::is_dynamic)
    }

    /// Returns whether the region can be a `const` item: no constant in it can name a generic parameter of the function around.
    pub(super) fn is_nameable(&self) -> bool {
        !self.axes.iter().flat_map(Axis::constants).any(|value| may_be_a_parameter(value.to_token_stream()))
    }
}

pub(super) fn transfer(written: Written, errors: &mut Errors) -> Option<Transfer> {
    let Written { token, arguments, to, equals, from } = written;
    let root = arguments.root(errors);
    let algorithm = arguments.read("algorithm", errors, algorithm);
    let way = match (token, &to.remote, &from.remote) {
        (_, Some(_), Some(second)) => {
            errors.push(second.at, messages::STRIDED_BOTH_REMOTE);
            None
        }
        (_, None, None) => {
            errors.push(&to.object, messages::STRIDED_NO_REMOTE);
            None
        }
        (token, Some(remote), None) => Some(Way::Put { token, pe: remote.pe.to_token_stream() }),
        (token, None, Some(remote)) => Some(Way::Get { token, pe: remote.pe.to_token_stream() }),
    };
    [&to, &from].into_iter().for_each(|side| check_side(side, errors));
    let way = way.filter(|_| errors.is_empty())?;
    let equals = equals.span;
    Some(Transfer { root, way, to, equals, from, algorithm })
}

fn algorithm(value: &arguments::Value) -> Result<Ident, String> {
    let find = |found: &str| ALGORITHMS.iter().find(|(name, _)| *name == found);
    let (_, variant) =
        value.one_of(find, |found| messages::unknown_algorithm(found, &ALGORITHMS.map(|(name, _)| name)))?;
    Ok(Ident::new(variant, Span::call_site()))
}

fn check_side(side: &Side, errors: &mut Errors) {
    if side.axes.is_empty() {
        errors.push_error(syn::Error::new(side.span(), messages::STRIDED_EMPTY));
    }
    side.axes.iter().for_each(|axis| check_axis(axis, errors));
    for step in &side.fields {
        for (number, field) in step.iter().enumerate() {
            if step[..number].contains(field) {
                errors.push(field, messages::field_twice(field.to_token_stream()));
            }
        }
        if let Some(field) = step.get(MAX_FIELDS) {
            errors.push(field, messages::too_many_fields(MAX_FIELDS));
        }
    }
}

fn check_axis(axis: &Axis, errors: &mut Errors) {
    let Axis { extent, step, block } = axis;
    let steps = [step.as_ref(), block.as_ref()];
    for value in [Some(extent)].into_iter().chain(steps).flatten() {
        require_constant(value, errors);
    }
    let bounds = parse::range(&extent.value).map(|range| [range.start.as_deref(), range.end.as_deref()]);
    let bounds =
        bounds.unwrap_or([Some(&extent.value), None]).map(|bound| (bound, messages::STRIDED_NEGATIVE_INDEX));
    let steps = steps.map(|step| (step.map(|step| &step.value), messages::STRIDED_NEGATIVE_STEP));
    let mut is_refused = false;
    for (value, message) in bounds.into_iter().chain(steps) {
        if let Some(value) = value.filter(|value| is_negative(value)) {
            errors.push(value, message);
            is_refused = true;
        }
    }
    if let (Some(step), Some(_), false) = (step, axis.index(), is_refused) {
        errors.push(step, messages::STRIDED_INDEX_STEP);
    }
}

fn is_negative(value: &Expr) -> bool {
    match value {
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)),
        Expr::Group(group) => is_negative(&group.expr),
        Expr::Paren(paren) => is_negative(&paren.expr),
        _ => false,
    }
}

/// Returns whether an expression may name a generic parameter, as `N`, `T::LEN`, `Self::LEN` and `size_of::<T>()` do.
/// Names behind `::` do not count.
fn may_be_a_parameter(tokens: TokenStream) -> bool {
    let mut colons = 0;
    tokens.into_iter().any(|token| {
        let before = std::mem::take(&mut colons);
        match token {
            TokenTree::Ident(name) => {
                let name = name.unraw().to_string();
                before != 2 && name.trim_start_matches('_').starts_with(char::is_uppercase)
            }
            TokenTree::Punct(punct) => {
                colons = if punct.as_char() == ':' { before + 1 } else { 0 };
                false
            }
            TokenTree::Group(group) => may_be_a_parameter(group.stream()),
            TokenTree::Literal(_) => false,
        }
    })
}

/// Refuses a variable without `dyn`, recognized by its lower-case name. rustc's own error would not name the remedy.
fn require_constant(Marked { dynamic, value }: &Marked<Expr>, errors: &mut Errors) {
    struct Search(Option<Ident>);
    impl VisitMut for Search {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            match expr {
                Expr::Block(_) | Expr::Closure(_) | Expr::Macro(_) => {}
                Expr::Call(call) => call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument)),
                Expr::Path(path) => {
                    let is_small = |name: &&Ident| name.to_string().starts_with(char::is_lowercase);
                    if let Some(name) = path.path.get_ident().filter(is_small) {
                        self.0.get_or_insert_with(|| name.clone());
                    }
                }
                other => visit_mut::visit_expr_mut(self, other),
            }
        }
    }
    if dynamic.is_none() {
        let mut search = Search(None);
        search.visit_expr_mut(&mut value.clone());
        if let Some(name) = search.0 {
            errors.push(&name, messages::not_a_constant(&name, messages::readable(value)));
        }
    }
}

impl Object {
    /// Returns whether the object's name looks like that of a static, which a constant can name.
    pub(super) fn is_static(&self) -> bool {
        let (Expr::Path(ExprPath { path, .. }), None) = (&self.expr, &self.inside) else { return false };
        let Some(name) = path.segments.last().map(|last| last.ident.to_string()) else { return false };
        let screams = |c: char| c.is_uppercase() || c.is_numeric() || c == '_';
        // A constant cannot name the `Self` of the enclosing `impl`.
        let is_of_self = path.segments.first().is_some_and(|first| first.ident == "Self");
        !is_of_self && name.starts_with(char::is_uppercase) && name.chars().all(screams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_parameter_is_not_in_an_item() {
        let nameable = "..| 3| 1..1 + 2 * 3; 2; 1| ..self::N| crate::sizes::N..=::sizes::M| ..usize::MAX| ..half(self::N)| dyn N";
        let others = "N| 0.._N| N..| ..; N| ..8; 4; N| ..Self::N| ..T::LEN| ..<T as Tile>::LEN| ..size_of::<T>()| \
            ..half::<N>()| ..half(N)| ..{ N }| ..max!(3, N)";
        for (extents, is_nameable) in [(nameable, true), (others, false)] {
            for extent in extents.split('|') {
                let mut errors = Errors::default();
                let body = format!("world, A@pe[..] = b[0, {extent}]").parse().unwrap();
                let transfer = transfer(parse::transfer(body, &mut errors).unwrap(), &mut errors).unwrap();
                assert!(errors.is_empty(), "{extent}");
                assert_eq!(transfer.from.is_nameable(), is_nameable, "{extent}");
            }
        }
    }
}
