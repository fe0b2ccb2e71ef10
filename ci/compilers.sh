#!/bin/bash
# Builds with other compilers. The oldest Rust that Cargo.toml promises (`rust-version`) must compile what users build, without
# tests. The beta must, too, and must report each misuse, in its own words. Toolchains are fetched where that is possible.
#
# usage: ci/compilers.sh TOOLCHAIN...      README's whole test command with these, such as beta and nightly
set -euo pipefail
cd "$(dirname "$0")/.."

directory=$PWD/${CARGO_TARGET_DIR:-target}/compilers
use() { # TOOLCHAIN COMMAND...
    if ! cargo "+$1" --version >/dev/null 2>&1 &&
        ! timeout 300 rustup toolchain install "$1" --profile minimal --no-self-update >/dev/null 2>&1; then
        echo "skipped: Rust $1 is not here, and cannot be fetched (rustup toolchain install $1)"
        return
    fi
    rustc "+$1" --version
    local start=$SECONDS
    CARGO_TARGET_DIR=$directory cargo "+$1" "${@:2}"
    echo "-- $((SECONDS - start)) s"
}
trap 'rm -rf "$directory"' EXIT
if [ $# -eq 0 ]; then
    use "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)" check --workspace
    rm -rf "$directory"
    use beta test --workspace --test ui
fi
for toolchain in "$@"; do
    use "$toolchain" test --workspace
    rm -rf "$directory"
done
