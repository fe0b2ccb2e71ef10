#!/bin/sh
# Runs the tests of optional features.
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh, so that crates which the features do not change are not built again.
features=$(ci/features)
cargo test --workspace --features "$features" --test pools
cargo test --workspace --features "$features" --lib -- ndarray::
cargo test --workspace --features "$features" --doc -- src/ndarray.rs src/array
