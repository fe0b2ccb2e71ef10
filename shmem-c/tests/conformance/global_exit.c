/* pes: 1 2 4 */
/* status: 7 */
/* cases: plain printed=unfinished handler */
/* shmem_global_exit ends all PEs with its status: also those that wait for it in vain. What the calling one has printed is there; a
 * handler of the exit may call it, too. */
#include "check.h"

static long never;

static void finish(void)
{
    shmem_global_exit(7);
}

int main(int argc, char **argv)
{
    begin();
    shmem_barrier_all();
    if (me == npes - 1 && argc == 2) {
        if (strcmp(argv[1], "printed") == 0)
            printf("unfinished");
        if (strcmp(argv[1], "handler") == 0) {
            atexit(finish);
            return 0;
        }
        shmem_global_exit(7);
    }
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    return 3;
}
