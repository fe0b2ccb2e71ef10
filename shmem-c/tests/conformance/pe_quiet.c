/* pes: 1 2 4 */
/* since: 1.6 */
/* shmem_pe_quiet and shmem_ctx_pe_quiet: what went to that PE is complete. */
#include "check.h"

static long value[8], go;

int main(void)
{
    begin();
    shmem_ctx_t context;
    EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(0, &context));
    for (long round = 1; round <= 100; round++) {
        if (me == 0) {
            for (int pe = 0; pe < npes; pe++) {
                long mine[8];
                for (int i = 0; i < 8; i++)
                    mine[i] = round * 10 + i;
                if (round % 2) {
                    shmem_long_put_nbi(value, mine, 8, pe);
                    shmem_pe_quiet(pe);
                } else {
                    shmem_ctx_long_put_nbi(context, value, mine, 8, pe);
                    shmem_ctx_pe_quiet(context, pe);
                }
                for (int i = 0; i < 8; i++)
                    EQUAL("shmem_pe_quiet", "value", round * 10 + i, shmem_long_g(&value[i], pe));
                shmem_long_atomic_set(&go, round, pe);
                shmem_pe_quiet(pe);
            }
        }
        shmem_long_wait_until(&go, SHMEM_CMP_GE, round);
        for (int i = 0; i < 8; i++)
            EQUAL("shmem_pe_quiet", "value", round * 10 + i, value[i]);
        shmem_barrier_all();
    }
    shmem_pe_quiet(me);
    shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, npes - 1);
    shmem_ctx_destroy(context);
    return end();
}
