/* Half of the program is in Rust: each side changes what the other has. */
#include "check.h"

extern long rust_number;
void rust_send(long value, int pe);
long c_number = 1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes(), from = (me + shmem_n_pes() - 1) % shmem_n_pes();
    shmem_barrier_all();
    rust_send(100 + me, to);
    shmem_long_p(&rust_number, 200 + me, to);
    shmem_barrier_all();
    CHECK(c_number == 100 + from && rust_number == 200 + from);
    shmem_finalize();
    return 0;
}
