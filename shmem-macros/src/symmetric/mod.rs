//! `#[symmetric]` on a `static` and on a `let`: the item as written, what is required of it (`check`), and the expansion (`emit`).

mod check;
mod emit;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, Local, Meta, Path, Stmt, Token, Type, Visibility};

use crate::arguments::Arguments;
use crate::diag::{self, Errors};

const OWNER: &str = "`#[symmetric]`";
const ARGUMENTS: &[&str] = &["partition", "pgsize"];

/// Expands the attribute with `arguments` on `item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut arguments = Arguments::parse(arguments, OWNER, ARGUMENTS, &mut errors);
    let placement = check::placement(&mut arguments, &mut errors);
    match parsed(item, &mut errors) {
        Item::Static(declared) => {
            let object = check::object(*declared, &mut errors);
            emit::object(&object, &placement, errors)
        }
        Item::Let(local) => {
            let binding = check::binding(&local, &mut errors);
            emit::unattached(&local, binding.as_ref(), &placement, errors)
        }
        Item::Other(tokens) => emit::unchanged(tokens, errors),
    }
}

/// Rewrites a `let` that carries the attribute into an allocation from `world`, in a function whose
/// own attribute looks for such. `world` is an expression for a reference to it.
pub(crate) fn rewrite(local: &mut Local, world: Option<&TokenStream>, errors: &mut Errors) {
    let Some(arguments) = attribute(local) else { return };
    let mut arguments = Arguments::parse(arguments, OWNER, ARGUMENTS, errors);
    let placement = check::placement(&mut arguments, errors);
    let binding = check::binding(local, errors);
    emit::attach(local, binding.as_ref(), &placement, world, errors);
}

/// What the attribute stands on.
enum Item {
    /// `static NAME: T;` or `static NAME: T = value;`
    Static(Box<Static>),
    /// `let name: SymBox<T> = contents;`
    Let(Box<Local>),
    /// Something else, which was reported.
    Other(TokenStream),
}

/// A static as written.
struct Static {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    mutability: Option<Token![mut]>,
    name: Ident,
    /// None are allowed.
    generics: Generics,
    /// It must be there.
    contents: Option<Type>,
    /// The initial value, unparsed: it is rustc's to judge.
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

/// Reads the item.
fn parsed(tokens: TokenStream, errors: &mut Errors) -> Item {
    let kind = syn::parse2::<Kind>(tokens.clone()).unwrap_or(Kind::Unknown);
    match kind {
        Kind::Static => match syn::parse2(tokens.clone()) {
            Ok(declared) => return Item::Static(Box::new(declared)),
            Err(error) => errors.push_error(error),
        },
        Kind::Let => match syn::parse2(tokens.clone()) {
            Ok(Stmt::Local(local)) => return Item::Let(Box::new(local)),
            Ok(other) => errors.push(other, diag::wrong_item("this statement")),
            Err(error) => errors.push_error(error),
        },
        Kind::Const(token) => errors.push(token, diag::CONST),
        Kind::Other(token, what) => errors.push(token, diag::wrong_item(what)),
        Kind::Unknown => errors.push(&tokens, diag::wrong_item("this")),
    }
    Item::Other(tokens)
}

/// Which item it is, by its first word.
enum Kind {
    Static,
    Let,
    Const(TokenStream),
    Other(TokenStream, &'static str),
    Unknown,
}

impl Parse for Kind {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let token = |input: ParseStream| input.fork().parse::<TokenTree>().map(TokenTree::into);
        let kind = match () {
            () if input.peek(Token![static]) => Self::Static,
            () if input.peek(Token![let]) => Self::Let,
            () if input.peek(Token![const]) && !input.peek2(Token![fn]) && !input.peek2(Token![unsafe]) => {
                Self::Const(token(input)?)
            }
            () if input.peek(Token![struct]) => Self::Other(token(input)?, "a struct"),
            () if input.peek(Token![enum]) => Self::Other(token(input)?, "an enum"),
            () if input.peek(Token![type]) => Self::Other(token(input)?, "a type alias"),
            () if input.peek(Token![mod]) => Self::Other(token(input)?, "a module"),
            () if input.peek(Token![impl]) => Self::Other(token(input)?, "an implementation"),
            () if input.peek(Token![trait]) => Self::Other(token(input)?, "a trait"),
            () if is_function(input) => Self::Other(token(input)?, "a function"),
            () => Self::Unknown,
        };
        input.parse::<TokenStream>()?;
        Ok(kind)
    }
}

fn is_function(input: ParseStream) -> bool {
    input.fork().parse::<syn::Signature>().is_ok()
}

/// Takes `#[symmetric(..)]` off a `let` and returns its arguments.
fn attribute(local: &mut Local) -> Option<TokenStream> {
    let named = |path: &Path| path.segments.last().is_some_and(|last| last.ident == "symmetric");
    let at = local.attrs.iter().position(|attribute| named(attribute.path()))?;
    match local.attrs.remove(at).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}
