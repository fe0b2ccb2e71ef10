/* iput and iget of each type, in one form. All shapes between two barriers. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(int shift)                                                                                    \
    {                                                                                                                  \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        TYPE *dest = (TYPE *)room(SHAPES * ROOM * sizeof(TYPE));                                                       \
        TYPE *mine = (TYPE *)malloc(ROOM * sizeof(TYPE)), *model = (TYPE *)malloc(SHAPES * ROOM * sizeof(TYPE));       \
        for (int i = 0; i < SHAPES * ROOM; i++)                                                                        \
            dest[i] = model[i] = (TYPE)value_of(me, 1, (uint64_t)i);                                                   \
        for (int i = 0; i < ROOM; i++)                                                                                 \
            mine[i] = (TYPE)value_of(me, 2, (uint64_t)i);                                                              \
        for (int s = 0; s < SHAPES; s++)                                                                               \
            for (int i = 0; i < shapes[s][2]; i++)                                                                     \
                model[s * ROOM + i * shapes[s][0]] = (TYPE)value_of(from, 2, (uint64_t)(i * shapes[s][1]));            \
        shmem_barrier_all();                                                                                           \
        for (int s = 0; s < SHAPES; s++)                                                                               \
            DO(NAME, iput, dest + s * ROOM, (CONST TYPE *)mine, shapes[s][0], shapes[s][1], (size_t)shapes[s][2], to); \
        complete();                                                                                                    \
        for (int i = 0; i < SHAPES * ROOM; i++)                                                                        \
            SAME(TYPE, NAMED(NAME, iput), i, model[i], dest[i]);                                                       \
        for (int s = 0; s < SHAPES; s++) {                                                                             \
            for (int i = 0; i < ROOM; i++)                                                                             \
                mine[i] = model[i] = (TYPE)value_of(me, 3, (uint64_t)i);                                               \
            for (int i = 0; i < shapes[s][2]; i++)                                                                     \
                model[i * shapes[s][1]] = (TYPE)value_of(me, 2, (uint64_t)(i * shapes[s][1]));                         \
            DO(NAME, iget, mine, (CONST TYPE *)dest + s * ROOM, shapes[s][1], shapes[s][0], (size_t)shapes[s][2], to); \
            for (int i = 0; i < ROOM; i++)                                                                             \
                SAME(TYPE, NAMED(NAME, iget), i, model[i], mine[i]);                                                   \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        free(mine);                                                                                                    \
        free(model);                                                                                                   \
        shmem_free(dest);                                                                                              \
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
