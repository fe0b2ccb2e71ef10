#!/bin/sh
# Correct programs in checked mode: they pass, so no mistake is reported where there is none. (What is to be found is in
# shmem-rt/tests/jobs/check.rs.)
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
SHMEM_CHECK=1 cargo test --workspace --test ordered --test programs
