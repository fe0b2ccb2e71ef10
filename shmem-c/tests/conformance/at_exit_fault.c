/* pes: 1 */
/* status: 1 */
/* says: shmem_my_pe: is called before shmem_init */
/* A mistake ends the process without its handlers, which could make another one. */
#include "check.h"

static void finish(void)
{
    _Exit(3);
}

int main(void)
{
    atexit(finish);
    return shmem_my_pe();
}
