#!/bin/sh
# Runs tests that watch over atomicity, order, completion and collectives with a fault planted in the library: a test that passes
# with its fault switched on proves nothing. One build serves all runs; faults are chosen by MUTANT, and exist in this build only.
# A fault in an order that the hardware keeps anyway is caught over the loopback transport only.
set -eu
cd "$(dirname "$0")/.."

export RUSTC_WORKSPACE_WRAPPER="$PWD/ci/rustc-mutants.sh"
export RUST_BACKTRACE=0
logs="${CARGO_TARGET_DIR:-target}/mutants"
mkdir -p "$logs"

# The transport `none` stands for unit tests of modules, for faults that only slow a job down.
tests() { # TRANSPORT ARGUMENT..
    case $1 in
    none) of="--lib" ;;
    *) of="--test ordered --test racing" ;;
    esac
    shift
    # --workspace, as in unit.sh: what the library depends on is not built twice.
    # shellcheck disable=SC2086
    timeout "${limit-120}" cargo test --quiet --workspace $of -- "$@"
}

limit=0 tests shm --list >/dev/null
limit=0 tests none --list >/dev/null
failed=0
while read -r mutant transport name; do
    log="$logs/$mutant-$transport-${name##*::}.log"
    # A fault breaks a test only in some runs, and more rarely on a loaded machine, so a test has 20 runs. (The rarest fault was
    # found in 5 of 12.)
    for _ in $(seq 20); do
        status=0
        # A wait that never ends is found by the time limit of the test.
        case $mutant in
        *-unopened) time=20 ;;
        *) time=60 ;;
        esac
        SHMEM_TEST_TIMEOUT=$time SHMEM_TRANSPORT=$transport MUTANT=$mutant tests "$transport" --exact "$name" >"$log" 2>&1 </dev/null || status=$?
        [ "$status" -eq 0 ] || break
    done
    # A failed test exits with 101. Any other code proves nothing, such as that of a test which the fault keeps from ending.
    if [ "$status" -eq 101 ] && grep -q "^thread '$name' .*panicked" "$log"; then
        echo "caught: $mutant by $name over $transport"
    else
        echo "NOT CAUGHT: $mutant by $name over $transport (status $status, $log)"
        failed=1
    fi
done <<'TABLE'
add-in-two-steps shm histories::linearizability::atomic_operations_are_linearizable
add-in-two-steps loopback words::nothing_is_lost
add-in-two-steps shm histories::litmus::a_signal_is_set_while_somebody_adds_to_it
add-in-two-steps loopback histories::linearizability::atomic_operations_are_linearizable
target-adds-in-two-steps loopback histories::linearizability::atomic_operations_of_two_nodes_on_one_word_are_linearizable
quiet-forgotten loopback histories::litmus::put_quiet_get_on_both_sides
quiet-forgotten loopback histories::litmus::put_quiet_flag_across_contexts
quiet-forgotten loopback histories::litmus::quiet_is_visible_to_third_parties
quiet-of-one-pe-forgotten loopback histories::litmus::put_quiet_of_one_pe_flag_across_contexts
quiet-of-every-channel loopback histories::litmus::streams_are_independent
fence-forgotten loopback histories::litmus::put_fence_flag
fence-forgotten loopback histories::litmus::puts_of_two_nodes_counted_in_one_word
fence-forgotten loopback histories::litmus::put_fence_flag_in_a_scope
fence-forgotten loopback histories::litmus::put_fence_put_with_signal
fence-forgotten loopback histories::litmus::put_fence_put_with_signal_in_a_scope
signal-first shm basic::signal::whoever_sees_the_signal_sees_the_data
signal-first loopback basic::signal::whoever_sees_the_signal_sees_the_data
signal-first loopback long_signals::many_are_under_way_on_2
signal-first loopback channel::every_message_comes_once_and_in_order_on_3
signal-first shm histories::litmus::put_fence_put_with_signal
signal-first loopback histories::litmus::put_fence_put_with_signal_in_a_scope
signal-first loopback streams::between_two
credit-early loopback streams::between_two
stream-unopened loopback streams::between_three
stream-without-quiet loopback direct::what_was_given_may_be_changed_at_once
credit-early loopback flights::histories_on_3
flight-unopened loopback flights::histories_on_3
left-to-right shm collectives::sums_are_those_of_the_tree
left-to-right loopback collectives::sums_are_those_of_the_tree
next-root shm collectives::histories_on_3
overlap-not-seen shm direct::objects_may_overlap_and_members_may_differ
direct-without-leave shm direct::what_was_given_may_be_changed_at_once
nan-unsettled shm direct::of_all_nans_a_sum_is_one
scope-without-quiet loopback histories::litmus::scope_flag_across_contexts
exit-without-quiet loopback nonblocking::an_exit_inside_a_scope_completes_it_before_it_destroys
lead-without-end shm indexed::updates_are_those_of_a_slice_on_2
lead-without-end loopback ranges::elements_are_those_of_a_slice_on_4
copy-not-cleared shm indexed::updates_are_those_of_a_slice_on_2
copy-not-cleared loopback indexed::updates_are_those_of_a_slice_on_2
add-in-two-steps shm indexed::every_ticket_is_drawn_once
target-adds-in-two-steps loopback indexed::every_ticket_is_drawn_once
scope-without-quiet loopback indexed::every_ticket_is_drawn_once
list-without-bell none indexed::tests::updates_ring_the_bell_of_who_has_the_words_alone
list-without-bell none transport::ofi::engine::tests::model::lists_that_change_words_ring_the_bell
answers-in-another-order none transport::ofi::engine::tests::model::memory_is_as_if_all_had_been_done_at_once
TABLE
exit "$failed"
