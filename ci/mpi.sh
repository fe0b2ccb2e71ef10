#!/bin/bash
# Programs in C that use MPI and SHMEM: with Open MPI and with MPICH, each under its own launcher, in every order of starting and
# ending. MPICH's launcher serves only one client in each process, so there SHMEM starts second, over a communicator.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 SHMEM_WAIT_WARN=0

tried=''
with() { # MPI PACKAGES COMPILER LAUNCHER ORDER...
    local mpi=$1 packages=$2 compiler=$3 launcher=$4 source order
    shift 4
    # shellcheck disable=SC2086
    if ! command -v "$compiler" >/dev/null && ! ci/install $packages; then
        echo "left out: $mpi"
        return
    fi
    [ -n "$tried" ] || shmem-c/make.sh --debug "$work/prefix" >/dev/null
    tried=yes
    for source in examples/c/with-mpi.c shmem-c/tests/mpi/orders.c; do
        OSHCC_CC=$compiler "$work/prefix/bin/oshcc" -Wall -Wextra -Werror "$source" -o "$work/$(basename "$source" .c)"
    done
    for order in "$@"; do
        # shellcheck disable=SC2086
        timeout -k 5 60 $launcher -n 3 "$work/orders" "$order" || {
            echo "FAILED: $mpi, $order" >&2
            exit 1
        }
    done
    # Each PE has a host name of its own, and PEs end at different times.
    if unshare --uts true 2>/dev/null && ci/install libfabric1; then
        printf '#!/bin/sh\nhostname "host-$$"\nexec "$@"\n' >"$work/elsewhere"
        # shellcheck disable=SC2086
        SHMEM_STATS=1 timeout -k 5 60 $launcher -n 3 unshare --uts sh "$work/elsewhere" "$work/orders" MWcsmd \
            >"$work/said" 2>&1 && grep -q 'statistics (SHMEM_STATS): sums of 3 PEs' "$work/said" || {
            cat "$work/said"
            echo "FAILED: $mpi, MWcsmd on three hosts" >&2
            exit 1
        }
    else
        echo "left out: $mpi, several hosts"
    fi
    # shellcheck disable=SC2086
    timeout -k 5 60 $launcher -n 3 "$work/with-mpi" | sort >"$work/said"
    for pe in 0 1 2; do
        echo "PE $pe of 3 is rank $pe: PE $(((pe + 2) % 3)) wrote here, all inboxes together are 3"
    done | diff - "$work/said"
    echo "-- $mpi: $*"
}

with 'Open MPI' 'openmpi-bin libopenmpi-dev' mpicc.openmpi mpirun.openmpi MScsm MScms SMcsm SMcms MWcsm MWcms
with MPICH 'mpich libmpich-dev' mpicc.mpich mpiexec.hydra MWcsm MWcms
[ -n "$tried" ] || echo 'skipped: there is no MPI, and none can be installed'
