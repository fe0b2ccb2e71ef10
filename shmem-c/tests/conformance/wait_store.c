/* pes: 1 2 5 */
/* What wakes a waiter: a put, an atomic operation, a put of another width over it, a store through shmem_ptr, and the
 * plain store of another thread. */
#include "check.h"

#include <pthread.h>
#include <time.h>

static unsigned long word;
static long other, bytes[4];

static void pause_for(long microseconds)
{
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

static void *later(void *argument)
{
    pause_for(20000);
    __atomic_store_n((unsigned long *)argument, 99, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int to = (me + 1) % npes;
    shmem_barrier_all();
    for (int way = 0; way < 5; way++) {
        unsigned long told = (unsigned long)(100 + way);
        /* The last one waits long, so that those before it sleep. */
        if (me == npes - 1)
            pause_for(15000);
        else
            shmem_ulong_wait_until(&word, SHMEM_CMP_EQ, told);
        unsigned long *there;
        switch (way) {
        case 0:
            shmem_ulong_p(&word, told, to);
            break;
        case 1:
            shmem_ulong_atomic_set(&word, told, to);
            break;
        case 2:
            shmem_putmem(&word, &told, sizeof told, to);
            break;
        case 3:
            there = (unsigned long *)shmem_ptr(&word, to);
            if (there)
                __atomic_store_n(there, told, __ATOMIC_RELEASE);
            else
                shmem_ulong_p(&word, told, to);
            break;
        default:
            shmem_ulong_atomic_add(&word, 1, to);
        }
        shmem_quiet();
        if (me == npes - 1)
            shmem_ulong_wait_until(&word, SHMEM_CMP_EQ, told);
        EQUAL("shmem_ulong_wait_until", "value", told, word);
        shmem_barrier_all();
    }
    /* A waiter of one number while neighbouring ones change. */
    for (int i = 0; i < 1000; i++)
        shmem_long_p(&bytes[i % 4], i, to);
    shmem_long_p(&other, 1, to);
    shmem_long_wait_until(&other, SHMEM_CMP_EQ, 1);
    if (provided == SHMEM_THREAD_MULTIPLE) {
        pthread_t thread;
        shmem_barrier_all();
        word = 0;
        pthread_create(&thread, NULL, later, &word);
        shmem_ulong_wait_until(&word, SHMEM_CMP_EQ, 99);
        pthread_join(thread, NULL);
    }
    return end();
}
