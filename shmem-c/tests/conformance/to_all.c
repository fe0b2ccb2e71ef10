/* pes: 1 2 3 4 5 */
/* Reductions over active sets: all types and operations, in place and not. */
#include "check.h"
#include "reduce_model.h"

#define MOST 70
#define WORK (MOST / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? MOST / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE)

static long sync_array[2][SHMEM_REDUCE_SYNC_SIZE];
static int turn;
static int start, log_stride, size;

#define TEST(NAME, TYPE, OP, KIND)                                                                                     \
    static void NAME##_##OP(void)                                                                                      \
    {                                                                                                                  \
        static TYPE source[MOST], dest[MOST], work[2][WORK];                                                           \
        static const int lengths[] = {1, 3, MOST - 1};                                                                 \
        for (int round = 0; round < 4; round++) {                                                                      \
            int n = lengths[round % 3];                                                                                \
            TYPE *to = round == 3 ? source : dest;                                                                     \
            if (round == 3)                                                                                            \
                n = 17;                                                                                                \
            for (int i = 0; i < MOST; i++) {                                                                           \
                dest[i] = (TYPE)0;                                                                                     \
                source[i] = OPERAND_##KIND(TYPE, me, (uint64_t)(i + round * 100));                                     \
            }                                                                                                          \
            shmem_barrier_all();                                                                                       \
            int distance = me - start;                                                                                 \
            if (distance >= 0 && distance % (1 << log_stride) == 0 && distance >> log_stride < size) {                 \
                shmem_##NAME##_##OP##_to_all(to, source, n, start, log_stride, size, work[turn % 2],                   \
                                             sync_array[turn % 2]);                                                    \
                turn++;                                                                                                \
                for (int i = 0; i < n; i++) {                                                                          \
                    TYPE model = OPERAND_##KIND(TYPE, start, (uint64_t)(i + round * 100));                             \
                    for (int p = 1; p < size; p++) {                                                                   \
                        TYPE next = OPERAND_##KIND(TYPE, start + (p << log_stride), (uint64_t)(i + round * 100));      \
                        model = FOLD_##KIND(TYPE, model, next);                                                        \
                    }                                                                                                  \
                    SAME(TYPE, "shmem_" #NAME "_" #OP "_to_all", i, model, to[i]);                                     \
                    if (round < 3)                                                                                     \
                        SAME(TYPE, "shmem_" #NAME "_" #OP "_to_all (source)", i,                                       \
                             OPERAND_##KIND(TYPE, me, (uint64_t)(i + round * 100)), source[i]);                        \
                }                                                                                                      \
                if (round < 3)                                                                                         \
                    SAME(TYPE, "shmem_" #NAME "_" #OP "_to_all (behind)", n, (TYPE)0, dest[n]);                        \
            }                                                                                                          \
            shmem_barrier_all();                                                                                       \
        }                                                                                                              \
    }

#define WHOLE(EACH) EACH(short, short) EACH(int, int) EACH(long, long) EACH(longlong, long long)
#define REAL(EACH) EACH(float, float) EACH(double, double) EACH(longdouble, long double)
#define COMPLEX(EACH) EACH(complexd, COMPLEX_DOUBLE) EACH(complexf, COMPLEX_FLOAT)
#define BITWISE(NAME, TYPE) TEST(NAME, TYPE, and, and) TEST(NAME, TYPE, or, or) TEST(NAME, TYPE, xor, xor)
#define ORDERED(NAME, TYPE) TEST(NAME, TYPE, max, max) TEST(NAME, TYPE, min, min)
#define ARITHMETIC(NAME, TYPE) TEST(NAME, TYPE, sum, sum) TEST(NAME, TYPE, prod, prod)
#define PAIRS(NAME, TYPE) TEST(NAME, TYPE, sum, csum) TEST(NAME, TYPE, prod, cprod)

WHOLE(BITWISE)
WHOLE(ORDERED)
WHOLE(ARITHMETIC)
REAL(ORDERED)
REAL(ARITHMETIC)
COMPLEX(PAIRS)

static void all(void)
{
#undef TEST
#define TEST(NAME, TYPE, OP, KIND) NAME##_##OP();
    WHOLE(BITWISE)
    WHOLE(ORDERED)
    WHOLE(ARITHMETIC)
    REAL(ORDERED)
    REAL(ARITHMETIC)
    COMPLEX(PAIRS)
}

int main(void)
{
    begin();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_array[0][i] = sync_array[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    size = npes;
    all();
    if (npes >= 3) {
        log_stride = 1;
        size = (npes + 1) / 2;
        all();
        start = 1;
        log_stride = 0;
        size = npes - 1;
        all();
    }
    return end();
}
