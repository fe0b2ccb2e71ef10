/* pes: 2 3 4 5 */
/* since: 1.5 */
/* Collectives wait for who comes late with what it gives, and nobody reads any more what a PE has given when it leaves: a
 * source is written right before the call, and again right behind it. */
#include "check.h"

#include <unistd.h>

#define MOST_PES 16
/* Few, and as many as are moved where they lie. */
#define MANY 3000
#define MOST (MANY * MOST_PES)

static long source[MOST], dest[MOST], work[MANY];
static long sync_words[2][SHMEM_SYNC_SIZE];
static int turn;

/* PEs of a set, this one among them; where a team is, it is that. */
struct group {
    shmem_team_t team;
    int size, mine;
};

static long value(int pe, int k)
{
    return pe * 100003L + k;
}

/* Everyone but one is there already; then the sources are written. */
static void come(const struct group *group, int late, int count)
{
    for (int k = 0; k < MOST; k++)
        dest[k] = -1;
    if (group->mine == late)
        usleep(20000);
    for (int k = 0; k < count; k++)
        source[k] = value(group->mine, k);
}

/* Behind the call: who leaves may write again at once. */
static void leave(const struct group *group, int count)
{
    for (int k = 0; k < count; k++)
        source[k] = -2 - group->mine;
}

static long *words(void)
{
    return sync_words[turn++ % 2];
}

#define IN(group) 0, 0, (group)->size, words()

static void rounds(const struct group *group, int count)
{
    int n = group->size, is_set = group->team == SHMEM_TEAM_INVALID;
    for (int late = 0; late < n; late++) {
        int root = (late + 1) % n;
        come(group, root, count);
        if (is_set)
            shmem_broadcast64(dest, source, count, root, IN(group));
        else
            shmem_long_broadcast(group->team, dest, source, count, root);
        leave(group, count);
        for (int k = 0; k < count; k++)
            if (!is_set || group->mine != root)
                EQUAL("shmem_broadcast", "element", value(root, k), dest[k]);

        come(group, late, count);
        if (is_set)
            shmem_fcollect64(dest, source, count, IN(group));
        else
            shmem_long_fcollect(group->team, dest, source, count);
        leave(group, count);
        for (int pe = 0; pe < n; pe++)
            for (int k = 0; k < count; k++)
                EQUAL("shmem_fcollect", "element", value(pe, k), dest[pe * count + k]);

        come(group, late, count);
        if (is_set)
            shmem_collect64(dest, source, group->mine ? count : 1, IN(group));
        else
            shmem_long_collect(group->team, dest, source, group->mine ? count : 1);
        leave(group, count);
        for (int pe = 0, at = 0; pe < n; at += pe ? count : 1, pe++)
            for (int k = 0; k < (pe ? count : 1); k++)
                EQUAL("shmem_collect", "element", value(pe, k), dest[at + k]);

        come(group, late, count * n);
        if (is_set)
            shmem_alltoall64(dest, source, count, IN(group));
        else
            shmem_long_alltoall(group->team, dest, source, count);
        leave(group, count * n);
        for (int pe = 0; pe < n; pe++)
            for (int k = 0; k < count; k++)
                EQUAL("shmem_alltoall", "element", value(pe, group->mine * count + k), dest[pe * count + k]);

        come(group, late, count * n);
        if (is_set)
            shmem_alltoalls64(dest, source, 1, 1, count, IN(group));
        else
            shmem_long_alltoalls(group->team, dest, source, 1, 1, count);
        leave(group, count * n);
        for (int pe = 0; pe < n; pe++)
            for (int k = 0; k < count; k++)
                EQUAL("shmem_alltoalls", "element", value(pe, group->mine * count + k), dest[pe * count + k]);

        come(group, late, count);
        if (is_set)
            shmem_long_sum_to_all(dest, source, count, 0, 0, n, work, words());
        else
            shmem_long_sum_reduce(group->team, dest, source, count);
        leave(group, count);
        for (int k = 0; k < count; k++)
            EQUAL("shmem_sum", "element", n * (n - 1) / 2 * 100003L + (long)n * k, dest[k]);

        /* In place. */
        come(group, late, count);
        if (is_set)
            shmem_long_sum_to_all(source, source, count, 0, 0, n, work, words());
        else
            shmem_long_sum_reduce(group->team, source, source, count);
        for (int k = 0; k < count; k++)
            EQUAL("shmem_sum", "element in place", n * (n - 1) / 2 * 100003L + (long)n * k, source[k]);
        leave(group, count);
    }
}

int main(void)
{
    begin();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_words[0][i] = sync_words[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_team_t first = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes - 1, NULL, 0, &first);
    struct group world = {SHMEM_TEAM_WORLD, npes, me}, set = {SHMEM_TEAM_INVALID, npes - 1, me};
    struct group all = {SHMEM_TEAM_INVALID, npes, me}, team = {first, npes - 1, me};
    const int counts[] = {1, 5, MANY};
    for (int i = 0; i < 3; i++) {
        rounds(&world, counts[i]);
        shmem_barrier_all();
        rounds(&all, counts[i]);
        shmem_barrier_all();
        if (me < npes - 1) {
            rounds(&set, counts[i]);
            rounds(&team, counts[i]);
        }
        shmem_barrier_all();
    }
    return end();
}
