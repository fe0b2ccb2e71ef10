#!/bin/bash
# The C library as users have it: built and installed in a folder of its own, and programs in C and C++ that are compiled
# there by gcc and by clang. They run on 1 to 5 PEs, in checked mode, under sanitizers and Valgrind, and on pretended hosts
# over libfabric.
#
# usage: ci/c.sh [gcc]     only programs that gcc compiles, on processes of one host
set -euo pipefail
cd "$(dirname "$0")/.."

for package in gcc g++; do
    if ! command -v "$package" >/dev/null && ! ci/install "$package"; then
        echo "skipped: there is no C compiler, and none can be installed"
        exit 0
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A debug build, as by README's test command, so that little is built twice.
shmem-c/make.sh --debug "$work/prefix" >/dev/null
export OSHCC=$work/prefix/bin/oshcc OSHCXX=$work/prefix/bin/oshc++ OSHRUN="$work/prefix/bin/oshrun -np"
export LIMIT=${LIMIT:-120}

programs() { # WHAT [VARIABLE=VALUE]...: runs the programs in C and C++, or those that LIST names
    local what=$1 before=$SECONDS
    shift
    env OUT="$work/gcc" "$@" shmem-c/tests/conformance/run.sh || {
        echo "FAILED: programs in C: $what" >&2
        exit 1
    }
    echo "-- $what: $((SECONDS - before)) s"
}

programs 'processes of one host'
[ "${1-}" != gcc ] || exit 0

# Where each linker puts globals, what `fork` makes of them, and what is refused.
ci/install clang lld || echo "left out: programs of clang, and those that lld links"
cargo test --quiet --workspace --test globals

# Programs in C++ call the same functions, so those in C are enough where only the library differs.
in_c=$(cd shmem-c/tests/conformance && printf '%s ' *.c)
in_c=${in_c//.c /  }
# `BUILT=1` takes the programs that are built already.
programs 'checked mode' BUILT=1 LIST="$in_c" SHMEM_CHECK=1 CHECK=1 PES='2 3'
programs 'static library' OUT="$work/static" CFLAGS=-static-shmem PES=2 LIST='setup globals rma amo team_collective at_exit'
if command -v clang >/dev/null; then
    # Without optimisation, which takes four times as long to compile, and which gcc has covered.
    programs 'clang' OUT="$work/clang" OSHCC_CC=clang OSHCXX_CXX=clang++ CFLAGS=-O0 PES=2
fi
# Sanitizers check the programs' accesses to their own memory, to their variables (which the library moves before `main`), and to
# memory of the library. Leaks are not checked, because a job keeps its memory to its end. (ci/sanitize.sh checks the library
# itself.)
sanitized() { # WHAT VARIABLE=VALUE...
    programs "$1" "${@:2}" PES=2 LIST="$(cat shmem-c/tests/conformance/sanitized)" ASAN_OPTIONS=detect_leaks=0 \
        CFLAGS='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
}
sanitized 'AddressSanitizer and UndefinedBehaviorSanitizer' OUT="$work/sanitized"
# Valgrind, by which programs in C are debugged and profiled, loads programs in another way, and to other addresses.
if command -v valgrind >/dev/null || ci/install valgrind; then
    for tool in 'memcheck --error-exitcode=9' callgrind helgrind; do
        before=$SECONDS
        # shellcheck disable=SC2086
        (cd "$work" && SHMEM_WAIT_WARN=0 timeout 300 prefix/bin/oshrun -np 2 valgrind --quiet --tool=$tool gcc/globals) \
            >"$work/said" 2>&1 || {
            cat "$work/said"
            echo "FAILED: programs in C: under Valgrind's ${tool%% *}" >&2
            exit 1
        }
        echo "-- Valgrind's ${tool%% *}: $((SECONDS - before)) s"
    done
else
    echo "left out: programs under Valgrind"
fi
if [ -n "${SHMEM_LIBFABRIC:-}" ] || ci/install libfabric1; then
    # On the loopback interface, so that no other network of this machine matters.
    export SHMEM_OFI_INTERFACE=lo SHMEM_OFI_PROVIDER='tcp;ofi_rxm'
    # Waiting for another PE takes long there.
    export SHMEM_WAIT_WARN=0
    hosts="$work/prefix/bin/oshrun --hosts-as"
    programs 'two PEs on each host' BUILT=1 LIST="$in_c" OSHRUN="$hosts *x2 -np" PES=3 CHECK=1
    programs 'every PE on a host of its own' BUILT=1 LIST="$in_c" OSHRUN="$hosts *x1 -np" PES=2 CHECK=1
else
    echo "left out: pretended hosts, which take libfabric"
fi
