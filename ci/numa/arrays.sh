# shellcheck shell=bash
# Arrays whose chunks lie on NUMA nodes: the use cases of their source on two and eight nodes, and
# partitions of each kind of memory. Read by ci/numa.sh.

arrays=$(test_binary shmem-rt --test array_nodes)
on() { # NODES-WITH-CPUS LIST TESTS...: as the test binary takes them
    printf -- '-- arrays: %s\n' "$2"
    # One test at a time: PEs wait for each other, and share the few CPUs.
    guest --mem 320M --nodes "$2" --hugepages 2M:0:8 --env EXPECTED_NODES="$1" -- \
        "$arrays" --test-threads=1 "${@:3}"
    grep -q '^test result: ok. [1-9]' "$log" || { echo "arrays on $2 (see above)"; exit 1; }
}
on 2 dram,dram
# What many nodes may change is where the use cases lie; the other tests see several here.
on 4 dram,dram,dram,dram --skip the_use_cases
on 8 dram,dram,dram,dram,dram,dram,dram,dram the_use_cases --skip on_2
on 2 dram,dram,hbm,slow kind room
