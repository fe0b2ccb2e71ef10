#!/bin/sh
# Runs the tests on several PEs over the transport inside one process. Every operation takes the path of a network, which
# delays and reorders what it may. First each PE is on a node of its own; then two PEs share a node, and reach each other
# through memory and the others through the transport.
#
# usage: ci/loopback.sh [ordered]     only the program `ordered`, each PE on a node of its own
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
if [ "${1-}" = ordered ]; then
    SHMRUN_HOSTS_AS='*x1' SHMEM_TRANSPORT=loopback cargo test --workspace --test ordered
    exit
fi
for hosts in '*x1' '*x2'; do
    SHMRUN_HOSTS_AS=$hosts SHMEM_TRANSPORT=loopback cargo test --workspace --test ordered --test racing
done
