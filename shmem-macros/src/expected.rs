//! Three expansions, compared as formatted source with the files in `expected/`: what a reader of the macros wants to see.
//! `BLESS=1 cargo test -p shmem-macros` rewrites the files. (Programs of `ui-tests` compile all forms.)

use std::path::Path;
use std::{env, fs};

use quote::quote;

use crate::{derive, strided, symmetric};

#[test]
fn expansions_are_the_expected_ones() {
    let get = strided::expand(quote!(self.world, self.row[0..N; 4; 2] = FIELD@self.west[dyn i, ..8]));
    for (name, expansion) in [
        (
            "static_image",
            symmetric::expand(
                quote!(partition = "::shmem::partition::fast", pgsize = "2M"),
                quote! {
                    /// Where to go on.
                    #[cfg(all())]
                    #[allow(dead_code)]
                    static NEXT: u64 = 6 * 7;
                },
            ),
        ),
        (
            "derive_generic",
            derive::expand(quote! {
                #[repr(C)]
                pub struct Row<T: Copy, const N: usize> where T: Default { head: T, rest: [T; N] }
            }),
        ),
        ("strided_get", quote!(impl Solver<'_> { fn get(&mut self, i: usize) { #get } })),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected").join(name).with_extension("rs");
        let file = syn::parse2(expansion).unwrap_or_else(|error| panic!("{name} is not Rust: {error}"));
        let found = prettyplease::unparse(&file);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &found).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "{name} now expands to (BLESS=1 accepts it):\n{found}");
    }
}
