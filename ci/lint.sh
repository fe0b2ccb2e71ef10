#!/bin/sh
# Clippy on everything that is compiled, tests, examples and optional features included; and on what users build, without
# features. The
# workspace's lints (root Cargo.toml) deny an `unsafe` block without its proof, and one with two operations; Clippy's own
# names of the standard library that are younger than what Cargo.toml promises (`rust-version`).
set -eu
cd "$(dirname "$0")/.."

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --workspace --features "$(ci/features)" --all-targets -- -D warnings
cargo clippy --workspace -- -D warnings
