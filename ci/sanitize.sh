#!/bin/bash
# Runs tests under a sanitizer. AddressSanitizer: tests of shmem-core, and of several PEs as threads of one process, where it
# sees every access of every PE; and programs in C. Tests of mappings are left out: they count what is mapped.
# ThreadSanitizer: threads of one PE, and PEs as threads; no plain access may be left among those that race.
#
# Both builds copy by words (`shmem_words`), since sanitizers do not see the accesses of assembly. The tests of the kernels check
# which memory the assembly touches, by pages that fault around it. ThreadSanitizer knows memory by its address. PEs of one host
# map the memory of their neighbours at different addresses, so it does not see their races. Under ThreadSanitizer each PE is
# therefore on a host of its own. Neither sanitizer sees the borders between objects of a heap.
#
# Needs a nightly toolchain with the sanitizers' runtimes, and for ThreadSanitizer the source of the standard library
# (`rust-src`), whose locks it must see, too; says so where something is missing.
#
# usage: ci/sanitize.sh [address|thread|random]     both, one of them, or only random programs under AddressSanitizer
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
root=$(rustc +nightly --print sysroot 2>/dev/null || true)
if ! ls "$root/lib/rustlib/$host/lib/"*_rt.asan.a >/dev/null 2>&1; then
    echo 'skipped: no nightly toolchain with AddressSanitizer here'
    exit 0
fi
# Finding the frames of an expected panic would take longer than all else here. Reports of sanitizers name functions, and with
# CARGO_PROFILE_DEV_DEBUG=1 their lines.
export RUST_BACKTRACE=0
# Builds programs of tests, to be run more than once. Sets `built`.
build() { # ARGUMENT...
    local directory=$CARGO_TARGET_DIR/.programs
    mkdir -p "$CARGO_TARGET_DIR"
    cargo +nightly test "$@" --target "$host" --no-run --message-format=json-render-diagnostics >"$directory"
    built=$(sed -n 's/.*"name":"\([^"]*\)".*"executable":"\([^"]*\)".*/\1 \2/p' "$directory")
}
# As under cargo, in the directory of the package.
run() { # PACKAGE NAME ARGUMENT...
    local program
    program=$(awk -v name="$2" '$1 == name { print $2 }' <<<"$built")
    printf '%s: ' "$2"
    (cd "$1" && "$program" --quiet "${@:3}")
}

# Random programs may call `forget`, so leaks are no mistakes there.
random() {
    SHMEM_TRANSPORT=loopback ASAN_OPTIONS=detect_leaks=0 run shmem-rt random
}

for_addresses() {
    export RUSTFLAGS='-Zsanitizer=address --cfg shmem_words' CARGO_TARGET_DIR=$PWD/target/sanitize
}
address() {
    for_addresses
    # Few random cases, because unit.sh runs all, and only their accesses matter here.
    export PROPTEST_CASES=16
    # Other steps test libfabric.
    build -p shmem-core --lib
    local leaks=a_buffer_whose_transfer_cannot_be_completed_is_not_freed
    run shmem-core shmem_core --skip memory:: --skip ofi::domain --skip "$leaks"
    # This test leaks a buffer on purpose.
    ASAN_OPTIONS=detect_leaks=0 run shmem-core shmem_core "$leaks"
    build -p shmem-rt --test ordered --test racing --test random
    export SHMEM_TRANSPORT=loopback
    # This test leaks a team on purpose.
    leaks=indexes_run_out
    run shmem-rt ordered collective:: halo:: heap:: rma:: signal::
    run shmem-rt racing context:: nonblocking:: strided:: team:: "--skip=$leaks"
    ASAN_OPTIONS=detect_leaks=0 run shmem-rt racing "$leaks"
    RANDOM_PROGRAMS=3 random

    # The C library, and programs in C with it. The programs are linked with an archive of the library that AddressSanitizer
    # checks, so its accesses to their memory are seen as well. All else is as users have it.
    if ! command -v gcc >/dev/null; then
        echo 'left out: programs in C, which take gcc'
        return
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cargo +nightly build --quiet -p shmem-c --lib --target "$host"
    (unset RUSTFLAGS CARGO_TARGET_DIR && shmem-c/make.sh --debug "$work/prefix" >/dev/null)
    cp "$CARGO_TARGET_DIR/$host/debug/libshmem_c.a" "$work/prefix/lib/libshmem.a"
    printf 'programs in C: '
    env -u SHMEM_TRANSPORT OSHCC="$work/prefix/bin/oshcc" OSHRUN="$work/prefix/bin/oshrun -np" LIMIT=120 OUT="$work/programs" PES=2 \
        LIST="$(cat shmem-c/tests/conformance/sanitized)" ASAN_OPTIONS=detect_leaks=0 \
        CFLAGS='-static-shmem -fsanitize=address,undefined -fno-sanitize-recover=undefined' shmem-c/tests/conformance/run.sh
}

thread() {
    if ! ls "$root/lib/rustlib/$host/lib/"*_rt.tsan.a "$root/lib/rustlib/src/rust/library/Cargo.lock" >/dev/null 2>&1; then
        echo 'skipped: the nightly toolchain here lacks ThreadSanitizer, or rust-src'
        return
    fi
    export RUSTFLAGS='-Zsanitizer=thread --cfg shmem_words' CARGO_TARGET_DIR=$PWD/target/thread PROPTEST_CASES=16
    # Without a network, cargo may lack the dependencies of the standard library.
    if ! cargo +nightly fetch -q --manifest-path "$root/lib/rustlib/src/rust/library/Cargo.toml" --locked 2>/dev/null; then
        echo 'skipped: what the standard library is built from cannot be fetched'
        return
    fi
    build -Zbuild-std -p shmem-rt --test ordered --test racing
    local neighbours=(--skip=of_two_nodes --skip=of_three_nodes --skip=of_five_nodes)
    # Threads of one PE first; then PEs as threads, each on a host of its own, whatever tests say of hosts.
    run shmem-rt racing races:: threads:: "${neighbours[@]}"
    export SHMEM_TRANSPORT=loopback
    # These modules cover the paths to other PEs of the tests that are left out above.
    run shmem-rt ordered collective:: rma:: signal:: "${neighbours[@]}"
    run shmem-rt racing context:: litmus:: nonblocking:: races:: threads:: "${neighbours[@]}"
}

case ${1-} in
'')
    (address)
    (thread)
    ;;
address | thread) "$1" ;;
random)
    for_addresses
    build -p shmem-rt --test random
    random
    ;;
*) sed -n 's/^# usage: /usage: /p' "$0" >&2 && exit 2 ;;
esac
