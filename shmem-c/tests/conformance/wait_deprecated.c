/* pes: 1 2 4 */
/* shmem_wait and shmem_TYPE_wait: until a value is another one; and the types that only old programs wait for. */
#include "check.h"

#define TYPES(EACH) EACH(short, short) EACH(int, int) EACH(long, long) EACH(longlong, long long)

#define TEST(NAME, TYPE)                                                                                               \
    static TYPE word_##NAME;                                                                                           \
    static void test_##NAME(void)                                                                                      \
    {                                                                                                                  \
        TYPE *word = &word_##NAME;                                                                                     \
        *word = 3;                                                                                                     \
        shmem_barrier_all();                                                                                           \
        shmem_##NAME##_p(word, 4, (me + 1) % npes);                                                                    \
        shmem_##NAME##_wait(word, 3);                                                                                  \
        SAME(TYPE, "shmem_" #NAME "_wait", 0, 4, *word);                                                               \
        shmem_barrier_all();                                                                                           \
        shmem_##NAME##_p(word, -5, (me + 1) % npes);                                                                   \
        shmem_##NAME##_wait_until(word, SHMEM_CMP_LT, 0);                                                              \
        SAME(TYPE, "shmem_" #NAME "_wait_until", 0, -5, *word);                                                        \
        shmem_barrier_all();                                                                                           \
    }

TYPES(TEST)

static long word;

int main(void)
{
    begin();
#define RUN(NAME, TYPE) test_##NAME();
    TYPES(RUN)
    shmem_barrier_all();
    shmem_long_p(&word, 77, (me + 1) % npes);
    shmem_wait(&word, 0);
    EQUAL("shmem_wait", "value", 77, word);
    shmem_barrier_all();
    shmem_long_atomic_inc(&word, (me + 1) % npes);
    shmem_wait_until(&word, _SHMEM_CMP_EQ, 78);
    EQUAL("shmem_wait_until", "value", 78, word);
    return end();
}
