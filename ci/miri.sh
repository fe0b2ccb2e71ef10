#!/bin/sh
# Layouts, segments and records under Miri: undefined behaviour that happens to work. What maps memory
# or starts processes is left to the other steps: Miri knows no mmap at an address.
#
# Needs Miri (`rustup component add miri --toolchain nightly`); says so where it is missing. There,
# ci/sanitize.sh runs the same tests with checks of addresses only.
set -eu
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    rustup component add miri rust-src --toolchain nightly >/dev/null 2>&1 || true
fi
if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo 'skipped: Miri is not installed and cannot be fetched; ci/sanitize.sh runs these tests under AddressSanitizer'
    exit 0
fi
export MIRIFLAGS='-Zmiri-disable-isolation'
# Left to unit.sh and sanitize.sh: what allocates whole places or draws random cases takes minutes
# under Miri.
cargo +nightly miri test -p shmem-core --lib -- segment text message section heap::released \
    context::resource heap::statics --skip no_two_objects_overlap --skip context::tests
