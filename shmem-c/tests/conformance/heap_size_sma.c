/* pes: 1 2 */
/* since: 1.5 */
/* says: shmem_malloc: no room for 20M.* set SHMEM_SYMMETRIC_SIZE= */
/* env: SMA_SYMMETRIC_SIZE=25165824 */
/* The symmetric heap has the size that the older name in the environment says; what does not fit gives NULL,
 * and the program goes on. */
#include "check.h"

int main(void)
{
    begin();
    char *large = (char *)shmem_malloc((size_t)20 << 20);
    TRUE_THAT("shmem_malloc", large != NULL);
    TRUE_THAT("shmem_malloc", shmem_malloc((size_t)20 << 20) == NULL);
    TRUE_THAT("shmem_align", shmem_align(4096, (size_t)1 << 30) == NULL);
    TRUE_THAT("shmem_calloc", shmem_calloc((size_t)1 << 20, 1024) == NULL);
    if (large)
        memset(large, me + 1, (size_t)20 << 20);
    shmem_barrier_all();
    if (large)
        EQUAL("shmem_char_g", "last byte", (me + 1) % npes + 1, shmem_char_g(&large[((size_t)20 << 20) - 1], (me + 1) % npes));
    shmem_barrier_all();
    /* A realloc that fails leaves what there was. */
    TRUE_THAT("shmem_realloc", shmem_realloc(large, (size_t)1 << 30) == NULL);
    if (large)
        EQUAL("shmem_realloc", "contents", me + 1, large[12345]);
    shmem_free(large);
    large = (char *)shmem_malloc((size_t)20 << 20);
    TRUE_THAT("shmem_free", large != NULL);
    return end();
}
