/* pes: 1 */
/* since: 1.6 */
/* Constants: all are there, are constant expressions where programs need that, and differ where they must. */
#include "check.h"

/* Sizes of arrays, and labels. */
long barrier_sync[SHMEM_BARRIER_SYNC_SIZE], bcast_sync[SHMEM_BCAST_SYNC_SIZE], reduce_sync[SHMEM_REDUCE_SYNC_SIZE];
long collect_sync[SHMEM_COLLECT_SYNC_SIZE], alltoall_sync[SHMEM_ALLTOALL_SYNC_SIZE], alltoalls_sync[SHMEM_ALLTOALLS_SYNC_SIZE];
long any_sync[SHMEM_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
long old[_SHMEM_BARRIER_SYNC_SIZE + _SHMEM_BCAST_SYNC_SIZE + _SHMEM_REDUCE_SYNC_SIZE + _SHMEM_COLLECT_SYNC_SIZE + _SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long initial[2] = {SHMEM_SYNC_VALUE, _SHMEM_SYNC_VALUE};
char name[SHMEM_MAX_NAME_LEN + _SHMEM_MAX_NAME_LEN];
static const char vendor[] = SHMEM_VENDOR_STRING, old_vendor[] = _SHMEM_VENDOR_STRING;
static shmem_ctx_t context = SHMEM_CTX_INVALID;
static shmem_team_t team = SHMEM_TEAM_INVALID;

#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION < 5
#error "SHMEM_MAJOR_VERSION and SHMEM_MINOR_VERSION"
#endif
#if _SHMEM_MAJOR_VERSION != SHMEM_MAJOR_VERSION || _SHMEM_MINOR_VERSION != SHMEM_MINOR_VERSION
#error "_SHMEM_MAJOR_VERSION and _SHMEM_MINOR_VERSION"
#endif

static int name_of(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ:
        return 1;
    case SHMEM_CMP_NE:
        return 2;
    case SHMEM_CMP_GT:
        return 3;
    case SHMEM_CMP_GE:
        return 4;
    case SHMEM_CMP_LT:
        return 5;
    case SHMEM_CMP_LE:
        return 6;
    default:
        return 0;
    }
}

static int level(int value)
{
    switch (value) {
    case SHMEM_THREAD_SINGLE:
        return 1;
    case SHMEM_THREAD_FUNNELED:
        return 2;
    case SHMEM_THREAD_SERIALIZED:
        return 3;
    case SHMEM_THREAD_MULTIPLE:
        return 4;
    default:
        return 0;
    }
}

static int signal_op(int value)
{
    switch (value) {
    case SHMEM_SIGNAL_SET:
        return 1;
    case SHMEM_SIGNAL_ADD:
        return 2;
    default:
        return 0;
    }
}

int main(void)
{
    EQUAL("SHMEM_CMP", "old names", 1, name_of(_SHMEM_CMP_EQ));
    EQUAL("SHMEM_CMP", "old names", 2, name_of(_SHMEM_CMP_NE));
    EQUAL("SHMEM_CMP", "old names", 3, name_of(_SHMEM_CMP_GT));
    EQUAL("SHMEM_CMP", "old names", 4, name_of(_SHMEM_CMP_GE));
    EQUAL("SHMEM_CMP", "old names", 5, name_of(_SHMEM_CMP_LT));
    EQUAL("SHMEM_CMP", "old names", 6, name_of(_SHMEM_CMP_LE));
    EQUAL("SHMEM_THREAD", "levels", 4, level(SHMEM_THREAD_MULTIPLE));
    TRUE_THAT("SHMEM_THREAD", SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED && SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE);
    EQUAL("SHMEM_SIGNAL", "operations", 2, signal_op(SHMEM_SIGNAL_ADD));
    const long options[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    const long hints[] = {SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            TRUE_THAT("SHMEM_CTX", options[i] != 0 && (i == j || (options[i] & options[j]) == 0));
    TRUE_THAT("SHMEM_MALLOC", hints[0] != 0 && hints[1] != 0 && (hints[0] & hints[1]) == 0);
    const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            TRUE_THAT("SHMEM_TEAM", teams[i] != teams[j]);
    TRUE_THAT("SHMEM_CTX", SHMEM_CTX_DEFAULT != SHMEM_CTX_INVALID);
    TRUE_THAT("SHMEM_TEAM", SHMEM_TEAM_NUM_CONTEXTS != 0);
    TRUE_THAT("SHMEM_CTX_SESSION", SHMEM_CTX_SESSION_BATCH != 0 && SHMEM_CTX_SESSION_TOTAL_OPS != 0);
    TRUE_THAT("SHMEM_MAX_NAME_LEN", sizeof vendor <= SHMEM_MAX_NAME_LEN && strcmp(vendor, old_vendor) == 0);
    EQUAL("_SHMEM_SYNC_VALUE", "value", SHMEM_SYNC_VALUE, initial[1]);
    /* One work array serves all. */
    const size_t sizes[] = {sizeof barrier_sync, sizeof bcast_sync, sizeof reduce_sync, sizeof collect_sync, sizeof alltoall_sync, sizeof alltoalls_sync};
    for (int i = 0; i < 6; i++)
        TRUE_THAT("SHMEM_SYNC_SIZE", sizes[i] <= sizeof any_sync);
    (void)work, (void)old, (void)name, (void)context, (void)team;
    begin();
    return end();
}
