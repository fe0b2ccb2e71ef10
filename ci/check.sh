#!/bin/sh
# Runs correct programs in checked mode, in which no mistake may be reported. (Mistakes that must be reported are in
# shmem-rt/tests/jobs/check.rs.)
set -eu
cd "$(dirname "$0")/.."

# --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
SHMEM_CHECK=1 cargo test --workspace --test ordered --test programs
