/* pes: 1 2 3 4 5 */
/* Beginning, asking, ending. */
#include "check.h"

#include <stdbool.h>

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    TRUE_THAT("shmem_n_pes", npes >= 1);
    TRUE_THAT("shmem_my_pe", me >= 0 && me < npes);
    const char *expected = getenv("EXPECTED_PES");
    if (expected)
        EQUAL("shmem_n_pes", "number of PEs", atoi(expected), npes);

    /* Every number from 0 to npes - 1 belongs to one PE. */
    static long seen[64];
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&seen[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        EQUAL("shmem_my_pe", "number told by its owner", pe + 1, seen[pe]);

    EQUAL("_my_pe", "PE", me, _my_pe());
    EQUAL("_num_pes", "PEs", npes, _num_pes());

    int major = -1, minor = -1;
    shmem_info_get_version(&major, &minor);
    EQUAL("shmem_info_get_version", "major", SHMEM_MAJOR_VERSION, major);
    EQUAL("shmem_info_get_version", "minor", SHMEM_MINOR_VERSION, minor);
    char name[SHMEM_MAX_NAME_LEN + 8];
    memset(name, 'x', sizeof name);
    shmem_info_get_name(name);
    TRUE_THAT("shmem_info_get_name", memchr(name, 0, SHMEM_MAX_NAME_LEN) != NULL);
    TRUE_THAT("shmem_info_get_name", name[SHMEM_MAX_NAME_LEN] == 'x');
    TRUE_THAT("shmem_info_get_name", strcmp(name, SHMEM_VENDOR_STRING) == 0);

    for (int pe = 0; pe < npes; pe++)
        EQUAL("shmem_pe_accessible", "PE of the job", 1, shmem_pe_accessible(pe) != 0);
    EQUAL("shmem_pe_accessible", "PE -1", 0, shmem_pe_accessible(-1));
    EQUAL("shmem_pe_accessible", "PE behind the last", 0, shmem_pe_accessible(npes));

    int provided = -1;
    shmem_query_thread(&provided);
    TRUE_THAT("shmem_query_thread", provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);

    for (int i = 0; i < 100; i++) {
        shmem_barrier_all();
        shmem_sync_all();
    }
    return end();
}
