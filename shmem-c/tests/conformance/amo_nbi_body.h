/* Fetching atomic operations that do not wait, of each type, in one form. What they fetch is there after quiet. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(int shift)                                                                                    \
    {                                                                                                                  \
        static TYPE words[16 * MOST_PES];                                                                              \
        int to = (me + shift) % npes;                                                                                  \
        TYPE got[16], models[16];                                                                                      \
        for (int i = 0; i < 16 * MOST_PES; i++)                                                                        \
            words[i] = (TYPE)value_of(me, 1, (uint64_t)i);                                                             \
        shmem_barrier_all();                                                                                           \
        TYPE *mine = &words[16 * me];                                                                                  \
        for (int i = 0; i < 16; i++) {                                                                                 \
            got[i] = (TYPE)value_of(me, 2, (uint64_t)i);                                                               \
            models[i] = (TYPE)value_of(to, 1, (uint64_t)(16 * me + i));                                                \
        }                                                                                                              \
        TYPE value = (TYPE)value_of(me, 3, 0);                                                                         \
        DO(NAME, atomic_fetch_nbi, &got[0], (const TYPE *)&mine[0], to);                                               \
        DO(NAME, atomic_swap_nbi, &got[1], &mine[1], value, to);                                                       \
        INTEGER_NBI(NAME, TYPE)                                                                                        \
        BITWISE_NBI(NAME, TYPE)                                                                                        \
        complete_here();                                                                                               \
        for (int i = 0; i < CALLS; i++)                                                                                \
            SAME(TYPE, NAMED(NAME, atomic_nbi), i, models[i], got[i]);                                                 \
        models[1] = value;                                                                                             \
        INTEGER_MODEL(NAME, TYPE)                                                                                      \
        BITWISE_MODEL(NAME, TYPE)                                                                                      \
        for (int i = 0; i < 16; i++)                                                                                   \
            SAME(TYPE, NAMED(NAME, atomic_nbi) " (the word)", i, models[i], DO(NAME, g, (const TYPE *)&mine[i], to));  \
        shmem_barrier_all();                                                                                           \
    }

TYPES(TEST)

static void FN(all)(void)
{
    int shift = 1;
#define RUN(NAME, TYPE) FN(NAME)(shift++);
    TYPES(RUN)
#undef RUN
}
#undef TEST
