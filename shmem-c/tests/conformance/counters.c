/* pes: 1 2 3 */
/* env: SHMEM_STATS=1 */
/* says: statistics */
/* Counters of operations as another library names them, in a job that counts; all are 0 in others. Statistics are printed at
 * the end. */
#include "check.h"

#include <shmemx.h>

static long words[4];

static void counted(const char *name, uint64_t expected, uint64_t now, uint64_t before)
{
    EQUAL(name, "calls", (long)expected, (long)(now - before));
}

int main(void)
{
    begin();
    int to = (me + 1) % npes;
    long sent = 0, got = 0;
    uint64_t value;
    shmemx_pcntr_t before, now;
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_barrier_all();
    shmemx_pcntr_get_all(ctx, &before);
    for (int i = 0; i < 3; i++)
        shmem_putmem(words + 1, &sent, sizeof sent, to);
    shmem_ctx_putmem_nbi(ctx, words + 1, &sent, sizeof sent, to);
    shmem_long_p(words + 2, 5, to);
    shmem_long_atomic_add(words, 1, to);
    shmem_ctx_long_get(ctx, &got, words + 3, 1, to);
    got = shmem_long_g(words + 3, to);
    got = shmem_long_atomic_fetch_add(words, 1, to);
    shmemx_pcntr_get_issued_write(ctx, &value);
    counted("shmemx_pcntr_get_issued_write", 6, value, before.pending_put);
    shmemx_pcntr_get_issued_read(ctx, &value);
    counted("shmemx_pcntr_get_issued_read", 3, value, before.pending_get);
    shmemx_pcntr_get_completed_write(SHMEM_CTX_DEFAULT, &value);
    shmemx_pcntr_get_completed_put(ctx, &value);
    counted("shmemx_pcntr_get_completed_write", 6, value, before.completed_put);
    shmemx_pcntr_get_completed_get(ctx, &value);
    counted("shmemx_pcntr_get_completed_read", 3, value, before.completed_get);
    shmemx_pcntr_get_completed_target(&value);
    EQUAL("shmemx_pcntr_get_completed_target", "calls", 0, (long)value);
    shmemx_pcntr_get_all(ctx, &now);
    counted("shmemx_pcntr_get_all", 6, now.completed_put, before.completed_put);
    counted("shmemx_pcntr_get_all", 3, now.completed_get, before.completed_get);
    EQUAL("shmemx_pcntr_get_all", "pending", (long)now.completed_put, (long)now.pending_put);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    return end();
}
