#!/bin/sh
# The tests on several PEs once more, over the transport inside one process: every operation takes
# the path that a network will take, and what may be delayed or reordered is. First with each PE on a node of
# its own, then with two on each: some are reached through memory, and others through the transport.
set -eu
cd "$(dirname "$0")/.."

for hosts in '*x1' '*x2'; do
    # --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
    SHMRUN_HOSTS_AS=$hosts SHMEM_TRANSPORT=loopback cargo test --workspace \
        --test array_strided --test arrays --test collective --test context --test create_partition --test domain --test halo --test heap --test hints --test iput \
        --test linearizability --test litmus --test lock --test nonblocking --test padded --test phase --test reach --test regions --test rma --test segments --test session \
        --test signal --test statistics --test strided --test sync --test team --test testing --test threads
done
