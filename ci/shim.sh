#!/bin/sh
# The tests on several PEs over a libfabric that demands what the providers of network hardware demand
# (fabric-shim): each demand by itself, then as these providers combine them (docs/fabrics.md).
set -eu
cd "$(dirname "$0")/.."

if ! ci/install libfabric1; then
    echo "skipped: libfabric is not here, and cannot be installed"
    exit 0
fi

# Both sides of each demand, by a program that calls libfabric directly.
cargo test --quiet --package fabric-shim
cargo build --quiet --package fabric-shim
SHMEM_LIBFABRIC="$PWD/target/debug/libfabric_shim.so"
# Whatever other networks come and go on this machine.
export SHMEM_LIBFABRIC SHMEM_TRANSPORT=ofi SHMEM_OFI_INTERFACE=lo SHMEM_TIMEOUT=30

demand() { # DEMANDS TEST...
    demands=$1
    shift
    echo "-- $demands"
    # --workspace, as in unit.sh: nothing is built twice.
    FABRIC_SHIM=$demands cargo test --quiet --workspace $(printf ' --test %s' "$@")
}

memory="rma segments long_blocks"
completion="rma nonblocking signal long_blocks"
order="$completion litmus"
atomics="linearizability lock signal"
everything="rma nonblocking signal lock linearizability litmus strided iput array_strided segments arrays collective
    halo domain heap phase team"

for one in mr_prov_key mr_endpoint mr_local mr_virt_addr mr_allocated key_size=2; do
    demand $one $memory
done
for one in context context2 max_msg=512 iov=1 rma_iov=1 inject=0 cq=4 eagain=3 no_wait; do
    demand $one $completion
done
demand reorder $order
for one in no_atomics atomics_missing atomics_lost plain_fetch; do
    demand $one $atomics
done
demand endpoints=3 context domain

basic=mr_local,mr_virt_addr,mr_allocated,mr_prov_key,key_size=4,rma_iov=1
echo "-- as verbs;ofi_rxm"
demand $basic,cq=64,inject=64 $everything
echo "-- as efa"
demand $basic,context2,no_wait,no_atomics,inject=32,reorder $completion segments lock
echo "-- as cxi"
demand mr_endpoint,mr_allocated,key_size=2,iov=1,rma_iov=1,no_wait,plain_fetch,eagain=1 $completion segments lock strided
echo "-- as psm3"
demand context,rma_iov=1,iov=1,inject=64 $completion lock strided
