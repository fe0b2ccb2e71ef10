#!/bin/bash
# The regression guard: `shmem-perf check` holds cases of all measures against generous bounds, by ratios alone
# (shmem-perf/src/guard.rs). It wants the machine for itself: nothing else runs beside it. Built where machine
# code is looked at (builds.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release -p shmem-perf
guard=${CARGO_TARGET_DIR:-target}/release/shmem-perf
start=$SECONDS
"$guard" check
echo "-- checked in $((SECONDS - start)) s"

# Held against what nothing can reach, it says so and fails.
status=0
said=$("$guard" check put8-static --allowance 0.01 2>&1) || status=$?
if [ "$status" -ne 1 ] || ! grep -q 'put8-static 8 is too slow: .* in 3 measurements, allowed is 0.02' <<<"$said"; then
    printf 'the guard does not refuse what is too slow (exit code %s):\n%s\n' "$status" "$said"
    exit 1
fi
