/* pes: 1 2 */
/* since: 1.5 */
/* env: SHMEM_SYMMETRIC_SIZE=24MiB */
/* cases: malloc calloc align realloc hints alignment */
/* says: shmem_.*: no */
/* What does not fit is said once, with what was asked, what there is, and what would do. */
#include "check.h"

#include <unistd.h>

static void *ask(const char *routine, void *place)
{
    const size_t size = (size_t)20 << 20;
    switch (routine[0]) {
    case 'm':
        return shmem_malloc(size);
    case 'c':
        return shmem_calloc(size / 1024, 1024);
    case 'r':
        return shmem_realloc(place, size);
    case 'h':
        return shmem_malloc_with_hints(size, SHMEM_MALLOC_ATOMICS_REMOTE);
    default:
        return strcmp(routine, "align") ? shmem_align((size_t)1 << 40, 64) : shmem_align(4096, size);
    }
}

int main(int argc, char **argv)
{
    const char *routine = argc > 1 ? argv[1] : "malloc";
    char said[4096] = "";
    begin();
    void *place = room(8 << 20), *behind = room(64);
    /* What the library writes there. */
    int copy = dup(2);
    FILE *file = tmpfile();
    dup2(fileno(file), 2);
    TRUE_THAT("shmem_malloc", ask(routine, place) == NULL);
    TRUE_THAT("shmem_malloc", ask(routine, place) == NULL);
    dup2(copy, 2);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fputs(said, stderr);
    const char *line = strchr(said, '\n');
    TRUE_THAT("stderr", line != NULL && line[1] == 0);
    if (!strcmp(routine, "alignment"))
        TRUE_THAT("shmem_align", strstr(said, "the largest is 2M") != NULL);
    else
        TRUE_THAT("stderr", strstr(said, "no room for 20M") != NULL && strstr(said, "has 24M") != NULL &&
                                strstr(said, "set SHMEM_SYMMETRIC_SIZE=") != NULL);
    shmem_free(place);
    shmem_free(behind);
    return end();
}
