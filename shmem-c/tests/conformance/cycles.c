/* pes: 1 2 */
/* since: 1.6 */
/* env: SHMEM_STANDSTILL=0 */
/* Who waits for half a second looks for the line that it waits in, and keeps the program's debug information: how long one
 * waits for another is the machine's affair. */
/* Beginning again and again: the last end frees heap, contexts and teams, and so do those who destroy them. */
#include "check.h"

#include <dirent.h>

#define CYCLES 1000
/* Behind these, everything has been needed once. */
#define FIRST 20
/* Pages that may come: malloc takes 33 at a time. Of a leak of 300 bytes in each cycle there are 72. */
#define PAGES 40

static long word;

static long descriptors(void)
{
    long count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

/* Pages of the process's own data. */
static long pages(void)
{
    long own = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %*d %*d %*d %*d %ld", &own) != 1)
        own = 0;
    if (file)
        fclose(file);
    return own;
}

static void cycle(int number)
{
    const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED};
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    char *most = (char *)shmem_malloc((size_t)300 << 20);
    TRUE_THAT("shmem_malloc", most != NULL);
    void *aligned = shmem_align((size_t)2 << 20, 100);
    TRUE_THAT("shmem_align", aligned != NULL);
    shmem_ctx_t context, of_team;
    EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(options[number % 3], &context));
    for (int i = 0; i < 3; i++) {
        shmem_ctx_t destroyed;
        EQUAL("shmem_ctx_create", "status", 0, shmem_ctx_create(options[i], &destroyed));
        shmem_ctx_destroy(destroyed);
    }
    shmem_team_t team = SHMEM_TEAM_INVALID;
    EQUAL("shmem_team_split_strided", "status", 0,
          shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team));
    EQUAL("shmem_team_create_ctx", "status", 0, shmem_team_create_ctx(team, 0, &of_team));
    shmem_ctx_long_p(context, &word, number + me, (me + 1) % npes);
    shmem_ctx_long_atomic_inc(of_team, &word, (me + 1) % npes);
    shmem_ctx_quiet(context);
    shmem_finalize();
}

int main(void)
{
    long files = 0, memory = 0;
    for (int number = 0; number < CYCLES && !failures; number++) {
        cycle(number);
        EQUAL("shmem_finalize", "value that was put before", number + (me + npes - 1) % npes + 1, word);
        if (number == FIRST) {
            files = descriptors();
            memory = pages();
        }
    }
    EQUAL("shmem_finalize", "descriptors", files, descriptors());
    if (pages() > memory + PAGES)
        EQUAL("shmem_finalize", "pages", memory, pages());
    return failures != 0;
}
