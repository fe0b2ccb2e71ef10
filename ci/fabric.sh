#!/bin/sh
# The tests on several PEs over libfabric, on this machine alone: every PE as if on a host of its own, then PEs
# of several pretended hosts, which reach those of their own through memory and others through the fabric; a few
# of them again over other providers.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${SHMEM_LIBFABRIC:-}" ] && ! ci/install libfabric1; then
    echo "skipped: libfabric is not here, and cannot be installed"
    exit 0
fi

# Whatever other networks come and go on this machine.
export SHMEM_OFI_INTERFACE=lo
# Handlers of psm's, which print an exit where a signal should be seen.
export HFI_NO_BACKTRACE=1 IPATH_NO_BACKTRACE=1

suite() { # TEST...: built as in unit.sh, so that nothing is built twice
    cargo test --quiet --workspace $(printf ' --test %s' "$@")
}

operations="rma signal sync lock"
everything="$operations array_strided arrays collective context create_partition halo heap iput linearizability litmus
    nodes nonblocking phase regions segments session strided team"

echo "-- tcp;ofi_rxm, every PE on a host of its own"
SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER='tcp;ofi_rxm' suite $everything

echo "-- tcp;ofi_rxm between hosts of two PEs, memory inside"
SHMRUN_HOSTS_AS='*x2' SHMEM_TRANSPORT=auto SHMEM_OFI_PROVIDER='tcp;ofi_rxm' \
    suite $operations collective heap linearizability litmus nodes phase segments team

for provider in sockets 'udp;ofi_rxd'; do
    echo "-- $provider"
    SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=$provider suite $operations
done
echo "-- shm, the provider"
SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=shm SHMEM_OFI_INTERFACE=shm suite $operations
