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
if ! ci/numa-vm --fetch 2>fetch.log; then
    # A fresh machine has no package lists; only root may fetch them.
    if [ "$(id -u)" -ne 0 ] || ! apt-get -qq update || ! ci/numa-vm --fetch; then
        cat fetch.log
        echo "skipped: the packages of the virtual machine cannot be fetched (see above)"
        exit 0
    fi
fi

guest() { # OPTIONS... -- COMMAND
    ci/numa-vm --timeout 300 --nodes dram,dram --hugepages 2M:0:96,2M:1:96,1G:0:1 "$@"
}
