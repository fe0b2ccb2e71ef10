#!/bin/sh
# Clippy on everything that is compiled, tests and examples included. The workspace's lints (root
# Cargo.toml) deny an `unsafe` block without its proof, and one with two operations.
set -eu
cd "$(dirname "$0")/.."

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --workspace --all-targets -- -D warnings
features=$(ci/features)
cargo clippy -p shmem-rt --features "$features" --all-targets -- -D warnings
case $features in
*numa*) cargo clippy -p shmem-core --features numa --all-targets -- -D warnings ;;
esac
