#!/bin/sh
# Tests that build programs: cases that must not compile, with their messages; the machine code of operations; what a
# linker leaves of symmetric statics.
set -eu
cd "$(dirname "$0")/.."

# What guard.sh measures when everything else has ended. Machine code is looked at in the same package: release builds of
# all below it are made once.
cargo build --quiet --release -p shmem-perf
# --workspace, as in unit.sh: nothing is built twice.
cargo test --workspace --test ui --test assembly --test layout
