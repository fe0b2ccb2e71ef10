/* pes: 1 3 5 */
/* since: 1.5 */
/* Members of a team that name different sets when they split it: each is in a team of those that have named the same. */
#include "check.h"

static long sum, value;

static void check_team(shmem_team_t team, int size, int rank, long expected)
{
    TRUE_THAT("shmem_team_split_strided", team != SHMEM_TEAM_INVALID);
    EQUAL("shmem_team_n_pes", "PEs", size, shmem_team_n_pes(team));
    EQUAL("shmem_team_my_pe", "number", rank, shmem_team_my_pe(team));
    if (team == SHMEM_TEAM_INVALID)
        return;
    value = me + 1;
    shmem_long_sum_reduce(team, &sum, &value, 1);
    EQUAL("shmem_long_sum_reduce", "sum", expected, sum);
    shmem_team_destroy(team);
}

int main(void)
{
    begin();
    shmem_team_t team;
    /* Everybody alone. */
    EQUAL("shmem_team_split_strided", "result", 0,
          shmem_team_split_strided(SHMEM_TEAM_WORLD, me, 1, 1, NULL, 0, &team));
    check_team(team, 1, 0, me + 1);
    /* The first ones and the others. */
    int first = npes / 2, start = me < first ? 0 : first, size = me < first ? first : npes - first;
    EQUAL("shmem_team_split_strided", "result", 0,
          shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team));
    long expected = 0;
    for (int pe = start; pe < start + size; pe++)
        expected += pe + 1;
    check_team(team, size, me - start, expected);
    /* Even and odd ones, from the last one down. */
    int last = (npes - 1 - me) % 2 ? npes - 2 : npes - 1;
    EQUAL("shmem_team_split_strided", "result", 0,
          shmem_team_split_strided(SHMEM_TEAM_WORLD, last, -2, last / 2 + 1, NULL, 0, &team));
    expected = 0;
    for (int pe = last; pe >= 0; pe -= 2)
        expected += pe + 1;
    check_team(team, last / 2 + 1, (last - me) / 2, expected);
    /* What cannot be, on all of them. */
    TRUE_THAT("shmem_team_split_strided", shmem_team_split_strided(SHMEM_TEAM_WORLD, npes, 1, 1, NULL, 0, &team) != 0);
    TRUE_THAT("shmem_team_split_strided", team == SHMEM_TEAM_INVALID);
    TRUE_THAT("shmem_team_split_strided", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 0, NULL, 0, &team) != 0);
    TRUE_THAT("shmem_team_split_strided", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes + 1, NULL, 0, &team) != 0);
    return end();
}
