#!/bin/bash
# Jobs without what containers take away: file systems, namespaces, capabilities, system calls, memory and CPUs. Each row is such
# a job, which runs, or ends with one message. The table "Containers" of the guide's chapter on launching documents the same rows.
#
# Needs root, for namespaces.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
    echo 'skipped: namespaces can only be made by root'
    exit 0
fi
cargo build --quiet -p shmrun -p shmem-examples --bin shmrun --bin hello
cargo test --quiet -p shmem-rt --test jobs --no-run
built=${CARGO_TARGET_DIR:-$PWD/target}/debug
work=$(mktemp -d /var/tmp/containers.XXXXXX)
groups=/sys/fs/cgroup
trap 'rm -rf "$work"; rmdir $groups/{memory,cpu}/shmem-test 2>/dev/null || true' EXIT
chmod 755 "$work"
cp "$built/shmrun" "$built/hello" "$work"
cp "$(find "$built/deps" -name 'jobs-*' -executable -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)" "$work/jobs"
without=$PWD/ci/without.py
cd "$work"
export SHMEM_WAIT_WARN=0 SHMEM_PARTITION_WARN=0

row() { # WHAT STATUS TEXT COMMAND...: TEXT is an extended regular expression, or `all` for the greetings of four PEs
    local what=$1 status=$2 text=$3 found=0
    shift 3
    timeout -k 5 60 "$@" >said 2>&1 </dev/null || found=$?
    if [ "$text" = all ]; then
        [ "$(grep -c '^PE [0-3] of 4: PE [0-3] says hello$' said)" -eq 4 ] || found="$found, without all greetings"
    else
        grep -Eq -- "$text" said || found="$found, without '$text'"
    fi
    if [ "$found" != "$status" ]; then
        cat said
        echo "FAILED: $what: status $found, not $status" >&2
        exit 1
    fi
    echo "-- $what"
}
hello='./shmrun -n 4 ./hello'
hidden() { # FOLDER COMMAND: runs the command with the folder empty
    unshare -m sh -c "mount -t tmpfs -o ro none $1 && exec $2"
}
export -f hidden
dies="./jobs --exact pmix::program --nocapture"
export TEST_PMIX_PROGRAM=die-2

row 'no /dev/shm' 0 all bash -c "hidden /dev/shm '$hello'"
row 'no /sys' 0 all bash -c "hidden /sys '$hello'"
row 'no /proc' 0 all bash -c "hidden /proc '$hello'"
row 'no /proc, a program that starts itself' 2 'Is /proc mounted' bash -c "hidden /proc 'env SHMEM_NPES=4 ./hello'"
row 'no /proc, a PE dies' 137 'PE 2 .*was killed by signal 9 .*/proc/meminfo is not there' bash -c "hidden /proc './shmrun -n 4 $dies'"
row 'no /dev' 2 '^shmrun: the process of PE 1 could not be started: /dev/null cannot be opened: No such file' \
    bash -c "hidden /dev './shmrun -n 2 ./hello'"
row 'file systems that nobody may write to' 0 all \
    unshare -m sh -c "mount -o remount,ro,bind / && mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /dev/shm && exec $hello"
row 'namespaces of their own for all PEs together' 0 all unshare -pfniu --mount-proc sh -c "$hello"
for kind in pid:-pf network:-n IPC:-i mounts:-m names:-u users:-U; do
    row "each PE in a namespace of its own: ${kind%:*}" 0 all ./shmrun -n 4 unshare "${kind#*:}" ./hello
done
row 'each PE in a PID namespace, one dies' 137 'PE 2 .*code 137, which shells use for signal 9' \
    ./shmrun -n 4 unshare -pf sh -c "$dies; exit \$?"
row 'no CAP_SYS_PTRACE, an ordinary user' 0 all \
    setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace --reuid 65534 --regid 65534 --clear-groups sh -c "$hello"
row 'no calls that look at other processes' 0 all \
    "$without" ptrace,process_vm_readv,process_vm_writev,pidfd_open,pidfd_send_signal,pidfd_getfd,kcmp sh -c "$hello"
row 'no calls that place memory or processes' 0 all \
    "$without" mbind,set_mempolicy,get_mempolicy,move_pages,sched_setaffinity sh -c "$hello"
if [ "$(nproc)" -gt 1 ]; then
    row 'PEs that may not be bound' 0 '^shmrun: PEs are not bound to CPUs, because this system refuses it: Operation not permitted' \
        "$without" sched_setaffinity ./shmrun -n 2 ./hello
    row 'PEs that may not be bound, on pretended hosts' 0 'PEs are not bound to CPUs, because this system refuses it: ' \
        "$without" sched_setaffinity ./shmrun -n 2 --hosts-as 2x1 ./hello
    row 'PEs that were to be bound, and may not' 2 '^shmrun: PEs cannot be bound to CPUs here: Operation not permitted' \
        "$without" sched_setaffinity ./shmrun -n 2 --bind core ./hello
fi
row 'no memfd_create' 1 'memfd_create is not allowed here .*seccomp' "$without" memfd_create sh -c "$hello"

# A limit of memory and CPUs, by control groups of version 1; tests of shmem-core read the files of version 2.
if [ -d $groups/memory ] && mkdir -p $groups/memory/shmem-test $groups/cpu/shmem-test 2>/dev/null; then
    echo 300M >$groups/memory/shmem-test/memory.limit_in_bytes
    echo 100000 >$groups/cpu/shmem-test/cpu.cfs_quota_us
    limited() {
        echo $$ | tee $groups/memory/shmem-test/cgroup.procs $groups/cpu/shmem-test/cgroup.procs >/dev/null
        exec "$@"
    }
    export -f limited
    export groups
    row 'the memory of a control group, which suffices' 0 all bash -c "limited $hello"
    row 'the memory of a control group, which does not' 1 '1G are asked for, and the control group .* allows 300M' \
        env SHMEM_SYMMETRIC_SIZE=1G bash -c "limited $hello"
    row 'a quota of one CPU: PEs are not bound' 0 'CPUs of the PEs of this host: PEs 0, 1: ' env SHMEM_INFO=1 bash -c 'limited ./shmrun -n 2 ./hello'
else
    echo 'left out: control groups of version 1, which are not here or may not be made'
fi
