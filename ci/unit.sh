#!/bin/sh
# All tests on shared memory: unit tests, property tests, tests on several PEs, compile-fail cases,
# examples, and the code blocks of the documentation and of the README.
set -eu
cd "$(dirname "$0")/.."

cargo test --workspace

# What optional features add. --workspace again: what they leave as it is has been built.
features=$(ci/features)
# An example has threads of a pool.
cargo test --workspace --features "$features" --test short --test ndarray --test rayon --test array_parallel
cargo test --workspace --features "$features" --lib -- ndarray:: topology::
cargo test --workspace --features "$features" --doc -- src/ndarray.rs src/rayon.rs src/array
