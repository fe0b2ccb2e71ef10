/* pes: 1 2 3 5 */
/* since: 1.5 */
/* broadcast, collect, fcollect, alltoall and alltoalls of teams: all types, typed and generic, and by bytes. */
#include "team_collective.h"

#define TYPES RMA_TYPES
#define NO_CONTEXT
#define BODY "team_body.h"
#include "forms.h"

static unsigned char dest[8 * 100 * 3], source[8 * 100 * 3];

static void bytes(void)
{
    const size_t n = 13;
    for (size_t i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)value_of(me, 3, i);
        dest[i] = 0;
    }
    shmem_team_sync(team);
    EQUAL("shmem_broadcastmem", "status", 0, shmem_broadcastmem(team, dest, source, 100, size - 1));
    for (size_t i = 0; i < 101; i++)
        SAME(unsigned char, "shmem_broadcastmem", i, i < 100 ? (unsigned char)value_of(members[size - 1], 3, i) : 0, dest[i]);
    shmem_team_sync(team);
    EQUAL("shmem_fcollectmem", "status", 0, shmem_fcollectmem(team, dest, source, n));
    for (size_t i = 0; i < n * (size_t)size; i++)
        SAME(unsigned char, "shmem_fcollectmem", i, value_of(members[i / n], 3, i % n), dest[i]);
    shmem_team_sync(team);
    EQUAL("shmem_collectmem", "status", 0, shmem_collectmem(team, dest, source, COUNT(place, n)));
    for (size_t p = 0, at = 0; p < (size_t)size; p++)
        for (size_t i = 0; i < COUNT(p, n); i++, at++)
            SAME(unsigned char, "shmem_collectmem", at, value_of(members[p], 3, i), dest[at]);
    shmem_team_sync(team);
    EQUAL("shmem_alltoallmem", "status", 0, shmem_alltoallmem(team, dest, source, n));
    for (size_t i = 0; i < n * (size_t)size; i++)
        SAME(unsigned char, "shmem_alltoallmem", i, value_of(members[i / n], 3, (uint64_t)place * n + i % n), dest[i]);
    memset(dest, 9, sizeof dest);
    shmem_team_sync(team);
    EQUAL("shmem_alltoallsmem", "status", 0, shmem_alltoallsmem(team, dest, source, 2, 3, n));
    for (size_t i = 0; i < n * (size_t)size; i++) {
        SAME(unsigned char, "shmem_alltoallsmem", 2 * i, value_of(members[i / n], 3, ((uint64_t)place * n + i % n) * 3), dest[2 * i]);
        SAME(unsigned char, "shmem_alltoallsmem", 2 * i + 1, 9, dest[2 * i + 1]);
    }
    shmem_team_sync(team);
}

int main(void)
{
    begin();
    take(SHMEM_TEAM_WORLD);
    all_forms();
    bytes();
    shmem_barrier_all();
    /* Every other PE; and all but PE 0. */
    shmem_team_t teams[3] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &teams[0]);
    if (npes > 1)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &teams[1]);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, 1, 1, NULL, 0, &teams[2]);
    for (int i = 0; i < 3; i++) {
        if (take(teams[i])) {
            bytes();
            typed_all();
        }
    }
    return end();
}
