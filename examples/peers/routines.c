/* Single routines of OpenSHMEM, as many as can be issued one behind the other: what a call costs.
 *
 *     oshcc -O2 routines.c -o routines
 *     echo "p8/8 p8 8 1000 5" | oshrun -np 2 ./routines 0 1
 *
 * As peer.h says, but a request is
 *
 *     NAME OPERATION NUMBER TIMES SAMPLES
 *
 * and asks for SAMPLES samples of TIMES calls each, which are complete at the end of a sample; no samples at all ask
 * whether the routine does what it should.
 *
 *     p8            shmem_long_p to the heap, one to each of 64 lines
 *     put8          shmem_put64 of one word, the same
 *     put8-global   shmem_put64 of one word, to a global of the program, the same
 *     fetch-add     shmem_long_atomic_fetch_add on one word
 *     iput          shmem_double_iput of 1024 elements, which are NUMBER doubles apart on both sides
 *
 * The second process sleeps meanwhile. With Open MPI: as oshmem.c says; a put to a global of its hangs, or nearly so, while the
 * other process is not in the library. */
#define _GNU_SOURCE
#include <shmem.h>

#include "peer.h"

/* Longs of a line, lines that are written, and elements of a column with the longest distance between two. */
#define LINE 8
#define LINES 64
#define ELEMENTS 1024
#define LONGEST 1032

static long global[LINES * LINE];
static long *words, *counter, *done;
static double *column, *source;

static void p8(long k, long number)
{
    (void)number;
    shmem_long_p(words + k % LINES * LINE, k, 1);
}

static void put8(long k, long number)
{
    (void)number;
    shmem_put64(words + k % LINES * LINE, &k, 1, 1);
}

static void put8_global(long k, long number)
{
    (void)number;
    shmem_put64(global + k % LINES * LINE, &k, 1, 1);
}

static void fetch_add(long k, long number)
{
    (void)number;
    (void)shmem_long_atomic_fetch_add(counter, k, 1);
}

static void iput(long k, long number)
{
    (void)k;
    shmem_double_iput(column, source, number, number, ELEMENTS, 1);
}

enum routine { P8, PUT8, PUT8_GLOBAL, FETCH_ADD, IPUT, ROUTINES };

static const char *const names[ROUTINES] = {"p8", "put8", "put8-global", "fetch-add", "iput"};

/* So many calls, complete at the end. Each loop calls one routine, and nothing by pointers. */
static void repeat(enum routine routine, long number, long times)
{
#define LOOP(call)                                                                                 \
    for (long k = 0; k < times; k++)                                                               \
        call(k, number);                                                                           \
    break
    switch (routine) {
    case P8: LOOP(p8);
    case PUT8: LOOP(put8);
    case PUT8_GLOBAL: LOOP(put8_global);
    case FETCH_ADD: LOOP(fetch_add);
    case IPUT: LOOP(iput);
    case ROUTINES: break;
    }
    shmem_quiet();
}

/* What is wrong with a routine, or nothing. */
static const char *wrong(enum routine routine, long number)
{
    static long found[LINES * LINE];
    static double row[ELEMENTS];
    int right = 1;
    if (routine == IPUT) {
        for (long k = 0; k < ELEMENTS; k++)
            source[k * number] = (double)(k + number);
        repeat(routine, number, 1);
        shmem_double_iget(row, column, 1, number, ELEMENTS, 1);
        for (long k = 0; k < ELEMENTS; k++)
            right = right && row[k] == (double)(k + number);
    } else if (routine == FETCH_ADD) {
        long before = shmem_long_atomic_fetch(counter, 1);
        repeat(routine, number, 4);
        right = shmem_long_atomic_fetch(counter, 1) == before + 6;
    } else {
        repeat(routine, number, LINES);
        shmem_long_get(found, routine == PUT8_GLOBAL ? global : words, LINES * LINE, 1);
        for (long k = 0; k < LINES; k++)
            right = right && found[k * LINE] == k;
    }
    return right ? NULL : "the routine does not do what it should";
}

static void reply(const char *name, const char *operation, long number, long times, long samples)
{
    enum routine routine = 0;
    while (routine < ROUTINES && strcmp(names[routine], operation) != 0)
        routine++;
    const char *fault = NULL;
    if (routine == ROUTINES || number < 1 || number > LONGEST || times < 1 || samples < 0)
        fault = "a request that does not fit";
    else if (samples == 0)
        fault = wrong(routine, number);
    printf("{\"peer\":\"routines\",\"case\":\"%s\",\"operation\":\"%s\",", name, operation);
    if (fault == NULL) {
        printf("\"ns\":[");
        for (long sample = 0; sample < samples; sample++) {
            /* The caches belonged to somebody else. */
            repeat(routine, number, times < 4 ? 1 : times / 4);
            double start = nanoseconds();
            repeat(routine, number, times);
            printf("%s%.3f", sample == 0 ? "" : ",", (nanoseconds() - start) / (double)times);
        }
        printf("]");
    } else
        printf("\"error\":\"%s\"", fault);
    printf("}\n");
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
    size_t bytes = (size_t)ELEMENTS * LONGEST * sizeof(double);
    words = shmem_align(PAGES, LINES * LINE * sizeof *words);
    counter = shmem_calloc(1, sizeof *counter);
    done = shmem_calloc(1, sizeof *done);
    column = shmem_align(PAGES, bytes);
    source = aligned_alloc(PAGES, bytes);
    if (words == NULL || counter == NULL || done == NULL || column == NULL || source == NULL) {
        fprintf(stderr, "no memory for %zu bytes on each side\n", bytes);
        shmem_global_exit(3);
    }
    memset(column, 0, bytes);
    memset(source, 0, bytes);
    shmem_barrier_all();
    if (process == 0) {
        serve_numbers("routines", LIBRARY, reply);
        shmem_long_p(done, 1, 1);
        shmem_quiet();
    } else {
        while (!shmem_long_test(done, SHMEM_CMP_EQ, 1))
            doze();
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
