#!/bin/sh
# One layout for all code, so that a difference in a review is a difference in meaning.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
