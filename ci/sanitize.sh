#!/bin/sh
# Tests under AddressSanitizer: those of shmem-core, and those of several PEs as threads of one process,
# where every access of every PE is seen. Tests of mappings are left out: they count what is mapped.
# What it does not see: instructions written as assembly, and where one object of a heap ends and the
# next begins. The tests of the kernels have pages that fault around their memory for that.
#
# Needs a nightly toolchain with the sanitizer's runtime; says so where there is none.
set -eu
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
root=$(rustc +nightly --print sysroot 2>/dev/null || true)
if ! ls "$root/lib/rustlib/$host/lib/"*_rt.asan.a >/dev/null 2>&1; then
    echo 'skipped: no nightly toolchain with AddressSanitizer here'
    exit 0
fi
export RUSTFLAGS='-Zsanitizer=address' CARGO_TARGET_DIR=target/sanitize
# A quarter of the random cases: unit.sh runs all, this looks at where they read and write. libfabric is looked at by others.
export PROPTEST_CASES=64
leaks=a_buffer_whose_transfer_cannot_be_completed_is_not_freed
cargo +nightly test --target "$host" -p shmem-core --lib -- --skip memory:: --skip ofi::domain --skip "$leaks"
# Leaks a buffer, which is what it is about.
ASAN_OPTIONS=detect_leaks=0 cargo +nightly test --target "$host" -p shmem-core --lib -- "$leaks"
export SHMEM_TRANSPORT=loopback
forgets=a_forgotten_context_is_quieted_by_a_phase
cargo +nightly test --target "$host" -p shmem-rt \
    --test collective --test context --test halo --test heap --test iput --test nonblocking --test padded \
    --test rma --test signal --test strided --test team -- --skip "$forgets" \
    --skip owned_buffers_come_back --skip indexes_run_out
# They leak a world, a buffer and a team, which is what they are about.
ASAN_OPTIONS=detect_leaks=0 cargo +nightly test --target "$host" -p shmem-rt --test context --test nonblocking --test team -- \
    "$forgets" owned_buffers_come_back indexes_run_out
