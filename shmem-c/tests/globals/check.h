/* A check that names itself and ends the job. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);                        \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)
