/* pes: 1 2 3 4 */
/* since: 1.5 */
/* Contexts: every option, many at once, of teams with their numbers, invalid ones, quiet and fence of each. */
#include "check.h"

#define MANY 40

static long words[MANY][4];
static long word;

int main(void)
{
    begin();
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE, SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE, SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED};
    shmem_ctx_t contexts[MANY];
    for (int i = 0; i < MANY; i++) {
        contexts[i] = SHMEM_CTX_INVALID;
        EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(options[i % 7], &contexts[i]));
        TRUE_THAT("shmem_ctx_create", contexts[i] != SHMEM_CTX_INVALID && contexts[i] != SHMEM_CTX_DEFAULT);
        for (int j = 0; j < i; j++)
            TRUE_THAT("shmem_ctx_create", contexts[i] != contexts[j]);
        shmem_team_t team = SHMEM_TEAM_INVALID;
        EQUAL("shmem_ctx_get_team", "status", 0, shmem_ctx_get_team(contexts[i], &team));
        TRUE_THAT("shmem_ctx_get_team", team == SHMEM_TEAM_WORLD);
    }
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++) {
        long mine[2] = {me * 1000 + i, -i};
        shmem_ctx_long_put_nbi(contexts[i], &words[i][0], mine, 2, to);
        shmem_ctx_fence(contexts[i]);
        shmem_ctx_long_p(contexts[i], &words[i][2], i, to);
        shmem_ctx_long_atomic_add(contexts[i], &words[i][3], i, to);
        shmem_ctx_quiet(contexts[i]);
    }
    shmem_sync_all();
    for (int i = 0; i < MANY; i++) {
        EQUAL("shmem_ctx_long_put_nbi", "value", from * 1000 + i, words[i][0]);
        EQUAL("shmem_ctx_long_put_nbi", "value", -i, words[i][1]);
        EQUAL("shmem_ctx_long_p", "value", i, words[i][2]);
        EQUAL("shmem_ctx_long_atomic_add", "value", i, words[i][3]);
    }
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        shmem_ctx_destroy(contexts[(i * 11) % MANY]);
    /* Again and again. */
    for (int i = 0; i < 500; i++) {
        shmem_ctx_t context;
        EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(options[i % 7], &context));
        if (i % 100 == 0)
            shmem_ctx_long_p(context, &word, i, to);
        /* Destroying completes what was begun. */
        shmem_ctx_destroy(context);
    }
    shmem_sync_all();
    EQUAL("shmem_ctx_destroy", "value that was put before", 400, word);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_team_t team = SHMEM_TEAM_WORLD;
    TRUE_THAT("shmem_ctx_get_team", shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    TRUE_THAT("shmem_ctx_get_team", team == SHMEM_TEAM_INVALID);
    EQUAL("shmem_ctx_get_team", "status", 0, shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team));
    TRUE_THAT("shmem_ctx_get_team", team == SHMEM_TEAM_WORLD);

    /* Of a team: PEs have their numbers in it, here the other way around. */
    shmem_team_t back = SHMEM_TEAM_INVALID;
    shmem_team_config_t config;
    config.num_contexts = 1;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &back);
    shmem_ctx_t context;
    if (shmem_team_create_ctx(back, 0, &context) == 0) {
        word = -1;
        shmem_barrier_all();
        for (int i = 0; i < npes; i++)
            shmem_ctx_long_p(context, &words[0][0] + me, (long)(100 * me + i), i);
        shmem_ctx_quiet(context);
        shmem_sync_all();
        for (int pe = 0; pe < npes; pe++)
            EQUAL("shmem_ctx_long_p", "value from a context of a team", 100 * pe + npes - 1 - me, (&words[0][0])[pe]);
        for (int i = 0; i < npes; i++)
            EQUAL("shmem_ctx_long_g", "value by a context of a team", 100 * me + i, shmem_ctx_long_g(context, &words[0][0] + me, i));
        EQUAL("shmem_long_g (generic)", "value by a context of a team", 100 * me, shmem_g(context, (const long *)&words[0][0] + me, 0));
        shmem_barrier_all();
        shmem_ctx_long_atomic_inc(context, &word, shmem_team_my_pe(back));
        shmem_ctx_quiet(context);
        EQUAL("shmem_ctx_long_atomic_inc", "own word by a context of a team", 0, word);
        shmem_ctx_destroy(context);
    } else {
        EQUAL("shmem_team_create_ctx", "status", 0, 1);
    }
    TRUE_THAT("shmem_team_create_ctx", shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &context) != 0);
    TRUE_THAT("shmem_team_create_ctx", context == SHMEM_CTX_INVALID);
    shmem_team_destroy(back);
    /* Teams that overlap; who is in none of them has an invalid context, with which quiet does nothing. */
    for (int stride = 2; stride <= 3; stride++) {
        shmem_team_t team_here = SHMEM_TEAM_INVALID;
        int members = (npes + stride - 1) / stride;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, stride, members, &config, SHMEM_TEAM_NUM_CONTEXTS, &team_here);
        context = SHMEM_CTX_INVALID;
        int status = shmem_team_create_ctx(team_here, SHMEM_CTX_SERIALIZED, &context);
        EQUAL("shmem_team_create_ctx", "whether there is a context", me % stride == 0, status == 0);
        word = -1;
        shmem_barrier_all();
        if (context != SHMEM_CTX_INVALID)
            shmem_ctx_long_p(context, &word, me, (shmem_team_my_pe(team_here) + 1) % members);
        shmem_ctx_quiet(context);
        shmem_sync_all();
        EQUAL("shmem_ctx_long_p", "value of the PE before in the team", me % stride ? -1 : (me + (members - 1) * stride) % (members * stride), word);
        shmem_barrier_all();
        shmem_ctx_destroy(context);
        shmem_team_destroy(team_here);
    }
    /* With a team go the contexts that it has created, and what was begun through them is complete. */
    for (int i = 0; i < 80; i++) {
        shmem_team_t all = SHMEM_TEAM_INVALID;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &all);
        TRUE_THAT("shmem_team_split_strided", all != SHMEM_TEAM_INVALID);
        if (all == SHMEM_TEAM_INVALID)
            break;
        EQUAL("shmem_team_create_ctx", "status", 0, shmem_team_create_ctx(all, options[i % 2], &context));
        long mine = i;
        shmem_ctx_long_put_nbi(context, &words[i % MANY][0], &mine, 1, to);
        shmem_team_destroy(all);
        shmem_sync_all();
        EQUAL("shmem_team_destroy", "value that was put before", i, words[i % MANY][0]);
        shmem_sync_all();
    }
    /* Contexts that are left are finalize's. */
    shmem_ctx_create(0, &context);
    return end();
}
