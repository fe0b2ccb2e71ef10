#!/bin/sh
# The oldest Rust that Cargo.toml promises (`rust-version`) still compiles everything. Where that
# toolchain is not installed, clippy looks for names of the standard library that are younger: that
# needs no second toolchain, but does not see syntax, nor what dependencies need.
set -eu
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
cargo clippy --workspace --all-targets -- -D warnings -D clippy::incompatible_msrv

toolchain=$(rustup toolchain list 2>/dev/null | grep -o "^$version[^ ]*" | head -n 1 || true)
if [ -n "$toolchain" ]; then
    cargo "+$toolchain" check --workspace --all-targets
else
    echo "skipped: cargo check with Rust $version (rustup toolchain install $version --profile minimal)"
fi
