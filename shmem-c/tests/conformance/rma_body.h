/* put, get, p, g, put_nbi and get_nbi of each type, in one form. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(int shift)                                                                                    \
    {                                                                                                                  \
        static TYPE global[ROOM];                                                                                      \
        TYPE *heap = (TYPE *)room(ROOM * sizeof(TYPE));                                                                \
        TYPE *mine = (TYPE *)malloc(ROOM * sizeof(TYPE)), *model = (TYPE *)malloc(ROOM * sizeof(TYPE));                \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        for (int round = 0; round < 2; round++) {                                                                      \
            TYPE *dest = round ? heap : global;                                                                        \
            for (int i = 0; i < ROOM; i++) {                                                                           \
                dest[i] = model[i] = (TYPE)value_of(me, 100, (uint64_t)i);                                             \
                mine[i] = (TYPE)value_of(me, 200, (uint64_t)i);                                                        \
            }                                                                                                          \
            shmem_barrier_all();                                                                                       \
            int at = 1;                                                                                                \
            for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {                                          \
                size_t length = (size_t)lengths[l];                                                                    \
                if (round)                                                                                             \
                    DO(NAME, put_nbi, dest + at, (CONST TYPE *)mine + at, length, to);                                 \
                else                                                                                                   \
                    DO(NAME, put, dest + at, (CONST TYPE *)mine + at, length, to);                                     \
                for (int i = at; i < at + lengths[l]; i++)                                                             \
                    model[i] = (TYPE)value_of(from, 200, (uint64_t)i);                                                 \
                at += lengths[l] + 1;                                                                                  \
            }                                                                                                          \
            for (int i = 0; i < 5; i++, at += 2) {                                                                     \
                DO(NAME, p, dest + at, mine[at], to);                                                                  \
                model[at] = (TYPE)value_of(from, 200, (uint64_t)at);                                                   \
            }                                                                                                          \
            complete();                                                                                                \
            for (int i = 0; i < ROOM; i++)                                                                             \
                SAME(TYPE, round ? NAMED(NAME, put_nbi) : NAMED(NAME, put), i, model[i], dest[i]);                     \
            /* What the other PE has now: what this one put there, and between that what was there. */                 \
            for (int i = 0; i < ROOM; i++)                                                                             \
                mine[i] = (TYPE)value_of(me, 300, (uint64_t)i);                                                        \
            at = 1;                                                                                                    \
            for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {                                          \
                size_t length = (size_t)lengths[l];                                                                    \
                if (round)                                                                                             \
                    DO(NAME, get_nbi, mine + at, (CONST TYPE *)dest + at, length, to);                                 \
                else                                                                                                   \
                    DO(NAME, get, mine + at, (CONST TYPE *)dest + at, length, to);                                     \
                at += lengths[l] + 1;                                                                                  \
            }                                                                                                          \
            for (int i = 0; i < 9; i++, at++)                                                                          \
                mine[at] = DO(NAME, g, (CONST TYPE *)dest + at, to);                                                   \
            int behind = at;                                                                                           \
            complete();                                                                                                \
            at = 1;                                                                                                    \
            for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {                                          \
                for (int i = at; i < at + lengths[l]; i++)                                                             \
                    SAME(TYPE, round ? NAMED(NAME, get_nbi) : NAMED(NAME, get), i,                                     \
                         (TYPE)value_of(me, 200, (uint64_t)i), mine[i]);                                               \
                at += lengths[l];                                                                                      \
                SAME(TYPE, round ? NAMED(NAME, get_nbi) : NAMED(NAME, get), at,                                        \
                     (TYPE)value_of(me, 300, (uint64_t)at), mine[at]);                                                 \
                at++;                                                                                                  \
            }                                                                                                          \
            for (int i = 0; i < 9; i++, at++)                                                                          \
                SAME(TYPE, NAMED(NAME, g), at, (TYPE)value_of(i % 2 ? to : me, i % 2 ? 100 : 200, (uint64_t)at),       \
                     mine[at]);                                                                                        \
            for (int i = behind; i < ROOM; i++)                                                                        \
                SAME(TYPE, NAMED(NAME, get), i, (TYPE)value_of(me, 300, (uint64_t)i), mine[i]);                        \
            shmem_barrier_all();                                                                                       \
        }                                                                                                              \
        free(mine);                                                                                                    \
        free(model);                                                                                                   \
        shmem_free(heap);                                                                                              \
    }

TYPES(TEST)

static void FN(all)(void)
{
    int shift = 0;
#define RUN(NAME, TYPE) FN(NAME)(shift++);
    TYPES(RUN)
#undef RUN
}
#undef TEST
