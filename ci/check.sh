#!/bin/sh
# Suites of correct programs in checked mode: they pass, so no mistake is reported where there is none. (Suites
# that write the same bytes from several PEs on purpose are not among them; what is to be found is in
# shmem-rt/tests/check.rs.)
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
SHMEM_CHECK=1 cargo test --workspace \
    --test collective --test create_partition --test domain --test halo --test halo2d --test heap --test heat2d \
    --test lock --test padded --test regions --test rma --test segments --test session --test signal --test sync
