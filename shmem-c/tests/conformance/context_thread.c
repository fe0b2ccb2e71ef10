/* pes: 1 2 3 */
/* since: 1.4 */
/* Threads with contexts of their own, and all on the default one. */
#include "check.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS 300

static long sum, slots[THREADS][2], *heap;

static void *thread(void *argument)
{
    int number = (int)(intptr_t)argument, to = (me + 1) % npes;
    shmem_ctx_t context;
    if (shmem_ctx_create(number % 2 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED, &context)) {
        EQUAL("shmem_ctx_create", "status", 0, 1);
        return NULL;
    }
    long got = -1;
    for (long i = 1; i <= ROUNDS; i++) {
        shmem_ctx_long_p(context, &slots[number][0], i, to);
        shmem_ctx_quiet(context);
        EQUAL("shmem_ctx_quiet", "value of this thread", i, shmem_ctx_long_g(context, &slots[number][0], to));
        shmem_ctx_long_atomic_add(context, &sum, i, 0);
        shmem_ctx_long_get_nbi(context, &got, &slots[number][0], 1, to);
        shmem_ctx_quiet(context);
        EQUAL("shmem_ctx_long_get_nbi", "value of this thread", i, got);
        shmem_long_atomic_inc(&heap[number], to);
    }
    shmem_quiet();
    shmem_ctx_destroy(context);
    return NULL;
}

int main(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    heap = (long *)shmem_calloc(THREADS, sizeof(long));
    if (provided == SHMEM_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        shmem_barrier_all();
        if (me == 0)
            EQUAL("shmem_ctx_long_atomic_add", "sum", (long)npes * THREADS * ROUNDS * (ROUNDS + 1) / 2, sum);
        for (int i = 0; i < THREADS; i++)
            EQUAL("shmem_long_atomic_inc", "count", ROUNDS, heap[i]);
    }
    return end();
}
