/* pes: 1 2 3 */
/* since: 1.6 */
/* Sessions: hints that change nothing of what operations mean. */
#include "check.h"

#define COUNT 100

static long words[COUNT], sum;

static void work(shmem_ctx_t context, long round)
{
    int to = (me + 1) % npes;
    long got[COUNT];
    for (int i = 0; i < COUNT; i++) {
        shmem_ctx_long_p(context, &words[i], round * 1000 + i, to);
        shmem_ctx_long_atomic_inc(context, &sum, to);
    }
    shmem_ctx_quiet(context);
    for (int i = 0; i < COUNT; i++)
        shmem_ctx_long_get_nbi(context, &got[i], &words[i], 1, to);
    shmem_ctx_quiet(context);
    for (int i = 0; i < COUNT; i++)
        EQUAL("shmem_ctx_long_get_nbi", "value in a session", round * 1000 + i, got[i]);
}

int main(void)
{
    begin();
    shmem_ctx_t own;
    EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(0, &own));
    const shmem_ctx_t contexts[2] = {SHMEM_CTX_DEFAULT, own};
    shmem_ctx_session_config_t config;
    config.total_ops = 3 * COUNT;
    long round = 0;
    for (int i = 0; i < 2; i++) {
        shmem_ctx_session_start(contexts[i], SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        work(contexts[i], ++round);
        /* Within a session: options are added, values replaced. */
        config.total_ops = 7;
        shmem_ctx_session_start(contexts[i], 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        work(contexts[i], ++round);
        shmem_ctx_session_start(contexts[i], SHMEM_CTX_SESSION_BATCH, &config, 0);
        work(contexts[i], ++round);
        shmem_ctx_session_stop(contexts[i]);
        work(contexts[i], ++round);
        shmem_ctx_session_start(contexts[i], SHMEM_CTX_SESSION_BATCH, NULL, 0);
        work(contexts[i], ++round);
        shmem_barrier_all();
        shmem_ctx_session_stop(contexts[i]);
    }
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    shmem_barrier_all();
    EQUAL("shmem_ctx_long_atomic_inc", "sum", round * COUNT, sum);
    shmem_ctx_destroy(own);
    return end();
}
