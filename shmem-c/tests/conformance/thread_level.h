/* A program that begins with shmem_init_thread at LEVEL. */
#include "check.h"

#include <pthread.h>

#define THREADS 3
#define ROUNDS 200

static long sum, told[THREADS];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static UNUSED void *thread(void *argument)
{
    int number = (int)(intptr_t)argument;
    int to = (me + 1) % npes;
    for (int i = 0; i < ROUNDS; i++) {
        if (LEVEL == SHMEM_THREAD_SERIALIZED)
            pthread_mutex_lock(&turn);
        shmem_long_atomic_add(&sum, number + 1, to);
        shmem_long_p(&told[number], i + 1, to);
        shmem_quiet();
        if (LEVEL == SHMEM_THREAD_SERIALIZED)
            pthread_mutex_unlock(&turn);
    }
    return NULL;
}

int main(void)
{
    int provided = -1;
    int status = shmem_init_thread(LEVEL, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    EQUAL("shmem_init_thread", "status", 0, status);
    TRUE_THAT("shmem_init_thread", provided >= LEVEL);
    TRUE_THAT("shmem_init_thread", provided <= SHMEM_THREAD_MULTIPLE);
    int asked = -1;
    shmem_query_thread(&asked);
    EQUAL("shmem_query_thread", "level", provided, asked);

    if (LEVEL >= SHMEM_THREAD_SERIALIZED && provided >= LEVEL) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        shmem_barrier_all();
        EQUAL("shmem_long_atomic_add", "sum of the threads", ROUNDS * THREADS * (THREADS + 1) / 2, sum);
        for (int i = 0; i < THREADS; i++)
            EQUAL("shmem_long_p", "last round of a thread", ROUNDS, told[i]);
    }
    return end();
}
