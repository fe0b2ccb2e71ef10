/* A gigabyte that nobody touches takes no memory. */
#include "check.h"
#include <string.h>

static char large[(size_t)1 << 30];
static char after = 3;

static long kilobytes(const char *what)
{
    char line[200];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            found = atol(line + strlen(what));
    if (status != NULL)
        fclose(status);
    return found;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), to = (me + 1) % shmem_n_pes();
    shmem_char_p(&large[sizeof large - 1], (char)(me + 1), to);
    shmem_barrier_all();
    CHECK(large[sizeof large - 1] == (me + shmem_n_pes() - 1) % shmem_n_pes() + 1 && after == 3);
    CHECK(kilobytes("RssShmem:") < 64 << 10 && kilobytes("VmRSS:") < 256 << 10);
    shmem_finalize();
    return 0;
}
