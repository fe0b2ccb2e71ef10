#!/bin/sh
# The tests on several PEs once more, over the transport inside one process: every operation takes
# the path that a network will take, and what may be delayed or reordered is. First with each PE on a node of
# its own, then with two on each: some are reached through memory, and others through the transport.
set -eu
cd "$(dirname "$0")/.."

for hosts in '*x1' '*x2'; do
    # --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
    SHMRUN_HOSTS_AS=$hosts SHMEM_TRANSPORT=loopback cargo test --workspace --test ordered --test racing
done
