#!/bin/sh
# Runs the loom models, then each model with each fault it must catch: a model that passes with a
# fault switched on proves nothing. One build serves all runs; faults are chosen by MUTANT.
set -eu
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export RUSTFLAGS="--cfg loom"
export RUST_BACKTRACE=0

models() {
    timeout 600 cargo test --quiet --release -p shmem-core --test loom -- "$@"
}

cargo test --quiet --release -p shmem-core --test loom --no-run
models

failed=0
while read -r mutant model; do
    status=0
    MUTANT=$mutant models --exact "$model" >"$CARGO_TARGET_DIR/$mutant.log" 2>&1 || status=$?
    # A failed test exits with 101, and its thread has the name of the model. Any other code proves nothing, such as that of a
    # model which the fault keeps from ending.
    if [ "$status" -eq 101 ] && grep -q "^thread '$model' .*panicked" "$CARGO_TARGET_DIR/$mutant.log"; then
        echo "caught: $mutant by $model"
    else
        echo "NOT CAUGHT: $mutant by $model (status $status, $CARGO_TARGET_DIR/$mutant.log)"
        failed=1
    fi
done <<'TABLE'
doorbell-no-fence doorbell_wakes_its_owner
doorbell-late-announcement doorbell_wakes_its_owner
doorbell-late-epoch doorbell_wakes_its_owner
doorbell-no-fence-behind-store doorbell_behind_a_store_wakes_its_owner
doorbell-late-announcement doorbell_behind_a_store_wakes_its_owner
doorbell-no-fence-behind-store doorbell_is_heard_of_a_store_and_an_update
doorbell-late-announcement doorbell_is_heard_from_two_ringers
doorbell-late-epoch doorbell_wakes_two_waiters_of_one_pe
barrier-late-reset barrier_holds_two_pes_for_two_generations
barrier-early-look barrier_holds_two_pes_for_two_generations
barrier-early-look barrier_holds_three_pes_for_two_generations
barrier-blind barrier_finds_who_came_for_something_else
exchange-signal-first exchanges_take_turns_with_two_messages
exchange-old-signal exchanges_take_turns_with_two_messages
exchange-unsettled a_stored_signal_wakes_who_waits
exchange-one-message exchanges_may_overtake_each_other_on_the_way
exchange-signal-first exchanges_may_overtake_each_other_on_the_way
lines-relaxed lines_bring_contributions_through_five_barriers
lines-taken-early lines_bring_contributions_through_five_barriers
ring-filled-relaxed a_ring_brings_chunks_to_two_readers
ring-taken-relaxed a_ring_brings_chunks_to_two_readers
ring-written-early a_ring_brings_chunks_to_two_readers
ring-left-early an_owner_leaves_behind_its_readers
ring-taken-relaxed an_owner_leaves_behind_its_readers
released-two-steps released_numbers_arrive_once
TABLE
exit "$failed"
