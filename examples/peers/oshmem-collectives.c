/* Collectives of OpenSHMEM, between two processes, to stand beside ours.
 *
 * As peer.h says, but both processes take part, and a request is
 *
 *     NAME OPERATION BYTES TIMES SAMPLES
 *
 * for SAMPLES samples of TIMES calls each; BYTES are those that one process contributes, to an alltoall
 * those for each process. The first process passes a request on through the memory of the second one, which
 * sleeps until there is one. */
#define _GNU_SOURCE
#include <shmem.h>

#include "peer.h"

#ifdef OSHMEM_MAJOR_VERSION
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LIBRARY                                                                                    \
    "Open MPI OSHMEM v" TEXT(OSHMEM_MAJOR_VERSION) "." TEXT(OSHMEM_MINOR_VERSION) "." TEXT(OSHMEM_RELEASE_VERSION)
#else
#define LIBRARY SHMEM_VENDOR_STRING
#endif

/* Bytes of the largest contribution. */
#define MOST ((size_t)1 << 20)

enum operation { BARRIER, BROADCAST, SUM, FCOLLECT, ALLTOALL, OPERATIONS };

static const char *const names[OPERATIONS] = {"barrier", "broadcast", "sum", "fcollect", "alltoall"};

/* What the second process is to do. Behind its data comes its number, from 1; 0 calls ask it to end. */
static long *order, *number;

static long *sync_words[2];
static double *work;
static double *given, *target;
/* Calls so far: two calls in a row have work words of their own. */
static unsigned calls;

static void call(enum operation operation, size_t bytes)
{
    size_t words = bytes / sizeof(double);
    long *sync = sync_words[calls++ % 2];
    switch (operation) {
    case BARRIER:
        shmem_barrier_all();
        break;
    case BROADCAST:
        /* From each in turn: otherwise the root would run ahead of the data. */
        shmem_broadcast64(target, given, words, (int)(calls % 2), 0, 0, 2, sync);
        break;
    case SUM:
        shmem_double_sum_to_all(target, given, (int)words, 0, 0, 2, work, sync);
        break;
    case FCOLLECT:
        shmem_fcollect64(target, given, words, 0, 0, 2, sync);
        break;
    default:
        shmem_alltoall64(target, given, words, 0, 0, 2, sync);
    }
}

/* What process `p` has as its k-th word. */
static double word(int p, size_t k)
{
    return (double)k + 1000.0 * p + 1;
}

/* What is wrong with the result of one call, or nothing. */
static const char *wrong(enum operation operation, size_t bytes, int process)
{
    size_t words = bytes / sizeof(double);
    memset(target, 0, 2 * MOST);
    for (size_t k = 0; k < 2 * MOST / sizeof(double); k++)
        given[k] = word(process, k);
    shmem_barrier_all();
    int root = (int)((calls + 1) % 2);
    call(operation, bytes);
    shmem_barrier_all();
    for (size_t k = 0; k < words; k++) {
        int right = 1;
        if (operation == BROADCAST)
            right = process == root || target[k] == word(root, k);
        else if (operation == SUM)
            right = target[k] == word(0, k) + word(1, k);
        else if (operation == FCOLLECT)
            right = target[k] == word(0, k) && target[words + k] == word(1, k);
        else if (operation == ALLTOALL)
            right = target[k] == word(0, process * words + k) &&
                    target[words + k] == word(1, process * words + k);
        if (!right)
            return "the collective did not give what it should";
    }
    return NULL;
}

/* Both processes' part of a request: prints the samples where that is asked for. */
static void take_samples(enum operation operation, size_t bytes, long times, long samples, int prints)
{
    memset(given, 0, 2 * MOST);
    shmem_barrier_all();
    for (long sample = 0; sample < samples; sample++) {
        /* The caches belonged to somebody else. */
        for (long k = 0; k < 4; k++)
            call(operation, bytes);
        shmem_barrier_all();
        double start = nanoseconds();
        for (long k = 0; k < times; k++)
            call(operation, bytes);
        double end = nanoseconds();
        if (prints)
            printf("%s%.1f", sample == 0 ? "" : ",", (end - start) / (double)times);
        shmem_barrier_all();
    }
}

static void pass_on(long operation, long bytes, long times, long samples)
{
    static long last;
    long words[4] = {operation, bytes, times, samples};
    shmem_long_put(order, words, 4, 1);
    shmem_fence();
    shmem_long_p(number, ++last, 1);
    shmem_quiet();
}

static void reply(const char *name, const char *operation, long bytes, long times, long samples)
{
    printf("{\"peer\":\"oshmem-collectives\",\"case\":\"%s\",\"operation\":\"%s\",", name, operation);
    int found = 0;
    while (found < OPERATIONS && strcmp(names[found], operation) != 0)
        found++;
    if (found == OPERATIONS || bytes < 0 || (size_t)bytes > MOST || bytes % 8 != 0 || times < 1 || samples < 0) {
        printf("\"error\":\"a request that does not fit\"}\n");
        fflush(stdout);
        return;
    }
    pass_on(found, bytes, times, samples);
    const char *error = samples == 0 ? wrong(found, (size_t)bytes, 0) : NULL;
    if (error != NULL)
        printf("\"error\":\"%s\"", error);
    else {
        printf("\"ns\":[");
        take_samples(found, (size_t)bytes, times, samples, 1);
        printf("]");
    }
    printf("}\n");
    fflush(stdout);
}

static void serve_requests(void)
{
    printf("{\"peer\":\"oshmem-collectives\",\"library\":\"%.*s\"}\n", (int)strcspn(LIBRARY, ",\"\\\n"), LIBRARY);
    fflush(stdout);
    char line[256], name[64], operation[32];
    long bytes, times, samples;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%63s %31s %ld %ld %ld", name, operation, &bytes, &times, &samples) == 5)
            reply(name, operation, bytes, times, samples);
        else {
            printf("{\"peer\":\"oshmem-collectives\",\"error\":\"a request that is none\"}\n");
            fflush(stdout);
        }
    }
    pass_on(0, 0, 0, 0);
}

static void follow(void)
{
    for (long next = 1;; next++) {
        while (!shmem_long_test(number, SHMEM_CMP_EQ, next))
            doze();
        enum operation operation = (enum operation)order[0];
        if (order[2] == 0)
            return;
        if (order[3] == 0) {
            const char *error = wrong(operation, (size_t)order[1], 1);
            if (error != NULL) {
                fprintf(stderr, "%s: %s\n", names[operation], error);
                shmem_global_exit(4);
            }
        }
        take_samples(operation, (size_t)order[1], order[2], order[3], 0);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    int process = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "this runs as two processes, not %d\n", shmem_n_pes());
        shmem_global_exit(2);
    }
    settle(process, argc, argv);

    given = shmem_align(PAGES, 2 * MOST);
    target = shmem_align(PAGES, 2 * MOST);
    work = shmem_malloc(MOST + sizeof(double) * SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    size_t words = SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE;
    for (int k = 0; k < 2; k++) {
        sync_words[k] = shmem_malloc(words * sizeof(long));
        for (size_t i = 0; sync_words[k] != NULL && i < words; i++)
            sync_words[k][i] = SHMEM_SYNC_VALUE;
    }
    order = shmem_calloc(4, sizeof *order);
    number = shmem_calloc(1, sizeof *number);
    if (given == NULL || target == NULL || work == NULL || sync_words[1] == NULL || number == NULL) {
        fprintf(stderr, "no memory for %zu bytes on each side\n", MOST);
        shmem_global_exit(3);
    }
    shmem_barrier_all();
    if (process == 0)
        serve_requests();
    else
        follow();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
