#!/bin/bash
# Huge pages, which most machines that run tests do not reserve: the tests of memory and a whole job
# run in a virtual machine that has pages of 2M and 1G. Needs QEMU and a kernel as Debian packages
# (about 110 MB, fetched once by ci/numa-vm, not installed). Where they cannot be had, the step is
# left out and says so.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "skipped: the virtual machine needs a Debian or Ubuntu on x86-64"
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! ci/numa-vm --fetch 2>"$log"; then
    # A fresh machine has no package lists; only root may fetch them.
    if [ "$(id -u)" -ne 0 ] || ! apt-get -qq update || ! ci/numa-vm --fetch 2>"$log"; then
        cat "$log"
        echo "skipped: the packages of the virtual machine cannot be fetched (see above)"
        exit 0
    fi
fi

# --workspace, as in unit.sh: nothing is built twice.
tests=$(cargo test --workspace --lib --no-run 2>&1 | sed -n 's/.*(\(.*\/shmem_core-[^)]*\)).*/\1/p')
cargo build --workspace --bins
hello=${CARGO_TARGET_DIR:-target}/debug/hello

guest() { # OPTIONS... -- COMMAND
    ci/numa-vm --timeout 300 --nodes dram,dram --hugepages 2M:0:64,2M:1:64 "$@" 2>&1 | tee "$log"
}
expect() { # TEXT: in what the guest printed
    grep -qE -- "$1" "$log" || { echo "not found: $1"; exit 1; }
}

echo "-- memory"
guest -- "$tests" memory:: --nocapture
expect '^test result: ok'
if grep -q 'skipped: .*pages of 2 MiB' "$log"; then
    echo "the pool of the virtual machine was not used"
    exit 1
fi

echo "-- a job on pages that it must have"
guest --env SHMEM_NPES=2 --env SHMEM_INFO=1 \
    --env SHMEM_SYMMETRIC_PARTITION1=size=8M:pgsize=2M:policy=mandatory:kind=normalmem -- "$hello"
expect 'PE 1 of 2: PE 0 says hello'
expect '^1 +default +8M +2M +NORMALMEM +MANDATORY +all +8M +2M +hugetlb +NORMALMEM +yes'

echo "-- a job on pages that it cannot have"
status=0
guest --env SHMEM_NPES=2 \
    --env SHMEM_SYMMETRIC_PARTITION1=size=8M:pgsize=1G:policy=mandatory:kind=normalmem -- "$hello" || status=$?
[ "$status" -ne 0 ] || { echo "the job ran all the same"; exit 1; }
expect "partition 1 .*1G.*2M"

# shellcheck source=ci/numa/kinds.sh
. ci/numa/kinds.sh
