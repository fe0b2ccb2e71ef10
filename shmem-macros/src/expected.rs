//! Expansions, compared as formatted source with the files in `expected/`, which `ui-tests`
//! compiles. `BLESS=1 cargo test -p shmem-macros` rewrites the files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::TokenStream;
use quote::quote;

use crate::{derive, entry, partitions, strided, symmetric};

/// The name of each file, and the expansion it holds.
fn table() -> Vec<(&'static str, TokenStream)> {
    let nothing = TokenStream::new;
    vec![
        (
            "static_zeroed",
            symmetric::expand(
                nothing(),
                quote!(
                    pub static GRID: [[f64; 4]; 2];
                ),
            ),
        ),
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
            "static_of_a_renamed_crate",
            symmetric::expand(
                quote!(crate = ::shmem, pgsize = 4K),
                quote!(
                    static A: u8;
                ),
            ),
        ),
        (
            "partitions",
            partitions::expand(quote! {
                /// On-package memory.
                pub fast { id = 2, size = "256M", kind = FASTMEM, policy = preferred, pgsize = 2M }
                bulk {}
            }),
        ),
        (
            "derive_plain",
            derive::expand(quote! {
                #[repr(C)]
                pub struct Particle { pub position: [f64; 3], pub charge: f32, pub pad: [u8; 4] }
            }),
        ),
        (
            "derive_generic",
            derive::expand(quote! {
                #[repr(C)]
                pub struct Row<T: Copy, const N: usize> where T: Default { head: T, rest: [T; N] }
            }),
        ),
        (
            "derive_lengths",
            derive::expand(quote! {
                #[repr(C)]
                pub struct Line<const N: usize>(u64, [f64; N]);
            }),
        ),
        (
            "derive_words",
            derive::expand(quote! {
                #[repr(C)]
                #[shmem(words)]
                pub struct Queue { pub head: Atomic<u64>, pub ready: Signal, pub items: [u64; 8] }
            }),
        ),
        (
            "main",
            entry::main::expand(
                quote!(threads = multiple),
                quote! {
                    fn main(world: &mut World) -> Result<()> {
                        #[symmetric(partition = "fast", pgsize = "4K")]
                        let mut scratch: SymBox<[f64]> = [0.0; 8];
                        scratch = world.alloc([scratch.len() as f64])?;
                        world.free(scratch)
                    }
                },
            ),
        ),
        (
            "test",
            entry::test::expand(
                quote!(pes = 3, timeout = "90s", env("SHMEM_INFO" = "1")),
                quote! {
                    #[should_panic(expected = "three PEs")]
                    fn arrives(world: &mut World) {
                        assert!(world.n_pes() != 3, "three PEs");
                    }
                },
            ),
        ),
        (
            "tests",
            entry::test::expand(
                quote!(pes = [2, 5]),
                quote! {
                    #[allow(clippy::float_cmp)]
                    fn agrees(world: &mut World) {
                        assert_eq!(world.sum(0.5), world.n_pes() as f64 / 2.0);
                    }
                },
            ),
        ),
        (
            "collective",
            entry::collective::expand(
                nothing(),
                quote! {
                    pub fn smooth(rounds: u32, world: &World) -> Result<()> {
                        for _ in 0..rounds {
                            #[shmem::symmetric]
                            let sums: SymBox<[f64]> = [0.0; 8];
                            let _ = sums;
                        }
                        Ok(())
                    }
                },
            ),
        ),
    ]
}

/// Transfers are expressions: shown inside a function.
fn transfers() -> Vec<(&'static str, TokenStream)> {
    let put = strided::expand(quote!(world, FIELD@west[1..=N, N - 1] = column[..]));
    let get = strided::expand(quote!(self.world, self.row[0..N; 4; 2] = FIELD@self.west[dyn i, ..8]));
    let fields =
        strided::expand(quote!(world, CELLS@pe[..].{mass, velocity} = CELLS[..; 1].{mass, velocity}));
    let later = strided::expand(
        quote!(world, crate = ::shmem; FIELD@(world.pe(0)?)[0, dyn a..b; dyn s] = column[..8; 2]),
    );
    let published = strided::expand(quote!(world, algorithm = 3; PANEL@pe[.., ..32] = PANEL[.., 36..68]));
    let copy = strided::expand(quote!(packed[..] = block[1..9, dyn i]));
    vec![
        ("strided_copy", quote!(fn copy(packed: &mut [f64], block: &[[f64; 8]; 16], i: usize) { #copy })),
        ("strided_put", quote!(fn put(world: &World, west: Pe, column: &[f64]) { #put })),
        ("strided_get", quote!(impl Solver<'_> { fn get(&mut self, i: usize) { #get } })),
        ("strided_fields", quote!(fn fields(world: &World, pe: Pe) { #fields })),
        (
            "strided_dyn",
            quote! {
                fn dynamic(world: &World, column: &[f64], a: usize, b: usize, s: usize) -> Result<()> {
                    #later
                    Ok(())
                }
            },
        ),
        ("strided_published", quote!(fn published(world: &World, pe: Pe) { #published })),
    ]
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("expected")
}

fn formatted(expansion: &TokenStream) -> String {
    let file = syn::parse2(expansion.clone())
        .unwrap_or_else(|error| panic!("the expansion is not Rust: {error}\n{expansion}"));
    prettyplease::unparse(&file)
}

#[test]
fn expansions_are_the_expected_ones() {
    for (name, expansion) in table().into_iter().chain(transfers()) {
        let path = directory().join(name).with_extension("rs");
        let found = formatted(&expansion);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &found).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "{name} now expands to (BLESS=1 accepts it):\n{found}");
    }
}

#[test]
fn every_expected_file_belongs_to_a_test_and_is_compiled() {
    let files: BTreeSet<String> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let names: BTreeSet<String> =
        table().iter().chain(&transfers()).map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, names);
    let compiled = fs::read_to_string(directory().join("../../ui-tests/tests/expected.rs")).unwrap();
    for name in names {
        assert!(compiled.contains(&format!("expected/{name}.rs\"")), "{name} is not compiled");
    }
}

#[test]
fn whatever_is_wrong_the_item_is_still_there() {
    let cases = [
        (
            symmetric::expand(
                quote!(colour = 3),
                quote!(
                    static mut A: [u8];
                ),
            ),
            "static A :",
        ),
        (
            symmetric::expand(
                TokenStream::new(),
                quote!(
                    fn a() {}
                ),
            ),
            "fn a () { }",
        ),
        (partitions::expand(quote!(fast { id = 0, kind = Near } slow)), "enum fast"),
        (
            derive::expand(quote!(
                enum A {
                    B,
                }
            )),
            "SymmetricData for A",
        ),
        (
            derive::expand(quote!(
                struct A {
                    b: bool,
                }
            )),
            "plain_data ! { A ,",
        ),
        (
            entry::main::expand(
                quote!(threads = 3),
                quote!(
                    fn main() {
                        a()
                    }
                ),
            ),
            "fn main () ->",
        ),
        (
            entry::test::expand(
                quote!(pes = 0),
                quote!(
                    fn a(world: &mut World) {
                        b()
                    }
                ),
            ),
            "fn a (world",
        ),
        (
            entry::collective::expand(
                quote!(pes = 0),
                quote!(
                    fn a() {
                        b()
                    }
                ),
            ),
            "fn a () { b () }",
        ),
    ];
    for (expansion, item) in cases {
        let expansion = expansion.to_string();
        assert!(expansion.contains("compile_error"), "{expansion}");
        assert!(expansion.contains(item), "no `{item}` in {expansion}");
    }
}
