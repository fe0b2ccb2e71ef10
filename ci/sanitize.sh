#!/bin/sh
# Tests under AddressSanitizer: those of shmem-core, and those of several PEs as threads of one process,
# where every access of every PE is seen. Tests of mappings are left out: they count what is mapped.
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
cargo +nightly test --target "$host" -p shmem-core --lib -- --skip memory::
SHMEM_TRANSPORT=loopback cargo +nightly test --target "$host" -p shmem-rt \
    --test collective --test context --test heap --test phase --test rma --test sync
