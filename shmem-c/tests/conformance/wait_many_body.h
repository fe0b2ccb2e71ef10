/* Waiting for several values, and testing them, in one form: all, any, some; of one comparison value, and of a vector;
 * with elements that the status excludes. */

#define TEST(NAME, TYPE)                                                                                               \
    static void FN(NAME)(void)                                                                                         \
    {                                                                                                                  \
        static TYPE words[COUNT];                                                                                      \
        TYPE values[COUNT];                                                                                            \
        int status[COUNT], none[COUNT], counts[COUNT];                                                                 \
        size_t indices[COUNT], found;                                                                                  \
        int to = (me + 1) % npes;                                                                                      \
        for (int i = 0; i < COUNT; i++) {                                                                              \
            words[i] = (TYPE)i;                                                                                        \
            values[i] = (TYPE)(i + 100);                                                                               \
            status[i] = i % 3 == 1;                                                                                    \
            none[i] = 1;                                                                                               \
            counts[i] = 0;                                                                                             \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        /* Nothing to look at. */                                                                                      \
        DO(NAME, wait_until_all, words, 0, NULL, SHMEM_CMP_EQ, (TYPE)77);                                              \
        DO(NAME, wait_until_all, words, COUNT, none, SHMEM_CMP_EQ, (TYPE)77);                                          \
        DO(NAME, wait_until_all_vector, words, 0, NULL, SHMEM_CMP_EQ, values);                                         \
        DO(NAME, wait_until_all_vector, words, COUNT, none, SHMEM_CMP_EQ, values);                                     \
        found = DO(NAME, wait_until_any, words, 0, NULL, SHMEM_CMP_EQ, (TYPE)77);                                      \
        TRUE_THAT(NAMED(NAME, wait_until_any) " (none)", found == SIZE_MAX);                                           \
        found = DO(NAME, wait_until_any, words, COUNT, none, SHMEM_CMP_EQ, (TYPE)77);                                  \
        TRUE_THAT(NAMED(NAME, wait_until_any) " (excluded)", found == SIZE_MAX);                                       \
        found = DO(NAME, wait_until_any_vector, words, COUNT, none, SHMEM_CMP_EQ, values);                             \
        TRUE_THAT(NAMED(NAME, wait_until_any_vector) " (excluded)", found == SIZE_MAX);                                \
        EQUAL(NAMED(NAME, wait_until_some) " (none)", "number", 0,                                                     \
              DO(NAME, wait_until_some, words, 0, indices, NULL, SHMEM_CMP_EQ, (TYPE)77));                             \
        EQUAL(NAMED(NAME, wait_until_some) " (excluded)", "number", 0,                                                 \
              DO(NAME, wait_until_some, words, COUNT, indices, none, SHMEM_CMP_EQ, (TYPE)77));                         \
        EQUAL(NAMED(NAME, wait_until_some_vector) " (excluded)", "number", 0,                                          \
              DO(NAME, wait_until_some_vector, words, COUNT, indices, none, SHMEM_CMP_EQ, values));                    \
        EQUAL(NAMED(NAME, test_all) " (none)", "status", 1,                                                            \
              DO(NAME, test_all, words, 0, NULL, SHMEM_CMP_EQ, (TYPE)77) != 0);                                        \
        EQUAL(NAMED(NAME, test_all) " (excluded)", "status", 1,                                                        \
              DO(NAME, test_all, words, COUNT, none, SHMEM_CMP_EQ, (TYPE)77) != 0);                                    \
        EQUAL(NAMED(NAME, test_all_vector) " (excluded)", "status", 1,                                                 \
              DO(NAME, test_all_vector, words, COUNT, none, SHMEM_CMP_EQ, values) != 0);                               \
        found = DO(NAME, test_any, words, COUNT, NULL, SHMEM_CMP_EQ, (TYPE)77);                                        \
        TRUE_THAT(NAMED(NAME, test_any) " (none holds)", found == SIZE_MAX);                                           \
        found = DO(NAME, test_any, words, COUNT, none, SHMEM_CMP_EQ, (TYPE)1);                                         \
        TRUE_THAT(NAMED(NAME, test_any) " (excluded)", found == SIZE_MAX);                                             \
        /* The values that are there: those of the model. */                                                           \
        EQUAL(NAMED(NAME, test_all), "status", 0, DO(NAME, test_all, words, COUNT, NULL, SHMEM_CMP_GT, (TYPE)0) != 0); \
        EQUAL(NAMED(NAME, test_all), "status", 1, DO(NAME, test_all, words, COUNT, NULL, SHMEM_CMP_GE, (TYPE)0) != 0); \
        found = DO(NAME, test_any, words, COUNT, NULL, SHMEM_CMP_EQ, (TYPE)5);                                         \
        EQUAL(NAMED(NAME, test_any), "index", 5, found);                                                               \
        found = DO(NAME, test_any, words, COUNT, status, SHMEM_CMP_EQ, (TYPE)4);                                       \
        TRUE_THAT(NAMED(NAME, test_any) " (excluded)", found == SIZE_MAX);                                             \
        found = DO(NAME, test_some, words, COUNT, indices, status, SHMEM_CMP_LT, (TYPE)7);                             \
        EQUAL(NAMED(NAME, test_some), "number", 5, found);                                                             \
        for (size_t i = 0; i < found; i++) {                                                                           \
            TRUE_THAT(NAMED(NAME, test_some), indices[i] < 7 && indices[i] % 3 != 1);                                  \
            TRUE_THAT(NAMED(NAME, test_some) " (once)", indices[i] < COUNT && counts[indices[i]]++ == 0);              \
        }                                                                                                              \
        values[3] = 3;                                                                                                 \
        found = DO(NAME, test_any_vector, words, COUNT, NULL, SHMEM_CMP_EQ, values);                                   \
        EQUAL(NAMED(NAME, test_any_vector), "index", 3, found);                                                        \
        found = DO(NAME, test_some_vector, words, COUNT, indices, NULL, SHMEM_CMP_EQ, values);                         \
        EQUAL(NAMED(NAME, test_some_vector), "number", 1, found);                                                      \
        EQUAL(NAMED(NAME, test_some_vector), "index", 3, indices[0]);                                                  \
        EQUAL(NAMED(NAME, test_all_vector), "status", 0,                                                               \
              DO(NAME, test_all_vector, words, COUNT, NULL, SHMEM_CMP_EQ, values) != 0);                               \
        EQUAL(NAMED(NAME, test_all_vector), "status", 1,                                                               \
              DO(NAME, test_all_vector, words, COUNT, NULL, SHMEM_CMP_LE, values) != 0);                               \
        /* Words that stay as they are come in turn. */                                                                \
        for (int form = 0; form < 4; form++) {                                                                         \
            for (int i = 0; i < COUNT; i++)                                                                            \
                counts[i] = 0;                                                                                         \
            for (int i = 0; i < COUNT; i++) {                                                                          \
                found = form == 0   ? DO(NAME, test_any, words, COUNT, NULL, SHMEM_CMP_GE, (TYPE)0)                    \
                        : form == 1 ? DO(NAME, wait_until_any, words, COUNT, NULL, SHMEM_CMP_GE, (TYPE)0)              \
                        : form == 2 ? DO(NAME, test_any_vector, words, COUNT, NULL, SHMEM_CMP_LE, values)              \
                                    : DO(NAME, wait_until_any_vector, words, COUNT, NULL, SHMEM_CMP_LE, values);       \
                TRUE_THAT(NAMED(NAME, test_any) " (in turn)", found < COUNT && counts[found]++ == 0);                  \
            }                                                                                                          \
        }                                                                                                              \
        values[3] = 103;                                                                                               \
        shmem_barrier_all();                                                                                           \
        /* Told by the PE before: in an order that nobody knows, each is found once. */                                \
        for (int i = 0; i < COUNT; i++)                                                                                \
            DO_AMO(NAME, &words[(i * 7 + me) % COUNT], (TYPE)((i * 7 + me) % COUNT + 100), to);                        \
        shmem_quiet();                                                                                                 \
        for (int i = 0; i < COUNT; i++)                                                                                \
            counts[i] = 0;                                                                                             \
        for (int left = COUNT; left > 0;) {                                                                            \
            if (left % 2) {                                                                                            \
                found = DO(NAME, wait_until_any, words, COUNT, counts, SHMEM_CMP_GE, (TYPE)100);                       \
                TRUE_THAT(NAMED(NAME, wait_until_any), found < COUNT && !counts[found]);                               \
                if (found >= COUNT)                                                                                    \
                    break;                                                                                             \
                counts[found] = 1;                                                                                     \
                left--;                                                                                                \
            } else {                                                                                                   \
                found = DO(NAME, wait_until_some, words, COUNT, indices, counts, SHMEM_CMP_GE, (TYPE)100);             \
                TRUE_THAT(NAMED(NAME, wait_until_some), found >= 1 && found <= (size_t)left);                          \
                if (found < 1 || found > (size_t)left)                                                                 \
                    break;                                                                                             \
                for (size_t i = 0; i < found; i++) {                                                                   \
                    TRUE_THAT(NAMED(NAME, wait_until_some), indices[i] < COUNT && !counts[indices[i]]);                \
                    counts[indices[i] % COUNT] = 1;                                                                    \
                }                                                                                                      \
                left -= (int)found;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        for (int i = 0; i < COUNT; i++)                                                                                \
            SAME(TYPE, NAMED(NAME, wait_until_any), i, i + 100, words[i]);                                             \
        shmem_barrier_all();                                                                                           \
        for (int i = 0; i < COUNT; i++) {                                                                              \
            values[i] = (TYPE)(i + 50);                                                                                \
            counts[i] = 0;                                                                                             \
        }                                                                                                              \
        for (int i = 0; i < COUNT; i++)                                                                                \
            DO_AMO(NAME, &words[(i * 5 + me) % COUNT], (TYPE)((i * 5 + me) % COUNT + 50), to);                         \
        shmem_quiet();                                                                                                 \
        for (int left = COUNT; left > 0;) {                                                                            \
            if (left % 2) {                                                                                            \
                found = DO(NAME, wait_until_any_vector, words, COUNT, counts, SHMEM_CMP_EQ, values);                   \
                TRUE_THAT(NAMED(NAME, wait_until_any_vector), found < COUNT && !counts[found]);                        \
                if (found >= COUNT)                                                                                    \
                    break;                                                                                             \
                counts[found] = 1;                                                                                     \
                left--;                                                                                                \
            } else {                                                                                                   \
                found = DO(NAME, wait_until_some_vector, words, COUNT, indices, counts, SHMEM_CMP_EQ, values);         \
                TRUE_THAT(NAMED(NAME, wait_until_some_vector), found >= 1 && found <= (size_t)left);                   \
                if (found < 1 || found > (size_t)left)                                                                 \
                    break;                                                                                             \
                for (size_t i = 0; i < found; i++)                                                                     \
                    counts[indices[i] % COUNT] = 1;                                                                    \
                left -= (int)found;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        DO(NAME, wait_until_all_vector, words, COUNT, NULL, SHMEM_CMP_EQ, values);                                     \
        shmem_barrier_all();                                                                                           \
        for (int i = 0; i < COUNT; i++)                                                                                \
            DO_AMO(NAME, &words[i], (TYPE)9, to);                                                                      \
        shmem_quiet();                                                                                                 \
        DO(NAME, wait_until_all, words, COUNT, NULL, SHMEM_CMP_EQ, (TYPE)9);                                           \
        for (int i = 0; i < COUNT; i++)                                                                                \
            SAME(TYPE, NAMED(NAME, wait_until_all), i, 9, words[i]);                                                   \
        shmem_barrier_all();                                                                                           \
        /* Excluded ones may be anything. */                                                                           \
        for (int i = 0; i < COUNT; i++)                                                                                \
            if (!status[i])                                                                                            \
                DO_AMO(NAME, &words[i], (TYPE)2, to);                                                                  \
        shmem_quiet();                                                                                                 \
        DO(NAME, wait_until_all, words, COUNT, status, SHMEM_CMP_LT, (TYPE)9);                                         \
        for (int i = 0; i < COUNT; i++)                                                                                \
            SAME(TYPE, NAMED(NAME, wait_until_all) " (excluded)", i, status[i] ? 9 : 2, words[i]);                     \
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
