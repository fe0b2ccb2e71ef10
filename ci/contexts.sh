#!/bin/bash
# Contexts on a network that is cut: three pretend hosts (ci/hosts-up.sh) with a PE each, on a network with a delay
# (ci/netdelay.py) that parts two of them while contexts of one are at work. What one context has started there may
# not keep another one from its quiet.
#
# Where there is no mpirun or no libfabric, or namespaces may not be made, it says so.
set -euo pipefail
cd "$(dirname "$0")/.."

own=(unshare -n -m -u -i -p --fork --kill-child --mount-proc)
if [ -z "${SHMEM_HOSTS_INSIDE:-}" ]; then
    cargo test --workspace --no-run --test contexts_apart
    if ! ci/install openmpi-bin libfabric1 iproute2; then
        echo "skipped: contexts on a cut network need mpirun and libfabric"
        exit 0
    elif ! "${own[@]}" true 2>/dev/null; then
        echo "skipped: contexts on a cut network need namespaces, which this user may not make (unshare -n)"
        exit 0
    fi
    SHMEM_HOSTS_INSIDE=1 exec "${own[@]}" "$0"
fi

unset SHMEM_HOSTS_INSIDE
work=$(mktemp -d)
ip link set lo up
export HOSTS=$work/hosts
switch=
down() {
    [ -z "$switch" ] || kill "$switch" || true
    ci/hosts-down.sh "$HOSTS" || true
    rm -rf "$work"
}
trap down EXIT
ci/hosts-up.sh 3 "$HOSTS"
ci/netdelay.py --dir "$HOSTS" --delay-ms 2 >"$work/switch" &
switch=$!
until grep -q "netdelay up" "$work/switch"; do
    kill -0 "$switch" || { cat "$work/switch"; exit 1; }
    sleep 0.1
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export NETWORK_CONTROL=$HOSTS/netdelay.ctl SHMEM_OFI_INTERFACE=dly0
net=$(cat "$HOSTS/net").0/24
export SHMRUN_LAUNCHER="timeout 120 $HOSTS/hostsh login mpirun --mca plm rsh --mca plm_rsh_agent $HOSTS/hostrsh \
    --mca oob_tcp_if_include $net --mca btl_tcp_if_include $net --host h1:1,h2:1,h3:1 -np {pes}"
cargo test --workspace --test contexts_apart -- --test-threads=1 --nocapture | tee "$work/said"
! grep -q "^skipped" "$work/said"
