/* pes: 1 2 3 5 */
/* fence and quiet: what may be seen in which order, and what is complete. */
#include "check.h"

#define ROUNDS 120
#define WIDTH 64

static long data[WIDTH], flag;
static long *heap;

/* All bytes are equal and grow with the round: data that the next round has written in part are no less than this round's. */
static long of_round(long round, int at)
{
    return (round + at % 7) * 0x0101010101010101;
}

/* Data, fence, flag: who sees the flag of a round sees data of that round or a later one. */
static void message(shmem_ctx_t context, int form)
{
    int to = (me + 1) % npes;
    long mine[WIDTH];
    flag = 0;
    memset(data, 0, sizeof data);
    memset(heap, 0, sizeof data);
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WIDTH; i++)
            mine[i] = of_round(round, i);
        switch (form % 3) {
        case 0:
            shmem_ctx_long_put(context, data, mine, WIDTH, to);
            shmem_ctx_long_put(context, heap, mine, WIDTH, to);
            break;
        case 1:
            shmem_ctx_long_put_nbi(context, data, mine, WIDTH, to);
            shmem_ctx_long_iput(context, heap, mine, 1, 1, WIDTH, to);
            shmem_ctx_quiet(context);
            break;
        default:
            for (int i = 0; i < WIDTH; i++) {
                shmem_ctx_long_p(context, &data[i], mine[i], to);
                shmem_ctx_long_atomic_set(context, &heap[i], mine[i], to);
            }
        }
        shmem_ctx_fence(context);
        if (round % 2)
            shmem_ctx_long_p(context, &flag, round, to);
        else
            shmem_ctx_long_atomic_set(context, &flag, round, to);
        if (round % 50 == 0)
            shmem_ctx_quiet(context);
        long seen = flag;
        if (round % 16 == 0) {
            shmem_ctx_quiet(context);
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            seen = round;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        for (int i = 0; seen && i < WIDTH; i++) {
            long of_data = *(volatile long *)&data[i], of_heap = *(volatile long *)&heap[i];
            if (of_data < of_round(seen, i)) {
                EQUAL("shmem_fence", "data behind the flag", of_round(seen, i), of_data);
                break;
            }
            if (of_heap < of_round(seen, i)) {
                EQUAL("shmem_fence", "data on the heap behind the flag", of_round(seen, i), of_heap);
                break;
            }
        }
    }
    shmem_ctx_quiet(context);
    shmem_barrier_all();
    EQUAL("shmem_barrier_all", "flag", ROUNDS, flag);
    for (int i = 0; i < WIDTH; i++) {
        EQUAL("shmem_barrier_all", "data", of_round(ROUNDS, i), data[i]);
        EQUAL("shmem_barrier_all", "data on the heap", of_round(ROUNDS, i), heap[i]);
    }
    shmem_barrier_all();
}

int main(void)
{
    begin();
    heap = (long *)shmem_calloc(WIDTH, sizeof(long));
    shmem_ctx_t contexts[2] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_DEFAULT};
    EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(0, &contexts[1]));
    for (int form = 0; form < 6; form++)
        message(contexts[form / 3], form);
    shmem_barrier_all();

    /* shmem_fence and shmem_quiet of the default context; a put to one PE, told by another. */
    static long value, told;
    for (long round = 1; round <= 100; round++) {
        int to = (me + 1) % npes;
        shmem_long_p(&value, round, to);
        if (round % 2)
            shmem_fence();
        else
            shmem_quiet();
        shmem_long_atomic_set(&told, round, to);
        shmem_quiet();
        shmem_long_wait_until(&told, SHMEM_CMP_GE, round);
        TRUE_THAT("shmem_fence", value >= round);
        if (round % 10 == 0)
            shmem_barrier_all();
    }
    shmem_barrier_all();
    /* After quiet a third PE may be told, and sees what is complete. */
    static long third[64], go;
    third[0] = 0;
    shmem_barrier_all();
    for (long round = 1; round <= 50; round++) {
        if (me == 0) {
            long mine[64];
            for (int i = 0; i < 64; i++)
                mine[i] = round;
            shmem_long_put_nbi(third, mine, 64, npes / 2);
            shmem_quiet();
            shmem_long_atomic_set(&go, round, npes - 1);
            shmem_quiet();
        }
        if (me == npes - 1) {
            shmem_long_wait_until(&go, SHMEM_CMP_GE, round);
            for (int i = 0; i < 64; i += 21)
                EQUAL("shmem_quiet", "seen by a third PE", round, shmem_long_g(&third[i], npes / 2));
        }
        shmem_barrier_all();
    }
    shmem_ctx_destroy(contexts[1]);
    return end();
}
