#!/bin/sh
# Runs tests of layouts, segments, records and strided transfers under Miri, which finds undefined behaviour that happens to
# work. Tests that map memory or start processes are left to other steps, because Miri knows no mmap at an address. Miri
# knows no vector instructions either, so it runs the kernels of machines without them.
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
# One random case of each kind, and no backtraces of the panics that tests expect.
export MIRIFLAGS='-Zmiri-disable-isolation' PROPTEST_CASES=1 RUST_BACKTRACE=0
# Left to unit.sh and sanitize.sh: tests that allocate large memory or draw many cases, which take minutes under Miri; and tests
# of arithmetic and refusals, which touch no memory.
cargo +nightly miri test -p shmem-core --lib -- -Zunstable-options --report-time \
    segment text:: const_format linker_section context::endpoints heap::statics \
    strided::tests strided::kernel padded text_table array:: \
    --skip context::mapping \
    --skip dynamic_segments --skip no_two_objects_overlap --skip context::tests \
    --skip what_is_too_long --skip the_pitch_is_the_least \
    --skip an_axis_takes --skip refused \
    --skip lists_that_change_words --skip missing_operands --skip no_overlap_is_missed --skip array::tests::chunk \
    --skip the_description_names --skip messages_allocate_nothing --skip ofi::keys --skip halo::plan
