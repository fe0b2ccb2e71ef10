#!/bin/bash
# Jobs on several hosts: four pretend ones (ci/hosts-up.sh) with two PEs each, under Open MPI's mpirun and under a
# Slurm of their own, over libfabric between hosts and shared memory on each. Examples run unchanged, and what they
# compute is compared with one host, bit for bit; then tests of the library run with these launchers.
#
# Needs Debian packages, which it installs where it may, and namespaces (root). Where these cannot be had, the step
# says so and runs what needs neither: the same examples with several PEs on this machine, over the transport of
# the tests.
#
# usage: ci/hosts.sh [TEST...]     tests of shmem-rt, instead of those below
set -euo pipefail
cd "$(dirname "$0")/.."

hosts=4
pes=8
tests=("$@")
[ $# -gt 0 ] || tests=(rma signal collective)

# Everything below runs in namespaces of its own: neither a name nor an address meets another's, and whatever is
# started ends with them.
own=(unshare -n -m -u -i -p --fork --kill-child --mount-proc)
if [ -z "${HOSTS_INSIDE:-}" ]; then
    installed=yes
    ci/install openmpi-bin libpmix-dev libfabric1 slurmd slurmctld slurm-client slurm-wlm-basic-plugins munge iproute2 \
        procps || installed=

    # --workspace, as in unit.sh: nothing is built twice.
    cargo build --workspace --bins
    if [ -z "$installed" ]; then
        echo "not on several hosts: packages are missing (see above)"
    elif ! "${own[@]}" true 2>/dev/null; then
        echo "not on several hosts: this user may not make namespaces (unshare -n)"
    else
        cargo test --workspace --no-run --test=pmix "${tests[@]/#/--test=}"
        HOSTS_INSIDE=1 exec "${own[@]}" "$0" "$@"
    fi
    bin=${CARGO_TARGET_DIR:-target}/debug
    picture=$(mktemp)
    trap 'rm -f "$picture"' EXIT
    SHMEM_TRANSPORT=loopback SHMRUN_HOSTS_AS='*x2' SHMEM_NPES=$pes \
        "$bin/heat2d" --steps 50 --serial-check --output "$picture"
    SHMEM_TRANSPORT=loopback SHMRUN_HOSTS_AS='*x2' SHMEM_NPES=$pes "$bin/hello"
    exit 0
fi

bin=$PWD/${CARGO_TARGET_DIR:-target}/debug
work=$(mktemp -d)
ip link set lo up
HOSTS=$work/hosts
export HOSTS SLURM_CONF=$work/slurm/slurm.conf
down() {
    ci/slurm-down.sh "$work/slurm" || true
    ci/hosts-down.sh "$HOSTS" || true
    rm -rf "$work"
}
trap down EXIT
ci/hosts-up.sh "$hosts" "$HOSTS"
ci/slurm-up.sh "$hosts" "$pes" "$work/slurm"

# Open MPI starts its daemons as root only when asked twice, and more than a PE for each core when asked.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
list=
for i in $(seq "$hosts"); do list=$list,h$i:$((pes / hosts)); done
net=$(cat "$HOSTS/net").0/24
mpirun="timeout 120 $HOSTS/hostsh login mpirun --mca plm rsh --mca plm_rsh_agent $HOSTS/hostrsh \
    --mca oob_tcp_if_include $net --mca btl_tcp_if_include $net --host ${list#,} --oversubscribe -np {pes}"
# Slurm ends a job in which a task fails only when asked.
srun="timeout 120 srun --mpi=pmix --kill-on-bad-exit -N $hosts --distribution=cyclic -n {pes}"
launchers=("$mpirun" "$srun")

run() { # LAUNCHER COMMAND...
    # shellcheck disable=SC2086
    ${1//\{pes\}/$pes} "${@:2}" </dev/null
}
same() { # WHAT FILE FILE
    cmp "$2" "$3" || { echo "$1 differs from one host"; exit 1; }
}

test_binary() { # TEST
    cargo test --workspace --no-run --message-format=json --test "$1" 2>/dev/null |
        sed -n 's/.*"test":true},"features".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
pmix=$(test_binary pmix)

# A PE dies: the job ends on all hosts, with an error, long before the time is over that it has (124).
dies() { # LAUNCHER NAME
    local status=0
    TEST_PMIX_PROGRAM=die-5 run "$1" "$pmix" --exact program --nocapture >"$work/said" 2>&1 || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$(grep -c '^pid ' "$work/said")" -ne "$pes" ]; then
        cat "$work/said"
        echo "a job of $2 in which PE 5 dies ends with code $status"
        exit 1
    fi
}

heat() { # PICTURE LAUNCHER...
    "${@:2}" "$bin/heat2d" --steps 50 --serial-check --output "$1"
}
heat "$work/one-host.png" env SHMEM_NPES=$pes
for launcher in "${launchers[@]}"; do
    name=$(grep -oE 'mpirun|srun' <<<"$launcher" | head -n 1)
    echo "-- $name"
    run "$launcher" "$bin/hello" | sort >"$work/hello"
    [ "$(grep -c 'says hello' "$work/hello")" -eq $pes ] || { cat "$work/hello"; exit 1; }
    heat "$work/$name.png" run "$launcher" | tee "$work/said"
    grep -q "on $pes PEs" "$work/said" || { echo "heat2d ran on another number of PEs"; exit 1; }
    same "heat2d under $name" "$work/one-host.png" "$work/$name.png"
    run "$launcher" "$bin/halo2d" --rows 300 --columns 200 --rounds 3 --serial-check | tee "$work/said"
    grep -q "^equal to the serial solution, bit for bit" "$work/said" || { echo "halo2d differs"; exit 1; }
    # A PE that dies: the job ends on all hosts, with an error, in bounded time.
    dies "$launcher" "$name"
    for test in "${tests[@]}"; do
        SHMRUN_LAUNCHER=$launcher cargo test --workspace --test "$test" -- --test-threads=1
    done
done

# Slurm without --kill-on-bad-exit does not end a job in which a task dies: the PEs do.
echo "-- srun, deaths and mistakes"
dies "${srun/--kill-on-bad-exit/}" "srun without --kill-on-bad-exit"
grep -q "PE 5 has died" "$work/said" || { cat "$work/said"; echo "nobody says that PE 5 has died"; exit 1; }
run "${srun/--mpi=pmix/--mpi=none}" "$bin/hello" >"$work/said" 2>&1
if [ "$(grep -c 'add --mpi=pmix to srun' "$work/said")" -ne 1 ]; then
    cat "$work/said"
    echo "$pes processes that do not find each other are not explained once"
    exit 1
fi
