#!/bin/bash
# Runs what README's test command leaves out: tests of the tools, and tests that need root, a libfabric, headers or mpirun, which
# are installed here. Tests that need other memory nodes or pools of huge pages are left to numa.sh. A test that is skipped for
# any other reason is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ] || ! ci/install libfabric1 libfabric-dev libpmix-dev openmpi-bin libopenmpi-dev; then
    echo "skipped: what tests need cannot be installed"
    exit 0
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# On the loopback interface, so that no other network of this machine matters.
export SHMEM_OFI_INTERFACE=lo
# Few random cases, since README's command draws all of them.
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
# The modules of `network` that no other step runs. Their tests choose interfaces themselves.
(unset SHMEM_OFI_INTERFACE && tests --test network -- --nocapture fabric:: nodes::)
