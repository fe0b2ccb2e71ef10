/* pes: 1 3 */
/* shmem_init_thread at this level. */
#define LEVEL SHMEM_THREAD_SINGLE
#include "thread_level.h"
