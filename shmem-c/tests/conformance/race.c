/* pes: 2 */
/* status: nonzero */
/* env: SHMEM_CHECK=1 */
/* cases: buffer=`shmem_get`.at.*race.c:18.writes.a.buffer.that.PE.[01].in.`shmem_put_nbi`.at.*race.c:17 word=`shmem_p`.at.*race.c:20.and.PE.[01].in.`shmem_p`.at.*race.c:20 */
/* Mistakes that checked mode finds are told with the program's lines. (Traces: tests/globals.) */
#include <shmem.h>
#include <string.h>

static long words[4];

int main(int argc, char **argv)
{
    long sent = 1;
    shmem_init();
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    if (argc > 1 && strcmp(argv[1], "buffer") == 0) {
        shmem_putmem_nbi(words + 1, &sent, sizeof sent, to);
        shmem_long_get(&sent, words, 1, to);
    } else if (argc == 1 || strcmp(argv[1], "word") == 0) {
        shmem_long_p(words + 2, 5, 0);
    } else {
        shmem_long_p(words + 2, 5, shmem_n_pes());
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
