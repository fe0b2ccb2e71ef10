#!/bin/sh
# Runs Clippy on everything that is compiled: tests, examples and optional features included. The workspace's lints (root
# Cargo.toml) deny an `unsafe` block without its proof, and one with two operations; Clippy's own deny names of the standard
# library that are younger than the Rust that Cargo.toml promises (`rust-version`).
#
# usage: ci/lint.sh [plain]     the libraries and programs alone, without features, as users build them
set -eu
cd "$(dirname "$0")/.."

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
if [ "${1-}" = plain ]; then
    cargo clippy --workspace -- -D warnings
else
    cargo clippy --workspace --features "$(ci/features)" --all-targets -- -D warnings
fi
