#!/bin/sh
# All tests on shared memory: unit tests, property tests, tests on several PEs, compile-fail cases,
# examples, and the code blocks of the documentation and of the README.
set -eu
cd "$(dirname "$0")/.."

cargo test --workspace

# What optional features add. In a directory of its own: features change what everything is built with.
features=$(ci/features)
features() {
    cargo test -p shmem-rt --features "$features" --target-dir target/features "$@"
}
# An example has threads of a pool.
cargo test -p shmem-examples --features rayon --target-dir target/features --test short
features --test ndarray --test rayon --test array_parallel
features --lib ndarray::
features --doc -- src/ndarray.rs src/rayon.rs src/array
case $features in
*numa*) cargo test -p shmem-core --features numa --target-dir target/features --lib topology:: ;;
esac
