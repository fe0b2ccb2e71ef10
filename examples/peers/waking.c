/* How long it takes until a PE that sleeps in shmem_long_wait_until goes on, where PEs outnumber cores.
 *
 *     oshcc -O2 waking.c -o waking -lpthread
 *     echo "wake/4 wake 4 100 5" | oshrun -np 4 ./waking
 *
 * As peer.h says, but any number of processes take part, which nobody puts on a core, and a request is
 *
 *     NAME OPERATION PROCESSES TIMES SAMPLES
 *
 * and asks for SAMPLES samples of TIMES each; no samples at all ask whether everybody wakes.
 *
 *     wake          a word goes round: each process waits for it, and puts it to the next one. One step
 *     futex         the same by a store to the memory of the next process, and the kernel's wait and wake alone
 *     wake-plain    a thread of the waiting process stores to the word and calls nothing. The longest of TIMES
 *     futex-plain   the same with the kernel's wait and wake
 *
 * In between all of them sleep. */
#define _GNU_SOURCE
#include <shmem.h>

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peer.h"

/* What a process is told: which request it is, what to do, how often, and behind how many rounds. The number of the
 * request is written last. */
enum { NUMBER, WHAT, TIMES, BEHIND, ORDERS };
enum operation { WAKE, FUTEX, WAKE_PLAIN, FUTEX_PLAIN, END };

static const char *const names[END] = {"wake", "futex", "wake-plain", "futex-plain"};

static long orders[ORDERS];
/* The word that goes round, alone in its line of memory, and how often it has. */
static long word[16] __attribute__((aligned(128)));
static long rounds;
static int me, npes;

/* Half of the word, as the kernel waits for it: the one in which small numbers differ. */
static int *half(long *of)
{
    return (int *)of;
}

static void wait_by_futex(long wanted)
{
    long now;
    while ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != wanted)
        syscall(SYS_futex, half(word), FUTEX_WAIT, (int)now, NULL, NULL, 0);
}

static void store_and_wake(long *there, long value)
{
    __atomic_store_n(there, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, half(there), FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void give(enum operation operation, long value)
{
    int next = (me + 1) % npes;
    if (operation == WAKE)
        shmem_long_p(word, value, next);
    else
        store_and_wake(shmem_ptr(word, next), value);
}

static void take(enum operation operation, long value)
{
    if (operation == WAKE)
        shmem_long_wait_until(word, SHMEM_CMP_EQ, value);
    else
        wait_by_futex(value);
}

/* So many rounds. The first process begins each. */
static void go_round(enum operation operation, long times)
{
    for (long last = rounds + times; rounds < last;) {
        rounds++;
        if (me == 0)
            give(operation, rounds);
        take(operation, rounds);
        if (me != 0)
            give(operation, rounds);
    }
}

struct store {
    enum operation operation;
    long value, pause;
    double at;
};

static void *store_later(void *argument)
{
    struct store *store = argument;
    struct timespec pause = {0, store->pause};
    nanosleep(&pause, NULL);
    store->at = nanoseconds();
    if (store->operation == WAKE_PLAIN)
        __atomic_store_n(word, store->value, __ATOMIC_RELEASE);
    else
        store_and_wake(word, store->value);
    return NULL;
}

/* The longest from a store of a thread until its process goes on; negative: there is no thread. */
static double longest(enum operation operation, long times)
{
    double most = 0;
    for (long k = 0; k < times; k++) {
        rounds++;
        /* Long enough that the waiter sleeps, and at another moment of its sleep each time. */
        struct store store = {operation, rounds, 3000000 + k * 7919 % 31 * 33000, 0};
        pthread_t thread;
        if (pthread_create(&thread, NULL, store_later, &store) != 0)
            return -1;
        take(operation == WAKE_PLAIN ? WAKE : FUTEX, rounds);
        double now = nanoseconds();
        pthread_join(thread, NULL);
        most = now - store.at > most ? now - store.at : most;
    }
    return most;
}

/* What the first process tells the others. */
static void tell(long what, long times)
{
    static long number;
    long order[ORDERS] = {++number, what, times, rounds};
    for (int pe = 1; pe < npes; pe++) {
        shmem_long_put(orders + 1, order + 1, ORDERS - 1, pe);
        shmem_fence();
        shmem_long_p(orders, number, pe);
    }
    shmem_quiet();
}

/* Nanoseconds; negative: it could not be done. */
static double sample(enum operation operation, long times)
{
    if (operation == WAKE_PLAIN || operation == FUTEX_PLAIN)
        return longest(operation, times);
    tell(operation, times + 1);
    /* All are there behind the first round. */
    go_round(operation, 1);
    double start = nanoseconds();
    go_round(operation, times);
    return (nanoseconds() - start) / (double)(times * npes);
}

static void reply(const char *name, const char *operation, long processes, long times, long samples)
{
    enum operation what = 0;
    while (what < END && strcmp(names[what], operation) != 0)
        what++;
    const char *fault = NULL;
    if (what == END || times < 1 || samples < 0)
        fault = "a request that does not fit";
    else if (processes != npes)
        fault = "another number of processes";
    else if (what == FUTEX && shmem_ptr(word, npes - 1) == NULL)
        fault = "processes without common memory";
    else if (samples == 0 && (sample(what, 1) < 0 || word[0] != rounds))
        fault = "the word is not what was waited for";
    printf("{\"peer\":\"waking\",\"case\":\"%s\",\"operation\":\"%s\",", name, operation);
    if (fault == NULL) {
        printf("\"ns\":[");
        for (long k = 0; k < samples; k++)
            printf("%s%.1f", k == 0 ? "" : ",", sample(what, times));
        printf("]");
    } else
        printf("\"error\":\"%s\"", fault);
    printf("}\n");
}

static void obey(void)
{
    for (long seen = 0;;) {
        while (!shmem_long_test(orders, SHMEM_CMP_NE, seen))
            doze();
        seen = orders[NUMBER];
        if (orders[WHAT] == END)
            return;
        rounds = orders[BEHIND];
        go_round((enum operation)orders[WHAT], orders[TIMES]);
    }
}

int main(int argc, char **argv)
{
    int given;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &given);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    settle(me, argc, argv);
    shmem_barrier_all();
    if (me == 0) {
        serve_numbers("waking", SHMEM_VENDOR_STRING, reply);
        tell(END, 0);
    } else
        obey();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
