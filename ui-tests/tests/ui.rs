//! Every misuse that must not compile, with its message; and uses that must.
//!
//! Each `.rs` file is one mistake, named after it; the `.stderr` file beside it is all that rustc
//! may say. `TRYBUILD=overwrite cargo test -p ui-tests` rewrites the messages. Their wording
//! belongs to one compiler version: `ci/` runs this on the pinned one only.

#[test]
fn misuse_is_one_readable_error() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/symmetric/*.rs");
    cases.compile_fail("tests/partitions/*.rs");
    cases.compile_fail("tests/derive/*.rs");
    cases.compile_fail("tests/entry/*.rs");
    cases.compile_fail("tests/phase/*.rs");
    cases.compile_fail("tests/context/*.rs");
    cases.compile_fail("tests/halo/*.rs");
    cases.compile_fail("tests/array/*.rs");
    cases.compile_fail("tests/scope/*.rs");
    cases.compile_fail("tests/team/*.rs");
    cases.compile_fail("tests/lock/*.rs");
    // Not built, only checked: what is wrong with a region is shown while one writes.
    cases.compile_fail("tests/strided/*.rs");
}

/// What a constant cannot name, such as a heap object, is refused by the same functions, but only where
/// code is made for it. One case that compiles makes the others of its list be built.
#[test]
fn misuse_that_only_a_build_finds() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/strided_build/*.rs");
    cases.pass("tests/pass/strided.rs");
}

#[test]
fn good_use_compiles_and_runs() {
    trybuild::TestCases::new().pass("tests/pass/*.rs");
}

#[test]
fn every_message_belongs_to_a_case() {
    let directories = std::fs::read_dir("tests").unwrap().map(|entry| entry.unwrap().path());
    for directory in directories.filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            assert!(file.with_extension("rs").exists(), "{} has no case", file.display());
        }
    }
}
