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

/* Calls of this PE so far, as another library names them: what is pending is what was issued. They are counted in jobs with
   SHMEM_STATS=1, and 0 in others. */
typedef struct {
    uint64_t pending_put;
    uint64_t pending_get;
    uint64_t completed_put;
    uint64_t completed_get;
    uint64_t target;
} shmemx_pcntr_t;

#define SHMEMX_MAX_PARTITIONS 127
#define SHMEMX_MAX_PARTITION_ID 255
#define SHMEM_MAX_PARTITIONS SHMEMX_MAX_PARTITIONS
#define SHMEM_MAX_PARTITION_ID SHMEMX_MAX_PARTITION_ID

#include <shmem/extension.h>

/* What programs for another library take from here. PEs that share memory are those of a node. A hint may always be left out of
   account. Threads are told apart by themselves, and so what names them is not called. */
#define shmemx_pcntr_get_pending_put shmemx_pcntr_get_issued_write
#define shmemx_pcntr_get_pending_get shmemx_pcntr_get_issued_read
#define shmemx_pcntr_get_completed_put shmemx_pcntr_get_completed_write
#define shmemx_pcntr_get_completed_get shmemx_pcntr_get_completed_read
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
#define SHMEMX_MALLOC_NO_BARRIER (1L << 2)

static inline void shmemx_register_gettid(uint64_t (*gettid)(void))
{
    (void)gettid;
}

#endif
