#!/bin/bash
# Faults, planted into jobs on pairs of pretend hosts (ci/hosts-up.sh), which a second network connects that can be
# slowed down and cut (ci/netdelay.py): shmrun/tests/cut/faults.rs, on all pairs at once, because most of the time is
# spent waiting. Beside it contexts on three hosts of which two are cut off from each other: what one context has
# started there may not keep another one from its quiet (shmrun/tests/cut/contexts_apart.rs).
#
#   ci/faults.sh [NAME]     only the tests of faults whose names contain it
#
# Where there is no libfabric or no nft, or namespaces may not be made, it says so.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/pretend.sh

pairs=3
if ! is_inside; then
    cargo test --workspace --no-run --test cut
    cargo build --workspace --lib --bins
    can_pretend libfabric1 nftables iproute2 python3 openmpi-bin || exit 0
    enter "$@"
fi
begin
cut=$(binary cut)

making=()
for pair in $(seq "$pairs"); do
    hosts_up "$pair" 2 0 &
    making+=($!)
done
apart=$((pairs + 1))
hosts_up "$apart" 3 2 &
making+=($!)
for one in "${making[@]}"; do wait "$one"; done

contexts() {
    SHMRUN_LAUNCHER=$(mpirun_on "$apart" 3 1) NETWORK=$work/set$apart SHMEM_OFI_INTERFACE=dly0 \
        "$cut" --test-threads=1 --nocapture contexts_apart::
}
contexts >"$work/contexts" 2>&1 &
contexts=$!

FAULTS_HOSTS=$(printf ":$work/set%s" $(seq "$pairs"))
export FAULTS_HOSTS=${FAULTS_HOSTS#:}
# In the directory of the package, as under cargo.
(cd shmrun && "$cut" --test-threads="$pairs" --nocapture --skip contexts_apart:: "$@") 2>&1 | tee "$work/said"
status=0
wait "$contexts" || status=$?
cat "$work/contexts"
! grep -q "^skipped" "$work/said" "$work/contexts"
exit "$status"
