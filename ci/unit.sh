#!/bin/sh
# README's test command: all tests on shared memory, cases that must not compile, and the code blocks of the documentation
# and of the README. Behind it, every test program is built as all other steps take it, too.
set -eu
cd "$(dirname "$0")/.."

cargo test --workspace
