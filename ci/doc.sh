#!/bin/sh
# Builds the documentation, with optional features. Warnings are errors, such as a link that leads nowhere.
set -eu
cd "$(dirname "$0")/.."

export RUSTDOCFLAGS="-D warnings"
cargo doc --workspace --no-deps --features "$(ci/features)"
