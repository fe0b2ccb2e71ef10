#!/bin/bash
# What other compilers make of what is here: the oldest Rust that Cargo.toml promises (`rust-version`) takes what users build
# (tests are for those who work on it); the next one, which is in beta, takes it too, and finds its own words for each misuse.
# Fetches them where that may be.
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
