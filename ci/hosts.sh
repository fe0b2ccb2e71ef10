#!/bin/bash
# Jobs on several hosts: four pretend ones (ci/hosts-up.sh) with two PEs each, under Open MPI's mpirun, MPICH's mpiexec and a
# Slurm of their own, and under shmrun, which asks each of these launchers. PEs use libfabric between hosts, and shared memory on
# each. Examples run unchanged, and their results are compared bit for bit. Then tests of the library run with mpirun and with
# Slurm, at the same time, because starting is mostly waiting.
#
# Needs Debian packages, which it installs where it may, and namespaces (root). Where these cannot be had, the step
# says so and runs what needs neither: the same examples with several PEs on this machine, over the transport of
# the tests.
#
# usage: ci/hosts.sh [MODULE...]   other tests of shmem-rt/tests/ordered, instead of `basic` and those of `collectives` that name no transport
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/pretend.sh

hosts=4
pes=8
modules=("$@")
[ $# -gt 0 ] || modules=(basic:: collectives::histories collectives::sums collectives::items)
bin=$(realpath -m "${CARGO_TARGET_DIR:-target}")/debug
# The checksum of all bits of heat2d's result with `--tolerance 6`.
heat=$(cat examples/heat2d/checksum.txt)

if ! is_inside; then
    # --workspace, as in unit.sh: nothing is built twice.
    cargo build --workspace --bins
    if can_pretend openmpi-bin libpmix-dev libfabric1 slurmd slurmctld slurm-client slurm-wlm-basic-plugins munge \
        iproute2 procps; then
        ci/install mpich || true
        # The example in C, by the library as users have it.
        ci/install gcc make || true
        shmem-c/make.sh --debug "$bin/libshmem" >/dev/null
        mkdir -p "$bin/c"
        PATH=$bin/libshmem/bin:$PATH make --silent --directory="$bin/c" --makefile="$PWD/examples/c/Makefile"
        cargo test --workspace --no-run --test jobs --test ordered
        enter "$@"
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    export SHMEM_TRANSPORT=loopback SHMRUN_HOSTS_AS='*x2' SHMEM_NPES=$pes
    "$bin/heat2d" --tolerance 6 --output "$work/picture.png" | grep -x "$heat"
    "$bin/hello"
    exit 0
fi

begin
export HOSTS=$work/set1 SLURM_CONF=$work/slurm/slurm.conf
down() {
    ci/slurm-down.sh "$work/slurm" || true
    end
}
trap down EXIT
hosts_up 1 "$hosts"
ci/slurm-up.sh "$hosts" "$pes" "$work/slurm"

mpirun=$(mpirun_on 1 "$hosts" $((pes / hosts)))
hydra="timeout 120 $HOSTS/hostsh login mpiexec.hydra -launcher ssh -launcher-exec $HOSTS/hostrsh \
    -hosts $(seq -s, -f "h%g:$((pes / hosts))" "$hosts") -n {pes}"
# Slurm must be asked to end a job in which a task fails.
srun="timeout 120 srun --mpi=pmix --kill-on-bad-exit -N $hosts --distribution=cyclic -n {pes}"

run() { # LAUNCHER COMMAND...
    # shellcheck disable=SC2086
    ${1//\{pes\}/$pes} "${@:2}" </dev/null
}
fail() { # FILE MESSAGE
    cat "$1"
    echo "$2"
    exit 1
}
jobs=$(binary jobs)
ordered=$(binary ordered)

# Runs a program of tests/jobs/pmix.rs that fails on all hosts. It must end with a code, and not by the launcher's time limit
# (124).
ends() { # LAUNCHER NAME PROGRAM FILE [CODE]
    local status=0
    TEST_PMIX_PROGRAM=$3 run "$1" "$jobs" --exact pmix::program --nocapture >"$4" 2>&1 || status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && [ "$status" -eq "${5-$status}" ] || fail "$4" "the job \"$3\" of $2 ends with code $status"
}
dies() { # LAUNCHER NAME FILE: a job in which PE 5 dies
    ends "$1" "$2" die-5 "$3"
    [ "$(grep -c '^pid ' "$3")" -eq "$pes" ] || fail "$3" "not all PEs of $2 have joined"
}
examples() { # LAUNCHER NAME
    local said=$work/$2.said
    run "$1" "$bin/hello" >"$said"
    [ "$(grep -c 'says hello' "$said")" -eq $pes ] || fail "$said" "hello under $2"
    run "$1" "$bin/heat2d" --tolerance 6 --output "$work/$2.png" >"$said"
    grep "on $pes PEs" "$said" || fail "$said" "heat2d under $2 ran on another number of PEs"
    grep -qx "$heat" "$said" || fail "$said" "heat2d under $2 comes to something else"
}

# Programs that access single elements of all PEs, with their arguments.
irregular=(
    "histogram --bins 10000 --samples 200000" "triangles --vertices 500 --degree 10" "spmv --size 3001 --steps 5"
    "isx --keys 50000"
)
results() { # FILE COMMAND...: what they say, without times
    local program
    for program in "${irregular[@]}"; do
        # shellcheck disable=SC2086
        "${@:2}" "$bin/"$program
    done >"$1.all"
    sed 's/ in [0-9.]* s.*//' "$1.all" >"$1"
}

tested() { # LAUNCHER NAME
    local said=$work/$2.said
    examples "$1" "$2"
    run "$1" "$bin/c/heat2d" --steps 50 --serial-check --output "$work/$2-c.png" >"$said"
    grep -q "^equal to the serial solution, bit for bit" "$said" || fail "$said" "heat2d in C under $2 differs"
    results "$said" run "$1"
    cmp "$work/one-host.said" "$said" || fail "$said" "irregular programs under $2 come to something else than on one host"
    dies "$1" "$2" "$said"
    # A PE on the last host ends the job, with a reason and a code.
    ends "$1" "$2" abort-$((pes - 1)) "$said" 42
    [ "$(grep -c "PE $((pes - 1)) ended the job with code 42: the sky is falling" "$said")" -eq 1 ] ||
        fail "$said" "an abort of the last PE of $2 is not told once"
    # All PEs on all hosts end the job at the same time.
    ends "$1" "$2" abort "$said"
    [ "$(grep -c 'ended the job with code 42: the sky is falling' "$said")" -eq 1 ] ||
        fail "$said" "an abort of all PEs of $2 is not told once"
    (cd shmem-rt && SHMRUN_LAUNCHER=$1 "$ordered" --test-threads=1 "${modules[@]}")
}
under_mpirun() {
    tested "$mpirun" mpirun
}
under_srun() {
    tested "$srun" srun
    # Without --kill-on-bad-exit, Slurm does not end a job in which a task dies, so the PEs must.
    local said=$work/srun.said
    dies "${srun/--kill-on-bad-exit/}" "srun without --kill-on-bad-exit" "$said"
    grep -q "PE 5 has died" "$said" || fail "$said" "nobody says that PE 5 has died"
    if run "${srun/--mpi=pmix/--mpi=none}" "$bin/hello" >"$said" 2>&1; then
        fail "$said" "$pes processes that do not find each other end with code 0"
    fi
    [ "$(grep -c 'add --mpi=pmix or --mpi=pmi2 to srun' "$said")" -eq 1 ] ||
        fail "$said" "$pes processes that do not find each other are not explained once"
    joined "${srun/--mpi=pmix/--mpi=pmi2}" pmi2
}
under_hydra() {
    if ! command -v mpiexec.hydra >/dev/null; then
        echo "left out: MPICH's mpiexec is in the package mpich"
        return
    fi
    joined "$hydra" hydra
}
# Launchers with PMI: exchanges of values longer than the launcher accepts, examples, and failures.
joined() { # LAUNCHER NAME
    local said=$work/$2.said
    TEST_PMIX_PROGRAM=bootstrap run "$1" "$jobs" --exact pmix::program --nocapture >"$said" 2>&1 || fail "$said" "exchanges of $2"
    [ "$(grep -c "^PE . of $pes on \[0" "$said")" -eq $pes ] || fail "$said" "not all PEs of $2 have exchanged"
    examples "$1" "$2"
    ends "$1" "$2" die-5 "$said"
    ends "$1" "$2" abort "$said"
    [ "$(grep -c 'ended the job with code 42: the sky is falling' "$said")" -eq 1 ] ||
        fail "$said" "an abort of all PEs of $2 is not told once"
}

# By shmrun, which translates its options for mpirun (which it finds itself), srun, and MPICH's mpiexec.
under_shmrun() {
    local list='' net i way said=$work/shmrun.said
    net=$(cat "$HOSTS/net").0/24
    for i in $(seq "$hosts"); do list=$list,h$i:$((pes / hosts)); done
    # A directory of temporary files of its own, because the other mpirun uses the default one.
    mkdir "$work/shmrun"
    local by_mpirun="timeout 120 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=rsh \
        OMPI_MCA_plm_rsh_agent=$HOSTS/hostrsh OMPI_MCA_oob_tcp_if_include=$net OMPI_MCA_btl_tcp_if_include=$net \
        OMPI_MCA_orte_tmpdir_base=$work/shmrun $HOSTS/hostsh login $bin/shmrun -H ${list#,}"
    local by_srun="timeout 120 $bin/shmrun --launcher srun -H ${list#,}"
    local ways='mpirun srun'
    # shmrun's option --launcher takes words without blanks, so a script has the options.
    printf '#!/bin/sh\nexec mpiexec.hydra -launcher ssh -launcher-exec %s/hostrsh "$@"\n' "$HOSTS" >"$work/hydra"
    chmod +x "$work/hydra"
    local by_hydra="timeout 120 $HOSTS/hostsh login $bin/shmrun --launcher $work/hydra -H ${list#,}"
    ! command -v mpiexec.hydra >/dev/null || ways="$ways hydra"
    for way in $ways; do
        local launcher=by_$way
        launcher=${!launcher}
        examples "$launcher" "shmrun by $way"
        dies "$launcher -x TEST_PMIX_PROGRAM" "shmrun by $way" "$said"
        run "$launcher -n 3 --tag-output --bind none -x SAID=words" sh -c 'echo "$SAID on $(hostname)"' >"$said" 2>/dev/null
        [ "$(grep -c 'words on h1$' "$said")" -eq 2 ] && [ "$(grep -c '^[^w].*words on h2$' "$said")" -eq 1 ] ||
            fail "$said" "shmrun by $way does not fill one host after the other, or does not tag lines"
    done
    local status=0
    run "$by_mpirun --timeout 1" sleep 100 >"$said" 2>&1 || status=$?
    [ "$status" -eq 124 ] || fail "$said" "a job of shmrun whose time is over ends with code $status"
}

results "$work/one-host.said" env SHMEM_NPES=$pes
running=()
for way in mpirun srun hydra; do
    "under_$way" >"$work/$way.out" 2>&1 &
    running+=("$!")
done
under_shmrun
status=0
for way in mpirun srun hydra; do
    wait "${running[0]}" || status=$?
    running=("${running[@]:1}")
    echo "-- $way"
    cat "$work/$way.out"
done
exit "$status"
