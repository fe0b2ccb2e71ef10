/* What this library has beside the specification. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

/* A partition of symmetric memory: its number, the bytes of its heap and of its pages here, and its name. */
typedef struct {
    int id;
    size_t size;
    size_t page_size;
    char name[32];
} shmemx_partition_info_t;

/* How processes that something else has started become PEs, by shmemx_init_with: which process this is, and functions by
   which all of them exchange bytes. The functions get `state` first. They are called by one thread at a time, `abort` by any thread at
   any time. The last shmem_finalize leaves the job: then they are called no more, and the process cannot initialise again. Processes
   have different numbers, a value is what was put, and a fence waits for all: on that rests which memory is whose. */
typedef struct {
    void *state;
    int pe, n_pes;
    /* Offers a value under a key of at most 32 letters, digits and dots, which this process uses once. 0, or what failed. */
    int (*put)(void *state, const char *key, const void *value, size_t bytes);
    /* Waits for all processes; then each can get what was put. 0, or what failed. */
    int (*fence)(void *state);
    /* Copies what a process has put, as much as there is room for. Its length, or a negative number. */
    long (*get)(void *state, int pe, const char *key, void *value, size_t room);
    /* Ends all processes. */
    void (*abort)(void *state, int status);
} shmemx_bootstrap_t;

#define SHMEMX_MAX_PARTITIONS 127
#define SHMEMX_MAX_PARTITION_ID 255
#define SHMEM_MAX_PARTITIONS SHMEMX_MAX_PARTITIONS
#define SHMEM_MAX_PARTITION_ID SHMEMX_MAX_PARTITION_ID

#include <shmem/extension.h>

/* What programs for another library take from here. PEs that share memory are those of a node. A hint may always be left out of
   account. Threads are told apart by themselves, and so what names them is not called. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
#define SHMEMX_MALLOC_NO_BARRIER (1L << 2)

static inline void shmemx_register_gettid(uint64_t (*gettid)(void))
{
    (void)gettid;
}

#endif
