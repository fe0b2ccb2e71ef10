/* pes: 1 3 */
/* The program goes on after shmem_finalize: globals, private memory and files are its own. */
#include "check.h"

static long words[1000];
static char text[100] = "initial";

int main(void)
{
    begin();
    shmem_long_p(&words[5], me + 1, (me + 1) % npes);
    shmem_barrier_all();
    shmem_finalize();
    EQUAL("shmem_finalize", "global", (me + npes - 1) % npes + 1, words[5]);
    words[6] = 17;
    strcat(text, " and more");
    char *place = (char *)malloc(1000);
    strcpy(place, text);
    TRUE_THAT("shmem_finalize", words[6] == 17 && strcmp(place, "initial and more") == 0);
    free(place);
    return failures != 0;
}
