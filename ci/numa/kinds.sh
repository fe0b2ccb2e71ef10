# shellcheck shell=bash
# Kinds of memory, as programs find them on a real kernel with invented nodes. Sourced by ci/numa.sh.
#
# Expects `log`, a file for what a guest prints, and `test_binary`.

binaries=${CARGO_TARGET_DIR:-target}/debug
tests=$(test_binary shmem-core --lib)
info=$binaries/shmem-info
kinds() { # TITLE NODES SCRIPT OPTIONS...: runs a script in a guest
    printf -- '-- kinds: %s\n' "$1"
    local nodes=$2 script=$3
    shift 3
    # What goes to stderr stays in its place among the rest.
    ci/numa-vm --timeout 120 --nodes "$nodes" --add "$info" "$@" -- /bin/sh -c "exec 2>&1; $script" | tee "$log"
}
seen() { # TEXT: a regular expression for a line of the guest
    grep -qE -- "$1" "$log" || { echo "not found: $1"; exit 1; }
}
node() { # NUMBER KIND: the line of a node
    seen "^ +$1 +$2 "
}
answer() { # MARK TEXT: in what stands behind a mark, up to the next one
    sed -n "/^== $1\$/,/^== /p" "$log" | grep -qE -- "$2" || { echo "not found after $1: $2"; exit 1; }
}

script='
mark() { echo "== $1"; }
mark tests; '"$tests"' topology:: memory::tests::placement
export SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M SHMEM_SYMMETRIC_PARTITION3=size=1M:kind=L:policy=M
mark topology; $info topology
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
    --add "$binaries/hello" --env info="$PWD/$info" --env hello="$PWD/$binaries/hello" \
    --env shmrun="$PWD/$binaries/shmrun"
answer tests '^test result: ok'
answer topology '^ +0 +NORMALMEM +0-1 .* yes +90 GiB/s +82 ns '
answer topology '^ +1 +NORMALMEM +2-3 '
answer topology '^ +2 +FASTMEM +- .* yes +350 GiB/s +112 ns '
answer topology '^ +3 +LARGEMEM +- .* yes +18 GiB/s +325 ns '
answer topology '^ +kinds: nodes 0-1 by their CPUs; nodes 2-3 by bandwidth and latency$'
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
seen '^ +kinds: nodes 0-1 by their CPUs; nodes 2-3 guessed from size and distance; the bandwidth is not known'
seen 'warning: .*KIND=FASTMEM: node 2 is taken for FASTMEM by a guess'

# QEMU's HMAT is one that the kernel refuses where a node has no memory.
kinds "nodes without memory" dram,cpu,hbm@1:128M,slow:1G "taskset 4 $info topology; taskset 4 $info partitions"
node 1 -
node 2 FASTMEM
node 3 LARGEMEM
seen '^ +1 +default .* node 0, then any '

kinds "CPUs with fast memory among others" dram,hbm+cpu,slow "$info topology"
node 0 NORMALMEM
node 1 FASTMEM
node 2 LARGEMEM

kinds "CPUs with fast memory only" hbm+cpu,hbm+cpu,slow "$info topology; $info partitions || true" \
    --env SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M
node 0 NORMALMEM
node 1 NORMALMEM
node 2 LARGEMEM
seen 'must have KIND=FASTMEM under POLICY=MANDATORY .*this machine has none: there are node 0 NORMALMEM .* 350 GiB/s'

case $(ci/features 2>/dev/null) in
*numa*)
    cargo build -p shmem-rt --features "$(ci/features)" --target-dir target/features --bin shmem-info
    info=target/features/debug/shmem-info
    kinds "hwloc" dram,dram,hbm,slow "$info topology; HWLOC_SYNTHETIC='NUMANode:4 PU:1' $info topology"
    seen '^ +1 +NORMALMEM +2-3 '
    seen '^ +2 +FASTMEM +- .* yes +350 GiB/s +112 ns '
    seen '^ +3 +LARGEMEM +- .* yes +18 GiB/s +325 ns '
    seen '^ +kinds: nodes 0-1 by their CPUs; nodes 2-3 by bandwidth and latency$'
    seen 'latency; hwloc was asked in vain: it describes another machine'
    ;;
*) echo "skipped: kinds as hwloc finds them (ci/features)" ;;
esac
