/* pes: 1 2 3 */
/* since: 1.5 */
/* The profiling interface: a program's shmem_ routines take the place of the library's, and call their pshmem_ twins. */
#include "check.h"

#include <pshmem.h>

static long puts_, barriers, inits, adds, reductions;

void shmem_init(void)
{
    inits++;
    pshmem_init();
}

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers++;
    pshmem_barrier_all();
}

void shmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    adds++;
    pshmem_ctx_int_atomic_add(ctx, dest, value, pe);
}

int shmem_double_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce)
{
    reductions++;
    return pshmem_double_sum_reduce(team, dest, source, nreduce);
}

static long words[4];
static int number;
static double sum, one = 1.5;

int main(void)
{
    shmem_pcontrol(1);
    begin();
    long mine[4] = {me, me + 1, me + 2, me + 3};
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    shmem_long_put(words, mine, 4, to);
    /* The generic form is the typed one. */
    shmem_put(words, (const long *)mine, 4, to);
    shmem_atomic_add(SHMEM_CTX_DEFAULT, &number, 5, to);
    shmem_ctx_int_atomic_add(SHMEM_CTX_DEFAULT, &number, 5, to);
    shmem_barrier_all();
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    pshmem_barrier_all();
    for (int i = 0; i < 4; i++)
        EQUAL("shmem_long_put", "value", from + i, words[i]);
    EQUAL("shmem_ctx_int_atomic_add", "value", 10, number);
    EQUAL("shmem_double_sum_reduce", "twice the sum", 3 * npes, 2 * sum);
    EQUAL("shmem_init", "calls of the program's own", 1, inits);
    EQUAL("shmem_long_put", "calls of the program's own", 2, puts_);
    EQUAL("shmem_barrier_all", "calls of the program's own", 1, barriers);
    EQUAL("shmem_ctx_int_atomic_add", "calls of the program's own", 2, adds);
    EQUAL("shmem_double_sum_reduce", "calls of the program's own", 1, reductions);
    EQUAL("pshmem_my_pe", "PE", me, pshmem_my_pe());
    EQUAL("pshmem_long_g", "value", me + 2, pshmem_long_g(&words[2], to));
    shmem_pcontrol(0);
    shmem_pcontrol(2, "more", 3);
    return end();
}
