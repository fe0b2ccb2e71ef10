/* pes: 1 */
/* since: 1.6 */
/* Every routine of the specification has its name, its types, and a pshmem_ twin. This list is written by hand from the
 * specification's synopses and tables of types; it comes from no header. */
#include "check.h"

#include <pshmem.h>

#include <complex.h>

static int count;

#define SAY(RET, NAME, ...)                                                                                            \
    {                                                                                                                  \
        RET (*weak)(__VA_ARGS__) = shmem_##NAME;                                                                       \
        RET (*strong)(__VA_ARGS__) = pshmem_##NAME;                                                                    \
        TRUE_THAT("shmem_" #NAME, weak != NULL && strong != NULL);                                                     \
        count++;                                                                                                       \
    }

/* Without a context and with one. */
#define BOTH(RET, NAME, ...)                                                                                           \
    SAY(RET, NAME, __VA_ARGS__)                                                                                        \
    SAY(RET, ctx_##NAME, shmem_ctx_t, __VA_ARGS__)

static void setup(void)
{
    SAY(void, init, void)
    SAY(void, finalize, void)
    SAY(int, init_thread, int, int *)
    SAY(void, query_thread, int *)
    SAY(void, query_initialized, int *)
    SAY(void, global_exit, int)
    SAY(int, my_pe, void)
    SAY(int, n_pes, void)
    SAY(int, pe_accessible, int)
    SAY(int, addr_accessible, const void *, int)
    SAY(void *, ptr, const void *, int)
    SAY(void, info_get_version, int *, int *)
    SAY(void, info_get_name, char *)
    void (*begin_pes)(int) = start_pes;
    int (*pe)(void) = _my_pe, (*pes)(void) = _num_pes;
    void *(*allocate)(size_t) = shmalloc, *(*align)(size_t, size_t) = shmemalign, *(*again)(void *, size_t) = shrealloc;
    void (*release)(void *) = shfree;
    TRUE_THAT("start_pes", begin_pes && pe && pes && allocate && align && again && release);
    SAY(void *, malloc, size_t)
    SAY(void, free, void *)
    SAY(void *, realloc, void *, size_t)
    SAY(void *, align, size_t, size_t)
    SAY(void *, malloc_with_hints, size_t, long)
    SAY(void *, calloc, size_t, size_t)
    SAY(void, set_cache_inv, void)
    SAY(void, clear_cache_inv, void)
    SAY(void, set_cache_line_inv, void *)
    SAY(void, clear_cache_line_inv, void *)
    SAY(void, udcflush, void)
    SAY(void, udcflush_line, void *)
    void (*control)(const int, ...) = shmem_pcontrol;
    TRUE_THAT("shmem_pcontrol", control != NULL);
}

static void teams(void)
{
    SAY(int, team_my_pe, shmem_team_t)
    SAY(int, team_n_pes, shmem_team_t)
    SAY(int, team_get_config, shmem_team_t, long, shmem_team_config_t *)
    SAY(int, team_translate_pe, shmem_team_t, int, shmem_team_t)
    SAY(int, team_split_strided, shmem_team_t, int, int, int, const shmem_team_config_t *, long, shmem_team_t *)
    SAY(int, team_split_2d, shmem_team_t, int, const shmem_team_config_t *, long, shmem_team_t *,
        const shmem_team_config_t *, long, shmem_team_t *)
    SAY(void, team_destroy, shmem_team_t)
    SAY(void *, team_ptr, shmem_team_t, const void *, int)
    SAY(int, team_sync, shmem_team_t)
    SAY(int, team_create_ctx, shmem_team_t, long, shmem_ctx_t *)
    SAY(int, ctx_create, long, shmem_ctx_t *)
    SAY(void, ctx_destroy, shmem_ctx_t)
    SAY(int, ctx_get_team, shmem_ctx_t, shmem_team_t *)
    SAY(void, ctx_session_start, shmem_ctx_t, long, const shmem_ctx_session_config_t *, long)
    SAY(void, ctx_session_stop, shmem_ctx_t)
    SAY(void, fence, void)
    SAY(void, quiet, void)
    SAY(void, ctx_fence, shmem_ctx_t)
    SAY(void, ctx_quiet, shmem_ctx_t)
    SAY(void, pe_quiet, const int *, size_t)
    SAY(void, ctx_pe_quiet, shmem_ctx_t, const int *, size_t)
    SAY(void, set_lock, long *)
    SAY(void, clear_lock, long *)
    SAY(int, test_lock, long *)
    SAY(void, barrier_all, void)
    SAY(void, sync_all, void)
    SAY(void, barrier, int, int, int, long *)
    SAY(void, sync, int, int, int, long *)
    SAY(uint64_t, signal_fetch, const uint64_t *)
    SAY(uint64_t, signal_wait_until, uint64_t *, int, uint64_t)
    BOTH(void, signal_set, uint64_t *, uint64_t, int)
    BOTH(void, signal_add, uint64_t *, uint64_t, int)
}

#define RMA(NAME, T)                                                                                                   \
    BOTH(void, NAME##_put, T *, const T *, size_t, int)                                                                \
    BOTH(void, NAME##_get, T *, const T *, size_t, int)                                                                \
    BOTH(void, NAME##_put_nbi, T *, const T *, size_t, int)                                                            \
    BOTH(void, NAME##_get_nbi, T *, const T *, size_t, int)                                                            \
    BOTH(void, NAME##_p, T *, T, int)                                                                                  \
    BOTH(T, NAME##_g, const T *, int)                                                                                  \
    BOTH(void, NAME##_iput, T *, const T *, ptrdiff_t, ptrdiff_t, size_t, int)                                         \
    BOTH(void, NAME##_iget, T *, const T *, ptrdiff_t, ptrdiff_t, size_t, int)                                         \
    BOTH(void, NAME##_ibput, T *, const T *, ptrdiff_t, ptrdiff_t, size_t, size_t, int)                                \
    BOTH(void, NAME##_ibget, T *, const T *, ptrdiff_t, ptrdiff_t, size_t, size_t, int)                                \
    BOTH(void, NAME##_put_signal, T *, const T *, size_t, uint64_t *, uint64_t, int, int)                              \
    BOTH(void, NAME##_put_signal_nbi, T *, const T *, size_t, uint64_t *, uint64_t, int, int)                          \
    SAY(int, NAME##_broadcast, shmem_team_t, T *, const T *, size_t, int)                                              \
    SAY(int, NAME##_collect, shmem_team_t, T *, const T *, size_t)                                                     \
    SAY(int, NAME##_fcollect, shmem_team_t, T *, const T *, size_t)                                                    \
    SAY(int, NAME##_alltoall, shmem_team_t, T *, const T *, size_t)                                                    \
    SAY(int, NAME##_alltoalls, shmem_team_t, T *, const T *, ptrdiff_t, ptrdiff_t, size_t)                             \
    SAY(int, NAME##_max_reduce, shmem_team_t, T *, const T *, size_t)                                                  \
    SAY(int, NAME##_min_reduce, shmem_team_t, T *, const T *, size_t)                                                  \
    SUMS(NAME, T)

#define SUMS(NAME, T)                                                                                                  \
    SAY(int, NAME##_sum_reduce, shmem_team_t, T *, const T *, size_t)                                                  \
    SAY(int, NAME##_prod_reduce, shmem_team_t, T *, const T *, size_t)                                                 \
    SAY(int, NAME##_sum_inscan, shmem_team_t, T *, const T *, size_t)                                                  \
    SAY(int, NAME##_sum_exscan, shmem_team_t, T *, const T *, size_t)

#define BYTES(SIZE)                                                                                                    \
    BOTH(void, put##SIZE, void *, const void *, size_t, int)                                                           \
    BOTH(void, get##SIZE, void *, const void *, size_t, int)                                                           \
    BOTH(void, put##SIZE##_nbi, void *, const void *, size_t, int)                                                     \
    BOTH(void, get##SIZE##_nbi, void *, const void *, size_t, int)                                                     \
    BOTH(void, put##SIZE##_signal, void *, const void *, size_t, uint64_t *, uint64_t, int, int)                       \
    BOTH(void, put##SIZE##_signal_nbi, void *, const void *, size_t, uint64_t *, uint64_t, int, int)

#define STRIDED(SIZE, BYTES_)                                                                                          \
    BYTES(SIZE)                                                                                                        \
    BOTH(void, iput##SIZE, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int)                                    \
    BOTH(void, iget##SIZE, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int)                                    \
    BOTH(void, ibput##SIZE, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int)                           \
    BOTH(void, ibget##SIZE, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int)

static void transfers(void)
{
    RMA_TYPES(RMA)
    SIZES(STRIDED)
    BYTES(mem)
    SAY(int, broadcastmem, shmem_team_t, void *, const void *, size_t, int)
    SAY(int, collectmem, shmem_team_t, void *, const void *, size_t)
    SAY(int, fcollectmem, shmem_team_t, void *, const void *, size_t)
    SAY(int, alltoallmem, shmem_team_t, void *, const void *, size_t)
    SAY(int, alltoallsmem, shmem_team_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t)
    SUMS(complexd, double _Complex)
    SUMS(complexf, float _Complex)
#define BITS(NAME, T)                                                                                                  \
    SAY(int, NAME##_and_reduce, shmem_team_t, T *, const T *, size_t)                                                  \
    SAY(int, NAME##_or_reduce, shmem_team_t, T *, const T *, size_t)                                                   \
    SAY(int, NAME##_xor_reduce, shmem_team_t, T *, const T *, size_t)
    BITS(uchar, unsigned char)
    BITS(ushort, unsigned short)
    BITS(uint, unsigned int)
    BITS(ulong, unsigned long)
    BITS(ulonglong, unsigned long long)
    BITS(int8, int8_t)
    BITS(int16, int16_t)
    BITS(int32, int32_t)
    BITS(int64, int64_t)
    BITS(uint8, uint8_t)
    BITS(uint16, uint16_t)
    BITS(uint32, uint32_t)
    BITS(uint64, uint64_t)
    BITS(size, size_t)
#undef BITS
}

#define FETCHES(NAME, T)                                                                                               \
    BOTH(T, NAME##_atomic_fetch, const T *, int)                                                                       \
    BOTH(void, NAME##_atomic_set, T *, T, int)                                                                         \
    BOTH(T, NAME##_atomic_swap, T *, T, int)                                                                           \
    BOTH(void, NAME##_atomic_fetch_nbi, T *, const T *, int)                                                           \
    BOTH(void, NAME##_atomic_swap_nbi, T *, T *, T, int)

#define AMO(NAME, T)                                                                                                   \
    FETCHES(NAME, T)                                                                                                   \
    BOTH(T, NAME##_atomic_compare_swap, T *, T, T, int)                                                                \
    BOTH(T, NAME##_atomic_fetch_inc, T *, int)                                                                         \
    BOTH(void, NAME##_atomic_inc, T *, int)                                                                            \
    BOTH(T, NAME##_atomic_fetch_add, T *, T, int)                                                                      \
    BOTH(void, NAME##_atomic_add, T *, T, int)                                                                         \
    BOTH(void, NAME##_atomic_compare_swap_nbi, T *, T *, T, T, int)                                                    \
    BOTH(void, NAME##_atomic_fetch_inc_nbi, T *, T *, int)                                                             \
    BOTH(void, NAME##_atomic_fetch_add_nbi, T *, T *, T, int)                                                          \
    SAY(void, NAME##_wait_until, T *, int, T)                                                                          \
    SAY(int, NAME##_test, T *, int, T)                                                                                 \
    SAY(void, NAME##_wait_until_all, T *, size_t, const int *, int, T)                                                 \
    SAY(size_t, NAME##_wait_until_any, T *, size_t, const int *, int, T)                                               \
    SAY(size_t, NAME##_wait_until_some, T *, size_t, size_t *, const int *, int, T)                                    \
    SAY(void, NAME##_wait_until_all_vector, T *, size_t, const int *, int, T *)                                        \
    SAY(size_t, NAME##_wait_until_any_vector, T *, size_t, const int *, int, T *)                                      \
    SAY(size_t, NAME##_wait_until_some_vector, T *, size_t, size_t *, const int *, int, T *)                           \
    SAY(int, NAME##_test_all, T *, size_t, const int *, int, T)                                                        \
    SAY(size_t, NAME##_test_any, T *, size_t, const int *, int, T)                                                     \
    SAY(size_t, NAME##_test_some, T *, size_t, size_t *, const int *, int, T)                                          \
    SAY(int, NAME##_test_all_vector, T *, size_t, const int *, int, T *)                                               \
    SAY(size_t, NAME##_test_any_vector, T *, size_t, const int *, int, T *)                                            \
    SAY(size_t, NAME##_test_some_vector, T *, size_t, size_t *, const int *, int, T *)

#define BITWISE(NAME, T)                                                                                               \
    BOTH(T, NAME##_atomic_fetch_and, T *, T, int)                                                                      \
    BOTH(T, NAME##_atomic_fetch_or, T *, T, int)                                                                       \
    BOTH(T, NAME##_atomic_fetch_xor, T *, T, int)                                                                      \
    BOTH(void, NAME##_atomic_and, T *, T, int)                                                                         \
    BOTH(void, NAME##_atomic_or, T *, T, int)                                                                          \
    BOTH(void, NAME##_atomic_xor, T *, T, int)                                                                         \
    BOTH(void, NAME##_atomic_fetch_and_nbi, T *, T *, T, int)                                                          \
    BOTH(void, NAME##_atomic_fetch_or_nbi, T *, T *, T, int)                                                           \
    BOTH(void, NAME##_atomic_fetch_xor_nbi, T *, T *, T, int)

static void atomics(void)
{
    AMO_TYPES(AMO)
    AMO_REAL_TYPES(FETCHES)
    AMO_BITWISE_TYPES(BITWISE)
}

#define SET int, int, int, long *
#define OLD_SUMS(NAME, T)                                                                                              \
    SAY(void, NAME##_sum_to_all, T *, const T *, int, int, int, int, T *, long *)                                      \
    SAY(void, NAME##_prod_to_all, T *, const T *, int, int, int, int, T *, long *)
#define OLD_ORDERS(NAME, T)                                                                                            \
    OLD_SUMS(NAME, T)                                                                                                  \
    SAY(void, NAME##_max_to_all, T *, const T *, int, int, int, int, T *, long *)                                      \
    SAY(void, NAME##_min_to_all, T *, const T *, int, int, int, int, T *, long *)
#define OLD_BITS(NAME, T)                                                                                              \
    OLD_ORDERS(NAME, T)                                                                                                \
    SAY(void, NAME##_and_to_all, T *, const T *, int, int, int, int, T *, long *)                                      \
    SAY(void, NAME##_or_to_all, T *, const T *, int, int, int, int, T *, long *)                                       \
    SAY(void, NAME##_xor_to_all, T *, const T *, int, int, int, int, T *, long *)
#define OLD_FETCHES(NAME, T)                                                                                           \
    SAY(T, NAME##_fetch, const T *, int)                                                                               \
    SAY(void, NAME##_set, T *, T, int)                                                                                 \
    SAY(T, NAME##_swap, T *, T, int)
#define OLD_AMO(NAME, T)                                                                                               \
    OLD_FETCHES(NAME, T)                                                                                               \
    SAY(T, NAME##_cswap, T *, T, T, int)                                                                               \
    SAY(T, NAME##_finc, T *, int)                                                                                      \
    SAY(void, NAME##_inc, T *, int)                                                                                    \
    SAY(T, NAME##_fadd, T *, T, int)                                                                                   \
    SAY(void, NAME##_add, T *, T, int)
#define OLD_WAIT(NAME, T)                                                                                              \
    SAY(void, NAME##_wait, T *, T)                                                                                     \
    SAY(void, NAME##_wait_until, T *, int, T)
#define OLD_SIZED(SIZE)                                                                                                \
    SAY(void, broadcast##SIZE, void *, const void *, size_t, int, SET)                                                 \
    SAY(void, collect##SIZE, void *, const void *, size_t, SET)                                                        \
    SAY(void, fcollect##SIZE, void *, const void *, size_t, SET)                                                       \
    SAY(void, alltoall##SIZE, void *, const void *, size_t, SET)                                                       \
    SAY(void, alltoalls##SIZE, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, SET)

static void deprecated(void)
{
    OLD_BITS(short, short)
    OLD_BITS(int, int)
    OLD_BITS(long, long)
    OLD_BITS(longlong, long long)
    OLD_ORDERS(float, float)
    OLD_ORDERS(double, double)
    OLD_ORDERS(longdouble, long double)
    OLD_SUMS(complexd, double _Complex)
    OLD_SUMS(complexf, float _Complex)
    OLD_AMO(int, int)
    OLD_AMO(long, long)
    OLD_AMO(longlong, long long)
    OLD_FETCHES(float, float)
    OLD_FETCHES(double, double)
    OLD_WAIT(short, short)
    OLD_WAIT(int, int)
    OLD_WAIT(long, long)
    OLD_WAIT(longlong, long long)
    SAY(void, wait, long *, long)
    OLD_SIZED(32)
    OLD_SIZED(64)
}

int main(void)
{
    setup();
    teams();
    transfers();
    atomics();
    deprecated();
    TRUE_THAT("prototypes", count > 1677);
    begin();
    return end();
}
