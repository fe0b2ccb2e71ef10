/* pes: 1 2 3 */
/* The names that atomic operations had before 1.4. */
#include "check.h"

#define INTEGERS(EACH) EACH(int, int) EACH(long, long) EACH(longlong, long long)
#define ALL(EACH) INTEGERS(EACH) EACH(float, float) EACH(double, double)

#define TEST(NAME, TYPE)                                                                                               \
    static TYPE word_##NAME;                                                                                           \
    static void all_##NAME(void)                                                                                       \
    {                                                                                                                  \
        TYPE *word = &word_##NAME;                                                                                     \
        int to = (me + 1) % npes;                                                                                      \
        *word = (TYPE)(me + 3);                                                                                        \
        shmem_barrier_all();                                                                                           \
        SAME(TYPE, "shmem_" #NAME "_fetch", 0, to + 3, shmem_##NAME##_fetch(word, to));                                \
        SAME(TYPE, "shmem_" #NAME "_swap", 0, to + 3, shmem_##NAME##_swap(word, (TYPE)11, to));                        \
        shmem_##NAME##_set(word, (TYPE)21, to);                                                                        \
        shmem_quiet();                                                                                                 \
        SAME(TYPE, "shmem_" #NAME "_set", 0, 21, shmem_##NAME##_fetch(word, to));                                      \
        SAME(TYPE, "shmem_fetch (generic)", 0, 21, shmem_fetch((CONST TYPE *)word, to));                               \
        SAME(TYPE, "shmem_swap (generic)", 0, 21, shmem_swap(word, (TYPE)31, to));                                     \
        shmem_set(word, (TYPE)41, to);                                                                                 \
        shmem_quiet();                                                                                                 \
        SAME(TYPE, "shmem_set (generic)", 0, 41, shmem_fetch((CONST TYPE *)word, to));                                 \
        shmem_barrier_all();                                                                                           \
    }

#define TEST_INTEGER(NAME, TYPE)                                                                                       \
    static TYPE number_##NAME;                                                                                         \
    static void integer_##NAME(void)                                                                                   \
    {                                                                                                                  \
        TYPE *word = &number_##NAME;                                                                                   \
        int to = (me + 1) % npes;                                                                                      \
        *word = 5;                                                                                                     \
        shmem_barrier_all();                                                                                           \
        SAME(TYPE, "shmem_" #NAME "_finc", 0, 5, shmem_##NAME##_finc(word, to));                                       \
        SAME(TYPE, "shmem_" #NAME "_fadd", 0, 6, shmem_##NAME##_fadd(word, (TYPE)-7, to));                             \
        shmem_##NAME##_inc(word, to);                                                                                  \
        shmem_##NAME##_add(word, (TYPE)10, to);                                                                        \
        shmem_quiet();                                                                                                 \
        if (SWAPS) {                                                                                                   \
            SAME(TYPE, "shmem_" #NAME "_cswap", 0, 10, shmem_##NAME##_cswap(word, (TYPE)9, (TYPE)50, to));             \
            SAME(TYPE, "shmem_" #NAME "_cswap", 1, 10, shmem_##NAME##_cswap(word, (TYPE)10, (TYPE)50, to));            \
            SAME(TYPE, "shmem_cswap (generic)", 0, 50, shmem_cswap(word, (TYPE)50, (TYPE)10, to));                     \
        }                                                                                                              \
        SAME(TYPE, "shmem_finc (generic)", 0, 10, shmem_finc(word, to));                                               \
        SAME(TYPE, "shmem_fadd (generic)", 0, 11, shmem_fadd(word, (TYPE)4, to));                                      \
        shmem_inc(word, to);                                                                                           \
        shmem_add(word, (TYPE)-6, to);                                                                                 \
        shmem_quiet();                                                                                                 \
        SAME(TYPE, "shmem_inc, shmem_add (generic)", 0, 10, shmem_fetch((CONST TYPE *)word, to));                      \
        shmem_barrier_all();                                                                                           \
    }

#ifdef LEGACY
#define SWAPS 0
#else
#define SWAPS 1
#endif

ALL(TEST)
INTEGERS(TEST_INTEGER)

int main(void)
{
    begin();
#define RUN(NAME, TYPE) all_##NAME();
    ALL(RUN)
#undef RUN
#define RUN(NAME, TYPE) integer_##NAME();
    INTEGERS(RUN)
    return end();
}
