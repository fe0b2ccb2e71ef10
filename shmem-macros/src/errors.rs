//! Collects the errors of one expansion, and computes spans.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::library::Sealed;

#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push_error(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds errors, each with the tokens at which rustc shows it.
    pub(crate) fn extend<T: ToTokens>(&mut self, errors: impl IntoIterator<Item = (String, T)>) {
        errors.into_iter().for_each(|(message, tokens)| self.push(tokens, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Emits the errors as an item, beside implementations of unsafe traits that must not take effect. `compile_error!`
    /// is named through the library, because a program may give the name `core` to something else. An imitation of the
    /// library may drop the error, so the item also has a constant that cannot be evaluated.
    pub(crate) fn into_sealed(self, Sealed { begin, root, .. }: &Sealed) -> TokenStream {
        if self.0.is_empty() {
            return TokenStream::new();
        }
        let errors = self.0.iter().flatten().map(|error| {
            let tokens = error.to_compile_error().into_iter();
            let span = tokens.clone().next().map_or_else(Span::call_site, |token| token.span());
            let path = respanned(quote!(#root::__private::core), span);
            // Skips `::core`, which `path` replaces.
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

/// Emits each error as a `compile_error!`.
impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().map(syn::Error::to_compile_error));
    }
}

/// Returns `path` with another span: rustc shows a panic in a constant at the path of the called function. (`$crate` still works.)
pub(crate) fn respanned(path: TokenStream, span: Span) -> TokenStream {
    path.into_iter()
        .map(|mut token| {
            let is_crate = matches!(&token, TokenTree::Ident(name) if name == "$crate");
            token.set_span(if is_crate { token.span().located_at(span) } else { span });
            token
        })
        .collect()
}

/// Returns the spans of the first and the last token. New tokens with these two spans are underlined like the original tokens.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let spans: Vec<Span> = tokens.to_token_stream().into_iter().map(|token| token.span()).collect();
    let span = |at: Option<&Span>| at.copied().unwrap_or_else(Span::call_site);
    (span(spans.first()), span(spans.last()))
}
