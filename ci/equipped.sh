#!/bin/bash
# Runs what README's test command leaves out: tests of the tools, and tests that need root, a libfabric, headers or mpirun,
# which are installed here. What none of this gives a machine (nodes of memory, pools of huge pages) is left to numa.sh;
# whatever else a test still lacks is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ] || ! ci/install libfabric1 libfabric-dev libpmix-dev openmpi-bin libopenmpi-dev; then
    echo "skipped: what tests need cannot be installed"
    exit 0
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# Whatever other networks come and go on this machine.
export SHMEM_OFI_INTERFACE=lo
# README's command draws all cases.
export PROPTEST_CASES=8
tests() { # ARGUMENT...: --workspace, as in unit.sh: nothing is built twice
    cargo test --quiet --workspace "$@" >"$said" 2>&1 || { cat "$said"; exit 1; }
    grep -E '^test result|skipped: ' "$said" || true
    if grep 'skipped: ' "$said" | grep -qvE 'memory nodes|NUMA node|pages|every endpoint'; then
        echo "FAILED: left out, though all that can be installed is here"
        exit 1
    fi
}
tests --lib --test bindings --test demands -- --nocapture
tests --test scale -- --nocapture
tests --test jobs --test info -- --nocapture pmix:: of_another_host hosts_that_wait a_provider
# What of `network` no other step runs; it chooses interfaces by itself.
(unset SHMEM_OFI_INTERFACE && tests --test network -- --nocapture fabric:: nodes::)
