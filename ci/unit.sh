#!/bin/sh
# All tests on shared memory: unit tests, property tests, tests on several PEs, examples, and the code blocks of the
# documentation and of the README. Without those that start compilers (builds.sh), and without those of optional
# features (optional.sh).
set -eu
cd "$(dirname "$0")/.."

# Behind it, every test program is built as all other steps take it, too.
cargo test --workspace --no-run
elsewhere=" assembly layout ui array_parallel ndarray rayon "
names=$(
    for file in */tests/*.rs */tests/*/main.rs; do
        name=$(basename "${file%/main.rs}" .rs)
        case $elsewhere in *" $name "*) ;; *) echo "--test=$name" ;; esac
    done | sort -u
)
# shellcheck disable=SC2086
cargo test --workspace --lib --bins --examples $names
cargo test --workspace --doc
