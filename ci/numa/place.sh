# shellcheck shell=bash
# Pages must lie where the traits of a partition say. Then tests of partitions in files that other steps
# leave out: as root, on small and read-only file systems; and on a file system that cannot reserve blocks. Read by ci/numa.sh.

tests=$(test_binary shmem-core --lib)
# `shmem-perf placement` prints where memory lies, as reports show it.
perf=$work/shmem-perf
strip --strip-debug -o "$perf" "$bin/shmem-perf"
script=$(inside <<EOG
run 'placement' $perf placement --json
export SHMEM_INFO=1 TMPDIR=/tmp
run tests $tests memory::tests::numa memory::tests::pages::pages_of_a_pool --nocapture

job() { # NAME TRAITS PROGRAM...: on two nodes
    name=\$1 traits=\$2
    shift 2
    run "\$name" env SHMEM_SYMMETRIC_PARTITION1="\$traits" $bin/shmrun -n 2 --bind numa "\$@"
}
heat() { # NAME TRAITS: with the grids in partition 1
    job "\$1" "\$2" $bin/heat2d --partition default --steps 2 --output "\$TMPDIR/heat.png"
}
migrated() { grep -E 'numa_pages_migrated|pgmigrate_success' /proc/vmstat; }

before=\$(migrated)
heat 'N 4K' size=24M:kind=N:policy=M:pgsize=4K
heat 'F 4K' size=24M:kind=F:policy=M:pgsize=4K
heat 'N 2M' size=24M:kind=N:policy=M:pgsize=2M
heat 'F 2M' size=24M:kind=F:policy=M:pgsize=2M
heat 'F 64M preferred' size=24M:kind=F:policy=P:pgsize=64M
heat 'N 64M preferred' size=24M:kind=N:policy=P:pgsize=64M
run 'no page migrated' test "\$before" = "\$(migrated)"
heat 'F 64M mandatory' size=24M:kind=F:policy=M:pgsize=64M

export SHMEM_SYMMETRIC_PARTITION2=size=6M:kind=F:policy=M:pgsize=2M
export SHMEM_SYMMETRIC_PARTITION3=size=8M:kind=L:policy=M
export SHMEM_SYMMETRIC_PARTITION4=size=8M:kind=N:policy=I
export SHMEM_SYMMETRIC_PARTITION5=size=8M:kind=N:policy=I:pgsize=2M
export SHMEM_SYMMETRIC_PARTITION6=size=8M:kind=SYSDEFAULT
job 'a partition for each kind' size=8M:kind=N:policy=M $bin/kinds
unset SHMEM_SYMMETRIC_PARTITION2 SHMEM_SYMMETRIC_PARTITION3 SHMEM_SYMMETRIC_PARTITION4
unset SHMEM_SYMMETRIC_PARTITION5 SHMEM_SYMMETRIC_PARTITION6

job 'more than the node has' size=300M:kind=F:policy=M $bin/hello
job 'more than the node has, preferred' size=300M:kind=F:policy=P $bin/hello
echo deny >/sys/kernel/mm/transparent_hugepage/shmem_enabled
job 'too few huge pages' size=70M:kind=F:policy=M:pgsize=2M $bin/hello
job 'too few huge pages, preferred' size=70M:kind=F:policy=P:pgsize=2M $bin/hello
run 'nobody was killed' grep -x 'oom_kill 0' /proc/vmstat
EOG
)
guest --nodes dram,dram,hbm,slow --hugepages 2M:0:32,2M:1:32,2M:2:64 \
    --add "$tests" --add "$bin/shmrun" --add "$bin/heat2d" --add "$bin/kinds" --add "$bin/hello" --add "$perf" -- "$script"

succeeds tests '^test result: ok. [1-9]'
none_skipped tests

found() { # ROW COLUMN VALUE: of the lines of JSON; regular expressions
    succeeds placement "\"row\":\"$1\",\"column\":\"$2\",\"value\":\"$3\""
}
# Two nodes share any array exactly.
for storage in single separate cyclic multi 'one PE per node'; do
    found '.0..#2..30. int.8.' "$storage" 1
    found '.0..1, 0..#2..30-2..20. int.8.' "$storage" 1
done
found five\ pages multi 1
found '.0..7. .0..#2..20. int, behind its loops' multi 1
lies() { # KIND PAGE GIVEN PE-0 PE-1
    local traits=size=24M:kind=$1:policy=M:pgsize=$2
    found "$traits" 'given' "24M in pages of $3"
    found "$traits" 'PE 0' "$4"
    found "$traits" 'PE 1' "$5"
}
lies N 4K 4K '6144 on node 0' '6144 on node 1'
lies F 4K 4K '6144 on node 2' '6144 on node 2'
lies N 2M 2M '12 on node 0' '12 on node 1'
lies F 2M 2M '12 on node 2' '12 on node 2'
found size=24M:kind=F:policy=M:pgsize=64M refused 'partition 1 .*PGSIZE=64M with POLICY=MANDATORY needs 24M .*'
found size=24M:kind=F:policy=P:pgsize=64M said 'PGSIZE=64M: pages of 2M instead; .*'

# What is asked: ID NAME ASKED PAGE KIND POLICY; what is given: PES GIVEN PAGE PAGES KIND NODES POPULATED.
given() { # NAME ASKED-PAGE KIND POLICY PES PAGE PAGES NODES: partition 1, or a further line of it
    if [ -n "$2" ]; then
        expect "$1" "^1 +default +24M +$2 +$3 +$4 +$5 +24M +$6 +$7 +$3 +$8 +yes"
    else
        expect "$1" "^ +$5 +24M +$6 +$7 +$3 +$8 +yes"
    fi
}
for name in 'N 4K' 'F 4K' 'N 2M' 'F 2M' 'F 64M preferred' 'N 64M preferred'; do
    succeeds "$name" 'x 256 cells on 2 PEs: 2 steps'
done
given 'N 4K' 4K NORMALMEM MANDATORY 0 4K base 0
given 'N 4K' '' NORMALMEM '' 1 4K base 1
given 'F 4K' 4K FASTMEM MANDATORY all 4K base 2
given 'N 2M' 2M NORMALMEM MANDATORY 0 2M hugetlb 0
given 'N 2M' '' NORMALMEM '' 1 2M hugetlb 1
given 'F 2M' 2M FASTMEM MANDATORY all 2M hugetlb 2
given 'F 64M preferred' 64M FASTMEM PREFERRED all 2M hugetlb 2
given 'N 64M preferred' 64M NORMALMEM PREFERRED 0 2M hugetlb 0
expect 'F 64M preferred' 'warning: partition 1 .*: PGSIZE=64M: pages of 2M instead'
succeeds 'no page migrated'
fails 'F 64M mandatory' 'partition 1 .*PGSIZE=64M with POLICY=MANDATORY needs 24M' 'each of 2 PEs, on node 2,' \
    'base pages of 4K, transparent huge pages of 2M, huge pages of 2M \(64 of [0-9]+ can be had on node 2\)'

name='a partition for each kind'
succeeds "$name" '^PE 0: partition 1 .*NORMALMEM: .*: [0-9]+ on node 0$' \
    '^PE 1: partition 1 .*NORMALMEM: .*: [0-9]+ on node 1$' \
    '^PE 0: partition 2 .*FASTMEM: pages of 2097152 bytes: 3 on node 2$' \
    '^PE 1: partition 2 .*FASTMEM: pages of 2097152 bytes: 3 on node 2$' \
    '^PE 0: partition 3 .*LARGEMEM: pages of 4096 bytes: 2048 on node 3$' \
    '^PE 1: partition 4 .*NORMALMEM: pages of 4096 bytes: 1024 on node 0, 1024 on node 1$' \
    '^PE 1: partition 5 .*NORMALMEM: pages of 2097152 bytes: 2 on node 0, 2 on node 1$' \
    '^PE 0: partition 6 .*SYSDEFAULT: '
fails 'more than the node has' 'partition 1 .*KIND=FASTMEM with POLICY=MANDATORY needs 300M on node 2' \
    'want 600M there in all, and node 2 has left'
succeeds 'more than the node has, preferred' 'KIND=FASTMEM: [0-9]+ of 76800 pages on node [013], which is'
fails 'too few huge pages' 'partition 1 .*PGSIZE=2M with POLICY=MANDATORY needs 70M .*each of 2 PEs, on node 2' \
    'huge pages of 2M \(64 of [0-9]+ can be had on node 2\)'
succeeds 'too few huge pages, preferred' '70M +4K +base +FASTMEM +2 ' \
    'PGSIZE=2M: pages of 4K instead'
succeeds 'nobody was killed'

persistent=$(test_binary shmem-rt --test persistent)
script=$(inside <<EOG
export TMPDIR=/dev/shm
run mounts $persistent file_system --nocapture --test-threads 1
run files $tests pmem::tests::files --nocapture
export SHMEM_INFO=1 SHMEM_NPES=2
run '1G' env SHMEM_SYMMETRIC_PARTITION3=size=1G:kind=F:policy=M:pgsize=1G $bin/hello
run 'at least 64M' env SHMEM_SYMMETRIC_PARTITION3=size=100M:kind=F:policy=M:pgsize=64M $bin/hello
run 'too many' env SHMEM_NPES=3 SHMEM_SYMMETRIC_PARTITION3=size=1G:kind=F:policy=M:pgsize=1G $bin/hello
run 'smaller' env SHMEM_SYMMETRIC_PARTITION3=size=20M:kind=N:policy=P:pgsize=1G $bin/hello
EOG
)
guest --nodes dram,hbm --hugepages 1G:1:2,2M:0:8 --add "$bin/hello" --add "$persistent" --add "$tests" -- "$script"
succeeds mounts '^test result: ok\. [1-9]' 'what_file_systems_cannot_is_said.* ok$'
none_skipped mounts
succeeds files '^test result: ok\. [1-9]'
succeeds 1G '^3 .* all +1G +1G +hugetlb +FASTMEM +1 +yes'
succeeds 'at least 64M' '^3 .* all +100M +1G +hugetlb +FASTMEM +1 +yes'
fails 'too many' 'each of 3 PEs, on node 1, .*huge pages of 1G \(2 of [0-9]+ can be had on node 1\)'
succeeds smaller '20M +2M +transparent +NORMALMEM +0 +yes' 'PGSIZE=1G: pages of 2M instead'
