# shellcheck shell=bash
# Arrays whose chunks lie on NUMA nodes, on four and eight of them (two: kinds.sh), and parallel loops over arrays, which run
# on the nodes of the chunks. Read by ci/numa.sh.

arrays=$(test_binary shmem-rt --test array_nodes)
# As in unit.sh: nothing is built twice.
features=$(ci/features)
pools=$(cargo test --workspace --features "$features" --test pools --no-run --message-format=json |
    sed -n 's/.*"name":"pools".*"executable":"\([^"]*\)".*/\1/p')
on() { # NODES LIST TESTS...: as the test binary takes them; one at a time, since PEs share few CPUs and wait for each other
    printf 'run arrays env EXPECTED_NODES=%s %s --test-threads=1 %s\n' "$1" "$arrays" "${*:2}"
}
# Eight nodes matter only for the placement of the use cases, so the other tests run on four.
guest --mem 320M --nodes dram,dram,dram,dram --hugepages 2M:0:8 --add "$arrays" -- \
    "$(inside <<<"$(on 4 --skip use_cases)")"
succeeds arrays '^test result: ok. [1-9]'

guest --mem 320M --nodes dram,dram,dram,dram,dram,dram,dram,dram --hugepages 2M:0:8 --add "$arrays" -- \
    "$(inside <<<"$(on 8 use_cases --skip on_2)")"
succeeds arrays '^test result: ok. [1-9]'

# CPUs of a node without memory have threads, too.
guest --nodes dram,cpu,dram,dram --add "$pools" -- "$(inside <<<"run 'threads and chunks' $pools array_parallel::")"
succeeds 'threads and chunks' '^test result: ok. [1-9]'
