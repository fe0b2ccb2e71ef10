/* Names that were deprecated, typed and generic, of all types that those have which took their place; and reductions by the
 * bits of signed types. */
#include "check.h"

#define TEST(NAME, TYPE)                                                                                               \
    static TYPE real_##NAME;                                                                                           \
    static void all_##NAME(void)                                                                                       \
    {                                                                                                                  \
        TYPE *word = &real_##NAME;                                                                                     \
        int to = (me + 1) % npes;                                                                                      \
        *word = (TYPE)(me + 3);                                                                                        \
        shmem_barrier_all();                                                                                           \
        SAME(TYPE, "shmem_fetch, " #TYPE, 0, to + 3, shmem_fetch((CONST TYPE *)word, to));                             \
        SAME(TYPE, "shmem_swap, " #TYPE, 0, to + 3, shmem_swap(word, (TYPE)31, to));                                   \
        shmem_set(word, (TYPE)41, to);                                                                                 \
        shmem_quiet();                                                                                                 \
        SAME(TYPE, "shmem_set, " #TYPE, 0, 41, shmem_fetch(word, to));                                                 \
        SAME(TYPE, "shmem_" #NAME "_swap", 0, 41, shmem_##NAME##_swap(word, (TYPE)51, to));                            \
        shmem_##NAME##_set(word, (TYPE)(shmem_##NAME##_fetch(word, to) + 2), to);                                      \
        SAME(TYPE, "shmem_" #NAME "_set", 0, 53, shmem_fetch(word, to));                                               \
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
        SAME(TYPE, "shmem_finc, " #TYPE, 0, 5, shmem_finc(word, to));                                                  \
        SAME(TYPE, "shmem_fadd, " #TYPE, 0, 6, shmem_fadd(word, (TYPE)7, to));                                         \
        shmem_inc(word, to);                                                                                           \
        shmem_add(word, (TYPE)10, to);                                                                                 \
        SAME(TYPE, "shmem_inc, shmem_add, " #TYPE, 0, 24, shmem_cswap(word, (TYPE)24, (TYPE)2, to));                   \
        SAME(TYPE, "shmem_cswap, " #TYPE, 0, 2, shmem_cswap(word, (TYPE)3, (TYPE)4, to));                              \
        SAME(TYPE, "shmem_" #NAME "_cswap", 0, 2, shmem_##NAME##_cswap(word, (TYPE)2, (TYPE)7, to));                   \
        SAME(TYPE, "shmem_" #NAME "_finc", 0, 7, shmem_##NAME##_finc(word, to));                                       \
        SAME(TYPE, "shmem_" #NAME "_fadd", 0, 8, shmem_##NAME##_fadd(word, (TYPE)3, to));                              \
        shmem_##NAME##_inc(word, to);                                                                                  \
        shmem_##NAME##_add(word, (TYPE)5, to);                                                                         \
        SAME(TYPE, "shmem_" #NAME "_inc, _add", 0, 17, shmem_fetch(word, to));                                         \
        shmem_barrier_all();                                                                                           \
    }

#define TEST_BITS(NAME, TYPE)                                                                                          \
    static TYPE bits_##NAME, all_bits_##NAME;                                                                          \
    static void reduce_##NAME(void)                                                                                    \
    {                                                                                                                  \
        TYPE all = 0, none = 0;                                                                                        \
        bits_##NAME = (TYPE)(-1 - (me << 2));                                                                          \
        for (int pe = 0; pe < npes; pe++) {                                                                            \
            all = (TYPE)(all | (TYPE)(-1 - (pe << 2)));                                                                \
            none = (TYPE)(none ^ (TYPE)(-1 - (pe << 2)));                                                              \
        }                                                                                                              \
        EQUAL("shmem_or_reduce", #TYPE, 0, shmem_or_reduce(SHMEM_TEAM_WORLD, &all_bits_##NAME, &bits_##NAME, 1));      \
        SAME(TYPE, "shmem_or_reduce, " #TYPE, 0, all, all_bits_##NAME);                                                \
        shmem_xor_reduce(SHMEM_TEAM_WORLD, &all_bits_##NAME, (CONST TYPE *)&bits_##NAME, 1);                           \
        SAME(TYPE, "shmem_xor_reduce, " #TYPE, 0, none, all_bits_##NAME);                                              \
        bits_##NAME = (TYPE)(me == 0 ? 6 : 3);                                                                         \
        shmem_and_reduce(SHMEM_TEAM_WORLD, &all_bits_##NAME, &bits_##NAME, 1);                                         \
        SAME(TYPE, "shmem_and_reduce, " #TYPE, 0, npes == 1 ? 6 : 2, all_bits_##NAME);                                 \
    }

#define SIGNED_TYPES(EACH) EACH(short, short) EACH(int, int) EACH(long, long) EACH(longlong, long long)

AMO_TYPES(TEST)
AMO_REAL_TYPES(TEST)
AMO_TYPES(TEST_INTEGER)
SIGNED_TYPES(TEST_BITS)

#define CALL(NAME, TYPE) all_##NAME();
#define CALL_INTEGER(NAME, TYPE) integer_##NAME();
#define CALL_BITS(NAME, TYPE) reduce_##NAME();

int main(void)
{
    begin();
    AMO_TYPES(CALL)
    AMO_REAL_TYPES(CALL)
    AMO_TYPES(CALL_INTEGER)
    SIGNED_TYPES(CALL_BITS)
    return end();
}
