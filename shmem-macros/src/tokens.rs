//! Functions on tokens: make invisible groups visible, list names, write options.
//!
//! `macro_rules!` passes `$e:expr` on as a group with invisible delimiters. The compiler loses these delimiters in the
//! output of a macro (rust-lang/rust#67062), so that `$e * 2` becomes another number. So each macro first puts such a
//! group into parentheses where it would fall apart.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, Type};

/// Returns the tokens, with parentheses around each expression or type that would parse otherwise without its invisible group.
pub(crate) fn visible(tokens: impl Into<TokenStream>) -> TokenStream {
    let mut tokens = tokens.into().into_iter().peekable();
    let mut seen = TokenStream::new();
    let mut before = None;
    while let Some(token) = tokens.next() {
        let TokenTree::Group(group) = token else {
            before = Some(token.clone());
            seen.extend([token]);
            continue;
        };
        let inside = visible(group.stream());
        let falls_apart =
            group.delimiter() == Delimiter::None && falls_apart(before.as_ref(), &inside, tokens.peek());
        let delimiter = if falls_apart { Delimiter::Parenthesis } else { group.delimiter() };
        let mut shown = Group::new(delimiter, inside);
        // The parentheses have the macro's span, so that rustc gives no warning about needless parentheses.
        let span = if falls_apart { Span::call_site().located_at(group.span()) } else { group.span() };
        shown.set_span(span);
        before = None;
        seen.extend([TokenTree::Group(shown)]);
    }
    seen
}

/// Returns whether the token before or after `tokens` would bind to only a part of `tokens`.
fn falls_apart(before: Option<&TokenTree>, tokens: &TokenStream, next: Option<&TokenTree>) -> bool {
    let is_operator = |token: Option<&TokenTree>, others: &[char]| matches!(token, Some(TokenTree::Punct(punct)) if !others.contains(&punct.as_char()));
    let is_postfix = match next {
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), '.' | '?'),
        Some(TokenTree::Group(group)) => {
            matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Bracket)
        }
        _ => false,
    };
    if let Ok(expression) = syn::parse2(tokens.clone()) {
        return match expression {
            Expr::Binary(_) | Expr::Cast(_) => true,
            // A range alone in brackets is an axis of a region, which takes no parentheses.
            Expr::Range(_) => {
                is_postfix || is_operator(before, &[',', ';', '=']) || is_operator(next, &[',', ';'])
            }
            // Parenthesised only before a postfix: a type `&T` parses as a reference, and a literal `-1` may have to stand bare.
            Expr::Unary(_) | Expr::Reference(_) | Expr::Closure(_) => is_postfix,
            _ => false,
        };
    }
    match syn::parse2(tokens.clone()) {
        Ok(Type::TraitObject(object)) => object.bounds.len() > 1,
        Ok(Type::ImplTrait(some)) => some.bounds.len() > 1,
        _ => false,
    }
}

/// Returns all names in tokens, including those in groups.
pub(crate) fn names(tokens: TokenStream) -> Vec<Ident> {
    let names = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Ident(name) => vec![name],
        TokenTree::Group(group) => names(group.stream()),
        _ => Vec::new(),
    });
    names.collect()
}

/// Returns the tokens of an expression `Some(value)` or `None`.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tokens` as `macro_rules!` hands them on.
    fn handed_on(tokens: TokenStream) -> TokenTree {
        Group::new(Delimiter::None, tokens).into()
    }

    #[test]
    fn what_would_fall_apart_is_in_parentheses() {
        let group = |text: &str| handed_on(text.parse().unwrap());
        let [sum, negative, twice] = ["1 + 1", "-1", "|x| x * 2"].map(group);
        let [range, bounds] = ["0..4", "dyn A + B"].map(group);
        let product = handed_on(quote!(#sum * 2));
        for (tokens, shown) in [
            (quote!(#sum * 2), quote!((1 + 1) * 2)),
            (quote!([u64; -#sum]), quote!([u64; -(1 + 1)])),
            (quote!(#negative.abs()), quote!((-1).abs())),
            (quote!(#twice(3)), quote!((|x| x * 2)(3))),
            (quote!(f(&#range)), quote!(f(&(0..4)))),
            (quote!(#range == x), quote!((0..4) == x)),
            (quote!(&#bounds), quote!(&(dyn A + B))),
            (quote!(#product + 1), quote!(((1 + 1) * 2) + 1)),
        ] {
            assert_eq!(visible(tokens).to_string(), shown.to_string());
        }
    }

    #[test]
    fn what_is_one_stays_as_it_is() {
        for one in ["f(x)", "7", "a::b", "&str", "-1", "0..4", "doc = \"x\"", "pub(crate)"] {
            let group = handed_on(one.parse().unwrap());
            let tokens = quote!(f[#group], [#group; 2], x = #group);
            assert_eq!(visible(tokens.clone()).to_string(), tokens.to_string());
        }
    }
}
