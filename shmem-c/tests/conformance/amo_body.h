/* Atomic operations of each type, in one form: alone on a word, step by step beside a model; then all at once on
 * words of one PE. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(int shift)                                                                                    \
    {                                                                                                                  \
        static TYPE words[3 * MOST_PES], shared[4] UNUSED;                                                                    \
        int to = (me + shift) % npes;                                                                                  \
        for (int i = 0; i < 3 * MOST_PES; i++)                                                                         \
            words[i] = (TYPE)value_of(me, 1, (uint64_t)i);                                                             \
        for (int i = 0; i < 4; i++)                                                                                    \
            shared[i] = 0;                                                                                             \
        shmem_barrier_all();                                                                                           \
        TYPE *word = &words[3 * me + 1];                                                                               \
        TYPE model = (TYPE)value_of(to, 1, (uint64_t)(3 * me + 1));                                                    \
        for (int i = 0; i < 4; i++) {                                                                                  \
            TYPE value = (TYPE)value_of(me, 2, (uint64_t)i);                                                           \
            SAME(TYPE, NAMED(NAME, atomic_fetch), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));           \
            SAME(TYPE, NAMED(NAME, atomic_swap), i, model, DO(NAME, atomic_swap, word, value, to));                    \
            model = value;                                                                                             \
            value = (TYPE)value_of(me, 3, (uint64_t)i);                                                                \
            DO(NAME, atomic_set, word, value, to);                                                                     \
            complete_here();                                                                                           \
            model = value;                                                                                             \
            SAME(TYPE, NAMED(NAME, atomic_set), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));             \
            INTEGER_PART(NAME, TYPE)                                                                                   \
            BITWISE_PART(NAME, TYPE)                                                                                   \
        }                                                                                                              \
        INTEGER_RACE(NAME, TYPE)                                                                                       \
        complete();                                                                                                    \
        INTEGER_RESULT(NAME, TYPE)                                                                                     \
        for (int pe = 0; pe < MOST_PES; pe++)                                                                          \
            for (int i = 0; i < 3; i++)                                                                                \
                if (i != 1)                                                                                            \
                    SAME(TYPE, NAMED(NAME, atomic), 3 * pe + i, (TYPE)value_of(me, 1, (uint64_t)(3 * pe + i)),         \
                         words[3 * pe + i]);                                                                           \
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
