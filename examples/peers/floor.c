/* The floor: what the machine itself needs for the operations of micro.h, without any library. Two processes share a
 * mapping; a message is a `memcpy` or one store, and its completion (`quiet`) a full fence, as it is in OpenSHMEM,
 * whose puts have arrived for everybody when it returns.
 *
 * Collectives meet once, and then read what the other one contributes where it lies, which is where the program has
 * written it: one copy. So a contribution may not be changed before the next meeting: for that there are two,
 * used in turn.
 *
 *     cc -O2 floor.c -o floor
 *     echo "put/8 put 8 1000 5" | ./floor 0 1 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "micro.h"

/* What a process has of the mapping. What the other one waits for has lines of its own. */
struct side {
    _Alignas(64) _Atomic uint64_t arrived;
    _Alignas(64) _Atomic uint64_t sent;
    _Alignas(64) _Atomic uint64_t word;
    _Alignas(64) _Atomic long orders;
    struct order order;
    _Alignas(4096) char memory[ROOM];
    double contributions[2][2 * MOST / sizeof(double)];
};

static struct side *own, *other;
/* What comes out of a collective is the process's own. */
static double results[2 * MOST / sizeof(double)];
/* Collectives so far. */
static unsigned collectives;

static inline void put(size_t at, const char *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, from, sizeof value);
        *(volatile uint64_t *)(other->memory + at) = value;
    } else
        memcpy(other->memory + at, from, bytes);
}

static inline void put_later(size_t at, const char *from, size_t bytes)
{
    put(at, from, bytes);
}

static inline void quiet(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

static inline void get(char *into, size_t at, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) {
        uint64_t value = *(volatile uint64_t *)(other->memory + at);
        memcpy(into, &value, sizeof value);
    } else
        memcpy(into, other->memory + at, bytes);
    /* The compiler may not leave it out. */
    __asm__ volatile("" ::: "memory");
}

static const char *written(void)
{
    return own->memory;
}

static inline uint64_t fetch_add(uint64_t more)
{
    return atomic_fetch_add(&other->word, more);
}

static inline void add(uint64_t more)
{
    atomic_fetch_add(&other->word, more);
}

static inline uint64_t swap(uint64_t value)
{
    return atomic_exchange(&other->word, value);
}

static inline uint64_t compare_swap(uint64_t expected, uint64_t value)
{
    atomic_compare_exchange_strong(&other->word, &expected, value);
    return expected;
}

static inline uint64_t fetch(void)
{
    return atomic_load(&other->word);
}

static inline _Atomic uint64_t *word_at(int target, size_t at)
{
    return (_Atomic uint64_t *)(void *)((target == process ? own : other)->memory + at);
}

static inline void count_at(int target, size_t at)
{
    atomic_fetch_add(word_at(target, at), 1);
}

static inline void read_at(uint64_t *into, int target, size_t at)
{
    *into = atomic_load_explicit(word_at(target, at), memory_order_relaxed);
}

static inline void quiet_all(void)
{
    quiet();
}

/* Waits in a loop, and leaves the core to others now and then: there may be but one. */
static inline void await(_Atomic uint64_t *counter, uint64_t count)
{
    for (unsigned looks = 1; atomic_load_explicit(counter, memory_order_acquire) < count; looks++)
        if (looks % (1 << 14) == 0)
            sched_yield();
}

/* Each says how often it was here, and waits for the other one. */
static inline void barrier(void)
{
    uint64_t count = atomic_load_explicit(&own->arrived, memory_order_relaxed) + 1;
    atomic_store_explicit(&own->arrived, count, memory_order_release);
    await(&other->arrived, count);
}

static double *contribution(void)
{
    return own->contributions[collectives % 2];
}

static double *result(void)
{
    return results;
}

static inline void collective(enum operation operation, size_t words, int root)
{
    unsigned turn = collectives++ % 2;
    size_t bytes = words * sizeof(double);
    const double *mine = own->contributions[turn], *theirs = other->contributions[turn];
    if (operation == BROADCAST) {
        /* The root waits for nobody. What it waits for is its turn to read. */
        if (process == root)
            atomic_fetch_add_explicit(&own->sent, 1, memory_order_release);
        else {
            static uint64_t received;
            await(&other->sent, ++received);
            memcpy(results, theirs, bytes);
        }
        return;
    }
    barrier();
    if (operation == SUM)
        for (size_t k = 0; k < words; k++)
            results[k] = mine[k] + theirs[k];
    else {
        size_t skip = operation == ALLTOALL ? (size_t)process * words : 0;
        memcpy(results + (size_t)process * words, mine + skip, bytes);
        memcpy(results + (size_t)(1 - process) * words, theirs + skip, bytes);
    }
    __asm__ volatile("" ::: "memory");
}

static void pass_on(const struct order *order)
{
    other->order = *order;
    atomic_fetch_add(&other->orders, 1);
}

static struct order await_order(void)
{
    static long next;
    for (next++; atomic_load(&own->orders) < next;)
        doze();
    return own->order;
}

int main(int argc, char **argv)
{
    struct side *sides =
        mmap(NULL, 2 * sizeof *sides, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sides == MAP_FAILED || fflush(stdout) != 0) {
        perror("the mapping of both processes");
        return 3;
    }
    pid_t second = fork();
    if (second < 0) {
        perror("the second process");
        return 3;
    }
    process = second == 0;
    settle(process, argc, argv);
    own = &sides[process];
    other = &sides[1 - process];
    memset(own, 0, sizeof *own);
    if (!own_memory()) {
        fprintf(stderr, "no memory for %zu bytes\n", 2 * ROOM);
        return 3;
    }
    barrier();
    if (process == 1) {
        follow();
        return 0;
    }
    serve_micro("floor", "C11 over mmap");
    int status;
    return waitpid(second, &status, 0) == second && status == 0 ? 0 : 4;
}
