#!/bin/sh
# The tests on several PEs over a libfabric that demands what the providers of network hardware demand
# (tools/fabric-shim, docs/fabrics.md). Every demand, and every provider's together, with tests that have been seen to
# fail where the transport ignores it.
#
# usage: ci/shim.sh [--whole]
#   --whole  all tests that run over a fabric under each demand by itself, and under each provider's together: hours
set -eu
cd "$(dirname "$0")/.."

if ! ci/install libfabric1; then
    echo "skipped: libfabric is not here, and cannot be installed"
    exit 0
fi

# --workspace here and below, as in unit.sh: nothing is built twice, and the library lies where tests link what they depend
# on. Each demand by itself, by a program that calls libfabric directly, is seen by README's test command and by equipped.sh.
cargo test --quiet --workspace --no-run --test demands
# Whatever other networks come and go on this machine.
# The last that was built: the place is up to the version of cargo.
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
        # Not what chooses a fabric by itself, nor what is about tests.
        under "$demands" --skip fabric:: --skip stranger:: --skip testing::
    done
    exit 0
fi

under "$verbs" long_blocks:: long_signals:: signal_leaves rma:: segments:: under_way::
under "$efa" long_blocks:: long_signals:: signal_leaves rma:: signal::
# One buffer for each operation, and an atomic of each kind.
for demands in "$cxi" "$psm3"; do
    under "$demands" rma:: long_signals:: lock::increments_under_a_lock regions_are
done
for demands in "$efa" atomics_missing atomics_lost; do
    under "$demands" lock::increments_under_a_lock words::nothing_is_lost
done
# What no provider's together have, where one demand does not hide another.
under mr_prov_key,mr_endpoint,inject=0 rma::
under max_msg=512,cq=4,eagain=3 nonblocking::
# What members do together with much data, and beside the program.
under mr_local,max_msg=4096 streams::between_two flights::histories_on_2 --skip nodes
under no_wait,reorder streams::between_two flights::histories_on_2 --skip nodes
# Lists, and items for others, by threads of their own and in programs.
for demands in mr_local,max_msg=4096,cq=4,eagain=3 "$efa"; do
    under "$demands" indexed:: ranges:: plan:: exchange:: a_queue
done
FABRIC_SHIM=$efa cargo test --quiet --workspace --test programs -- computed:: --skip loopback
# Ports that others have taken meanwhile.
under taken=3 strided::regions
under max_msg=4096,cq=4,eagain=3 long_signals:: signal_leaves
under endpoints=3 threads::
