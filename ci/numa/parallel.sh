# Parallel loops over arrays run on the nodes of the chunks: read by ci/numa.sh.

# As in unit.sh: nothing is built twice.
features=$(ci/features)
parallel=$(cargo test --workspace --features "$features" --test array_parallel --no-run --message-format=json |
    sed -n 's/.*"name":"array_parallel".*"executable":"\([^"]*\)".*/\1/p')
script=$(inside <<EOG
run 'threads and chunks' $parallel
EOG
)
for nodes in dram,dram dram,cpu,dram,dram; do
    guest --nodes "$nodes" --add "$parallel" -- "$script"
    succeeds 'threads and chunks' '^test result: ok'
done
