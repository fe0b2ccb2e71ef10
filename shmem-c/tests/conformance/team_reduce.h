/* Reductions and scans of a team: REDUCE(typename, type, operation, kind) for each, typed and generic. */
#include "team_collective.h"
#include "reduce_model.h"

#define MOST 140

#define REDUCE(NAME, TYPE, OP, KIND)                                                                                   \
    static void NAME##_##OP(void)                                                                                      \
    {                                                                                                                  \
        static TYPE source[MOST], dest[MOST];                                                                          \
        static const size_t lengths[] = {1, 3, 0, MOST - 1, 17};                                                       \
        for (int round = 0; round < 5; round++) {                                                                      \
            size_t n = lengths[round];                                                                                 \
            TYPE *to = round == 4 ? source : dest;                                                                     \
            for (int i = 0; i < MOST; i++) {                                                                           \
                dest[i] = (TYPE)0;                                                                                     \
                source[i] = OPERAND_##KIND(TYPE, me, (uint64_t)(i + round * 100));                                     \
            }                                                                                                          \
            shmem_team_sync(team);                                                                                     \
            int status = round % 2 ? shmem_##NAME##_##OP##_reduce(team, to, source, n)                   \
                                                 : shmem_##OP##_reduce(team, to, (const TYPE *)source, n);             \
            EQUAL("shmem_" #NAME "_" #OP "_reduce", "status", 0, status);                                              \
            for (size_t i = 0; i < n; i++) {                                                                           \
                TYPE model = OPERAND_##KIND(TYPE, members[0], (uint64_t)(i + (size_t)round * 100));                    \
                for (int p = 1; p < size; p++) {                                                                       \
                    TYPE next = OPERAND_##KIND(TYPE, members[p], (uint64_t)(i + (size_t)round * 100));                 \
                    model = FOLD_##KIND(TYPE, model, next);                                                            \
                }                                                                                                      \
                SAME(TYPE, "shmem_" #NAME "_" #OP "_reduce", i, model, to[i]);                                         \
                if (round < 4)                                                                                         \
                    SAME(TYPE, "shmem_" #NAME "_" #OP "_reduce (source)", i,                                           \
                         OPERAND_##KIND(TYPE, me, (uint64_t)(i + (size_t)round * 100)), source[i]);                    \
            }                                                                                                          \
            if (round < 4)                                                                                             \
                SAME(TYPE, "shmem_" #NAME "_" #OP "_reduce (behind)", n, (TYPE)0, dest[n]);                            \
            shmem_team_sync(team);                                                                                     \
        }                                                                                                              \
    }

#define SCAN(NAME, TYPE, KIND)                                                                                         \
    static void NAME##_scan(void)                                                                                      \
    {                                                                                                                  \
        static TYPE source[MOST], dest[MOST];                                                                          \
        static const size_t lengths[] = {1, 3, 0, MOST - 1, 17, 30, 2, 5};                                             \
        for (int round = 0; round < 8; round++) {                                                                      \
            size_t n = lengths[round];                                                                                 \
            int in = round % 2 == 0;                                                                                   \
            TYPE *to = round >= 4 && round < 6 ? source : dest;                                                        \
            for (int i = 0; i < MOST; i++) {                                                                           \
                dest[i] = (TYPE)5;                                                                                     \
                source[i] = OPERAND_##KIND(TYPE, me, (uint64_t)(i + round * 100));                                     \
            }                                                                                                          \
            shmem_team_sync(team);                                                                                     \
            int status;                                                                                                \
            if (round < 4 || round == 7)                                                                               \
                status = in ? shmem_##NAME##_sum_inscan(team, to, source, n)                                           \
                            : shmem_##NAME##_sum_exscan(team, to, source, n);                                          \
            else                                                                                                       \
                status = in ? shmem_sum_inscan(team, to, (const TYPE *)source, n)                                      \
                            : shmem_sum_exscan(team, to, (const TYPE *)source, n);                                     \
            EQUAL("shmem_" #NAME "_sum_scan", "status", 0, status);                                                    \
            for (size_t i = 0; i < n; i++) {                                                                           \
                TYPE model = (TYPE)0;                                                                                  \
                for (int p = 0; p < place + in; p++) {                                                                 \
                    TYPE next = OPERAND_##KIND(TYPE, members[p], (uint64_t)(i + (size_t)round * 100));                 \
                    model = FOLD_##KIND(TYPE, model, next);                                                            \
                }                                                                                                      \
                SAME(TYPE, in ? "shmem_" #NAME "_sum_inscan" : "shmem_" #NAME "_sum_exscan", i, model, to[i]);         \
            }                                                                                                          \
            if (to == dest)                                                                                            \
                SAME(TYPE, "shmem_" #NAME "_sum_scan (behind)", n, (TYPE)5, dest[n]);                                  \
            shmem_team_sync(team);                                                                                     \
        }                                                                                                              \
    }

/* The types of the specification's table for teams. */
#define SIGNED_TYPES(EACH)                                                                                             \
    EACH(char, char)                                                                                                   \
    EACH(schar, signed char)                                                                                           \
    EACH(short, short)                                                                                                 \
    EACH(int, int)                                                                                                     \
    EACH(long, long)                                                                                                   \
    EACH(longlong, long long)                                                                                          \
    EACH(ptrdiff, ptrdiff_t)
#define BIT_TYPES(EACH)                                                                                                \
    EACH(uchar, unsigned char)                                                                                         \
    EACH(ushort, unsigned short)                                                                                       \
    EACH(uint, unsigned int)                                                                                           \
    EACH(ulong, unsigned long)                                                                                         \
    EACH(ulonglong, unsigned long long)                                                                                \
    EACH(int8, int8_t)                                                                                                 \
    EACH(int16, int16_t)                                                                                               \
    EACH(int32, int32_t)                                                                                               \
    EACH(int64, int64_t)                                                                                               \
    EACH(uint8, uint8_t)                                                                                               \
    EACH(uint16, uint16_t)                                                                                             \
    EACH(uint32, uint32_t)                                                                                             \
    EACH(uint64, uint64_t)                                                                                             \
    EACH(size, size_t)
#define REAL_TYPES(EACH) EACH(float, float) EACH(double, double) EACH(longdouble, long double)
#define COMPLEX_TYPES(EACH) EACH(complexd, COMPLEX_DOUBLE) EACH(complexf, COMPLEX_FLOAT)

#define BITWISE(NAME, TYPE) REDUCE(NAME, TYPE, and, and) REDUCE(NAME, TYPE, or, or) REDUCE(NAME, TYPE, xor, xor)
#define ORDERED(NAME, TYPE) REDUCE(NAME, TYPE, max, max) REDUCE(NAME, TYPE, min, min)
#define ARITHMETIC(NAME, TYPE) REDUCE(NAME, TYPE, sum, sum) REDUCE(NAME, TYPE, prod, prod)
#define PAIRS(NAME, TYPE) REDUCE(NAME, TYPE, sum, csum) REDUCE(NAME, TYPE, prod, cprod)
#define SUMS(NAME, TYPE) SCAN(NAME, TYPE, sum)
#define PAIR_SUMS(NAME, TYPE) SCAN(NAME, TYPE, csum)

/* `all` over the world, over every other PE, and over all but PE 0. */
#define OVER_TEAMS(all)                                                                                                \
    do {                                                                                                               \
        take(SHMEM_TEAM_WORLD);                                                                                        \
        all();                                                                                                         \
        shmem_barrier_all();                                                                                           \
        if (npes >= 3) {                                                                                               \
            shmem_team_t teams[2] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};                                          \
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &teams[0]);                      \
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &teams[1]);                            \
            for (int i = 0; i < 2; i++) {                                                                              \
                if (take(teams[i])) {                                                                                  \
                    all();                                                                                             \
                    shmem_team_destroy(teams[i]);                                                                      \
                }                                                                                                      \
                shmem_barrier_all();                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)
