/* The usual micro-benchmarks between two processes, by the definitions of the OSU benchmarks.
 *
 * As peer.h says, but a request is
 *
 *     NAME OPERATION BYTES TIMES SAMPLES
 *
 * and asks for SAMPLES samples of TIMES operations each; no samples at all ask whether the operation does
 * what it should. BYTES are those of one message, and of what one process contributes to a collective (to an
 * alltoall those for each process). The answer has nanoseconds for one operation:
 *
 *     put, get        one message, complete at its destination before the next one begins
 *     bandwidth       WINDOW messages at once, then their completion
 *     bidirectional   the same by both processes at the same time
 *     histogram       additions to words at random, of both processes: two of the BYTES are a table, dealt out in halves
 *     index-gather    reads of such words
 *     fetch-add, add, swap, compare-swap, fetch
 *                     on a 64-bit word of the other process; `add` gives nothing back, and is completed at
 *                     the end of a sample
 *     barrier, broadcast (from each process in turn: otherwise the root would run ahead of its data), sum (to
 *     all, of doubles), fcollect, alltoall
 *
 * What a process contributes to a collective it writes anew before each, which is part of the time: contributions that
 * never change would lie in the caches of both processes, and nothing would have to come from one to the other.
 *
 * In messages of one process and atomic operations on one word the second process sleeps meanwhile. What is sent, and what is read into, is
 * memory of the process's own.
 *
 * A program defines what stands between the lines below, so that nothing is called by pointers: some of it
 * takes a nanosecond. */
#ifndef MICRO_H
#define MICRO_H

#include <stddef.h>
#include <stdint.h>

#include "peer.h"

/* Messages at once. */
#define WINDOW 64

/* Bytes of the largest message, and of what is written and read: messages of a window follow each other, and begin
 * anew behind these. */
#define ROOM ((size_t)4 << 20)

/* Elements of the table that a process adds to, or reads, in turn. */
#define INDICES (1 << 16)

/* Bytes of the largest contribution to a collective. */
#define MOST ((size_t)4 << 20)

enum operation {
    PUT, GET, BANDWIDTH, FETCH_ADD, ADD, SWAP, COMPARE_SWAP, FETCH,
    /* From here on both processes take part. */
    BIDIRECTIONAL, HISTOGRAM, INDEX_GATHER, BARRIER, BROADCAST, SUM, FCOLLECT, ALLTOALL, OPERATIONS
};

static const char *const names[OPERATIONS] = {
    "put", "get", "bandwidth", "fetch-add", "add", "swap", "compare-swap", "fetch",
    "bidirectional", "histogram", "index-gather", "barrier", "broadcast", "sum", "fcollect", "alltoall"};

/* What both processes are to do; an order of no TIMES is the last one. */
struct order {
    long operation, bytes, times, samples;
};

/* Memory of the process's own, of ROOM bytes: what is sent, and what is read into. */
static char *given, *taken;

/* Which one of the two this is. */
static int process;

/* -- What a program defines. */

/* A message to byte `at` of the other process's memory: its source may be used again. */
static void put(size_t at, const char *from, size_t bytes);
/* The same, which need not be under way yet. */
static void put_later(size_t at, const char *from, size_t bytes);
/* Completes all of them at their destination. */
static void quiet(void);
static void get(char *into, size_t at, size_t bytes);
/* What the other process has written here. */
static const char *written(void);

/* On the word of the other process. */
static uint64_t fetch_add(uint64_t more);
static void add(uint64_t more);
static uint64_t swap(uint64_t value);
static uint64_t compare_swap(uint64_t expected, uint64_t value);
static uint64_t fetch(void);

/* One more in a word of a process, `at` bytes from the start of what messages are written to. */
static void count_at(int target, size_t at);
/* Reads such a word. */
static void read_at(uint64_t *into, int target, size_t at);
/* Completes these, at both processes. */
static void quiet_all(void);

static void barrier(void);
/* Memory for what this process contributes to a collective, and for what comes out: 2 * MOST bytes each. */
static double *contribution(void), *result(void);
/* BROADCAST and those behind it, of so many doubles. */
static void collective(enum operation operation, size_t words, int root);

/* Passes an order to the second process, which sleeps until there is one. */
static void pass_on(const struct order *order);
static struct order await_order(void);

/* -- To here. */

static void window(size_t bytes)
{
    for (size_t k = 0; k < WINDOW; k++) {
        size_t at = k * bytes % ROOM;
        put_later(at, given + at, bytes);
    }
    quiet();
}

/* Elements at random in a table of so many words, which process `p` adds to or reads. */
static void draw(uint32_t *indices, int p, size_t words)
{
    uint64_t state = 0x9E3779B97F4A7C15 + (uint64_t)p;
    for (size_t k = 0; k < INDICES; k++) {
        /* Marsaglia, "Xorshift RNGs" (2003). */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        indices[k] = (uint32_t)((state >> 32) * words >> 32);
    }
}

/* The elements of this process. */
static uint32_t indices[INDICES];

/* Goes through them, in a table of whose halves each process has one of so many bytes. */
static void visit(enum operation operation, size_t bytes, long times)
{
    size_t half = bytes / sizeof(uint64_t);
    uint64_t *into = (uint64_t *)(void *)taken;
    for (long k = 0; k < times; k++) {
        int target = indices[k] >= half;
        size_t at = (indices[k] - (target ? half : 0)) * sizeof(uint64_t);
        if (operation == HISTOGRAM)
            count_at(target, at);
        else
            read_at(into + k, target, at);
    }
    quiet_all();
    barrier();
}

/* Writes what this process contributes to a collective. Any bytes below 100 are a number that costs what others do. */
static void renew(enum operation operation, size_t bytes, long turn, int root)
{
    if (operation != BROADCAST || process == root)
        memset(contribution(), (int)(turn % 100), operation == ALLTOALL ? 2 * bytes : bytes);
}

/* So many operations, complete at the end. */
static void repeat(enum operation operation, size_t bytes, long times)
{
    /* Collectives so far: both processes count alike. */
    static long turns;
    uint64_t sum = 0;
    switch (operation) {
    case PUT:
        for (long k = 0; k < times; k++) {
            put(0, given, bytes);
            quiet();
        }
        break;
    case GET:
        for (long k = 0; k < times; k++)
            get(taken, 0, bytes);
        break;
    case BANDWIDTH:
        for (long k = 0; k < times; k++)
            window(bytes);
        break;
    case BIDIRECTIONAL:
        for (long k = 0; k < times; k++)
            window(bytes);
        barrier();
        break;
    case HISTOGRAM: case INDEX_GATHER:
        visit(operation, bytes, times);
        break;
    case FETCH_ADD:
        for (long k = 0; k < times; k++)
            sum += fetch_add((uint64_t)k);
        break;
    case ADD:
        for (long k = 0; k < times; k++)
            add((uint64_t)k);
        quiet();
        break;
    case SWAP:
        for (long k = 0; k < times; k++)
            sum += swap((uint64_t)k);
        break;
    case COMPARE_SWAP:
        for (long k = 0; k < times; k++)
            sum += compare_swap((uint64_t)k, (uint64_t)k + 1);
        break;
    case FETCH:
        for (long k = 0; k < times; k++)
            sum += fetch();
        break;
    case BARRIER:
        for (long k = 0; k < times; k++)
            barrier();
        break;
    default:
        for (long k = 0; k < times; k++) {
            int root = (int)(++turns % 2);
            renew(operation, bytes, turns, root);
            collective(operation, bytes / sizeof(double), root);
        }
    }
    /* What was given back is used. */
    __asm__ volatile("" : : "r"(sum));
}

/* Byte k of what process `p` sends. */
static char byte(int p, size_t k)
{
    return (char)(k * 7 + k / 256 * 3 + (size_t)p * 100 + 1);
}

/* What is wrong with bytes that process `p` has sent, `bytes` of them and nothing behind these. */
static const char *wrong_bytes(const char *found, int p, size_t bytes)
{
    for (size_t k = 0; k < ROOM; k++)
        if (found[k] != (k < bytes ? byte(p, k) : 0))
            return k < bytes ? "the message did not arrive as it was sent" : "the message went beyond its end";
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static const char *wrong_transfer(enum operation operation, size_t bytes)
{
    memset(given, 0, ROOM);
    put(0, given, ROOM);
    quiet();
    for (size_t k = 0; k < ROOM; k++)
        given[k] = byte(process, k);
    if (operation == GET) {
        put(0, given, bytes);
        quiet();
        memset(taken, 0, ROOM);
        get(taken, 0, bytes);
        return wrong_bytes(taken, process, bytes);
    }
    repeat(operation, bytes, 1);
    get(taken, 0, ROOM);
    return wrong_bytes(taken, process, operation == PUT ? bytes : least(WINDOW * bytes, ROOM));
}

static const char *wrong_atomic(void)
{
    swap(5);
    int right = fetch() == 5 && fetch_add(3) == 5 && fetch() == 8;
    add(2);
    quiet();
    right = right && compare_swap(10, 77) == 10 && compare_swap(10, 1) == 77 && swap(6) == 77 && fetch() == 6;
    return right ? NULL : "the atomic operations do not do what they should";
}

static const char *wrong_exchange(size_t bytes)
{
    for (size_t k = 0; k < ROOM; k++)
        given[k] = 0;
    put(0, given, ROOM);
    quiet();
    for (size_t k = 0; k < ROOM; k++)
        given[k] = byte(process, k);
    barrier();
    repeat(BIDIRECTIONAL, bytes, 1);
    const char *fault = wrong_bytes(written(), 1 - process, least(WINDOW * bytes, ROOM));
    barrier();
    return fault;
}

/* What is wrong with a table to which both have added, or with what was read of it. */
static const char *wrong_table(enum operation operation, size_t bytes)
{
    static uint32_t theirs[INDICES];
    size_t half = bytes / sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)given, *read = (uint64_t *)(void *)taken;
    draw(indices, process, 2 * half);
    draw(theirs, 1 - process, 2 * half);
    barrier();
    /* The other process's half, as it is to begin. */
    for (size_t k = 0; k < half; k++)
        words[k] = operation == HISTOGRAM ? 0 : 7 * (k + (process == 0 ? half : 0));
    put(0, given, bytes);
    quiet();
    barrier();
    visit(operation, bytes, INDICES);
    int right = 1;
    if (operation == HISTOGRAM) {
        size_t first = process == 0 ? 0 : half;
        memset(words, 0, bytes);
        for (size_t k = 0; k < INDICES; k++) {
            if (indices[k] - first < half)
                words[indices[k] - first]++;
            if (theirs[k] - first < half)
                words[theirs[k] - first]++;
        }
        right = memcmp(words, written(), bytes) == 0;
    } else
        for (size_t k = 0; right && k < INDICES; k++)
            right = read[k] == 7 * (uint64_t)indices[k];
    barrier();
    return right ? NULL : "the words of the table are not as they should be";
}

/* What process `p` contributes as its k-th word. */
static double word(int p, size_t k)
{
    return (double)k + 1000.0 * p + 1;
}

static const char *wrong_collective(enum operation operation, size_t words)
{
    for (int root = 0; root < 2; root++) {
        double *from = contribution(), *to = result();
        memset(to, 0, 2 * MOST);
        for (size_t k = 0; k < 2 * MOST / sizeof(double); k++)
            from[k] = word(process, k);
        barrier();
        collective(operation, words, root);
        barrier();
        int right = 1;
        for (size_t k = 0; right && k < words; k++) {
            if (operation == BROADCAST)
                right = process == root || to[k] == word(root, k);
            else if (operation == SUM)
                right = to[k] == word(0, k) + word(1, k);
            else if (operation == FCOLLECT)
                right = to[k] == word(0, k) && to[words + k] == word(1, k);
            else
                right = to[k] == word(0, (size_t)process * words + k) &&
                        to[words + k] == word(1, (size_t)process * words + k);
        }
        /* A library may write results of the next one as soon as the other process has begun it. */
        barrier();
        if (!right)
            return "the collective did not give what it should";
    }
    return NULL;
}

/* What is wrong with an operation, or nothing. Of those by both processes, each looks at its own side. */
static const char *wrong(enum operation operation, size_t bytes)
{
    switch (operation) {
    case PUT: case GET: case BANDWIDTH:
        return wrong_transfer(operation, bytes);
    case BIDIRECTIONAL:
        return wrong_exchange(bytes);
    case HISTOGRAM: case INDEX_GATHER:
        return wrong_table(operation, bytes);
    case BARRIER:
        repeat(BARRIER, 0, 10);
        return NULL;
    case BROADCAST: case SUM: case FCOLLECT: case ALLTOALL:
        return wrong_collective(operation, bytes / sizeof(double));
    default:
        return wrong_atomic();
    }
}

/* A process's part of a request; the first one prints. */
static void take_samples(const struct order *order)
{
    enum operation operation = (enum operation)order->operation;
    size_t bytes = (size_t)order->bytes;
    int both = operation >= BIDIRECTIONAL;
    if (operation > BARRIER)
        memset(contribution(), 0, 2 * MOST);
    if (operation == HISTOGRAM || operation == INDEX_GATHER)
        draw(indices, process, 2 * bytes / sizeof(uint64_t));
    for (long sample = 0; sample < order->samples; sample++) {
        /* The caches belonged to somebody else. */
        repeat(operation, bytes, order->times < 4 ? 1 : 4);
        if (both)
            barrier();
        double start = nanoseconds();
        repeat(operation, bytes, order->times);
        double end = nanoseconds();
        if (process == 0)
            printf("%s%.2f", sample == 0 ? "" : ",", (end - start) / (double)order->times);
        if (both)
            barrier();
    }
}

static int is_possible(const struct order *order)
{
    size_t bytes = (size_t)order->bytes;
    if (order->operation == OPERATIONS || order->bytes < 0 || order->times < 1 || order->samples < 0)
        return 0;
    if (order->operation == HISTOGRAM || order->operation == INDEX_GATHER)
        return order->times <= INDICES && bytes > 0 && bytes <= ROOM && bytes % sizeof(uint64_t) == 0;
    if (order->operation > BARRIER)
        return bytes <= MOST && bytes % sizeof(double) == 0;
    return bytes <= ROOM && ROOM % (bytes + !bytes) == 0;
}

static void reply(const char *peer, const char *name, const char *operation, struct order *order)
{
    while (order->operation < OPERATIONS && strcmp(names[order->operation], operation) != 0)
        order->operation++;
    printf("{\"peer\":\"%s\",\"case\":\"%s\",\"operation\":\"%s\",", peer, name, operation);
    const char *fault = "a request that does not fit";
    if (is_possible(order)) {
        if (order->operation >= BIDIRECTIONAL)
            pass_on(order);
        fault = order->samples == 0 ? wrong((enum operation)order->operation, (size_t)order->bytes) : NULL;
    }
    if (fault == NULL) {
        printf("\"ns\":[");
        take_samples(order);
        printf("]");
    } else
        printf("\"error\":\"%s\"", fault);
    printf("}\n");
    fflush(stdout);
}

/* The first process: answers requests until there are no more. */
static void serve_micro(const char *peer, const char *library)
{
    printf("{\"peer\":\"%s\",\"library\":\"%.*s\"}\n", peer, (int)strcspn(library, ",\"\\\n"), library);
    fflush(stdout);
    char line[256], name[64], operation[32];
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct order order = {0, 0, 0, 0};
        if (sscanf(line, "%63s %31s %ld %ld %ld", name, operation, &order.bytes, &order.times, &order.samples) == 5)
            reply(peer, name, operation, &order);
        else {
            printf("{\"peer\":\"%s\",\"error\":\"a request that is none\"}\n", peer);
            fflush(stdout);
        }
    }
    pass_on(&(struct order){0, 0, 0, 0});
}

/* The second process: sleeps until it takes part in something. */
static void follow(void)
{
    for (struct order order = await_order(); order.times != 0; order = await_order()) {
        const char *fault = NULL;
        if (order.samples == 0)
            fault = wrong((enum operation)order.operation, (size_t)order.bytes);
        if (fault != NULL) {
            fprintf(stderr, "%s: %s\n", names[order.operation], fault);
            exit(4);
        }
        take_samples(&order);
    }
}

/* Memory of the process's own, which has been touched. */
static int own_memory(void)
{
    given = aligned_alloc(PAGES, ROOM);
    taken = aligned_alloc(PAGES, ROOM);
    if (given == NULL || taken == NULL)
        return 0;
    memset(given, 1, ROOM);
    memset(taken, 1, ROOM);
    return 1;
}

#endif
