/* Who was forked may begin a job, with globals of its own. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static long number = 1;

int main(void)
{
    number = 2;
    pid_t child = fork();
    if (child == 0) {
        number = 3;
        shmem_init();
        shmem_long_p(&number, 4, shmem_my_pe());
        shmem_quiet();
        CHECK(number == 4 && shmem_addr_accessible(&number, shmem_my_pe()));
        shmem_finalize();
        return 0;
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && number == 2);
    return 0;
}
