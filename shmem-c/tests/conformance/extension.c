/* pes: 1 2 3 */
/* since: 1.6 */
/* env: SHMEM_SYMMETRIC_PARTITION2=size=8M:kind=NORMALMEM SHMEM_SYMMETRIC_PARTITION5=size=4M:kind=NORMALMEM */
/* says: shmemx_partition_malloc: no room for 64M: that of partition 2 has .*; set SHMEM_SYMMETRIC_PARTITION2=SIZE= */
/* What shmemx.h has: partitions of symmetric memory, and blocks of bytes at strides. */
#include "check.h"

#include <shmemx.h>

#define ROOM 4000

static unsigned char global[ROOM];

/* Blocks into `dest` of the next PE, and back again, beside a model. */
static void blocks(unsigned char *dest, int form)
{
    static const int shapes[][4] = {{10, 7, 5, 20}, {64, 128, 16, 9}, {3, 3, 3, 40}, {100, 1, 1, 30}, {8, 16, 0, 5}};
    unsigned char mine[ROOM], model[ROOM];
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    for (int s = 0; s < 5; s++) {
        const int *shape = shapes[s];
        for (int i = 0; i < ROOM; i++) {
            dest[i] = model[i] = (unsigned char)value_of(me, 1, (uint64_t)i);
            mine[i] = (unsigned char)value_of(me, 2, (uint64_t)i);
        }
        for (int i = 0; i < shape[3]; i++)
            for (int j = 0; j < shape[2]; j++)
                model[i * shape[0] + j] = (unsigned char)value_of(from, 2, (uint64_t)(i * shape[1] + j));
        shmem_barrier_all();
        if (form)
            shmemx_putmem_strided(dest, mine, shape[0], shape[1], (size_t)shape[2], (size_t)shape[3], to);
        else
            shmemx_iputmem(dest, mine, shape[0], shape[1], (size_t)shape[2], (size_t)shape[3], to);
        shmem_barrier_all();
        for (int i = 0; i < ROOM; i++)
            SAME(unsigned char, "shmemx_iputmem", i, model[i], dest[i]);
        memset(mine, 0, sizeof mine);
        memset(model, 0, sizeof model);
        for (int i = 0; i < shape[3]; i++)
            for (int j = 0; j < shape[2]; j++)
                model[i * shape[1] + j] = (unsigned char)value_of(me, 2, (uint64_t)(i * shape[1] + j));
        if (form)
            shmemx_getmem_strided(mine, dest, shape[1], shape[0], (size_t)shape[2], (size_t)shape[3], to);
        else
            shmemx_igetmem(mine, dest, shape[1], shape[0], (size_t)shape[2], (size_t)shape[3], to);
        for (int i = 0; i < ROOM; i++)
            SAME(unsigned char, "shmemx_igetmem", i, model[i], mine[i]);
        shmem_barrier_all();
    }
}

int main(void)
{
    begin();
    for (int partition = 1; partition <= 5; partition += partition == 2 ? 3 : 1) {
        shmemx_partition_info_t info;
        memset(&info, 0xA5, sizeof info);
        EQUAL("shmemx_partition_info", "status", 0, shmemx_partition_info(partition, &info));
        EQUAL("shmemx_partition_info", "number", partition, info.id);
        if (partition > 1)
            TRUE_THAT("shmemx_partition_info", info.size >= (size_t)(partition == 2 ? 7 : 3) << 20);
        TRUE_THAT("shmemx_partition_info", memchr(info.name, 0, sizeof info.name) != NULL);
        unsigned char *place = (unsigned char *)shmemx_partition_malloc(ROOM, partition);
        TRUE_THAT("shmemx_partition_malloc", place != NULL);
        if (!place)
            continue;
        blocks(place, partition % 2);
        TRUE_THAT("shmem_addr_accessible", shmem_addr_accessible(place, (me + 1) % npes));
        place = (unsigned char *)shmem_realloc(place, 2 * ROOM);
        TRUE_THAT("shmem_realloc", place != NULL);
        shmem_free(place);
        long *zeros = (long *)shmemx_partition_calloc(100, sizeof(long), partition);
        for (int i = 0; zeros && i < 100; i++)
            EQUAL("shmemx_partition_calloc", "value", 0, zeros[i]);
        shmem_free(zeros);
        void *aligned = shmemx_partition_align(65536, 10, partition);
        TRUE_THAT("shmemx_partition_align", aligned != NULL && (uintptr_t)aligned % 65536 == 0);
        shmem_free(aligned);
        aligned = shmem_partition_align(4096, 10, partition);
        TRUE_THAT("shmem_partition_align", aligned != NULL && (uintptr_t)aligned % 4096 == 0);
        shmem_free(aligned);
        place = (unsigned char *)shmem_kind_malloc(10, partition);
        TRUE_THAT("shmem_kind_malloc", place != NULL);
        shmem_free(place);
    }
    shmemx_partition_info_t none;
    EQUAL("shmemx_partition_info", "status of a partition that there is not", -1, shmemx_partition_info(99, &none));
    EQUAL("shmemx_partition_info", "status of a partition that there is not", -1, shmemx_partition_info(-1, &none));
    TRUE_THAT("shmemx_partition_malloc", shmemx_partition_malloc((size_t)64 << 20, 2) == NULL);
    TRUE_THAT("shmemx_partition_malloc", shmemx_partition_malloc(0, 2) == NULL);
    blocks(global, 0);
    blocks(global, 1);
    double before = shmemx_wtime(), after = shmemx_wtime();
    TRUE_THAT("shmemx_wtime", after >= before);
    return end();
}
