//! `#[symmetric]` on a `static` and on a `let`: parses the item, checks it (`check`), and expands it (`emit`).

mod check;
mod emit;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Generics, Local, Meta, Path, Stmt, Token, Type, Visibility};

use crate::arguments::{Arguments, SYMMETRIC};
use crate::messages::{self, Errors};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let placement = check::placement(&Arguments::parse(arguments, SYMMETRIC, &mut errors), &mut errors);
    match parsed(item, &mut errors) {
        Ok(Item::Static(mut declared)) => {
            let is_judged = check::object(&mut declared, &mut errors);
            emit::object(&declared, is_judged, &placement, errors)
        }
        Ok(Item::Let(local)) => {
            let binding = check::binding(&local, &mut errors);
            emit::unattached(&local, binding.as_ref(), &placement, errors)
        }
        Err(item) => {
            quote!(#errors #item)
        }
    }
}

/// Rewrites a `let` with the attribute into an allocation. `world` is an expression for a reference to the world.
pub(crate) fn rewrite(local: &mut Local, world: Option<&TokenStream>, errors: &mut Errors) {
    let Some(arguments) = attribute(local) else { return };
    let placement = check::placement(&Arguments::parse(arguments, SYMMETRIC, errors), errors);
    let binding = check::binding(local, errors);
    emit::attach(local, binding.as_ref(), &placement, world, errors);
}

enum Item {
    /// An item `static NAME: T;` or `static NAME: T = value;`.
    Static(Box<Static>),
    /// A statement `let name: SymBox<T> = contents;`.
    Let(Box<Local>),
}

struct Static {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    mutability: Option<Token![mut]>,
    name: Ident,
    /// Generic parameters, which the check refuses.
    generics: Generics,
    /// The type of the contents, which the check requires.
    contents: Option<Type>,
    /// The initial value, which only rustc checks.
    image: Option<TokenStream>,
}

impl Parse for Static {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![static]>()?;
        let mutability = input.parse()?;
        let name = input.parse()?;
        let generics = input.parse()?;
        let contents = if input.peek(Token![=]) || input.peek(Token![;]) {
            None
        } else {
            input.parse::<Token![:]>()?;
            Some(input.parse()?)
        };
        let image = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse::<syn::Expr>()?.into_token_stream()),
            None => None,
        };
        input.parse::<Token![;]>()?;
        Ok(Self { attributes, visibility, mutability, name, generics, contents, image })
    }
}

/// Parses a static or a `let`. If the item is another one, reports an error and returns the item as `Err`.
fn parsed(tokens: TokenStream, errors: &mut Errors) -> Result<Item, TokenStream> {
    let head = |input: ParseStream| {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let is_function = input.fork().parse::<syn::Signature>().is_ok();
        let first: TokenTree = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok((first, is_function))
    };
    let Ok((first, is_function)) = head.parse2(tokens.clone()) else {
        errors.push(&tokens, messages::wrong_item("this"));
        return Err(tokens);
    };
    const OTHERS: [(&str, &str); 6] = [
        ("struct", "a struct"),
        ("enum", "an enum"),
        ("type", "a type alias"),
        ("mod", "a module"),
        ("impl", "an implementation"),
        ("trait", "a trait"),
    ];
    let word = first.to_string();
    let item = match word.as_str() {
        "static" => syn::parse2(tokens.clone()).map(|declared| Some(Item::Static(Box::new(declared)))),
        "let" => syn::parse2(tokens.clone()).map(|statement| match statement {
            Stmt::Local(local) => Some(Item::Let(Box::new(local))),
            _ => None,
        }),
        _ => Ok(None),
    };
    let known = OTHERS.iter().find(|(start, _)| *start == word).map(|(_, what)| *what);
    match item {
        Ok(Some(item)) => return Ok(item),
        Err(error) => errors.push_error(error),
        Ok(None) if word == "const" && !is_function => errors.push(first, messages::CONST),
        Ok(None) => match known.or(is_function.then_some("a function")) {
            Some(what) => errors.push(first, messages::wrong_item(what)),
            None => errors.push(&tokens, messages::wrong_item("this")),
        },
    }
    Err(tokens)
}

/// Removes the attribute `#[symmetric(..)]` from a `let`, and returns the attribute's arguments.
fn attribute(local: &mut Local) -> Option<TokenStream> {
    let named = |path: &Path| path.segments.last().is_some_and(|last| last.ident == "symmetric");
    let at = local.attrs.iter().position(|attribute| named(attribute.path()))?;
    match local.attrs.remove(at).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}
