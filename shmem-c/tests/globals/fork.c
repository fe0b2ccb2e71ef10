/* The child of a fork has globals of its own, and so has its child; a program that it executes has nothing of them. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int number = 50;
static char zeros[1 << 20];

static int ends(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return number == 50 ? 0 : 1;
    for (int started = 0; started < 2; started++) {
        if (started)
            shmem_init();
        number = 60;
        zeros[7] = 'p';
        pid_t child = fork();
        if (child == 0) {
            if (number != 60 || zeros[7] != 'p' || zeros[99999] != 0)
                _exit(2);
            number = 61;
            zeros[7] = 'c';
            zeros[99999] = 'c';
            pid_t grandchild = fork();
            if (grandchild == 0) {
                number = 62;
                _exit(zeros[7] == 'c' ? 0 : 3);
            }
            if (ends(grandchild) != 0 || number != 61)
                _exit(4);
            execl("/proc/self/exe", argv[0], "again", (char *)NULL);
            _exit(5);
        }
        CHECK(ends(child) == 0);
        CHECK(number == 60 && zeros[7] == 'p' && zeros[99999] == 0);
        /* What is done at its exit is the PE's business, and not the child's. */
        child = fork();
        if (child == 0)
            exit(0);
        CHECK(ends(child) == 0);
    }
    CHECK(system("true") == 0);
    shmem_barrier_all();
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_int_p(&number, 70, to);
    shmem_barrier_all();
    CHECK(number == 70);
    shmem_finalize();
    return 0;
}
