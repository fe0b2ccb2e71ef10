//! A program with two copies of the library is refused: by Cargo, by the linker, or at its start. So is one whose statics are in
//! another file than the library, and one with an impostor in place of the library.

use std::path::Path;
use std::process::Command;

use ui_tests::{Compiler, Product};

/// Message of the linker about statics in another file than the library, and about two libraries.
const ONE_FILE: &str = "symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file";

/// Cargo refuses two packages with the same value of `links`.
#[test]
fn the_package_can_be_in_a_program_once() {
    let manifest = include_str!("../../shmem-rt/Cargo.toml");
    assert!(manifest.lines().any(|line| line == "links = \"shmem\""));
}

/// The message of a program that does not link, or does not start.
fn refusal(compiler: &Compiler, source: &str, arguments: &[&Path]) -> String {
    match compiler.build(source, Product::Program) {
        Err(said) => said,
        Ok(program) => {
            let output = Command::new(program).args(arguments).output().unwrap();
            assert!(!output.status.success(), "it ran: {}", String::from_utf8_lossy(&output.stdout));
            String::from_utf8(output.stderr).unwrap()
        }
    }
}

#[test]
fn statics_in_another_file_than_the_library_are_not_linked() {
    let compiler = Compiler::of_this_test();
    let half = compiler.build("tests/copies/half.rs", Product::Half).unwrap();
    let compiler = compiler.with("half", half);
    let said = compiler.build("tests/copies/other_half.rs", Product::Program).unwrap_err();
    assert!(said.contains(ONE_FILE), "{said}");
}

#[test]
fn a_library_that_was_built_twice_is_refused() {
    let Some(other) = std::env::var_os("ANOTHER_LIBRARY") else {
        println!("skipped: no second build of the library (ANOTHER_LIBRARY is not set; see ci/assembly.sh)");
        return;
    };
    let compiler = Compiler::of_this_test().with("other", other.into());
    // The linker finds a symbol twice; or the copies share one, and the second world is refused.
    let said = refusal(&compiler, "tests/copies/two_worlds.rs", &[]);
    let is_linked_twice =
        |said: &str| said.contains("shmem_rt_is_in_this_program_twice") || said.contains(ONE_FILE);
    let is_told = is_linked_twice(&said) || said.contains("this process has joined its job already");
    assert!(is_told, "{said}");
    let said = refusal(&compiler, "tests/copies/statics_of_another.rs", &[]);
    let is_told = is_linked_twice(&said) || said.contains("another copy of this library");
    assert!(is_told, "{said}");
    let plugin = compiler.build("tests/copies/plugin.rs", Product::Plugin).unwrap();
    let said = refusal(&compiler, "tests/copies/host_of_a_plugin.rs", &[&plugin]);
    assert!(said.contains("another copy of this library has joined"), "{said}");
}

/// A package of safe code may be called `shmem` and re-export the real library without its checks. Expansions must not compile with
/// it.
#[test]
fn a_library_that_passes_for_this_one_gives_nothing_away() {
    let cases: [(&str, &str, &[&str]); 4] = [
        (
            "checks",
            "of_checks",
            &[
                "`Field` holds `&'static u64`",
                "`Padded` has 7 byte(s) of padding",
                "`FieldAmongWords` holds `&'static u64`",
                "`PaddedWords` has 7 byte(s) of padding",
            ],
        ),
        ("checks", "lost_error", &["index out of bounds"]),
        ("records", "of_records", &["mismatched types"]),
        ("traits", "of_traits", &["`Rc<u64>` cannot be sent between threads safely"]),
    ];
    for (impostor, program, refusals) in cases {
        let compiler = Compiler::of_this_test();
        let impostor = compiler.build(&format!("tests/impostor/{impostor}.rs"), Product::Impostor).unwrap();
        let compiler = compiler.with_impostor(impostor);
        let built = compiler.build(&format!("tests/impostor/{program}.rs"), Product::Program);
        let said = built.expect_err(program);
        for refusal in refusals {
            assert!(said.contains(refusal), "{program} lacks {refusal}: {said}");
        }
    }
}
