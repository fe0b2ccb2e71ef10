#!/bin/bash
# The regression guard: `shmem-perf check` prints what cases of all measures cost beside their limits, and refuses what only
# an operation that does something else than it ought to can cost, on any processor (tools/shmem-perf/src/check.rs). Nobody who
# only runs the tests meets it: those look at no clock. It wants the machine for itself: nothing else runs beside it. Built where machine
# code is looked at (assembly.sh).
#
# usage: ci/guard.sh [ten]     only ten cases: what one put, atomic operation and barrier cost, and what finding a partition adds
set -euo pipefail
cd "$(dirname "$0")/.."

# With the shim, over which tracking is measured.
cargo build --quiet --release -p shmem-perf -p fabric-shim
guard=${CARGO_TARGET_DIR:-target}/release/shmem-perf
start=$SECONDS
measures=()
[ "${1-}" != ten ] || measures=(put8-static put atomic barrier threads lookup)
"$guard" check "${measures[@]}"
echo "-- checked in $((SECONDS - start)) s"

# Held against what nothing can reach, it says so and fails.
status=0
said=$("$guard" check put8-static --allowance 0.01 2>&1) || status=$?
if [ "$status" -ne 1 ] || ! grep -q 'put8-static 8 is too slow: .* in 5 measurements, allowed is 0.04' <<<"$said"; then
    printf 'the guard does not refuse what is too slow (exit code %s):\n%s\n' "$status" "$said"
    exit 1
fi
