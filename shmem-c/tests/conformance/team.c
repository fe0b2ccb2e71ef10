/* pes: 1 2 3 4 5 */
/* since: 1.5 */
/* Teams: splits by stride and in two dimensions, of teams that were split, numbers of PEs in each, configurations,
 * and what is invalid. */
#include "check.h"

#define MOST_PES 16

struct model {
    int members[MOST_PES], size;
};

static long words[MOST_PES];

/* The team is the model's: sizes, numbers, translations, and it can meet. */
static void verify(const char *routine, shmem_team_t team, const struct model *model)
{
    int place = -1;
    for (int i = 0; i < model->size; i++)
        if (model->members[i] == me)
            place = i;
    if (place < 0) {
        TRUE_THAT(routine, team == SHMEM_TEAM_INVALID);
        EQUAL("shmem_team_my_pe", "number in a team that it is not in", -1, shmem_team_my_pe(team));
        EQUAL("shmem_team_n_pes", "size of a team that it is not in", -1, shmem_team_n_pes(team));
        EQUAL("shmem_team_translate_pe", "number in no team", -1, shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD));
        return;
    }
    TRUE_THAT(routine, team != SHMEM_TEAM_INVALID);
    if (team == SHMEM_TEAM_INVALID)
        return;
    EQUAL("shmem_team_n_pes", routine, model->size, shmem_team_n_pes(team));
    EQUAL("shmem_team_my_pe", routine, place, shmem_team_my_pe(team));
    for (int i = 0; i < model->size; i++) {
        EQUAL("shmem_team_translate_pe", routine, model->members[i], shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD));
        EQUAL("shmem_team_translate_pe", "from the world", i, shmem_team_translate_pe(SHMEM_TEAM_WORLD, model->members[i], team));
        EQUAL("shmem_team_translate_pe", "to itself", i, shmem_team_translate_pe(team, i, team));
    }
    EQUAL("shmem_team_translate_pe", "a number that it does not have", -1, shmem_team_translate_pe(team, model->size, SHMEM_TEAM_WORLD));
    EQUAL("shmem_team_translate_pe", "a negative number", -1, shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD));
    EQUAL("shmem_team_translate_pe", "to no team", -1, shmem_team_translate_pe(team, 0, SHMEM_TEAM_INVALID));
    for (int pe = 0; pe < npes; pe++) {
        int is_member = 0;
        for (int i = 0; i < model->size; i++)
            is_member |= model->members[i] == pe;
        if (!is_member)
            EQUAL("shmem_team_translate_pe", "a PE that is not in it", -1, shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team));
    }
    for (long round = 1; round <= 5; round++) {
        for (int i = 0; i < model->size; i++)
            shmem_long_p(&words[place], round * 100 + place, model->members[i]);
        shmem_quiet();
        EQUAL("shmem_team_sync", "status", 0, shmem_team_sync(team));
        for (int i = 0; i < model->size; i++)
            EQUAL("shmem_team_sync", routine, round * 100 + i, words[i]);
        EQUAL("shmem_sync", "status", 0, shmem_sync(team));
    }
    static long sum, one;
    one = me + 1;
    shmem_team_sync(team);
    EQUAL("shmem_long_sum_reduce", "status", 0, shmem_long_sum_reduce(team, &sum, &one, 1));
    long expected = 0;
    for (int i = 0; i < model->size; i++)
        expected += model->members[i] + 1;
    EQUAL("shmem_long_sum_reduce", routine, expected, sum);
    shmem_team_sync(team);
}

static struct model strided(const struct model *parent, int start, int stride, int size)
{
    struct model model = {{0}, 0};
    for (int i = 0; i < size; i++)
        model.members[model.size++] = parent->members[start + i * stride];
    return model;
}

int main(void)
{
    begin();
    struct model world = {{0}, npes};
    for (int i = 0; i < npes; i++)
        world.members[i] = i;
    verify("SHMEM_TEAM_WORLD", SHMEM_TEAM_WORLD, &world);
    shmem_barrier_all();

    /* The PEs with which memory is shared: all that shmem_ptr reaches. */
    int shared = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    TRUE_THAT("SHMEM_TEAM_SHARED", shared >= 1 && shared <= npes);
    EQUAL("SHMEM_TEAM_SHARED", "this PE", me, shmem_team_translate_pe(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED), SHMEM_TEAM_WORLD));
    for (int i = 0; i < shared; i++)
        TRUE_THAT("SHMEM_TEAM_SHARED", shmem_ptr(words, shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD)) != NULL);
    shmem_team_sync(SHMEM_TEAM_SHARED);
    shmem_barrier_all();

    /* All splits of the world with strides, downwards too. */
    for (int start = 0; start < npes; start++)
        for (int stride = -2; stride <= 3; stride++) {
            if (stride == 0)
                continue;
            int most = stride > 0 ? (npes - 1 - start) / stride + 1 : start / -stride + 1;
            for (int size = 1; size <= most; size += most > 3 ? 2 : 1) {
                struct model model = strided(&world, start, stride, size);
                shmem_team_t team = (shmem_team_t)SHMEM_TEAM_WORLD;
                int status = shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team);
                EQUAL("shmem_team_split_strided", "status", 0, status);
                verify("shmem_team_split_strided", team, &model);
                shmem_barrier_all();
                shmem_team_destroy(team);
            }
        }

    /* Of one PE a stride does not matter. */
    shmem_team_t single = SHMEM_TEAM_INVALID;
    EQUAL("shmem_team_split_strided", "status", 0, shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, 0, 1, NULL, 0, &single));
    if (me == npes - 1)
        EQUAL("shmem_team_n_pes", "size", 1, shmem_team_n_pes(single));
    shmem_team_destroy(single);

    /* A team of a team of the world. */
    shmem_team_t outer, inner = SHMEM_TEAM_INVALID;
    int half = (npes + 1) / 2;
    struct model evens = strided(&world, 0, 2, half);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, half, NULL, 0, &outer);
    verify("shmem_team_split_strided", outer, &evens);
    if (outer != SHMEM_TEAM_INVALID) {
        struct model last = strided(&evens, half - 1, 1, 1), all = strided(&evens, 0, 1, half);
        shmem_team_split_strided(outer, half - 1, 1, 1, NULL, 0, &inner);
        verify("shmem_team_split_strided", inner, &last);
        shmem_team_destroy(inner);
        shmem_team_split_strided(outer, 0, 1, half, NULL, 0, &inner);
        verify("shmem_team_split_strided", inner, &all);
        for (int i = 0; i < half; i++)
            EQUAL("shmem_team_translate_pe", "between equal teams", i, shmem_team_translate_pe(inner, i, outer));
        /* Teams live as long as they are not destroyed, also without their parents. */
        shmem_team_destroy(outer);
        verify("shmem_team_split_strided", inner, &all);
        shmem_team_destroy(inner);
    }
    shmem_barrier_all();

    /* Two dimensions: rows are x, columns are y. */
    for (int width = 1; width <= npes + 1; width++) {
        shmem_team_t rows = SHMEM_TEAM_INVALID, columns = SHMEM_TEAM_INVALID;
        int status = shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &rows, NULL, 0, &columns);
        EQUAL("shmem_team_split_2d", "status", 0, status);
        int across = width > npes ? npes : width;
        struct model row = {{0}, 0}, column = {{0}, 0};
        for (int pe = 0; pe < npes; pe++) {
            if (pe / across == me / across)
                row.members[row.size++] = pe;
            if (pe % across == me % across)
                column.members[column.size++] = pe;
        }
        verify("shmem_team_split_2d (x)", rows, &row);
        shmem_barrier_all();
        verify("shmem_team_split_2d (y)", columns, &column);
        shmem_barrier_all();
        shmem_team_destroy(rows);
        shmem_team_destroy(columns);
    }

    /* Configurations. */
    shmem_team_config_t config;
    memset(&config, 0xAB, sizeof config);
    config.num_contexts = 3;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    EQUAL("shmem_team_split_strided", "status", 0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team));
    shmem_team_config_t asked;
    memset(&asked, 0, sizeof asked);
    EQUAL("shmem_team_get_config", "status", 0, shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &asked));
    EQUAL("shmem_team_get_config", "num_contexts", 3, asked.num_contexts);
    shmem_ctx_t contexts[3];
    for (int i = 0; i < 3; i++)
        EQUAL("shmem_team_create_ctx", "status", 0, shmem_team_create_ctx(team, 0, &contexts[i]));
    for (int i = 0; i < 3; i++) {
        shmem_team_t of = SHMEM_TEAM_INVALID;
        EQUAL("shmem_ctx_get_team", "status", 0, shmem_ctx_get_team(contexts[i], &of));
        TRUE_THAT("shmem_ctx_get_team", of == team);
        shmem_ctx_destroy(contexts[i]);
    }
    shmem_team_destroy(team);
    memset(&asked, 0x11, sizeof asked);
    TRUE_THAT("shmem_team_get_config", shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &asked) != 0);

    /* What is invalid. */
    team = SHMEM_TEAM_WORLD;
    TRUE_THAT("shmem_team_split_strided", shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    TRUE_THAT("shmem_team_split_strided", team == SHMEM_TEAM_INVALID);
    team = SHMEM_TEAM_WORLD;
    TRUE_THAT("shmem_team_split_strided", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes + 1, NULL, 0, &team) != 0);
    TRUE_THAT("shmem_team_split_strided", team == SHMEM_TEAM_INVALID);
    shmem_barrier_all();
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    TRUE_THAT("shmem_team_split_2d", shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y) != 0);
    TRUE_THAT("shmem_team_split_2d", x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
    shmem_barrier_all();

    /* Many at once. */
    shmem_team_t many[20];
    for (int i = 0; i < 20; i++)
        EQUAL("shmem_team_split_strided", "status", 0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &many[i]));
    for (int i = 0; i < 20; i++)
        EQUAL("shmem_team_sync", "status", 0, shmem_team_sync(many[(i * 7) % 20]));
    for (int i = 0; i < 20; i++)
        shmem_team_destroy(many[i]);
    /* And many one after the other. */
    for (int i = 0; i < 100; i++) {
        EQUAL("shmem_team_split_strided", "status", 0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team));
        shmem_team_destroy(team);
    }
    return end();
}
