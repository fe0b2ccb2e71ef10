/* A variable of a library that the linker has copied into the program is one, and both see what PEs write. */
#include "check.h"

extern int shared_number;
int read_shared(void);

int main(void)
{
    shmem_init();
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    CHECK(shared_number == 11 && read_shared() == 11);
    shmem_barrier_all();
    if (shmem_addr_accessible(&shared_number, to)) {
        shmem_int_p(&shared_number, 12, to);
        shmem_barrier_all();
        CHECK(shared_number == 12 && read_shared() == 12);
        if (shmem_my_pe() == 0)
            puts("is symmetric");
    }
    shmem_finalize();
    return 0;
}
