/* Names of shmemx.h that were extensions of other libraries before OpenSHMEM 1.6 had the routines. */
#include "check.h"

#include <shmemx.h>

static long words[12], source[12];
static uint64_t flag;

static uint64_t thread(void)
{
    return 1;
}

int main(void)
{
    int is_there = 7;
    shmemx_register_gettid(thread);
    shmemx_query_initialized(&is_there);
    EQUAL("shmemx_query_initialized", "before", 0, is_there);
    begin();
    shmemx_query_initialized(&is_there);
    TRUE_THAT("shmemx_query_initialized", is_there != 0);
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    for (int i = 0; i < 12; i++)
        source[i] = me * 100 + i;
    shmem_barrier_all();
    shmemx_long_ibput(words, source, 3, 2, 2, 3, to);
    shmemx_ctx_ibput64(SHMEM_CTX_DEFAULT, words + 9, source, 1, 1, 1, 2, to);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            EQUAL("shmemx_long_ibput", "word", from * 100 + 2 * i + k, words[3 * i + k]);
    EQUAL("shmemx_ctx_ibput64", "word", from * 100 + 1, words[10]);
    long got[12];
    shmemx_long_ibget(got, source, 2, 4, 2, 2, to);
    EQUAL("shmemx_long_ibget", "word", to * 100 + 5, got[3]);
    shmemx_ctx_long_ibget(SHMEM_CTX_DEFAULT, got, source, 2, 4, 2, 2, to);
    shmem_barrier_all();
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
    shmemx_ibget(got, source, 2, 3, 2, 2, to);
    EQUAL("shmemx_ibget", "word", to * 100 + 4, got[3]);
    shmemx_ibget(SHMEM_CTX_DEFAULT, got, source, 2, 4, 2, 2, to);
    shmemx_ibput(words, got, 1, 1, 1, 1, to);
    shmem_barrier_all();
    shmemx_sum_exscan(SHMEM_TEAM_WORLD, words, source, 1);
    EQUAL("shmemx_sum_exscan", "sum", me * (me - 1) / 2 * 100, words[0]);
#endif
    shmemx_long_sum_inscan(SHMEM_TEAM_WORLD, words, source, 1);
    EQUAL("shmemx_long_sum_inscan", "sum", me * (me + 1) / 2 * 100, words[0]);
    shmemx_long_sum_exscan(SHMEM_TEAM_WORLD, words, source, 1);
    shmemx_signal_set(&flag, 3, to);
    shmem_fence();
    shmemx_signal_add(&flag, 4, to);
    shmemx_ctx_signal_add(SHMEM_CTX_DEFAULT, &flag, 5, to);
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 12);
    EQUAL("SHMEMX_TEAM_NODE", "PEs", shmem_team_n_pes(SHMEM_TEAM_SHARED), shmem_team_n_pes(SHMEMX_TEAM_NODE));
    void *block = shmem_malloc_with_hints(100, SHMEMX_MALLOC_NO_BARRIER);
    TRUE_THAT("shmem_malloc_with_hints", block != NULL);
    shmem_free(block);
    return end();
}
