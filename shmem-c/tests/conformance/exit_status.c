/* pes: 1 3 */
/* status: nonzero */
/* A job whose PE ends main with another status than 0 has another status than 0. */
#include "check.h"

int main(void)
{
    begin();
    shmem_finalize();
    return me == npes - 1 ? 5 : 0;
}
