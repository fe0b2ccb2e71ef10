# shellcheck shell=bash
# Kinds of memory, as programs find them on a real kernel with invented nodes. Sourced by ci/numa.sh.
#
# Expects `log`, a file for what a guest prints, and `expect`, which looks for a line in it.

binaries=$(realpath "${CARGO_TARGET_DIR:-target}")/debug
info=$binaries/shmem-info
kinds() { # TITLE NODES SCRIPT OPTIONS...: runs a script in a guest
    printf -- '-- kinds: %s\n' "$1"
    local nodes=$2 script=$3
    shift 3
    # What goes to stderr stays in its place among the rest.
    ci/numa-vm --timeout 120 --nodes "$nodes" --add "$info" "$@" -- /bin/sh -c "exec 2>&1; $script" | tee "$log"
}
node() { # NUMBER KIND: the line of a node
    expect "^ +$1 +$2 "
}
answer() { # MARK TEXT: in what stands behind a mark, up to the next one
    sed -n "/^== $1\$/,/^== /p" "$log" | grep -qE -- "$2" || { echo "not found after $1: $2"; exit 1; }
}

# As hwloc finds them, in the same guest.
hwloc=
case $(ci/features 2>/dev/null) in
*numa*)
    cargo build -p shmem-rt --features "$(ci/features)" --target-dir target/features --bin shmem-info
    hwloc=$PWD/target/features/debug/shmem-info
    ;;
*) echo "skipped: kinds as hwloc finds them (ci/features says what is missing)" ;;
esac

script='
mark() { echo "== $1"; }
mark tests; '"$tests"' topology:: memory::tests::placement
export SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M SHMEM_SYMMETRIC_PARTITION3=size=1M:kind=L:policy=M
mark topology; $info topology
mark hwloc; if [ -n "$hwloc" ]; then $hwloc topology; else $info topology; fi
mark foreign; if [ -n "$hwloc" ]; then HWLOC_SYNTHETIC="NUMANode:4 PU:1" $hwloc topology; fi
mark partitions; $info partitions
mark node1; taskset 4 $info partitions
mark interleaved; SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=I $info partitions
mark job; SHMEM_NPES=2 SHMEM_INFO=1 $hello
cpus="echo \$SHMRUN_PE:\$(grep Cpus_allowed_list /proc/self/status)"
mark core; $shmrun -n 2 --bind core /bin/sh -c "$cpus"
mark numa; $shmrun -n 4 --bind numa /bin/sh -c "$cpus"
mark bound; taskset c $shmrun -n 2 --bind core /bin/sh -c "$cpus"
mark unbound; taskset 4 $shmrun -n 2 /bin/sh -c "$cpus"
group=/sys/fs/cgroup/narrow
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control && mkdir $group && echo 0-1,3 >$group/cpuset.mems
echo $$ >$group/cgroup.procs
mark forbidden; $info topology
mark refused; SHMEM_NPES=2 $hello
echo "exit code $?"
mark replaced; SHMEM_NPES=2 SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=P $hello
echo "exit code $?"
mark end'
kinds "bandwidths are known" dram,dram,hbm,slow "$script" --add "$tests" --add "$binaries/shmrun" \
    --add "$binaries/hello" --env info="$info" --env hello="$binaries/hello" \
    --env shmrun="$binaries/shmrun" --env hwloc="$hwloc" ${hwloc:+--add "$hwloc"}
answer tests '^test result: ok'
for found in topology hwloc; do
    answer $found '^ +0 +NORMALMEM +0-1 .* yes +90 GiB/s +82 ns '
    answer $found '^ +1 +NORMALMEM +2-3 '
    answer $found '^ +2 +FASTMEM +- .* yes +350 GiB/s +112 ns '
    answer $found '^ +3 +LARGEMEM +- .* yes +18 GiB/s +325 ns '
    answer $found '^ +kinds: nodes 0-1 by their CPUs; nodes 2-3 by bandwidth and latency$'
done
[ -z "$hwloc" ] || answer foreign '^ +kinds: .*; hwloc was asked in vain: it describes another machine'
answer partitions '^ +2 +fast .* only node 2 '
answer partitions '^ +3 +normal .* only node 3 '
answer node1 '^ +1 +default .* node 1, then any '
answer interleaved '^ +2 +fast .* over node 2 '
answer job '^2 +fast +1M +- +FASTMEM +MANDATORY +all .* FASTMEM '
answer job '^3 +normal +1M +- +LARGEMEM +MANDATORY +all .* LARGEMEM '
answer core '^0:Cpus_allowed_list:[[:space:]]0$'
answer core '^1:Cpus_allowed_list:[[:space:]]2$'
answer numa '^0:Cpus_allowed_list:[[:space:]]0-1$'
answer numa '^3:Cpus_allowed_list:[[:space:]]2-3$'
answer bound '^0:Cpus_allowed_list:[[:space:]]2$'
answer bound '^1:Cpus_allowed_list:[[:space:]]3$'
answer unbound '^1:Cpus_allowed_list:[[:space:]]2$'
answer forbidden '^ +2 +FASTMEM .* no +350 GiB/s '
answer forbidden '^ +3 +LARGEMEM .* yes '
answer refused 'a cpuset forbids this process the memory that is FASTMEM: .*node 2 FASTMEM .*forbidden by a cpuset'
answer refused '^exit code [1-9]'
answer replaced 'KIND=FASTMEM: a cpuset forbids this process .*; normal memory is used'
answer replaced '^exit code 0'

kinds "no bandwidths, sizes differ" dram:512M,dram:512M,hbm:128M,slow:1G "$info topology; $info partitions" \
    --no-hmat --env SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M
node 2 FASTMEM
node 3 LARGEMEM
expect '^ +kinds: nodes 0-1 by their CPUs; nodes 2-3 guessed from size and distance; the bandwidth is not known'
expect 'warning: .*KIND=FASTMEM: node 2 is taken for FASTMEM by a guess'

# QEMU's HMAT is one that the kernel refuses where a node has no memory.
kinds "nodes without memory" dram,cpu,hbm@1:128M,slow:1G "taskset 4 $info topology; taskset 4 $info partitions"
node 1 -
node 2 FASTMEM
node 3 LARGEMEM
expect '^ +1 +default .* node 0, then any '

kinds "CPUs with fast memory among others" dram,hbm+cpu,slow "$info topology"
node 0 NORMALMEM
node 1 FASTMEM
node 2 LARGEMEM

kinds "CPUs with fast memory only" hbm+cpu,hbm+cpu,slow "$info topology; $info partitions || true" \
    --env SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M
node 0 NORMALMEM
node 1 NORMALMEM
node 2 LARGEMEM
expect 'must have KIND=FASTMEM under POLICY=MANDATORY .*this machine has none: there are node 0 NORMALMEM .* 350 GiB/s'
