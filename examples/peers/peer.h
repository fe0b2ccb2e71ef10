/* What the peers have in common: requests come in, samples go out.
 *
 * A peer is a program of two processes. The first one reads requests from its standard input, a line
 * each, and answers each with a line of JSON; the second one sleeps and is written to. It ends with
 * its input. So whoever measures can run several peers at once and take their samples in turn.
 *
 *     NAME OPERATION BLOCKS BLOCK TO FROM SKEW TRANSFERS SAMPLES
 *
 * asks for SAMPLES samples of TRANSFERS transfers each. A transfer writes BLOCKS blocks of BLOCK
 * doubles, each of them completed at the other process before the next one begins; or reads them from there.
 * From one block to the next are FROM doubles in the source and TO doubles in the destination. The side
 * of this process begins SKEW bytes behind a multiple of two pages, that of the other one START. No samples at
 * all asks whether the transfer writes what it should. The answer has nanoseconds for one transfer:
 *
 *     {"peer":"mpi","case":"column/128","operation":"put","ns":[2190.5,2188.0]}
 *     {"peer":"mpi","case":"column/128","operation":"iput","error":"no such operation"}
 *
 * The arguments are the CPUs of the two processes; without them they run where they are put. */
#ifndef PEER_H
#define PEER_H

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* The OpenSHMEM that a program was compiled with: its name and version. */
#ifdef OSHMEM_MAJOR_VERSION
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LIBRARY                                                                                    \
    "Open MPI OSHMEM v" TEXT(OSHMEM_MAJOR_VERSION) "." TEXT(OSHMEM_MINOR_VERSION) "." TEXT(OSHMEM_RELEASE_VERSION)
#else
#define LIBRARY SHMEM_VENDOR_STRING
#endif

/* Doubles on each side, at most: a column of 1024 with a pitch of 8256 bytes, and some room. */
#define DOUBLES ((size_t)1100 * 1032)

/* Bytes of two pages, to which both sides are laid. It is not enough that they lie alike in their pages:
 * at a distance of 8 KiB, pages on one side are all even or all odd, and so use one half of the places for
 * translated addresses in the processor. Sides of different kinds use both. */
#define PAGES ((size_t)8192)

/* Bytes from there to the destination. */
#define START ((size_t)256)

/* Bytes of one side, with room to skew it. */
#define SIDE_BYTES ((DOUBLES * sizeof(double) + 2 * PAGES - 1) / PAGES * PAGES)

struct request {
    char name[64];
    char operation[32];
    size_t blocks, block, to, from, skew;
    int transfers, samples;
};

/* What a peer brings. */
struct peer {
    const char *name;
    /* Gets ready for a request. Says what is wrong with it, or nothing. */
    const char *(*prepare)(const struct request *);
    /* One transfer, complete at its destination when this returns. */
    void (*transfer)(const struct request *);
    /* Undoes what `prepare` did. */
    void (*release)(void);
    /* Sets the whole side of the other process to these numbers. */
    void (*set)(const double *);
    /* All of it, as it is now. */
    const double *(*written)(void);
    /* The side of this process, SIDE_BYTES from a multiple of PAGES on. */
    char *memory;
    /* Whether the operation that was prepared last reads from the other process. */
    int gets;
};

/* Where a request begins on the side of this process. */
static inline double *here(const struct peer *peer, const struct request *request)
{
    return (double *)(peer->memory + request->skew);
}

/* Puts the calling process on its CPU, and lets it end with the launcher. */
static inline void settle(int process, int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1 + process) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(atoi(argv[1 + process]), &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            perror("the CPU of a process");
    }
}

/* A moment of sleep, for the process that is written to. */
static inline void doze(void)
{
    struct timespec moment = {0, 2000000};
    nanosleep(&moment, NULL);
}

static inline double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static inline int fits(size_t blocks, size_t block, size_t stride)
{
    return blocks > 0 && block > 0 && stride >= block && blocks < DOUBLES && stride < DOUBLES &&
           (blocks - 1) * stride + block <= DOUBLES;
}

/* Sets the side of this process to 1, 2, 3 .. */
static inline void number(const struct peer *peer)
{
    for (size_t k = 0; k < SIDE_BYTES / sizeof(double); k++)
        ((double *)peer->memory)[k] = (double)k + 1;
}

/* What is wrong with the result of one transfer, or nothing. */
static inline const char *fault(const struct peer *peer, const struct request *request)
{
    static double numbers[SIDE_BYTES / sizeof(double)], zeroes[SIDE_BYTES / sizeof(double)];
    memcpy(numbers, peer->memory, SIDE_BYTES);
    peer->set(peer->gets ? numbers : zeroes);
    if (peer->gets)
        memset(peer->memory, 0, SIDE_BYTES);
    peer->transfer(request);
    size_t skip = request->skew / sizeof(double);
    const double *written = peer->gets ? here(peer, request) : peer->written();
    const double *read = peer->gets ? numbers : numbers + skip;
    const char *fault = NULL;
    for (size_t i = 0; i < request->blocks; i++)
        for (size_t j = 0; j < request->block; j++)
            if (written[i * request->to + j] != read[i * request->from + j])
                fault = "the transfer did not write what it should";
    size_t others = 0;
    for (size_t k = 0; k < DOUBLES; k++)
        others += written[k] != 0;
    if (fault == NULL && others != request->blocks * request->block)
        fault = "the transfer wrote beyond its blocks";
    if (peer->gets)
        number(peer);
    return fault;
}

/* Takes the samples of a request that fits, as a list of JSON. */
static inline void measure(const struct peer *peer, const struct request *request)
{
    printf("\"ns\":[");
    for (int sample = 0; sample < request->samples; sample++) {
        /* The caches belonged to somebody else. */
        peer->transfer(request);
        double start = nanoseconds();
        for (int transfer = 0; transfer < request->transfers; transfer++)
            peer->transfer(request);
        double end = nanoseconds();
        printf("%s%.1f", sample == 0 ? "" : ",", (end - start) / request->transfers);
    }
    printf("]");
}

static inline void answer(const struct peer *peer, const struct request *request)
{
    printf("{\"peer\":\"%s\",\"case\":\"%s\",\"operation\":\"%s\",", peer->name, request->name,
           request->operation);
    const char *error = fits(request->blocks, request->block, request->to) &&
                                fits(request->blocks, request->block, request->from) &&
                                request->skew < PAGES && request->skew % sizeof(double) == 0 &&
                                request->transfers > 0
                            ? peer->prepare(request)
                            : "a request that does not fit";
    if (error == NULL) {
        if (request->samples == 0)
            error = fault(peer, request);
        if (error == NULL)
            measure(peer, request);
        peer->release();
    }
    if (error != NULL)
        printf("\"error\":\"%s\"", error);
    printf("}\n");
    fflush(stdout);
}

/* Answers requests until there are no more. */
static inline void serve(struct peer *peer, const char *library)
{
    number(peer);
    printf("{\"peer\":\"%s\",\"library\":\"%.*s\"}\n", peer->name, (int)strcspn(library, ",\"\\\n"), library);
    fflush(stdout);
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct request request;
        if (sscanf(line, "%63s %31s %zu %zu %zu %zu %zu %d %d", request.name, request.operation,
                   &request.blocks, &request.block, &request.to, &request.from, &request.skew,
                   &request.transfers, &request.samples) == 9)
            answer(peer, &request);
        else if (strspn(line, " \n") != strlen(line)) {
            printf("{\"peer\":\"%s\",\"error\":\"a request that is none\"}\n", peer->name);
            fflush(stdout);
        }
    }
}

/* The same for requests of other forms, NAME OPERATION NUMBER TIMES SAMPLES, each of which `reply` answers. */
static inline void serve_numbers(const char *peer, const char *library,
                                 void (*reply)(const char *, const char *, long, long, long))
{
    printf("{\"peer\":\"%s\",\"library\":\"%.*s\"}\n", peer, (int)strcspn(library, ",\"\\\n"), library);
    fflush(stdout);
    char line[256], name[64], operation[32];
    long number, times, samples;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%63s %31s %ld %ld %ld", name, operation, &number, &times, &samples) == 5)
            reply(name, operation, number, times, samples);
        else
            printf("{\"peer\":\"%s\",\"error\":\"a request that is none\"}\n", peer);
        fflush(stdout);
    }
}

#endif
