/* pes: 1 2 3 */
/* since: 1.5 */
/* Puts with signals: all types, typed, generic and on contexts, by size and by bytes; waiting for signals. */
#include "check.h"

static const int lengths[] = {1, 0, 33, 7};
#define ROOM 40

#define TYPES RMA_TYPES
#define BODY "signal_body.h"
#include "forms.h"

static unsigned char dest[1024];
static uint64_t flag;

#define TEST(SIZE, BYTES)                                                                                              \
    static void size##SIZE(void)                                                                                       \
    {                                                                                                                  \
        unsigned char mine[1024];                                                                                      \
        int to = (me + 1) % npes, from = (me + npes - 1) % npes;                                                       \
        for (uint64_t form = 0; form < 4; form++) {                                                                    \
            for (size_t i = 0; i < sizeof mine; i++) {                                                                 \
                mine[i] = (unsigned char)value_of(me, form, i);                                                        \
                dest[i] = 0;                                                                                           \
            }                                                                                                          \
            flag = 0;                                                                                                  \
            size_t length = 5 + form;                                                                                  \
            shmem_barrier_all();                                                                                       \
            switch (form) {                                                                                            \
            case 0:                                                                                                    \
                shmem_put##SIZE##_signal(dest, mine, length, &flag, 5 + form, SHMEM_SIGNAL_SET, to);                   \
                break;                                                                                                 \
            case 1:                                                                                                    \
                shmem_ctx_put##SIZE##_signal(SHMEM_CTX_DEFAULT, dest, mine, length, &flag, 5 + form, SHMEM_SIGNAL_ADD, to); \
                break;                                                                                                 \
            case 2:                                                                                                    \
                shmem_put##SIZE##_signal_nbi(dest, mine, length, &flag, 5 + form, SHMEM_SIGNAL_ADD, to);               \
                break;                                                                                                 \
            default:                                                                                                   \
                shmem_ctx_put##SIZE##_signal_nbi(SHMEM_CTX_DEFAULT, dest, mine, length, &flag, 5 + form,               \
                                                 SHMEM_SIGNAL_SET, to);                                                \
            }                                                                                                          \
            EQUAL("shmem_put" #SIZE "_signal", "signal", 5 + form, shmem_signal_wait_until(&flag, SHMEM_CMP_NE, 0));   \
            for (size_t i = 0; i < sizeof dest; i++)                                                                   \
                SAME(unsigned char, "shmem_put" #SIZE "_signal", i,                                                    \
                     i < length * BYTES ? (unsigned char)value_of(from, form, i) : 0, dest[i]);                        \
            shmem_barrier_all();                                                                                       \
        }                                                                                                              \
    }

SIZES(TEST)
TEST(mem, 1)

int main(void)
{
    begin();
    all_forms();
#define RUN(SIZE, BYTES) size##SIZE();
    SIZES(RUN)
    sizemem();

    /* All comparisons; the value that is given is the one that made it true. */
    const int cmps[][3] = {{SHMEM_CMP_EQ, 5, 5}, {SHMEM_CMP_NE, 6, 5}, {SHMEM_CMP_GT, 9, 8}, {SHMEM_CMP_GE, 9, 9}, {SHMEM_CMP_LT, 3, 9}, {SHMEM_CMP_LE, 2, 2}};
    for (int i = 0; i < 6; i++) {
        shmem_barrier_all();
        shmem_putmem_signal(NULL, NULL, 0, &flag, (uint64_t)cmps[i][1], SHMEM_SIGNAL_SET, (me + 1) % npes);
        shmem_quiet();
        EQUAL("shmem_signal_wait_until", "value", cmps[i][1], shmem_signal_wait_until(&flag, cmps[i][0], (uint64_t)cmps[i][2]));
    }
    /* All add to one. */
    shmem_barrier_all();
    flag = 0;
    shmem_barrier_all();
    for (int i = 0; i < 100; i++)
        shmem_putmem_signal(dest + me, &i, 1, &flag, 1, SHMEM_SIGNAL_ADD, i % npes);
    shmem_quiet();
    uint64_t expected = 0;
    for (int i = 0; i < 100; i++)
        expected += i % npes == me ? (uint64_t)npes : 0;
    EQUAL("shmem_signal_wait_until", "sum", expected, shmem_signal_wait_until(&flag, SHMEM_CMP_GE, expected));
    return end();
}
