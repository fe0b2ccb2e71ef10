#!/bin/bash
# Tests on 64-bit Arm, built by a cross compiler and run by qemu, which emulates the processor: unit tests of modules that touch
# memory, several PEs over shared memory, and programs in C. The emulation has this machine's order of memory accesses. Weaker
# orders are left to the models (ci/loom.sh).
#
# Needs the target's libraries (rustup), Debian's gcc-aarch64-linux-gnu and qemu-user, and, for several PEs, root: programs of
# Arm are registered with the kernel (binfmt_misc).
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu sysroot=/usr/aarch64-linux-gnu
if [ "$(uname -m)" = aarch64 ]; then
    echo 'skipped: this is 64-bit Arm, on which all other steps run'
    exit 0
fi
if ! rustup target list --installed 2>/dev/null | grep -qx "$target" &&
    ! timeout 300 rustup target add "$target" >/dev/null 2>&1; then
    echo "skipped: Rust's libraries for $target are not here, and cannot be fetched (rustup target add $target)"
    exit 0
fi
if ! ci/install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user; then
    echo 'skipped: there is no cross compiler, or no qemu-aarch64'
    exit 0
fi

export QEMU_LD_PREFIX=$sysroot
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64
# Under emulation everything takes ten times as long.
export SHMEM_WAIT_WARN=0 SHMEM_TEST_TIMEOUT=600 PROPTEST_CASES=8

# Whether the kernel starts programs of Arm by qemu, which several PEs need, because PEs start each other.
formats=/proc/sys/fs/binfmt_misc
starts() {
    [ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats 2>/dev/null || true
    grep -qs "^interpreter .*qemu-aarch64" $formats/* && return
    printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64:' \
        2>/dev/null >$formats/register && trap 'echo -1 >$formats/qemu-aarch64' EXIT
}

skip=()
starts || skip=(--skip ends_the_process)

echo '-- unit tests'
# Left out: tests of what qemu does not emulate (which signals a library handles, the contents of core dumps), and tests that take
# minutes.
cargo test --quiet --target $target -p shmem-core --lib -- \
    shared:: strided:: context:: indexed:: object:: segment sync:: system_area:: text:: const_format padded text_table halo:: \
    --skip mapping "${skip[@]}"

if [ ${#skip[@]} -eq 0 ]; then
    echo '-- several PEs'
    cargo test --quiet --target $target -p shmem-rt --test ordered -- \
        basic:: words lock regions --skip basic::collective::teams
else
    echo 'left out: several PEs, because programs of Arm may not be registered with the kernel here'
fi

echo '-- programs in C'
work=$(mktemp -d)
tools=aarch64-linux-gnu-
CARGO_BUILD_TARGET=$target CC=${tools}gcc LD=${tools}ld OBJCOPY=${tools}objcopy AR=${tools}ar RUNNER=qemu-aarch64 \
    shmem-c/make.sh --debug "$work/prefix" >/dev/null
# The launcher need not be emulated.
cargo build --quiet -p shmrun
cat >"$work/run" <<EOF
#!/bin/sh
pes=\$1
shift
exec "${CARGO_TARGET_DIR:-$PWD/target}/debug/shmrun" -n "\$pes" qemu-aarch64 "\$@"
EOF
chmod +x "$work/run"
status=0
OSHCC=$work/prefix/bin/oshcc OSHCC_CC=${tools}gcc OSHRUN=$work/run OUT=$work/out PES='1 2' LIMIT=120 \
    LIST='setup constants globals rma rma_sized strided blocks amo amo_bits amo_nbi amo_real signal wait order lock heap context
          pointer team team_collective team_reduce to_all scan active_set' \
    shmem-c/tests/conformance/run.sh || status=$?
rm -rf "$work"
exit $status
