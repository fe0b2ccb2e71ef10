# shellcheck shell=bash
# Arrays whose chunks lie on NUMA nodes: the use cases of their source on two, four and eight nodes, and
# with memory that has no CPUs. Read by ci/numa.sh.

arrays=$(test_binary shmem-rt --test array_nodes)
on() { # NODES OF-WHICH-WITH-CPUS KINDS
    printf -- '-- arrays: %s\n' "$3"
    local nodes=$1 homes=$2
    # One test at a time: the machine has as many CPUs as nodes, and tests of several PEs wait for each other.
    guest --mem $((1280 / nodes + 160))M --nodes "$3" --hugepages 2M:0:8 --env EXPECTED_NODES="$homes" -- \
        "$arrays" --test-threads=1
    grep -q '^test result: ok' "$log" || { echo "arrays on $nodes nodes (see above)"; exit 1; }
}
on 2 2 dram,dram
on 4 4 dram,dram,dram,dram
on 8 8 dram,dram,dram,dram,dram,dram,dram,dram
on 4 2 dram,dram,hbm,slow
