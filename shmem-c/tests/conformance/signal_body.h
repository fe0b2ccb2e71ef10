/* put_signal and put_signal_nbi of each type, in one form: who sees the signal sees the data. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(int shift)                                                                                    \
    {                                                                                                                  \
        static TYPE dest[ROOM];                                                                                        \
        static uint64_t signals[2];                                                                                    \
        TYPE mine[ROOM];                                                                                               \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        signals[0] = signals[1] = 0;                                                                                   \
        shmem_barrier_all();                                                                                           \
        uint64_t sum = 0;                                                                                              \
        for (int i = 0; i < (int)(sizeof lengths / sizeof lengths[0]); i++) {                                          \
            for (int j = 0; j < ROOM; j++)                                                                             \
                mine[j] = (TYPE)value_of(me, (uint64_t)i, (uint64_t)j);                                                \
            uint64_t value = (uint64_t)(i + 1) << (i * 5);                                                             \
            sum += value;                                                                                              \
            if (i % 2)                                                                                                 \
                DO(NAME, put_signal_nbi, dest, (const TYPE *)mine, (size_t)lengths[i], &signals[0], value,             \
                   SHMEM_SIGNAL_ADD, to);                                                                              \
            else                                                                                                       \
                DO(NAME, put_signal, dest, (const TYPE *)mine, (size_t)lengths[i], &signals[0], value,                 \
                   SHMEM_SIGNAL_ADD, to);                                                                              \
            uint64_t seen = shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, sum);                                   \
            EQUAL("shmem_signal_wait_until", "value", sum, seen);                                                      \
            EQUAL("shmem_signal_fetch", "value", sum, shmem_signal_fetch(&signals[0]));                                \
            for (int j = 0; j < lengths[i]; j++)                                                                       \
                SAME(TYPE, i % 2 ? NAMED(NAME, put_signal_nbi) : NAMED(NAME, put_signal), j,                           \
                     (TYPE)value_of(from, (uint64_t)i, (uint64_t)j), dest[j]);                                         \
            complete();                                                                                                \
            if (i % 2)                                                                                                 \
                DO(NAME, put_signal, dest, (const TYPE *)mine, (size_t)lengths[i], &signals[1], value,                 \
                   SHMEM_SIGNAL_SET, to);                                                                              \
            else                                                                                                       \
                DO(NAME, put_signal_nbi, dest, (const TYPE *)mine, (size_t)lengths[i], &signals[1], value,             \
                   SHMEM_SIGNAL_SET, to);                                                                              \
            shmem_signal_wait_until(&signals[1], SHMEM_CMP_EQ, value);                                                 \
            EQUAL(NAMED(NAME, put_signal), "signal that was set", value, signals[1]);                                  \
            complete();                                                                                                \
        }                                                                                                              \
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
