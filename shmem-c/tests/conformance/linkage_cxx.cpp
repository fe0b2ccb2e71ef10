/* pes: 1 2 */
/* Headers in C++ where everything is given C's linkage, as programs do with headers of C. */
extern "C" {
#include <shmem.h>
#include <mpp/shmem.h>
}

static long word;

int main()
{
    shmem_init();
    shmem_p(&word, 5L, shmem_my_pe());
    shmem_long_p(&word, shmem_g(&word, shmem_my_pe()) + 1, shmem_my_pe());
    int failed = shmem_long_g(&word, shmem_my_pe()) != 6;
    shmem_finalize();
    return failed;
}
