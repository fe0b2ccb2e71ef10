/* The collectives of team_body.h over the world, over halves of it in other orders, and over a team of one. */
#include "check.h"

#define MOST_PES 8
#define ROOM (MOST_PES * 31 * 3 + 1)
/* How many elements a member gives to collect: some none. */
#define COUNT(member, n) ((member) % 3 == 2 ? 0 : (size_t)(member) + (n))

static shmem_team_t team;
static int members[MOST_PES], size, place;

/* Whether this PE is in it. */
static int take(shmem_team_t other)
{
    team = other;
    if (other == SHMEM_TEAM_INVALID)
        return 0;
    size = shmem_team_n_pes(team);
    place = shmem_team_my_pe(team);
    for (int i = 0; i < size; i++)
        members[i] = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    return 1;
}
