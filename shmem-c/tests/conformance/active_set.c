/* pes: 1 2 3 4 5 */
/* Collectives over active sets: strides and odd sizes, sets that do not meet at the same time, work arrays in turn. */
#include "check.h"

#define MOST_PES 16
#define ROOM 400

struct set {
    int start, log, size;
};

static struct set sets[8];
static int n_sets;

static void add(int start, int log, int size)
{
    if (size >= 1 && start >= 0 && start + ((size - 1) << log) < npes)
        sets[n_sets++] = (struct set){start, log, size};
}

/* The number of this PE in the set, or -1. */
static int index_in(const struct set *set)
{
    int distance = me - set->start;
    if (distance < 0 || distance % (1 << set->log) || distance >> set->log >= set->size)
        return -1;
    return distance >> set->log;
}

static int pe_of(const struct set *set, int index)
{
    return set->start + (index << set->log);
}

/* Two of each, for each set: they take turns, and no barrier parts two calls. */
static long barrier_sync[8][2][SHMEM_BARRIER_SYNC_SIZE], bcast_sync[8][2][SHMEM_BCAST_SYNC_SIZE];
static long collect_sync[8][2][SHMEM_COLLECT_SYNC_SIZE], alltoall_sync[8][2][SHMEM_ALLTOALL_SYNC_SIZE];
static long alltoalls_sync[8][2][SHMEM_ALLTOALLS_SYNC_SIZE], any_sync[8][SHMEM_SYNC_SIZE];
static int turn[8];

#define PREPARE(array)                                                                                                 \
    for (size_t i = 0; i < sizeof array / sizeof(long); i++)                                                           \
        ((long *)array)[i] = SHMEM_SYNC_VALUE;

#define RESTORED(name, array)                                                                                          \
    for (size_t i = 0; i < sizeof array / sizeof(long); i++)                                                           \
        if (((long *)array)[i] != SHMEM_SYNC_VALUE) {                                                                  \
            EQUAL(name, "pSync behind the call", SHMEM_SYNC_VALUE, ((long *)array)[i]);                                \
            break;                                                                                                     \
        }

static long told[MOST_PES];

static void barriers(int s)
{
    const struct set *set = &sets[s];
    int index = index_in(set);
    for (int i = 0; i < MOST_PES; i++)
        told[i] = -1;
    shmem_barrier_all();
    if (index >= 0)
        for (long round = 0; round < 30; round++) {
            for (int i = 0; i < set->size; i++)
                shmem_long_p(&told[index], round * 100 + index, pe_of(set, i));
            if (round % 3 == 2) {
                shmem_quiet();
                shmem_sync(set->start, set->log, set->size, barrier_sync[s][round % 2]);
            } else {
                shmem_barrier(set->start, set->log, set->size, barrier_sync[s][round % 2]);
            }
            for (int i = 0; i < set->size; i++)
                TRUE_THAT("shmem_barrier", told[i] == round * 100 + i || told[i] == (round + 1) * 100 + i);
        }
    shmem_barrier_all();
    for (int i = 0; i < MOST_PES; i++)
        if (index < 0 || i >= set->size)
            EQUAL("shmem_barrier", "word of a PE that is not in the set", -1, told[i]);
    shmem_barrier_all();
}

#define SIZED(SIZE, TYPE)                                                                                              \
    static TYPE dest_##SIZE[ROOM * 6], source_##SIZE[ROOM * 6];                                                        \
    static void fresh_##SIZE(uint64_t round)                                                                           \
    {                                                                                                                  \
        for (int i = 0; i < ROOM * 6; i++) {                                                                           \
            source_##SIZE[i] = (TYPE)value_of(me, round, (uint64_t)i);                                                 \
            dest_##SIZE[i] = (TYPE)~(TYPE)0;                                                                           \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
    }                                                                                                                  \
    static void sized_##SIZE(int s)                                                                                    \
    {                                                                                                                  \
        const struct set *set = &sets[s];                                                                              \
        int index = index_in(set), size = set->size;                                                                   \
        TYPE *dest = dest_##SIZE, *source = source_##SIZE;                                                             \
        const TYPE untouched = (TYPE)~(TYPE)0;                                                                         \
        /* From each root. */                                                                                          \
        for (int root = 0; root < size; root++) {                                                                      \
            size_t n = root == 0 ? 1 : root == 1 ? ROOM : root == 2 ? 0 : 37;                                          \
            fresh_##SIZE((uint64_t)root);                                                                              \
            if (index >= 0) {                                                                                          \
                shmem_broadcast##SIZE(dest, source, n, root, set->start, set->log, size, bcast_sync[s][turn[s]++ % 2]); \
                for (size_t i = 0; i < ROOM; i++)                                                                      \
                    SAME(TYPE, "shmem_broadcast" #SIZE, i,                                                             \
                         index == root || i >= n ? untouched : (TYPE)value_of(pe_of(set, root), (uint64_t)root, i),    \
                         dest[i]);                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        for (int round = 0; round < 3; round++) {                                                                      \
            size_t n = round == 0 ? 1 : round == 1 ? 33 : 60;                                                          \
            fresh_##SIZE(40 + (uint64_t)round);                                                                        \
            if (index >= 0) {                                                                                          \
                shmem_fcollect##SIZE(dest, source, n, set->start, set->log, size, collect_sync[s][turn[s]++ % 2]);     \
                for (int p = 0; p < size; p++)                                                                         \
                    for (size_t i = 0; i < n; i++)                                                                     \
                        SAME(TYPE, "shmem_fcollect" #SIZE, (size_t)p * n + i,                                          \
                             (TYPE)value_of(pe_of(set, p), 40 + (uint64_t)round, i), dest[(size_t)p * n + i]);         \
                SAME(TYPE, "shmem_fcollect" #SIZE " (behind)", (size_t)size * n, untouched, dest[(size_t)size * n]);   \
            }                                                                                                          \
            fresh_##SIZE(50 + (uint64_t)round);                                                                        \
            if (index >= 0) {                                                                                          \
                /* Each gives another number; in the last round some give nothing. */                                  \
                shmem_collect##SIZE(dest, source, (size_t)(round == 2 && index % 2 ? 0 : index * 3 + 1 + round), set->start, \
                                    set->log, size, collect_sync[s][turn[s]++ % 2]);                                   \
                size_t at = 0;                                                                                         \
                for (int p = 0; p < size; p++) {                                                                       \
                    size_t count = (size_t)(round == 2 && p % 2 ? 0 : p * 3 + 1 + round);                              \
                    for (size_t i = 0; i < count; i++, at++)                                                           \
                        SAME(TYPE, "shmem_collect" #SIZE, at,                                                          \
                             (TYPE)value_of(pe_of(set, p), 50 + (uint64_t)round, i), dest[at]);                        \
                }                                                                                                      \
                SAME(TYPE, "shmem_collect" #SIZE " (behind)", at, untouched, dest[at]);                                \
            }                                                                                                          \
            fresh_##SIZE(60 + (uint64_t)round);                                                                        \
            if (index >= 0) {                                                                                          \
                shmem_alltoall##SIZE(dest, source, n, set->start, set->log, size, alltoall_sync[s][turn[s]++ % 2]);    \
                for (int p = 0; p < size; p++)                                                                         \
                    for (size_t i = 0; i < n; i++)                                                                     \
                        SAME(TYPE, "shmem_alltoall" #SIZE, (size_t)p * n + i,                                          \
                             (TYPE)value_of(pe_of(set, p), 60 + (uint64_t)round, (uint64_t)index * n + i),             \
                             dest[(size_t)p * n + i]);                                                                 \
            }                                                                                                          \
            fresh_##SIZE(70 + (uint64_t)round);                                                                        \
            if (index >= 0) {                                                                                          \
                const ptrdiff_t dst = 1 + round, sst = 3 - round;                                                      \
                shmem_alltoalls##SIZE(dest, source, dst, sst, n, set->start, set->log, size,                           \
                                      alltoalls_sync[s][turn[s]++ % 2]);                                               \
                for (size_t i = 0; i < (size_t)size * n * (size_t)dst; i++) {                                          \
                    size_t element = i / (size_t)dst, p = element / n;                                                 \
                    SAME(TYPE, "shmem_alltoalls" #SIZE, i,                                                             \
                         i % (size_t)dst ? untouched                                                                   \
                                         : (TYPE)value_of(pe_of(set, (int)p), 70 + (uint64_t)round,                    \
                                                          ((uint64_t)index * n + element % n) * (uint64_t)sst),        \
                         dest[i]);                                                                                     \
                }                                                                                                      \
            }                                                                                                          \
            shmem_barrier_all();                                                                                       \
        }                                                                                                              \
    }

SIZED(32, uint32_t)
SIZED(64, uint64_t)

int main(void)
{
    begin();
    PREPARE(barrier_sync)
    PREPARE(bcast_sync)
    PREPARE(collect_sync)
    PREPARE(alltoall_sync)
    PREPARE(alltoalls_sync)
    PREPARE(any_sync)
    shmem_barrier_all();
    add(0, 0, npes);
    add(0, 1, (npes + 1) / 2);
    add(1, 1, npes / 2);
    add(1, 0, npes - 1);
    add(0, 2, (npes + 3) / 4);
    add(npes - 1, 0, 1);
    add(0, 0, npes - 1);
    for (int s = 0; s < n_sets; s++) {
        barriers(s);
        sized_32(s);
        sized_64(s);
    }
    /* Disjoint sets at the same time. */
    if (npes >= 2)
        for (int round = 0; round < 50; round++)
            for (int s = 1; s <= 2; s++)
                if (index_in(&sets[s]) >= 0)
                    shmem_barrier(sets[s].start, sets[s].log, sets[s].size, barrier_sync[s][round % 2]);
    /* Sets that overlap, one after the other, without a common barrier; one array of the general size for each. */
    for (int round = 0; round < 20; round++)
        for (int s = 0; s < n_sets; s++)
            if (index_in(&sets[s]) >= 0)
                shmem_barrier(sets[s].start, sets[s].log, sets[s].size, any_sync[s]);
    shmem_barrier_all();
    RESTORED("shmem_barrier", barrier_sync)
    RESTORED("shmem_broadcast", bcast_sync)
    RESTORED("shmem_collect", collect_sync)
    RESTORED("shmem_alltoall", alltoall_sync)
    RESTORED("shmem_alltoalls", alltoalls_sync)
    RESTORED("shmem_barrier", any_sync)
    return end();
}
