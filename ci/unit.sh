#!/bin/sh
# README's test command: all tests on shared memory, cases that must not compile, and the code blocks of the documentation
# and of the README. Programs with `test = false` in a Cargo.toml are left to other steps, which build as this one does.
set -eu
cd "$(dirname "$0")/.."

cargo test --workspace
