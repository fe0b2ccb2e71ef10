/* pes: 1 2 3 4 5 */
/* put, get and the nonblocking ones by size and by bytes: every alignment of both sides, and long ones. */
#include "check.h"

#define ROOM 4096

static unsigned char global[ROOM + 64] __attribute__((aligned(64)));
static shmem_ctx_t context;
static unsigned char mine[ROOM + 64] __attribute__((aligned(64)));
static unsigned char model[ROOM + 64];

/* So many elements at these offsets, to the next PE and back again. */
#define TEST(SIZE, BYTES)                                                                                              \
    static void size##SIZE(unsigned char *dest, size_t to_offset, size_t from_offset, size_t length, int shift)        \
    {                                                                                                                  \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        for (int form = 0; form < 4; form++) {                                                                         \
            for (size_t i = 0; i < ROOM + 64; i++) {                                                                   \
                dest[i] = model[i] = (unsigned char)value_of(me, 1, i);                                                \
                mine[i] = (unsigned char)value_of(me, (uint64_t)(2 + form), i);                                        \
            }                                                                                                          \
            size_t bytes = length * BYTES;                                                                             \
            for (size_t i = 0; i < bytes; i++)                                                                         \
                model[to_offset + i] = (unsigned char)value_of(from, (uint64_t)(2 + form), from_offset + i);           \
            shmem_barrier_all();                                                                                       \
            switch (form) {                                                                                            \
            case 0:                                                                                                    \
                shmem_put##SIZE(dest + to_offset, mine + from_offset, length, to);                                     \
                break;                                                                                                 \
            case 1:                                                                                                    \
                shmem_ctx_put##SIZE(context, dest + to_offset, mine + from_offset, length, to);                        \
                break;                                                                                                 \
            case 2:                                                                                                    \
                shmem_put##SIZE##_nbi(dest + to_offset, mine + from_offset, length, to);                               \
                break;                                                                                                 \
            default:                                                                                                   \
                shmem_ctx_put##SIZE##_nbi(context, dest + to_offset, mine + from_offset, length, to);                  \
            }                                                                                                          \
            shmem_ctx_quiet(context);                                                                                  \
            shmem_barrier_all();                                                                                       \
            for (size_t i = 0; i < ROOM + 64; i++)                                                                     \
                SAME(unsigned char, form < 2 ? "shmem_put" #SIZE : "shmem_put" #SIZE "_nbi", i, model[i], dest[i]);    \
            memset(mine, 0, sizeof mine);                                                                              \
            switch (form) {                                                                                            \
            case 0:                                                                                                    \
                shmem_get##SIZE(mine + from_offset, dest + to_offset, length, to);                                     \
                break;                                                                                                 \
            case 1:                                                                                                    \
                shmem_ctx_get##SIZE(context, mine + from_offset, dest + to_offset, length, to);                        \
                break;                                                                                                 \
            case 2:                                                                                                    \
                shmem_get##SIZE##_nbi(mine + from_offset, dest + to_offset, length, to);                               \
                break;                                                                                                 \
            default:                                                                                                   \
                shmem_ctx_get##SIZE##_nbi(context, mine + from_offset, dest + to_offset, length, to);                  \
            }                                                                                                          \
            shmem_ctx_quiet(context);                                                                                  \
            shmem_quiet();                                                                                             \
            for (size_t i = 0; i < ROOM + 64; i++) {                                                                   \
                int in = i >= from_offset && i < from_offset + bytes;                                                  \
                unsigned char expected = in ? (unsigned char)value_of(me, (uint64_t)(2 + form), i) : 0;                \
                SAME(unsigned char, form < 2 ? "shmem_get" #SIZE : "shmem_get" #SIZE "_nbi", i, expected, mine[i]);    \
            }                                                                                                          \
            shmem_barrier_all();                                                                                       \
        }                                                                                                              \
    }

SIZES(TEST)
TEST(mem, 1)

int main(void)
{
    begin();
    if (shmem_ctx_create(0, &context))
        context = SHMEM_CTX_DEFAULT;
    unsigned char *heap = (unsigned char *)shmem_align(64, ROOM + 64);
    uint64_t seed = 7;
    int shift = 0;
#define RUN(SIZE, BYTES)                                                                                               \
    for (int i = 0; i < 6; i++, shift++) {                                                                             \
        size_t length = i < 3 ? (size_t)i : mix(seed) % (ROOM / BYTES);                                                \
        size_t to_offset = mix(seed + 1) % 8 * (BYTES > 8 ? 8 : BYTES), from_offset = mix(seed + 2) % 8 * (BYTES > 8 ? 8 : BYTES); \
        seed += 3;                                                                                                     \
        size##SIZE(i % 2 ? heap : global, to_offset, from_offset, length, shift);                                      \
    }
    SIZES(RUN)
    RUN(mem, 1)
    RUN(mem, 1)
    /* Nothing, from nowhere. */
    shmem_putmem(heap, NULL, 0, (me + 1) % npes);
    shmem_getmem(NULL, heap, 0, (me + 1) % npes);

    /* Megabytes. */
    const size_t large = ((size_t)3 << 20) + 5;
    unsigned char *far = (unsigned char *)room(large), *near = (unsigned char *)malloc(large);
    for (size_t i = 0; i < large; i++)
        near[i] = (unsigned char)value_of(me, 9, i / 64);
    shmem_barrier_all();
    shmem_putmem(far, near, large, (me + 1) % npes);
    shmem_barrier_all();
    for (size_t i = 0; i < large; i += 61)
        SAME(unsigned char, "shmem_putmem", i, value_of((me + npes - 1) % npes, 9, i / 64), far[i]);
    memset(near, 0, large);
    shmem_getmem_nbi(near, far, large, (me + 1) % npes);
    shmem_quiet();
    for (size_t i = 0; i < large; i += 61)
        SAME(unsigned char, "shmem_getmem_nbi", i, value_of(me, 9, i / 64), near[i]);
    if (context != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(context);
    return end();
}
