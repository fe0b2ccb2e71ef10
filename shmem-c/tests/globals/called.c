/* Calls of one routine from several lines, each many times, by turns. */
#include <shmem.h>

static long word;

__attribute__((noinline)) static void below(int levels)
{
    if (levels > 0)
        below(levels - 1);
    shmem_long_p(&word, levels, 0);
}

int main(void)
{
    shmem_init();
    for (int round = 0; round < 10; round++) {
        shmem_long_p(&word, 1, 0);
        below(round % 2);
        shmem_long_p(&word, 2, 0);
    }
    shmem_finalize();
    return 0;
}
