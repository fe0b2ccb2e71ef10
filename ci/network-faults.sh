#!/bin/bash
# Faults of networks and processes, in jobs on pairs of pretend hosts (ci/hosts-up.sh). A second network connects each pair, and
# can be slowed down and cut (ci/netdelay.py). Runs shmrun/tests/cut/faults.rs on all pairs at once, because most of the time is
# spent waiting. (Faults in the library's code are planted by ci/mutants.sh.)
#
# usage: ci/network-faults.sh [NAME]     only the tests whose names contain NAME
#
# Where there is no libfabric or no nft, or namespaces cannot be made, it says so.
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
for one in "${making[@]}"; do wait "$one"; done

FAULTS_HOSTS=$(printf ":$work/set%s" $(seq "$pairs"))
export FAULTS_HOSTS=${FAULTS_HOSTS#:}
# In the directory of the package, as under cargo.
(cd shmrun && "$cut" --test-threads="$pairs" --nocapture "$@") 2>&1 | tee "$work/said"
! grep -q "^skipped" "$work/said"
