/* pes: 1 2 3 */
/* since: 1.6 */
/* ibput and ibget: all types, typed, generic and on contexts, and by size. */
#include "check.h"

#define ROOM 700
#define SHAPES 6

/* Stride of the destination, of the source, elements of a block, blocks. */
static const int shapes[SHAPES][4] = {{4, 4, 4, 20}, {5, 9, 3, 40}, {129, 3, 2, 5}, {1, 1, 1, 50}, {16, 17, 0, 9}, {40, 32, 31, 8}};

#define TYPES RMA_TYPES
#define BODY "blocks_body.h"
#include "forms.h"

#define TEST(SIZE, BYTES)                                                                                              \
    static void size##SIZE(int shift)                                                                                  \
    {                                                                                                                  \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        unsigned char *dest = (unsigned char *)room(ROOM * BYTES), *mine = (unsigned char *)malloc(ROOM * BYTES);      \
        unsigned char *model = (unsigned char *)malloc(ROOM * BYTES);                                                  \
        for (int form = 0; form < 2; form++)                                                                           \
            for (int s = 0; s < SHAPES; s++) {                                                                         \
                const int *shape = shapes[s];                                                                          \
                for (size_t i = 0; i < ROOM * BYTES; i++) {                                                            \
                    dest[i] = model[i] = (unsigned char)value_of(me, 4, i);                                            \
                    mine[i] = (unsigned char)value_of(me, (uint64_t)(5 + s), i);                                       \
                }                                                                                                      \
                size_t block = (size_t)shape[2] * BYTES;                                                               \
                for (int i = 0; i < shape[3]; i++)                                                                     \
                    for (size_t b = 0; b < block; b++)                                                                 \
                        model[(size_t)(i * shape[0]) * BYTES + b] =                                                    \
                            (unsigned char)value_of(from, (uint64_t)(5 + s), (size_t)(i * shape[1]) * BYTES + b);      \
                shmem_barrier_all();                                                                                   \
                if (form)                                                                                              \
                    shmem_ctx_ibput##SIZE(context, dest, mine, shape[0], shape[1], (size_t)shape[2],                   \
                                          (size_t)shape[3], to);                                                       \
                else                                                                                                   \
                    shmem_ibput##SIZE(dest, mine, shape[0], shape[1], (size_t)shape[2], (size_t)shape[3], to);         \
                complete();                                                                                            \
                for (size_t i = 0; i < ROOM * BYTES; i++)                                                              \
                    SAME(unsigned char, "shmem_ibput" #SIZE, i, model[i], dest[i]);                                    \
                memset(mine, 0, ROOM * BYTES);                                                                         \
                memset(model, 0, ROOM * BYTES);                                                                        \
                for (int i = 0; i < shape[3]; i++)                                                                     \
                    for (size_t b = 0; b < block; b++) {                                                               \
                        size_t at = (size_t)(i * shape[1]) * BYTES + b;                                                \
                        model[at] = (unsigned char)value_of(me, (uint64_t)(5 + s), at);                                \
                    }                                                                                                  \
                if (form)                                                                                              \
                    shmem_ctx_ibget##SIZE(context, mine, dest, shape[1], shape[0], (size_t)shape[2],                   \
                                          (size_t)shape[3], to);                                                       \
                else                                                                                                   \
                    shmem_ibget##SIZE(mine, dest, shape[1], shape[0], (size_t)shape[2], (size_t)shape[3], to);         \
                for (size_t i = 0; i < ROOM * BYTES; i++)                                                              \
                    SAME(unsigned char, "shmem_ibget" #SIZE, i, model[i], mine[i]);                                    \
                shmem_barrier_all();                                                                                   \
            }                                                                                                          \
        free(mine);                                                                                                    \
        free(model);                                                                                                   \
        shmem_free(dest);                                                                                              \
    }

SIZES(TEST)

int main(void)
{
    begin();
    all_forms();
    int shift = 0;
    context = SHMEM_CTX_DEFAULT;
#define RUN(SIZE, BYTES) size##SIZE(shift++);
    SIZES(RUN)
    return end();
}
