/* pes: 1 2 4 */
/* since: 1.6 */
/* shmem_team_ptr: numbers of the team. */
#include "check.h"

static long word;

int main(void)
{
    begin();
    word = me * 10;
    shmem_barrier_all();
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team);
    for (int i = 0; i < npes; i++) {
        int pe = npes - 1 - i;
        long *there = (long *)shmem_team_ptr(team, &word, i), *same = (long *)shmem_ptr(&word, pe);
        TRUE_THAT("shmem_team_ptr", there == same);
        if (there)
            EQUAL("shmem_team_ptr", "value", pe * 10, *there);
        TRUE_THAT("shmem_team_ptr", shmem_team_ptr(SHMEM_TEAM_WORLD, &word, pe) == (void *)same);
    }
    TRUE_THAT("shmem_team_ptr", shmem_team_ptr(SHMEM_TEAM_INVALID, &word, 0) == NULL);
    shmem_team_destroy(team);
    return end();
}
