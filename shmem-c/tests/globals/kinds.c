/* What of an executable is symmetric, and what is not: globals are, thread-local variables, those of functions and
 * constants are not; constants are read all the same. */
#include "check.h"

int written = 42;
static long zeros[1000];
const int constant = 7;
static const char *const words[2] = {"one", "two"};
static __thread int local_to_thread = 5;
static int constructed;

__attribute__((constructor)) static void before_main(void)
{
    constructed = 77;
    written++;
}

int main(void)
{
    int local = 0;
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes(), from = (me + shmem_n_pes() - 1) % shmem_n_pes();
    CHECK(written == 43 && constructed == 77 && zeros[500] == 0);
    CHECK(shmem_addr_accessible(&written, to) && shmem_addr_accessible(zeros, to));
    CHECK(shmem_addr_accessible(&zeros[999], to) && shmem_addr_accessible(&constructed, to));
    CHECK(!shmem_addr_accessible(&local_to_thread, to) && !shmem_addr_accessible(&local, to));
    CHECK(shmem_ptr(&written, me) == &written);
    CHECK(shmem_int_g(&constant, to) == 7);
    shmem_barrier_all();

    int *there = (int *)shmem_ptr(&written, to);
    if (there != NULL)
        *there = 1000 + me;
    else
        shmem_int_p(&written, 1000 + me, to);
    shmem_long_p(&zeros[999], me, to);
    shmem_long_atomic_add(&zeros[0], me + 1, 0);
    shmem_barrier_all();
    CHECK(written == 1000 + from && zeros[999] == from && zeros[998] == 0);
    if (me == 0)
        CHECK(zeros[0] == (long)shmem_n_pes() * (shmem_n_pes() + 1) / 2);
    CHECK(local_to_thread == 5 && words[1][0] == 't');
    shmem_finalize();
    return 0;
}
