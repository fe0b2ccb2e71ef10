#!/bin/sh
# The tests on several PEs once more, over the transport inside one process: every operation takes
# the path that a network will take, and what may be delayed or reordered is.
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
SHMEM_TRANSPORT=loopback cargo test --workspace \
    --test array_strided --test arrays --test collective --test context --test create_partition --test domain --test halo --test heap --test hints --test iput \
    --test linearizability --test litmus --test lock --test nonblocking --test padded --test phase --test reach --test regions --test rma --test segments --test session \
    --test signal --test statistics --test strided --test sync --test team --test testing --test threads
