/* Collectives of teams of each type, in one form: broadcast, collect, fcollect, alltoall, alltoalls. The team is
 * `team`; `members` are its PEs, `place` the number of this one in it. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(void)                                                                                         \
    {                                                                                                                  \
        static TYPE dest[ROOM], source[ROOM];                                                                          \
        const TYPE untouched = (TYPE)77;                                                                               \
        for (int round = 0; round < 4; round++) {                                                                      \
            /* Every combination of lengths and roots would be long; each round has its own. */                        \
            size_t n = round == 0 ? 1 : round == 1 ? 0 : round == 2 ? 5 : 31;                                          \
            int root = round % size;                                                                                   \
            for (int i = 0; i < ROOM; i++) {                                                                           \
                source[i] = (TYPE)value_of(me, (uint64_t)round, (uint64_t)i);                                          \
                dest[i] = untouched;                                                                                   \
            }                                                                                                          \
            shmem_team_sync(team);                                                                                     \
            EQUAL(NAMED(NAME, broadcast), "status", 0, DO(NAME, broadcast, team, dest, (const TYPE *)source, n, root)); \
            for (size_t i = 0; i < n; i++)                                                                             \
                SAME(TYPE, NAMED(NAME, broadcast), i, (TYPE)value_of(members[root], (uint64_t)round, i), dest[i]);     \
            SAME(TYPE, NAMED(NAME, broadcast) " (behind)", n, untouched, dest[n]);                                     \
            shmem_team_sync(team);                                                                                     \
            /* In place: on the root, both are one. */                                                                 \
            for (int i = 0; i < ROOM; i++)                                                                             \
                dest[i] = (TYPE)value_of(me, 9, (uint64_t)i);                                                          \
            shmem_team_sync(team);                                                                                     \
            EQUAL(NAMED(NAME, broadcast), "status", 0, DO(NAME, broadcast, team, dest, (const TYPE *)dest, n, root));  \
            for (size_t i = 0; i < n; i++)                                                                             \
                SAME(TYPE, NAMED(NAME, broadcast) " (in place)", i, (TYPE)value_of(members[root], 9, i), dest[i]);     \
            for (int i = 0; i < ROOM; i++)                                                                             \
                dest[i] = untouched;                                                                                   \
            shmem_team_sync(team);                                                                                     \
            EQUAL(NAMED(NAME, fcollect), "status", 0, DO(NAME, fcollect, team, dest, (const TYPE *)source, n));        \
            for (int p = 0; p < size; p++)                                                                             \
                for (size_t i = 0; i < n; i++)                                                                         \
                    SAME(TYPE, NAMED(NAME, fcollect), (size_t)p * n + i,                                               \
                         (TYPE)value_of(members[p], (uint64_t)round, i), dest[(size_t)p * n + i]);                     \
            SAME(TYPE, NAMED(NAME, fcollect) " (behind)", (size_t)size * n, untouched, dest[(size_t)size * n]);        \
            for (int i = 0; i < ROOM; i++)                                                                             \
                dest[i] = untouched;                                                                                   \
            shmem_team_sync(team);                                                                                     \
            EQUAL(NAMED(NAME, collect), "status", 0,                                                                   \
                  DO(NAME, collect, team, dest, (const TYPE *)source, COUNT(place, n)));                               \
            size_t at = 0;                                                                                             \
            for (int p = 0; p < size; p++)                                                                             \
                for (size_t i = 0; i < COUNT(p, n); i++, at++)                                                         \
                    SAME(TYPE, NAMED(NAME, collect), at, (TYPE)value_of(members[p], (uint64_t)round, i), dest[at]);    \
            SAME(TYPE, NAMED(NAME, collect) " (behind)", at, untouched, dest[at]);                                     \
            for (int i = 0; i < ROOM; i++)                                                                             \
                dest[i] = untouched;                                                                                   \
            shmem_team_sync(team);                                                                                     \
            EQUAL(NAMED(NAME, alltoall), "status", 0, DO(NAME, alltoall, team, dest, (const TYPE *)source, n));        \
            for (int p = 0; p < size; p++)                                                                             \
                for (size_t i = 0; i < n; i++)                                                                         \
                    SAME(TYPE, NAMED(NAME, alltoall), (size_t)p * n + i,                                               \
                         (TYPE)value_of(members[p], (uint64_t)round, (uint64_t)place * n + i), dest[(size_t)p * n + i]); \
            for (int i = 0; i < ROOM; i++)                                                                             \
                dest[i] = untouched;                                                                                   \
            shmem_team_sync(team);                                                                                     \
            const ptrdiff_t dst = 1 + round % 3, sst = 1 + (round + 1) % 3;                                            \
            EQUAL(NAMED(NAME, alltoalls), "status", 0,                                                                 \
                  DO(NAME, alltoalls, team, dest, (const TYPE *)source, dst, sst, n));                                 \
            for (size_t i = 0; i < (size_t)size * n * (size_t)dst; i++) {                                              \
                size_t element = i / (size_t)dst;                                                                      \
                SAME(TYPE, NAMED(NAME, alltoalls), i,                                                                  \
                     i % (size_t)dst ? untouched                                                                       \
                                     : (TYPE)value_of(members[element / n], (uint64_t)round,                           \
                                                      ((uint64_t)place * n + element % n) * (uint64_t)sst),            \
                     dest[i]);                                                                                         \
            }                                                                                                          \
            shmem_team_sync(team);                                                                                     \
        }                                                                                                              \
    }

TYPES(TEST)

static void FN(all)(void)
{
#define RUN(NAME, TYPE) FN(NAME)();
    TYPES(RUN)
#undef RUN
}
#undef TEST
