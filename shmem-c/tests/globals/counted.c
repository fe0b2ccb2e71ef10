/* A counter of signals says how many chunks have come, and not which; flags say which. */
#include <shmem.h>
#include <string.h>

static long chunk[8][100], from[8][100];
static uint64_t count, sent, flags[2];

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "steps";
    shmem_init();
    if (shmem_my_pe() == 0) {
        for (int k = 0; k < 8; k++) {
            shmem_long_put_signal_nbi(chunk[k], from[k], 100, &count, 1, SHMEM_SIGNAL_ADD, 1);
            if (strcmp(how, "fenced") == 0)
                shmem_fence();
        }
        shmem_uint64_atomic_set(&sent, 1, 1);
        shmem_fence();
        shmem_uint64_atomic_set(&flags[1], 1, 1);
    } else if (strcmp(how, "flags") == 0) {
        shmem_uint64_wait_until_any(flags, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_long_get(from[0], chunk[0], 800, 1);
    } else {
        shmem_signal_wait_until(&sent, SHMEM_CMP_EQ, 1);
        if (strcmp(how, "some, then all") == 0)
            shmem_signal_wait_until(&count, SHMEM_CMP_GE, 4);
        for (uint64_t k = strcmp(how, "some, then all") ? 1 : 8; k <= 8; k++)
            shmem_signal_wait_until(&count, SHMEM_CMP_GE, k);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
