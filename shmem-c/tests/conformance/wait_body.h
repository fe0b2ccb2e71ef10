/* wait_until and test of each type and comparison, in one form. Each PE tells the next one, step by step. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(void)                                                                                         \
    {                                                                                                                  \
        static TYPE word, ready;                                                                                       \
        int to = (me + 1) % npes;                                                                                      \
        word = 0;                                                                                                      \
        ready = 0;                                                                                                     \
        shmem_barrier_all();                                                                                           \
        /* The value before, the value that is told, and the comparison that is false, then true. */                   \
        const struct {                                                                                                 \
            int cmp, before, told, with;                                                                               \
        } steps[] = {                                                                                                  \
            {SHMEM_CMP_EQ, 0, 7, 7}, {SHMEM_CMP_NE, 7, 9, 7}, {SHMEM_CMP_GT, 9, 21, 20}, {SHMEM_CMP_GE, 21, 30, 30},   \
            {SHMEM_CMP_LT, 30, 19, 20}, {SHMEM_CMP_LE, 19, 10, 10}, {SHMEM_CMP_LE, 10, 4, 5}, {SHMEM_CMP_GE, 4, 9, 5}, \
            {SHMEM_CMP_EQ, 9, 0, 0}};                                                                                  \
        for (int i = 0; i < (int)(sizeof steps / sizeof steps[0]); i++) {                                              \
            SAME(TYPE, NAMED(NAME, test) " (not yet)", i, 0,                                                           \
                 (DO(NAME, test, &word, steps[i].cmp, (TYPE)steps[i].with) != 0));                                     \
            /* The one before learns that this one has looked. */                                                      \
            shmem_##NAME##_p(&ready, (TYPE)(i + 1), (me + npes - 1) % npes);                                           \
            shmem_quiet();                                                                                             \
            DO(NAME, wait_until, &ready, SHMEM_CMP_GE, (TYPE)(i + 1));                                                 \
            shmem_##NAME##_p(&word, (TYPE)steps[i].told, to);                                                          \
            shmem_quiet();                                                                                             \
            if (i % 2) {                                                                                               \
                while (!DO(NAME, test, &word, steps[i].cmp, (TYPE)steps[i].with))                                      \
                    ;                                                                                                  \
            } else                                                                                                     \
                DO(NAME, wait_until, &word, steps[i].cmp, (TYPE)steps[i].with);                                        \
            SAME(TYPE, NAMED(NAME, wait_until), i, steps[i].told, word);                                               \
        }                                                                                                              \
        /* What holds already needs no waiting. */                                                                     \
        DO(NAME, wait_until, &word, SHMEM_CMP_LT, (TYPE)1);                                                            \
        shmem_barrier_all();                                                                                           \
    }

TYPES(TEST)

static void FN(all)(void)
{
#define RUN(NAME, TYPE) FN(NAME)();
    TYPES(RUN)
#undef RUN
}
#undef TEST
