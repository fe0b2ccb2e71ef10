/* pes: 1 2 4 */
/* since: 1.6 */
/* shmem_pe_quiet and shmem_ctx_pe_quiet: what went to those PEs is complete. */
#include "check.h"

static long value[8], go, told[64], told_on_context[64];

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
                    shmem_pe_quiet(&pe, 1);
                } else {
                    shmem_ctx_long_put_nbi(context, value, mine, 8, pe);
                    shmem_ctx_pe_quiet(context, &pe, 1);
                }
                for (int i = 0; i < 8; i++)
                    EQUAL("shmem_pe_quiet", "value", round * 10 + i, shmem_long_g(&value[i], pe));
                shmem_long_atomic_set(&go, round, pe);
                shmem_pe_quiet(&pe, 1);
            }
        }
        shmem_long_wait_until(&go, SHMEM_CMP_GE, round);
        for (int i = 0; i < 8; i++)
            EQUAL("shmem_pe_quiet", "value", round * 10 + i, value[i]);
        shmem_barrier_all();
    }
    /* Several at once, and none. */
    int all[64];
    for (int pe = 0; pe < npes; pe++) {
        all[npes - 1 - pe] = pe;
        shmem_long_p(&told[me], me + 1, pe);
        shmem_ctx_long_p(context, &told_on_context[me], me + 1, pe);
    }
    shmem_pe_quiet(all, (size_t)npes);
    shmem_ctx_pe_quiet(context, all, (size_t)npes);
    shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all, 1);
    shmem_pe_quiet(NULL, 0);
    for (int pe = 0; pe < npes; pe++) {
        EQUAL("shmem_pe_quiet", "value", me + 1, shmem_long_g(&told[me], pe));
        EQUAL("shmem_ctx_pe_quiet", "value", me + 1, shmem_long_g(&told_on_context[me], pe));
    }
    shmem_ctx_destroy(context);
    return end();
}
