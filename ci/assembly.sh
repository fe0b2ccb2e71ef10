#!/bin/sh
# Tests that need a release build: the machine code of single operations; and a program with two copies of the library, one of
# each build. The release build is that of shmem-perf, because guard.sh measures with it later.
set -eu
cd "$(dirname "$0")/.."

built=$(cargo build --release -p shmem-perf --message-format=json)
ANOTHER_LIBRARY=$(printf '%s\n' "$built" | sed -n 's/.*"\([^"]*\/libshmem-[^"\/]*\.rlib\)".*/\1/p')
export ANOTHER_LIBRARY
cargo test --release -p shmem-perf --test assembly
# --workspace, as in unit.sh: nothing is built twice.
said=$(cargo test --workspace --test copies -- --nocapture 2>&1) || { printf '%s\n' "$said"; exit 1; }
printf '%s\n' "$said" | grep '^test '
if printf '%s\n' "$said" | grep 'skipped: '; then
    exit 1
fi
