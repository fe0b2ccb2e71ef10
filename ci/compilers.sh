#!/bin/bash
# What the next Rust, which is in beta, makes of all that is here: no errors, and its own words for each misuse. (README's
# test command with the oldest one that Cargo.toml promises is run by stranger.sh.) Fetches it where that may be.
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
    use beta check --workspace --all-targets
    use beta test --workspace --test ui
fi
for toolchain in "$@"; do
    use "$toolchain" test --workspace
    rm -rf "$directory"
done
