#!/bin/sh
# Checks the layout of code, so that a difference in a review is a difference in meaning.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
