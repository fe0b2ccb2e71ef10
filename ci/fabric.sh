#!/bin/sh
# Runs the tests on several PEs over libfabric, on this machine alone. First every PE is on a pretended host of its own. Then each
# pretended host has two PEs, which reach each other through memory, and others through the fabric. A few tests run again over
# other providers.
#
# usage: ci/fabric.sh [basic]     only the module `basic`, every PE on a host of its own
set -eu
cd "$(dirname "$0")/.."

if [ -z "${SHMEM_LIBFABRIC:-}" ] && ! ci/install libfabric1; then
    echo "skipped: libfabric is not here, and cannot be installed"
    exit 0
fi

# On the loopback interface, so that no other network of this machine matters.
export SHMEM_OFI_INTERFACE=lo

# Fewer random cases than over memory.
export PROPTEST_CASES=12

part() { # WHAT MODULE...: built as in unit.sh, so that nothing is built twice
    what=$1 before=$(date +%s)
    shift
    # Left out: tests with more PEs than cores, which take long and show little without a real network.
    cargo test --quiet --workspace --test ordered --test racing --test network -- "$@" --skip each_other_on_4
    echo "-- $what: $(($(date +%s) - before)) s"
}

if [ "${1-}" = basic ]; then
    SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER='tcp;ofi_rxm' part 'tcp;ofi_rxm' basic::
    exit
fi

# Jobs beside a process that belongs to no job, and that is another user's if this script runs as root.
before=$(date +%s)
cargo test --quiet --workspace --test network stranger::
echo "-- strangers: $(($(date +%s) - before)) s"

# Every PE is alone on its host. These tests transfer blocks of bytes, each of which is split or packed in some way.
export SHMEM_TRANSPORT=ofi
SHMEM_OFI_PROVIDER='tcp;ofi_rxm' part 'tcp;ofi_rxm, every PE on a host of its own' \
    array_strided:: arrays:: channel:: context:: futures:: halo:: keys:: long_blocks:: long_signals:: nonblocking:: regions:: rma:: \
    strided:: words::
# Large collectives, blocking and started ones. Left out are tests that choose a transport themselves.
SHMEM_OFI_PROVIDER='tcp;ofi_rxm' part 'tcp;ofi_rxm, large collectives' \
    streams::between_two streams::between_three flights::histories_on_2 flights::histories_on_3 --skip nodes
for provider in sockets 'udp;ofi_rxd'; do
    SHMEM_OFI_PROVIDER=$provider part "$provider" rma:: signal::
done
SHMEM_OFI_PROVIDER=shm SHMEM_OFI_INTERFACE=shm part 'shm, the provider' rma:: signal::

# Two PEs on each host: words, their order, and collectives. First over interfaces of two networks, which the PEs of a host take
# in turn.
export SHMRUN_HOSTS_AS='*x2' SHMEM_TRANSPORT=auto
SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_OFI_INTERFACE=127.0.0.0/8,$(hostname -I | cut -d' ' -f1) \
    part 'tcp;ofi_rxm, interfaces in turn' basic::
SHMEM_OFI_PROVIDER='tcp;ofi_rxm' part 'tcp;ofi_rxm between hosts of two PEs' \
    basic:: collectives:: streams::between_three flights::histories_on_3 domain:: heap:: linearizability:: litmus:: lock:: long_signals:: signal_leaves nodes:: phase:: segments:: team::
