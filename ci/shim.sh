#!/bin/sh
# Runs the tests on several PEs over a libfabric that demands what the providers of network hardware demand (tools/fabric-shim,
# docs/fabrics.md). For every single demand and for every provider's demands together, there are tests that have been seen to fail
# when the transport ignores them.
#
# usage: ci/shim.sh [--whole]
#   --whole  all tests that run over a fabric under each demand by itself, and under each provider's together: hours
set -eu
cd "$(dirname "$0")/.."

if ! ci/install libfabric1; then
    echo "skipped: libfabric is not here, and cannot be installed"
    exit 0
fi

# --workspace here and below, as in unit.sh, so that nothing is built twice. README's test command and equipped.sh test each
# demand by itself, by a program that calls libfabric directly.
cargo test --quiet --workspace --no-run --test demands
# The shim that was built last, because its directory depends on the version of cargo.
shim=$(find "${CARGO_TARGET_DIR:-$PWD/target}/debug" -name libfabric_shim.so -printf '%T@ %p\n' | sort -n | tail -n 1)
export SHMEM_LIBFABRIC="${shim#* }" SHMEM_TRANSPORT=ofi SHMEM_OFI_INTERFACE=lo
export SHMEM_TIMEOUT=60

under() { # DEMANDS MODULE...: built as in unit.sh, so that nothing is built twice
    demands=$1 before=$(date +%s)
    shift
    FABRIC_SHIM=$demands cargo test --quiet --workspace --test ordered --test racing --test network -- "$@"
    echo "-- $demands: $(($(date +%s) - before)) s"
}

basic=mr_local,mr_virt_addr,mr_allocated,mr_prov_key,key_size=4,rma_iov=1
verbs=$basic,cq=64,inject=64
efa=$basic,context2,no_wait,no_atomics,inject=32,reorder
cxi=mr_endpoint,mr_allocated,key_size=2,iov=1,rma_iov=1,no_wait,plain_fetch,eagain=1
psm3=context,rma_iov=1,iov=1,inject=64

if [ "${1-}" = --whole ]; then
    for demands in mr_prov_key mr_endpoint mr_local mr_virt_addr mr_allocated key_size=2 context context2 max_msg=512 \
        iov=1 rma_iov=1 inject=0 cq=4 eagain=3 no_wait reorder no_atomics atomics_missing atomics_lost plain_fetch \
        endpoints=3 taken=3 "$verbs" "$efa" "$cxi" "$psm3"; do
        # Left out: tests that choose a fabric themselves, and tests of the test attribute.
        under "$demands" --skip fabric:: --skip stranger:: --skip testing::
    done
    exit 0
fi

under "$verbs" long_blocks:: long_signals:: signal_leaves rma:: segments:: under_way::
under "$efa" long_blocks:: long_signals:: signal_leaves rma:: signal::
# One buffer for each operation, and atomic operations of each kind.
for demands in "$cxi" "$psm3"; do
    under "$demands" rma:: long_signals:: lock::increments_under_a_lock regions_are
done
for demands in "$efa" atomics_missing atomics_lost; do
    under "$demands" lock::increments_under_a_lock words::nothing_is_lost
done
# Combinations that no provider has, in which no demand hides another.
under mr_prov_key,mr_endpoint,inject=0 rma::
under max_msg=512,cq=4,eagain=3 nonblocking::
# Large collectives, blocking and started ones.
under mr_local,max_msg=4096 streams::between_two flights::histories_on_2 --skip nodes
under no_wait,reorder streams::between_two flights::histories_on_2 --skip nodes
# Lists, and exchanged items, by threads of their own and in programs.
for demands in mr_local,max_msg=4096,cq=4,eagain=3 "$efa"; do
    under "$demands" indexed:: ranges:: plan:: exchange:: a_queue
done
FABRIC_SHIM=$efa cargo test --quiet --workspace --test programs -- computed:: --skip loopback
# Ports that other processes have taken meanwhile.
under taken=3 strided::regions
under max_msg=4096,cq=4,eagain=3 long_signals:: signal_leaves
under endpoints=3 threads::
