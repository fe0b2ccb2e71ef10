#!/bin/bash
# Tests with later versions of libraries that are found at run time: libfabric 2 and Open MPI 5 with its PMIx, of Debian 13.
# Debian's packages are unpacked in front of this system's files, and only the processes of this script see them. The build of
# this system runs there: layouts against Debian's headers, tests over its libfabric, jobs of its mpirun and prterun.
#
# No step of ci/test.sh, because it fetches 20 MB. Needs apt-get and root; says what it could not have.
#
# usage: ci/versions.sh [MODULE...]   other tests of shmem-rt/tests/ordered over libfabric, instead of those below
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=ci/pretend.sh
. ci/pretend.sh

modules=("$@")
[ $# -gt 0 ] || modules=(rma:: signal:: collective:: words::)
suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=(libc6 libgcc-s1 zlib1g
    libfabric1 libfabric-dev ibverbs-providers libibverbs1 librdmacm1t64 libnl-3-200 libnl-route-3-200 libnuma1 libpsm2-2
    openmpi-bin openmpi-common libopenmpi40 libpmix2t64 libmunge2 libhwloc15 libevent-core-2.1-7t64
    libevent-pthreads-2.1-7t64)

skip() {
    echo "skipped: $*"
    exit 0
}

# Into the directory, which apt-get uses as if nothing were installed.
fetch() { # DIRECTORY
    mkdir -p "$1"/{lists,cache}/partial "$1/packages"
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main" >"$1/sources.list"
    : >"$1/status"
    local options=(-qq -o "Dir::Etc::sourcelist=$1/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$1"
        -o "Dir::State::lists=$1/lists" -o "Dir::State::status=$1/status" -o "Dir::Cache=$1/cache"
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Acquire::Languages=none -o Acquire::Retries=0
        -o Acquire::http::Timeout=5 -o APT::Sandbox::User=root)
    timeout 120 apt-get "${options[@]}" update && cd "$1/packages" &&
        timeout 120 apt-get "${options[@]}" download "${packages[@]}"
}

if [ -z "${VERSIONS_INSIDE:-}" ]; then
    echo "not tried: libfabric 1.14, of which no package is within reach (SHMEM_LIBFABRIC names one, for ci/fabric.sh)"
    [ "$(id -u)" -eq 0 ] || skip "not root, who alone may mount in front of a system"
    command -v apt-get >/dev/null && [ -e "$keyring" ] || skip "no apt-get, or no keys of Debian's archive"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (fetch "$work/apt") >/dev/null 2>&1 || skip "Debian's archive is out of reach"
    (cd "$work/apt/packages" && ls libfabric1_* libpmix2* openmpi-bin_*)
    mkdir "$work/layer"
    for package in "$work"/apt/packages/*.deb; do dpkg-deb -x "$package" "$work/layer"; done
    mkdir -p "$work/layer/usr/local/bin"
    ln -s ../../bin/mpirun.openmpi "$work/layer/usr/local/bin/mpirun"
    # --workspace, as in unit.sh: nothing is built twice.
    cargo build --quiet --workspace --bins
    files=()
    for test in bindings jobs ordered; do files+=("$(binary "$test")"); done
    # A mount in front of what it shows must not be inside of it.
    status=0
    # shellcheck disable=SC2016
    unshare -m --propagation private bash -c '
        layer=$1 && shift && root=/mnt && mount -t tmpfs tmpfs $root && mkdir $root/layer $root/all &&
            cp -a "$layer/." $root/layer && mount -t overlay overlay -o "lowerdir=$root/layer:/" $root/all || exit 77
        for at in /proc /sys /dev /tmp "$PWD"; do mount --rbind "$at" "$root/all$at"; done
        VERSIONS_INSIDE=$PWD exec chroot $root/all "$0" "$@"' "$PWD/ci/versions.sh" "$work/layer" "${files[@]}" "${modules[@]}" || status=$?
    [ "$status" -ne 77 ] || skip "nothing may be mounted in front of this system"
    exit "$status"
fi

cd "$VERSIONS_INSIDE"
bin=$PWD/${CARGO_TARGET_DIR:-target}/debug
bindings=$1 jobs=$2 ordered=$3
shift 3
part() { # WHAT COMMAND...
    local what=$1 before=$SECONDS said
    said=$(timeout 300 "${@:2}" 2>&1) || { printf '%s\n' "$said"; echo "FAILED: $what"; exit 1; }
    grep -h '^skipped' <<<"$said" || true
    echo "-- $what: $((SECONDS - before)) s"
}

export SHMEM_OFI_INTERFACE=lo
fabric=(env SHMEM_TRANSPORT=ofi "SHMEM_OFI_PROVIDER=tcp;ofi_rxm")
"${fabric[@]}" "$bin/shmem-info" transports
part "layouts of libfabric" "$bindings" --nocapture
part "$* over libfabric" "${fabric[@]}" "$ordered" "$@"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --version | head -n 1
echo "not tried: MPI_Init in a PE, which Open MPI 5.0.7 does not survive, in C neither (ci/mpi.sh)"
part "PMIx" "$jobs" pmix:: --nocapture
picture=$(mktemp)
trap 'rm -f "$picture"' EXIT
for launcher in "mpirun --oversubscribe" "prterun --map-by :oversubscribe"; do
    # shellcheck disable=SC2086
    part "hello, ${launcher%% *}" $launcher -np 4 "$bin/hello"
    # shellcheck disable=SC2086
    part "hello over libfabric, ${launcher%% *}" "${fabric[@]}" $launcher -np 4 "$bin/hello"
    # shellcheck disable=SC2016,SC2086
    part "heat2d, ${launcher%% *}" bash -o pipefail -c '"$@" | tee /dev/stderr | grep -xf examples/heat2d/checksum.txt' - \
        $launcher -np 4 "$bin/heat2d" --tolerance 6 --output "$picture"
done
