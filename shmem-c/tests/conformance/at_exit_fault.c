/* pes: 1 */
/* status: 1 */
/* says: shmem_my_pe: is called before shmem_init */
/* A mistake whose end runs a handler that makes another one: the first is told, and is the status. */
#include "check.h"

static void finish(void)
{
    shmem_finalize();
}

int main(void)
{
    atexit(finish);
    return shmem_my_pe();
}
