/* pes: 1 2 3 5 */
/* iput and iget: all types, typed, generic and on contexts, by size; strides that differ, are large, or 1. */
#include "check.h"

#define ROOM 1400
#define SHAPES 8

/* Stride of the destination, of the source, elements. */
static const int shapes[SHAPES][3] = {{1, 1, 17}, {2, 1, 33}, {1, 3, 20}, {2, 2, 64}, {5, 7, 30}, {3, 3, 0}, {129, 2, 5}, {1000, 9, 1}};

#define TYPES RMA_TYPES
#define BODY "strided_body.h"
#include "forms.h"

/* By size: the bytes of an element move together. */
#define TEST(SIZE, BYTES)                                                                                              \
    static void size##SIZE(int shift)                                                                                  \
    {                                                                                                                  \
        int to = (me + shift) % npes, from = (me + npes - shift % npes) % npes;                                        \
        unsigned char *dest = (unsigned char *)room(ROOM * BYTES);                                                     \
        unsigned char *mine = (unsigned char *)malloc(ROOM * BYTES), *model = (unsigned char *)malloc(ROOM * BYTES);   \
        for (int form = 0; form < 2; form++)                                                                           \
            for (int s = 0; s < SHAPES; s++) {                                                                         \
                const int *shape = shapes[s];                                                                          \
                for (size_t i = 0; i < ROOM * BYTES; i++) {                                                            \
                    dest[i] = model[i] = (unsigned char)value_of(me, 4, i);                                            \
                    mine[i] = (unsigned char)value_of(me, (uint64_t)(5 + s), i);                                       \
                }                                                                                                      \
                for (int i = 0; i < shape[2]; i++)                                                                     \
                    for (size_t b = 0; b < BYTES; b++)                                                                 \
                        model[(size_t)(i * shape[0]) * BYTES + b] =                                                    \
                            (unsigned char)value_of(from, (uint64_t)(5 + s), (size_t)(i * shape[1]) * BYTES + b);      \
                shmem_barrier_all();                                                                                   \
                if (form)                                                                                              \
                    shmem_ctx_iput##SIZE(context, dest, mine, shape[0], shape[1], (size_t)shape[2], to);               \
                else                                                                                                   \
                    shmem_iput##SIZE(dest, mine, shape[0], shape[1], (size_t)shape[2], to);                            \
                complete();                                                                                            \
                for (size_t i = 0; i < ROOM * BYTES; i++)                                                              \
                    SAME(unsigned char, "shmem_iput" #SIZE, i, model[i], dest[i]);                                     \
                memset(mine, 0, ROOM * BYTES);                                                                         \
                memset(model, 0, ROOM * BYTES);                                                                        \
                for (int i = 0; i < shape[2]; i++)                                                                     \
                    for (size_t b = 0; b < BYTES; b++)                                                                 \
                        model[(size_t)(i * shape[1]) * BYTES + b] =                                                    \
                            (unsigned char)value_of(me, (uint64_t)(5 + s), (size_t)(i * shape[1]) * BYTES + b);        \
                if (form)                                                                                              \
                    shmem_ctx_iget##SIZE(context, mine, dest, shape[1], shape[0], (size_t)shape[2], to);               \
                else                                                                                                   \
                    shmem_iget##SIZE(mine, dest, shape[1], shape[0], (size_t)shape[2], to);                            \
                for (size_t i = 0; i < ROOM * BYTES; i++)                                                              \
                    SAME(unsigned char, "shmem_iget" #SIZE, i, model[i], mine[i]);                                     \
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
