#!/bin/sh
# All tests on shared memory: unit tests, property tests, tests on several PEs, compile-fail cases,
# examples, and the code blocks of the documentation and of the README.
set -eu
cd "$(dirname "$0")/.."

cargo test --workspace
