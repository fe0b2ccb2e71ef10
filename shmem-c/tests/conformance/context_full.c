/* pes: 1 2 */
/* env: SHMEM_MAX_RESOURCES=4 */
/* says: shmem_ctx_create: no context: . of . endpoints of this PE are in use; .*SHMEM_CONTEXT_SHARING=efficient */
/* Contexts that need something of which there is too little are refused, and the first time it is said. */
#include "check.h"

int main(void)
{
    begin();
    shmem_ctx_t contexts[4];
    int made = 0;
    while (made < 4 && shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[made]) == 0)
        made++;
    TRUE_THAT("shmem_ctx_create", made < 4 && contexts[made] == SHMEM_CTX_INVALID);
    while (made > 0)
        shmem_ctx_destroy(contexts[--made]);
    return end();
}
