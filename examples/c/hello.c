/* Every PE greets its neighbour, as hello.rs does: the shortest program that communicates.
 *
 *     oshcc hello.c -o hello
 *     oshrun -np 4 ./hello */
#include <shmem.h>
#include <stdio.h>

/* Who greeted this PE: variables of a program are symmetric. */
static long greeted_by = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_long_p(&greeted_by, me, (me + 1) % npes);
    shmem_barrier_all();
    printf("PE %d of %d: PE %ld says hello\n", me, npes, greeted_by);
    shmem_finalize();
    return 0;
}
