#!/bin/sh
# What only a release build has: the machine code of single operations; and, beside the other build, the library twice. Of
# the package that guard.sh measures when everything else has ended: what all of them need is built here once.
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
