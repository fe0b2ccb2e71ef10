//! The errors of one expansion, and the places at which they are shown.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::library::Sealed;

/// The errors of one expansion, reported together.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Adds an error at `tokens`.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error of the parser.
    pub(crate) fn push_error(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// Adds those of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds errors, each at its tokens.
    pub(crate) fn extend<T: ToTokens>(&mut self, errors: impl IntoIterator<Item = (String, T)>) {
        errors.into_iter().for_each(|(message, tokens)| self.push(tokens, message));
    }

    /// Whether there is any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors, as `compile_error!`s.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }

    /// The errors, for an expansion that gives what is wrong the rights of what is good, so that there are no more
    /// errors: none of these may get lost. A program may call something else `core`, and its `compile_error!` may do
    /// nothing; so it is asked of the library `root`, to which `sealed` leads. That may be somebody else's, too, which keeps
    /// errors to itself. Then no machine code is made of the program: of its words only those of the language stand
    /// in what is wrong with it. It is wrong where code is made, and who was told of another error does not see it.
    pub(crate) fn into_sealed(self, Sealed { begin, root, .. }: &Sealed) -> TokenStream {
        if self.0.is_empty() {
            return TokenStream::new();
        }
        let errors = self.0.iter().flatten().map(|error| {
            let tokens = error.to_compile_error().into_iter();
            let span = tokens.clone().next().map_or_else(Span::call_site, |token| token.span());
            let path = respanned(quote!(#root::__private::core), span);
            // Behind `::core`.
            let call: TokenStream = tokens.skip(3).collect();
            quote!(#path #call)
        });
        quote! {
            const _: () = {
                #begin
                #(#errors)*
                #[used]
                static __REFUSED: fn() = __refused::<1>;
                fn __refused<const BEYOND: usize>() {
                    const { [()][BEYOND] }
                }
            };
        }
    }
}

/// `path` at another place: a panic in a constant is shown where the called path begins. (Which crate `$crate` is
/// depends on whose it is.)
pub(crate) fn respanned(path: TokenStream, span: Span) -> TokenStream {
    path.into_iter()
        .map(|mut token| {
            let is_crate = matches!(&token, TokenTree::Ident(name) if name == "$crate");
            token.set_span(if is_crate { token.span().located_at(span) } else { span });
            token
        })
        .collect()
}

/// Where tokens begin and where they end. What begins at the one and ends at the other is underlined as they are.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let spans: Vec<Span> = tokens.to_token_stream().into_iter().map(|token| token.span()).collect();
    let span = |at: Option<&Span>| at.copied().unwrap_or_else(Span::call_site);
    (span(spans.first()), span(spans.last()))
}
