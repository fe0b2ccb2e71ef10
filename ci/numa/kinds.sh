# shellcheck shell=bash
# Kinds of memory, as programs find them on a real kernel with invented nodes; and arrays over two nodes, in each kind.

info=$bin/shmem-info
node() { # NUMBER KIND, of the section `topology`
    expect topology "^ +$1 +$2 "
}

tests=$(test_binary shmem-core --lib)
arrays=$(test_binary shmem-rt --test array_nodes)
script=$(inside <<END
run tests $tests topology:: memory::tests::placement
run arrays env EXPECTED_NODES=2 $arrays --test-threads=1
fast=SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy
export SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M SHMEM_SYMMETRIC_PARTITION3=size=1M:kind=L:policy=M
run topology $info topology
run partitions $info partitions
run node1 taskset 4 $info partitions
run interleaved env \$fast=I $info partitions
run job env SHMEM_NPES=2 SHMEM_INFO=1 $bin/hello
cpus='echo \$SHMRUN_PE:\$(grep Cpus_allowed_list /proc/self/status | cut -f2)'
run core $bin/shmrun -n 2 --bind core sh -c "\$cpus"
run numa $bin/shmrun -n 4 --bind numa sh -c "\$cpus"
run bound taskset c $bin/shmrun -n 2 --bind core sh -c "\$cpus"
run unbound taskset 4 $bin/shmrun -n 2 sh -c "\$cpus"
group=/sys/fs/cgroup/narrow
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control && mkdir \$group && echo 0-1,3 >\$group/cpuset.mems
echo \$\$ >\$group/cgroup.procs
run forbidden $info topology
run refused env SHMEM_NPES=2 $bin/hello
run replaced env SHMEM_NPES=2 \$fast=P $bin/hello
END
)
guest --nodes dram,dram,hbm,slow --hugepages 2M:0:8 --add "$tests" --add "$arrays" --add "$info" --add "$bin/shmrun" --add "$bin/hello" \
    -- "$script"
succeeds tests '^test result: ok'
succeeds arrays '^test result: ok. [1-9]'
succeeds topology '^ +0 +NORMALMEM +0-1 .* yes +90 GiB/s +82 ns ' '^ +1 +NORMALMEM +2-3 ' \
    '^ +2 +FASTMEM +- .* yes +350 GiB/s +112 ns +- +speed ' '^ +3 +LARGEMEM +- .* yes +18 GiB/s +325 ns +- +speed '
succeeds partitions '^ +2 +fast .* only node 2 ' '^ +3 +normal .* only node 3 '
succeeds node1 '^ +1 +default .* node 1, then any '
succeeds interleaved '^ +2 +fast .* over node 2 '
succeeds job '^2 +fast +1M +- +FASTMEM +MANDATORY +all .* FASTMEM ' \
    '^3 +normal +1M +- +LARGEMEM +MANDATORY +all .* LARGEMEM '
expect core '^0:0$' '^1:2$'
expect numa '^0:0-1$' '^1:2-3$' '^2:0-1$' '^3:2-3$'
expect bound '^0:2$' '^1:3$'
expect unbound '^0:2$' '^1:2$'
succeeds forbidden '^ +2 +FASTMEM .* no +350 GiB/s ' '^ +3 +LARGEMEM .* yes '
fails refused 'a cpuset forbids this process the memory that is FASTMEM: .*node 2 FASTMEM .*forbidden by a cpuset'
succeeds replaced 'KIND=FASTMEM: a cpuset forbids this process .*; normal memory is used'

script=$(inside <<END
run topology $info topology
run partitions env SHMEM_SYMMETRIC_PARTITION2=size=1M:kind=F:policy=M $info partitions
run node1 taskset 4 $info partitions
END
)
few() { # NODES OPTIONS...
    guest --nodes "$@" --add "$info" -- "$script"
}

few dram:512M,dram:512M,hbm:128M,slow:1152M --no-hmat
node 2 FASTMEM
node 3 LARGEMEM
expect topology '^ +0 +NORMALMEM .* CPUs ' '^ +2 +FASTMEM .* size ' '^ +3 +LARGEMEM .* size '
succeeds partitions 'warning: .*KIND=FASTMEM: node 2 is taken for FASTMEM by a guess'

# A kernel refuses the HMAT that QEMU makes where a node has no memory.
few dram,cpu,hbm@1:128M,slow:1152M
node 1 -
node 2 FASTMEM
node 3 LARGEMEM
succeeds node1 '^ +1 +default .* node 0, then any '
