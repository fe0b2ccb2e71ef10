#!/bin/bash
# The regression guard: `shmem-perf check` prints the costs of cases of all measures beside their limits, and fails at a cost that
# only a wrong operation has, on any processor (tools/shmem-perf/src/check.rs). The tests look at no clock, so they do not include
# it. Nothing else may run on the machine at the same time. Uses the build of assembly.sh.
#
# usage: ci/guard.sh [ten]     only ten cases: what one put, atomic operation and barrier cost, and what finding a partition adds
set -euo pipefail
cd "$(dirname "$0")/.."

# The measure `tracking` needs the shim.
cargo build --quiet --release -p shmem-perf -p fabric-shim
guard=${CARGO_TARGET_DIR:-target}/release/shmem-perf
start=$SECONDS
measures=()
[ "${1-}" != ten ] || measures=(put8-static put atomic barrier threads lookup)
"$guard" check "${measures[@]}"
echo "-- checked in $((SECONDS - start)) s"

# Against a bound that nothing can reach, the guard must fail with its message.
status=0
said=$("$guard" check put8-static --allowance 0.01 2>&1) || status=$?
if [ "$status" -ne 1 ] || ! grep -q 'put8-static 8 is too slow: .* in 5 measurements, allowed is 0.04' <<<"$said"; then
    printf 'the guard does not refuse what is too slow (exit code %s):\n%s\n' "$status" "$said"
    exit 1
fi
