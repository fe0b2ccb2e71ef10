/* Parts of amo_body.h, which a program takes by INTEGER_PART and BITWISE_PART. Arithmetic of signed types goes
 * through the widest unsigned one: it wraps around, as AMOs do. */
#define MOST_PES 16

#define NOTHING(NAME, TYPE)

/* Open MPI 4.1.4 writes 8 bytes of its stack for a compare_swap of 4. */
#ifdef LEGACY
#define SWAPS(TYPE) (sizeof(TYPE) == 8)
#else
#define SWAPS(TYPE) 1
#endif

#define SUM(TYPE, a, b) ((TYPE)((uint64_t)(a) + (uint64_t)(b)))

#define INTEGERS(NAME, TYPE)                                                                                           \
    value = (TYPE)value_of(me, 4, (uint64_t)i);                                                                        \
    SAME(TYPE, NAMED(NAME, atomic_fetch_add), i, model, DO(NAME, atomic_fetch_add, word, value, to));                  \
    model = SUM(TYPE, model, value);                                                                                   \
    SAME(TYPE, NAMED(NAME, atomic_fetch_inc), i, model, DO(NAME, atomic_fetch_inc, word, to));                         \
    model = SUM(TYPE, model, 1);                                                                                       \
    DO(NAME, atomic_add, word, value, to);                                                                             \
    model = SUM(TYPE, model, value);                                                                                   \
    DO(NAME, atomic_inc, word, to);                                                                                    \
    model = SUM(TYPE, model, 1);                                                                                       \
    complete_here();                                                                                                   \
    SAME(TYPE, NAMED(NAME, atomic_add) " or _inc", i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));          \
    if (SWAPS(TYPE)) {                                                                                                 \
        /* First a comparison that fails. */                                                                           \
        SAME(TYPE, NAMED(NAME, atomic_compare_swap), i, model,                                                         \
             DO(NAME, atomic_compare_swap, word, SUM(TYPE, model, 1), value, to));                                     \
        SAME(TYPE, NAMED(NAME, atomic_compare_swap), i, model, DO(NAME, atomic_compare_swap, word, model, value, to)); \
        model = value;                                                                                                 \
    }                                                                                                                  \
    SAME(TYPE, NAMED(NAME, atomic_compare_swap), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));

#define INTEGERS_AT_ONCE(NAME, TYPE)                                                                                   \
    TYPE before[8];                                                                                                    \
    int victim = shift % npes;                                                                                         \
    for (int i = 0; i < 8; i++) {                                                                                      \
        before[i] = DO(NAME, atomic_fetch_inc, &shared[0], victim);                                                    \
        DO(NAME, atomic_add, &shared[1], (TYPE)(me + i), victim);                                                      \
        DO(NAME, atomic_inc, &shared[2], victim);                                                                      \
        TYPE seen = 0, was = 0;                                                                                        \
        while (SWAPS(TYPE) &&                                                                                          \
               (was = DO(NAME, atomic_compare_swap, &shared[3], seen, (TYPE)(seen + 2), victim)) != seen)              \
            seen = was;                                                                                                \
    }                                                                                                                  \
    for (int i = 1; i < 8; i++)                                                                                        \
        TRUE_THAT(NAMED(NAME, atomic_fetch_inc), before[i] > before[i - 1]);

#define INTEGERS_AFTER(NAME, TYPE)                                                                                     \
    if (me == victim) {                                                                                                \
        SAME(TYPE, NAMED(NAME, atomic_fetch_inc) " (all PEs)", 0, 8 * npes, shared[0]);                                \
        SAME(TYPE, NAMED(NAME, atomic_add) " (all PEs)", 1, 28 * npes + 8 * (npes * (npes - 1) / 2), shared[1]);       \
        SAME(TYPE, NAMED(NAME, atomic_inc) " (all PEs)", 2, 8 * npes, shared[2]);                                      \
        if (SWAPS(TYPE))                                                                                               \
            SAME(TYPE, NAMED(NAME, atomic_compare_swap) " (all PEs)", 3, 16 * npes, shared[3]);                        \
    }

#define BITS(NAME, TYPE)                                                                                               \
    value = (TYPE)value_of(me, 5, (uint64_t)i);                                                                        \
    SAME(TYPE, NAMED(NAME, atomic_fetch_xor), i, model, DO(NAME, atomic_fetch_xor, word, value, to));                  \
    model = (TYPE)(model ^ value);                                                                                     \
    value = (TYPE)value_of(me, 6, (uint64_t)i);                                                                        \
    SAME(TYPE, NAMED(NAME, atomic_fetch_and), i, model, DO(NAME, atomic_fetch_and, word, value, to));                  \
    model = (TYPE)(model & value);                                                                                     \
    value = (TYPE)value_of(me, 7, (uint64_t)i);                                                                        \
    SAME(TYPE, NAMED(NAME, atomic_fetch_or), i, model, DO(NAME, atomic_fetch_or, word, value, to));                    \
    model = (TYPE)(model | value);                                                                                     \
    value = (TYPE)value_of(me, 8, (uint64_t)i);                                                                        \
    DO(NAME, atomic_and, word, value, to);                                                                             \
    complete_here();                                                                                                   \
    model = (TYPE)(model & value);                                                                                     \
    SAME(TYPE, NAMED(NAME, atomic_and), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));                     \
    value = (TYPE)value_of(me, 9, (uint64_t)i);                                                                        \
    DO(NAME, atomic_or, word, value, to);                                                                              \
    complete_here();                                                                                                   \
    model = (TYPE)(model | value);                                                                                     \
    SAME(TYPE, NAMED(NAME, atomic_or), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));                      \
    value = (TYPE)value_of(me, 10, (uint64_t)i);                                                                       \
    DO(NAME, atomic_xor, word, value, to);                                                                             \
    complete_here();                                                                                                   \
    model = (TYPE)(model ^ value);                                                                                     \
    SAME(TYPE, NAMED(NAME, atomic_xor), i, model, DO(NAME, atomic_fetch, (CONST TYPE *)word, to));

#define complete_here() shmem_ctx_quiet(context)

/* For amo_nbi_body.h. */
#define INTEGERS_NBI(NAME, TYPE)                                                                                       \
    DO(NAME, atomic_fetch_inc_nbi, &got[2], &mine[2], to);                                                             \
    DO(NAME, atomic_fetch_add_nbi, &got[3], &mine[3], value, to);                                                      \
    DO(NAME, atomic_compare_swap_nbi, &got[4], &mine[4], SUM(TYPE, models[4], 1), value, to);                          \
    DO(NAME, atomic_compare_swap_nbi, &got[5], &mine[5], models[5], value, to);

#define INTEGERS_MODEL(NAME, TYPE)                                                                                     \
    models[2] = SUM(TYPE, models[2], 1);                                                                               \
    models[3] = SUM(TYPE, models[3], value);                                                                           \
    models[5] = value;

#define BITS_NBI(NAME, TYPE)                                                                                           \
    DO(NAME, atomic_fetch_and_nbi, &got[6], &mine[6], value, to);                                                      \
    DO(NAME, atomic_fetch_or_nbi, &got[7], &mine[7], value, to);                                                       \
    DO(NAME, atomic_fetch_xor_nbi, &got[8], &mine[8], value, to);

#define BITS_MODEL(NAME, TYPE)                                                                                         \
    models[6] = (TYPE)(models[6] & value);                                                                             \
    models[7] = (TYPE)(models[7] | value);                                                                             \
    models[8] = (TYPE)(models[8] ^ value);
