//! The expansion on which most rests, compared as formatted source with a file in `expected/`: what a reader of the macros wants to
//! see. `BLESS=1 cargo test -p shmem-macros` rewrites it. (Programs of `ui-tests` compile all forms of all macros.)

use std::path::Path;
use std::{env, fs};

use quote::quote;

use crate::derive;

#[test]
fn a_derive_expands_to_what_is_expected() {
    let expansion = derive::expand(quote! {
        #[repr(C)]
        pub struct Row<T: Copy, const N: usize> where T: Default { head: T, rest: [T; N] }
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected/derive_generic.rs");
    let found = prettyplease::unparse(&syn::parse2(expansion).unwrap());
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "it now expands to (BLESS=1 accepts it):\n{found}");
}
