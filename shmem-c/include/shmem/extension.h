/* Made from the table of routines (shmem-c/src/table.rs): not to be changed by hand. */
#ifndef SHMEM_EXTENSION_H
#define SHMEM_EXTENSION_H

#ifdef __cplusplus
extern "C" {
#endif

void *shmemx_partition_malloc(size_t size, int partition);
void *pshmemx_partition_malloc(size_t size, int partition);
void *shmemx_partition_calloc(size_t count, size_t size, int partition);
void *pshmemx_partition_calloc(size_t count, size_t size, int partition);
void *shmemx_partition_align(size_t alignment, size_t size, int partition);
void *pshmemx_partition_align(size_t alignment, size_t size, int partition);
void *shmemx_kind_malloc(size_t size, int partition);
void *pshmemx_kind_malloc(size_t size, int partition);
void *shmemx_kind_align(size_t alignment, size_t size, int partition);
void *pshmemx_kind_align(size_t alignment, size_t size, int partition);
void *shmem_partition_malloc(size_t size, int partition);
void *pshmem_partition_malloc(size_t size, int partition);
void *shmem_partition_align(size_t alignment, size_t size, int partition);
void *pshmem_partition_align(size_t alignment, size_t size, int partition);
void *shmem_kind_malloc(size_t size, int partition);
void *pshmem_kind_malloc(size_t size, int partition);
void *shmem_kind_align(size_t alignment, size_t size, int partition);
void *pshmem_kind_align(size_t alignment, size_t size, int partition);
double shmemx_wtime(void);
double pshmemx_wtime(void);
int shmemx_partition_info(int partition, shmemx_partition_info_t *info);
int pshmemx_partition_info(int partition, shmemx_partition_info_t *info);
void shmemx_iputmem(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void pshmemx_iputmem(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void shmemx_igetmem(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void pshmemx_igetmem(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void shmemx_putmem_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void pshmemx_putmem_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void shmemx_getmem_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);
void pshmemx_getmem_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t blksize, size_t nblks, int pe);

#ifdef __cplusplus
}
#endif

#endif
