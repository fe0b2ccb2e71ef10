/* Profiling: each shmem_ routine is a weak name of a pshmem_ one, which a tool calls behind its own. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include <shmem.h>

#endif
