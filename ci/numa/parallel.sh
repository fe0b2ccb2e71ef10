# Parallel loops over arrays run on the nodes of the chunks: read by ci/numa.sh.

# As in unit.sh: nothing is built twice.
features=$(ci/features)
pools=$(cargo test --workspace --features "$features" --test pools --no-run --message-format=json |
    sed -n 's/.*"name":"pools".*"executable":"\([^"]*\)".*/\1/p')
script=$(inside <<EOG
run 'threads and chunks' $pools array_parallel::
EOG
)
guest --nodes dram,cpu,dram,dram --add "$pools" -- "$script"
succeeds 'threads and chunks' '^test result: ok'
