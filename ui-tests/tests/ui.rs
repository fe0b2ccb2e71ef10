//! Misuse that must not compile, with its messages; and programs that must compile.
//!
//! `BLESS=1 cargo test -p ui-tests` rewrites the messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use ui_tests::{Case, Compiler, Product, cases};

static COMPILER: LazyLock<Compiler> = LazyLock::new(Compiler::of_this_test);

/// Judges all cases in parallel.
fn judge(cases: &[Case]) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(differs) = case.judge(&COMPILER) {
                        wrong.lock().unwrap().push(differs);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} cases\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

#[test]
fn misuse_is_one_readable_error() {
    judge(&cases("misuse", Product::Check));
}

/// Regions of objects that a constant cannot name, such as heap objects, are checked when code is generated.
#[test]
fn misuse_that_only_a_build_finds() {
    judge(&cases("built", Product::Code));
}

#[test]
fn good_use_compiles_and_runs() {
    judge(&cases("pass", Product::Program));
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
