//! Parses the syntax of a `strided!` transfer.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Expr, ExprRange, Ident, Index, LitFloat, LitInt, Member, Path, Token, bracketed, parenthesized, token,
};

use crate::arguments::{Arguments, STRIDED};
use crate::messages::{self, Errors};

pub(super) struct Written {
    /// The first argument of the macro: the world or a context.
    pub(super) token: Expr,
    pub(super) arguments: Arguments,
    pub(super) to: Side,
    pub(super) equals: Token![=],
    pub(super) from: Side,
}

pub(super) struct Side {
    pub(super) object: Object,
    pub(super) remote: Option<Remote>,
    pub(super) bracket: token::Bracket,
    pub(super) axes: Vec<Axis>,
    /// The steps from an element into its fields. Each step names one field, and the last step may name several.
    pub(super) fields: Vec<Vec<Member>>,
}

/// The object of a region, or the PE: a path with members, or an expression in parentheses.
pub(super) struct Object {
    pub(super) expr: Expr,
    /// The source text of an object that is an expression in parentheses.
    pub(super) inside: Option<String>,
}

/// The PE of a region: `@pe` behind the object.
pub(super) struct Remote {
    pub(super) at: Token![@],
    pub(super) pe: Object,
}

/// The part of a region in one dimension.
pub(super) struct Axis {
    pub(super) extent: Marked<Expr>,
    pub(super) step: Option<Marked<Expr>>,
    pub(super) block: Option<Marked<Expr>>,
}

/// An expression that is a constant unless it is marked `dyn`.
pub(super) struct Marked<T> {
    pub(super) dynamic: Option<Token![dyn]>,
    pub(super) value: T,
}

impl Axis {
    /// Returns the index of the axis, if the axis is not a range.
    pub(super) fn index(&self) -> Option<&Marked<Expr>> {
        Some(&self.extent).filter(|extent| range(&extent.value).is_none())
    }

    /// Returns the index of the axis, if the index is marked `dyn`.
    pub(super) fn open_index(&self) -> Option<&Expr> {
        self.index().filter(|index| index.dynamic.is_some()).map(|index| &index.value)
    }

    /// Returns whether a count or stride of the axis is marked `dyn`.
    pub(super) fn is_dynamic(&self) -> bool {
        let values = [Some(&self.extent), self.step.as_ref(), self.block.as_ref()];
        self.index().is_none() && values.into_iter().flatten().any(|value| value.dynamic.is_some())
    }

    /// Returns the constant expressions of the axis, if its count and strides are constants.
    pub(super) fn constants(&self) -> impl Iterator<Item = &Expr> {
        let Self { extent: Marked { dynamic, value }, step, block } = self;
        let bounds = match range(value) {
            Some(range) => [range.start.as_deref(), range.end.as_deref()],
            None => [Some(value).filter(|_| dynamic.is_none()), None],
        };
        let steps = [step, block].map(|step| step.as_ref().map(|step| &step.value));
        bounds.into_iter().chain(steps).flatten()
    }
}

pub(super) fn transfer(body: TokenStream, errors: &mut Errors) -> Option<Written> {
    let parser = |input: ParseStream| {
        let token = token(input)?;
        let arguments = Arguments::parse(arguments(input)?, STRIDED, errors);
        let to = input.parse()?;
        if !input.peek(Token![=]) {
            return Err(input.error(messages::STRIDED_EQUALS));
        }
        let equals = input.parse()?;
        let from = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error(messages::STRIDED_END));
        }
        Ok(Written { token, arguments, to, equals, from })
    };
    parser.parse2(body).map_err(|error| errors.push_error(error)).ok()
}

/// Parses the first argument. Checks for its comma first, because without it the program began with a region, which is no
/// expression.
fn token(input: ParseStream) -> syn::Result<Expr> {
    let ahead: TokenStream = input.fork().parse()?;
    let punct = ahead.into_iter().find_map(|token| match token {
        TokenTree::Punct(punct) => Some(punct.as_char()).filter(|punct| matches!(punct, ',' | '=' | '@')),
        _ => None,
    });
    if punct != Some(',') {
        return Err(input.error(messages::STRIDED_TOKEN));
    }
    let token = input.parse()?;
    input.parse::<Token![,]>()?;
    Ok(token)
}

/// Returns the tokens before a `;`. (A `;` of a region is in brackets.)
fn arguments(input: ParseStream) -> syn::Result<TokenStream> {
    let ahead: TokenStream = input.fork().parse()?;
    let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
    if !ahead.into_iter().any(|token| is_end(&token)) {
        if input.peek(Ident::peek_any) && input.peek2(Token![=]) {
            return Err(input.error(messages::STRIDED_OPTIONS));
        }
        return Ok(TokenStream::new());
    }
    let mut found = TokenStream::new();
    loop {
        let token = input.parse::<TokenTree>()?;
        if is_end(&token) {
            return Ok(found);
        }
        found.append(token);
    }
}

impl Parse for Side {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let object = Object::parse(input, messages::STRIDED_PLACE)?;
        let remote = match input.parse::<Option<Token![@]>>()? {
            None => None,
            Some(at) => {
                if !input.peek(token::Paren) && !input.peek(Token![::]) && !input.peek(Ident::peek_any) {
                    return Err(syn::Error::new_spanned(at, messages::STRIDED_PE));
                }
                Some(Remote { at, pe: Object::parse(input, messages::STRIDED_PE)? })
            }
        };
        if remote.is_some() && !input.is_empty() && !input.peek(token::Bracket) && !input.peek(Token![=]) {
            return Err(input.error(messages::STRIDED_PE_PARENTHESES));
        }
        if input.peek(token::Paren) {
            return Err(input.error(messages::STRIDED_PARENTHESES));
        }
        if !input.peek(token::Bracket) {
            // A missing region has no token, so rustc shows the error at the object and the PE.
            let place = quote!(#object)
                .into_iter()
                .chain(remote.map(|Remote { at, pe }| quote!(#at #pe)).into_iter().flatten());
            return Err(syn::Error::new_spanned(place.collect::<TokenStream>(), messages::STRIDED_REGION));
        }
        let region;
        let bracket = bracketed!(region in input);
        let axes = Punctuated::<Axis, Token![,]>::parse_terminated(&region)?.into_iter().collect();
        let fields = fields(input)?;
        if input.peek(Token![@]) {
            return Err(input.error(messages::STRIDED_PE_BEHIND));
        }
        if input.peek(token::Bracket) {
            let is_local = remote.is_none();
            return Err(input.error(if is_local {
                messages::STRIDED_PARENTHESES
            } else {
                messages::STRIDED_PE_PARENTHESES
            }));
        }
        Ok(Self { object, remote, bracket, axes, fields })
    }
}

impl Object {
    fn parse(input: ParseStream, expected: &str) -> syn::Result<Self> {
        if input.peek(token::Paren) {
            let inner;
            let parentheses = parenthesized!(inner in input);
            let expr = inner.parse()?;
            if !inner.is_empty() {
                return Err(inner.error(expected));
            }
            let text = parentheses.span.join().source_text().unwrap_or_else(|| messages::readable(&expr));
            let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&text);
            return Ok(Self { expr, inside: Some(inside.trim().to_owned()) });
        }
        if !input.peek(Token![::]) && !input.peek(Ident::peek_any) {
            return Err(input.error(expected));
        }
        let mut expr = Path::parse_mod_style(input)?.into_token_stream();
        while input.peek(Token![.]) && !input.peek(Token![..]) {
            let dot = input.parse::<Token![.]>()?;
            members(input)?.iter().for_each(|member| expr.extend(quote!(#dot #member)));
        }
        Ok(Self { expr: syn::parse2(expr)?, inside: None })
    }

    pub(super) fn name(&self) -> String {
        self.inside.clone().unwrap_or_else(|| messages::readable(&self.expr))
    }
}

impl ToTokens for Object {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.expr.to_tokens(tokens);
    }
}

fn fields(input: ParseStream) -> syn::Result<Vec<Vec<Member>>> {
    let mut fields: Vec<Vec<Member>> = Vec::new();
    while input.peek(Token![.]) {
        let dot = input.parse::<Token![.]>()?;
        if !input.peek(token::Brace) {
            // In `.0.{..}` the lexer reads `0.` as a floating-point number.
            let is_end = input.fork().parse::<LitFloat>().is_ok_and(|pair| pair.to_string().ends_with('.'));
            fields.extend(members(input)?.into_iter().map(|member| vec![member]));
            if !is_end {
                continue;
            }
        }
        let several;
        syn::braced!(several in input);
        let several = Punctuated::<Member, Token![,]>::parse_terminated(&several)?;
        if several.is_empty() {
            return Err(syn::Error::new_spanned(dot, messages::STRIDED_NO_FIELD));
        }
        fields.push(several.into_iter().collect());
        break;
    }
    Ok(fields)
}

/// Parses the members behind a dot: one member, or two indices that the lexer reads as one number, such as `0.1`.
fn members(input: ParseStream) -> syn::Result<Vec<Member>> {
    if !input.peek(LitFloat) {
        return Ok(vec![input.parse()?]);
    }
    let pair: LitFloat = input.parse()?;
    let index = |digits: &str| {
        let index = LitInt::new(digits, pair.span()).base10_parse()?;
        Ok(Member::Unnamed(Index { index, span: pair.span() }))
    };
    pair.to_string().split('.').filter(|digits| !digits.is_empty()).map(index).collect()
}

impl Parse for Axis {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let extent = input.parse()?;
        let mut rest = Vec::new();
        while input.peek(Token![;]) {
            let semicolon = input.parse::<Token![;]>()?;
            if rest.len() == 2 {
                return Err(syn::Error::new_spanned(semicolon, messages::STRIDED_AXIS));
            }
            rest.push(input.parse()?);
        }
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error(messages::STRIDED_AXIS));
        }
        let mut rest = rest.into_iter();
        Ok(Self { extent, step: rest.next(), block: rest.next() })
    }
}

impl Parse for Marked<Expr> {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let dynamic = input.parse()?;
        if input.is_empty() || input.peek(Token![;]) || input.peek(Token![,]) {
            return Err(input.error(messages::STRIDED_AXIS));
        }
        Ok(Self { dynamic, value: input.parse()? })
    }
}

impl ToTokens for Marked<Expr> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.dynamic.to_tokens(tokens);
        self.value.to_tokens(tokens);
    }
}

/// Returns the range if the expression is one.
pub(super) fn range(expr: &Expr) -> Option<&ExprRange> {
    match expr {
        Expr::Range(range) => Some(range),
        Expr::Group(group) => range(&group.expr),
        _ => None,
    }
}
