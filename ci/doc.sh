#!/bin/sh
# The documentation, of optional features too, builds without a warning: a link that leads nowhere is one.
set -eu
cd "$(dirname "$0")/.."

export RUSTDOCFLAGS="-D warnings"
cargo doc --workspace --no-deps --features "$(ci/features)"
