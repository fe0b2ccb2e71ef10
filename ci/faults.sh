#!/bin/bash
# Faults, planted into a job on two pretend hosts (ci/hosts-up.sh) which a second network connects that can be slowed
# down and cut (ci/netdelay.py): shmem-rt/tests/faults.rs. Everything is built once.
#
#   ci/faults.sh [NAME]     only the tests whose names contain it
#
# Where there is no libfabric or no nft, or namespaces may not be made, it says so.
set -euo pipefail
cd "$(dirname "$0")/.."

own=(unshare -n -m -u -i -p --fork --kill-child --mount-proc)
if [ -z "${FAULTS_INSIDE:-}" ]; then
    cargo test --workspace --no-run --test faults
    cargo build --workspace --lib --bins
    if ! ci/install libfabric1 nftables iproute2; then
        echo "skipped: faults between hosts need libfabric and nft"
        exit 0
    elif ! "${own[@]}" true 2>/dev/null; then
        echo "skipped: faults between hosts need namespaces, which this user may not make (unshare -n)"
        exit 0
    fi
    FAULTS_INSIDE=1 exec "${own[@]}" "$0" "$@"
fi

work=$(mktemp -d)
ip link set lo up
export FAULTS_HOSTS=$work/hosts
switch=
down() {
    [ -z "$switch" ] || kill "$switch" || true
    ci/hosts-down.sh "$FAULTS_HOSTS" || true
    rm -rf "$work"
}
trap down EXIT
ci/hosts-up.sh 2 "$FAULTS_HOSTS"
ci/netdelay.py --dir "$FAULTS_HOSTS" --delay-ms 0 >"$work/switch" &
switch=$!
until grep -q "netdelay up" "$work/switch"; do
    kill -0 "$switch" || { cat "$work/switch"; exit 1; }
    sleep 0.1
done
export FAULTS_NETWORK=$FAULTS_HOSTS/netdelay.ctl

cargo test --workspace --test faults -- --test-threads=1 --nocapture "$@" | tee "$work/said"
! grep -q "^skipped" "$work/said"
