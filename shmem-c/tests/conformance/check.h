/* What all programs here share: values that tell where they come from, comparison with what a model expects, and
 * messages. A program prints nothing when the library is right. Otherwise each line has the PE, the routine, the
 * place, what was expected and what was got, and the program ends with 1. */
#ifndef CHECK_H
#define CHECK_H

#include <shmem.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GNUC__
#define UNUSED __attribute__((unused))
#else
#define UNUSED
#endif

static int me UNUSED;
static int npes UNUSED;
static int failures UNUSED;

/* With -DLEGACY for libraries whose generic forms know no pointers to const, and which have no overloads for C++. */
#ifdef LEGACY
#define CONST
#ifdef __cplusplus
#define ONLY_TYPED
#endif
#else
#define CONST const
#endif

/* More messages than these tell nothing new. */
#define MOST_MESSAGES 8

/* A number in which every bit depends on every bit of `key`. */
static UNUSED uint64_t mix(uint64_t key)
{
    key += UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ (key >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94D049BB133111EB);
    return key ^ (key >> 31);
}

/* The value number `at` of a PE in round `round`, to be converted to a type. */
static UNUSED uint64_t value_of(int pe, uint64_t round, uint64_t at)
{
    return mix(((uint64_t)pe << 48) ^ (round << 32) ^ at);
}

static UNUSED void print_bytes(const void *place, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)place;
    fprintf(stderr, " 0x");
    for (size_t i = size; i-- > 0;)
        fprintf(stderr, "%02x", bytes[i]);
}

static UNUSED void report_bytes(const char *routine, size_t at, const void *expected, const void *got, size_t size)
{
    if (failures++ >= MOST_MESSAGES)
        return;
    flockfile(stderr);
    fprintf(stderr, "PE %d of %d: %s: at %zu: expected", me, npes, routine, at);
    print_bytes(expected, size);
    fprintf(stderr, ", got");
    print_bytes(got, size);
    fprintf(stderr, "\n");
    funlockfile(stderr);
}

/* Values of one type, compared as such: the padding of a long double says nothing. */
#define SAME(TYPE, routine, at, expected, got)                                                                         \
    do {                                                                                                               \
        TYPE expected_ = (TYPE)(expected), got_ = (TYPE)(got);                                                         \
        if (!(expected_ == got_))                                                                                      \
            report_bytes(routine, (size_t)(at), &expected_, &got_, sizeof(TYPE));                                      \
    } while (0)

/* Integers, printed as such. */
#define EQUAL(routine, what, expected, got)                                                                            \
    do {                                                                                                               \
        long long expected_ = (long long)(expected), got_ = (long long)(got);                                          \
        if (expected_ != got_ && failures++ < MOST_MESSAGES)                                                           \
            fprintf(stderr, "PE %d of %d: %s: %s: expected %lld, got %lld (%s:%d)\n", me, npes, routine, what,         \
                    expected_, got_, __FILE__, __LINE__);                                                              \
    } while (0)

#define TRUE_THAT(routine, condition)                                                                                  \
    do {                                                                                                               \
        if (!(condition) && failures++ < MOST_MESSAGES)                                                                \
            fprintf(stderr, "PE %d of %d: %s: expected %s, got the opposite (%s:%d)\n", me, npes, routine, #condition, \
                    __FILE__, __LINE__);                                                                               \
    } while (0)

static UNUSED void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

static UNUSED int end(void)
{
    shmem_barrier_all();
    shmem_finalize();
    return failures != 0;
}

static UNUSED void *room(size_t bytes)
{
    void *place = shmem_malloc(bytes);
    if (!place) {
        fprintf(stderr, "PE %d of %d: shmem_malloc: expected %zu bytes, got none\n", me, npes, bytes);
        shmem_global_exit(1);
    }
    return place;
}

/* The types of the tables of the specification: EACH(typename, type). */
#define RMA_BASE_TYPES(EACH)                                                                                           \
    EACH(float, float)                                                                                                 \
    EACH(double, double)                                                                                               \
    EACH(longdouble, long double)                                                                                      \
    EACH(char, char)                                                                                                   \
    EACH(schar, signed char)                                                                                           \
    EACH(short, short)                                                                                                 \
    EACH(int, int)                                                                                                     \
    EACH(long, long)                                                                                                   \
    EACH(longlong, long long)                                                                                          \
    EACH(uchar, unsigned char)                                                                                         \
    EACH(ushort, unsigned short)                                                                                       \
    EACH(uint, unsigned int)                                                                                           \
    EACH(ulong, unsigned long)                                                                                         \
    EACH(ulonglong, unsigned long long)

#define RMA_SIZED_TYPES(EACH)                                                                                          \
    EACH(int8, int8_t)                                                                                                 \
    EACH(int16, int16_t)                                                                                               \
    EACH(int32, int32_t)                                                                                               \
    EACH(int64, int64_t)                                                                                               \
    EACH(uint8, uint8_t)                                                                                               \
    EACH(uint16, uint16_t)                                                                                             \
    EACH(uint32, uint32_t)                                                                                             \
    EACH(uint64, uint64_t)                                                                                             \
    EACH(size, size_t)                                                                                                 \
    EACH(ptrdiff, ptrdiff_t)

#define RMA_TYPES(EACH) RMA_BASE_TYPES(EACH) RMA_SIZED_TYPES(EACH)

#define AMO_BASE_TYPES(EACH)                                                                                           \
    EACH(int, int)                                                                                                     \
    EACH(long, long)                                                                                                   \
    EACH(longlong, long long)                                                                                          \
    EACH(uint, unsigned int)                                                                                           \
    EACH(ulong, unsigned long)                                                                                         \
    EACH(ulonglong, unsigned long long)

#ifdef LEGACY
#define AMO_SIZED_TYPES(EACH)
#define AMO_BITWISE_SIZED_TYPES(EACH)
#else
#define AMO_SIZED_TYPES(EACH)                                                                                          \
    EACH(int32, int32_t)                                                                                               \
    EACH(int64, int64_t)                                                                                               \
    EACH(uint32, uint32_t)                                                                                             \
    EACH(uint64, uint64_t)                                                                                             \
    EACH(size, size_t)                                                                                                 \
    EACH(ptrdiff, ptrdiff_t)

#define AMO_BITWISE_SIZED_TYPES(EACH)                                                                                  \
    EACH(int32, int32_t)                                                                                               \
    EACH(int64, int64_t)                                                                                               \
    EACH(uint32, uint32_t)                                                                                             \
    EACH(uint64, uint64_t)
#endif

#define AMO_TYPES(EACH) AMO_BASE_TYPES(EACH) AMO_SIZED_TYPES(EACH)

#define AMO_REAL_TYPES(EACH)                                                                                           \
    EACH(float, float)                                                                                                 \
    EACH(double, double)

#define AMO_BITWISE_TYPES(EACH)                                                                                        \
    EACH(uint, unsigned int)                                                                                           \
    EACH(ulong, unsigned long)                                                                                         \
    EACH(ulonglong, unsigned long long)                                                                                \
    AMO_BITWISE_SIZED_TYPES(EACH)

#define SIZES(EACH)                                                                                                    \
    EACH(8, 1)                                                                                                         \
    EACH(16, 2)                                                                                                        \
    EACH(32, 4)                                                                                                        \
    EACH(64, 8)                                                                                                        \
    EACH(128, 16)

#endif
