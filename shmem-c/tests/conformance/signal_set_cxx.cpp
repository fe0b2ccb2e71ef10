/* pes: 2 */
/* since: 1.6 */
/* shmem_signal_set and shmem_signal_add: without a context, on one, and by overloads of C++. */
#include "check.h"

static uint64_t flags[4];

int main()
{
    begin();
    shmem_ctx_t context;
    EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(0, &context));
    for (int pe = 0; pe < npes; pe++) {
        shmem_signal_add(&flags[0], (uint64_t)me + 1, pe);
        shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &flags[0], 10, pe);
        shmem_ctx_signal_add(context, &flags[0], 100, pe);
        shmem_signal_add(context, &flags[0], 1000, pe);
    }
    uint64_t sum = (uint64_t)(npes * (npes + 1) / 2 + 1110 * npes);
    shmem_ctx_quiet(context);
    shmem_quiet();
    EQUAL("shmem_signal_add", "sum", sum, shmem_signal_wait_until(&flags[0], SHMEM_CMP_GE, sum));
    shmem_barrier_all();
    EQUAL("shmem_signal_add", "sum", sum, shmem_signal_fetch(&flags[0]));
    int to = (me + 1) % npes;
    shmem_signal_set(&flags[1], UINT64_MAX, to);
    EQUAL("shmem_signal_set", "value", -1, shmem_signal_wait_until(&flags[1], SHMEM_CMP_NE, 0));
    shmem_ctx_signal_set(context, &flags[2], 5, to);
    EQUAL("shmem_ctx_signal_set", "value", 5, shmem_signal_wait_until(&flags[2], SHMEM_CMP_NE, 0));
    shmem_signal_set(SHMEM_CTX_DEFAULT, &flags[3], 6, to);
    EQUAL("shmem_signal_set (context)", "value", 6, shmem_signal_wait_until(&flags[3], SHMEM_CMP_NE, 0));
    shmem_ctx_quiet(context);
    shmem_ctx_destroy(context);
    return end();
}
