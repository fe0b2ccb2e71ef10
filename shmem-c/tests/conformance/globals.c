/* pes: 1 2 3 5 */
/* Globals are symmetric: with initial values and without, of one byte and of megabytes, static ones in functions,
 * arrays, structures, in sections of their own; they keep what was written before the library began. */
#include "check.h"

#define LARGE ((size_t)3 << 20)

struct record {
    char tag;
    double value;
    short tail[3];
};

int initialised = 1234567;
static long initialised_local = -5;
char zero_byte;
static char zeros[LARGE];
static struct record records[3] = {{'a', 1.5, {1, 2, 3}}, {'b', 2.5, {4, 5, 6}}, {'c', 3.5, {7, 8, 9}}};
static int table[4][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
static const long constant[4] UNUSED = {10, 20, 30, 40};
static long aligned __attribute__((aligned(4096)));
static long in_section __attribute__((section("own_data"))) = 77;
static long *pointer = &initialised_local;
static long early;
static unsigned char filled[LARGE / 2] = {1, 2, 3, [LARGE / 2 - 1] = 9};

__attribute__((constructor)) static void before_main(void)
{
    early = 4711;
    zeros[LARGE / 2] = 'e';
}

static long *counter(void)
{
    static long count = 40;
    count += 2;
    return &count;
}

int main(int argc, char **argv)
{
    (void)argv;
    long *count = counter();
    initialised += argc;
    zeros[17] = 'z';
    begin();
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    EQUAL("shmem_init", "global that was written before", 1234568, initialised);
    EQUAL("shmem_init", "global that a constructor wrote", 4711, early);
    EQUAL("shmem_init", "static of a function", 42, *count);
    EQUAL("shmem_init", "byte of .bss that was written before", 'z', zeros[17]);
    EQUAL("shmem_init", "byte of .bss that a constructor wrote", 'e', zeros[LARGE / 2]);
    EQUAL("shmem_init", "pointer to a global", -5, *pointer);
    EQUAL("shmem_init", "end of a large initialised array", 9, filled[LARGE / 2 - 1]);

    /* Reading what is there from the beginning. */
    EQUAL("shmem_int_g", "initial value", 1234568, shmem_int_g(&initialised, to));
    EQUAL("shmem_long_g", "initial value", -5, shmem_long_g(pointer, to));
    EQUAL("shmem_long_g", "value of a section of its own", 77, shmem_long_g(&in_section, to));
    EQUAL("shmem_double_g", "field of a record", 5, 2 * shmem_double_g(&records[1].value, to));
    EQUAL("shmem_int_g", "element of a table", 9, shmem_int_g(&table[1][3], to));
#ifndef LEGACY
    EQUAL("shmem_long_g", "constant", 30, shmem_long_g(&constant[2], to));
#endif
    EQUAL("shmem_char_g", "byte that a constructor wrote", 'e', shmem_char_g(&zeros[LARGE / 2], to));
    shmem_barrier_all();

    /* Writing each kind; the neighbours of what is written stay. */
    shmem_int_p(&initialised, me, to);
    shmem_char_p(&zero_byte, (char)(me + 1), to);
    shmem_short_p(&records[2].tail[1], (short)(me + 100), to);
    shmem_int_p(&table[2][2], me + 200, to);
    shmem_long_p(&aligned, me + 300, to);
    shmem_long_p(&in_section, me + 400, to);
    shmem_long_p(count, me + 500, to);
    shmem_long_p(pointer, me + 600, to);
    shmem_uchar_p(&filled[LARGE / 2 - 1], (unsigned char)(me + 7), to);
    shmem_barrier_all();
    EQUAL("shmem_int_p", "initialised global", from, initialised);
    EQUAL("shmem_char_p", "byte of .bss", from + 1, zero_byte);
    EQUAL("shmem_short_p", "field of a record", from + 100, records[2].tail[1]);
    EQUAL("shmem_short_p", "field beside it", 7, records[2].tail[0]);
    EQUAL("shmem_short_p", "field beside it", 9, records[2].tail[2]);
    EQUAL("shmem_int_p", "element of a table", from + 200, table[2][2]);
    EQUAL("shmem_int_p", "element beside it", 0, table[2][1] + table[2][3]);
    EQUAL("shmem_long_p", "aligned global", from + 300, aligned);
    EQUAL("shmem_long_p", "global of a section of its own", from + 400, in_section);
    EQUAL("shmem_long_p", "static of a function", from + 500, *count);
    EQUAL("shmem_long_p", "through a pointer", from + 600, initialised_local);
    EQUAL("shmem_uchar_p", "end of a large array", from + 7, filled[LARGE / 2 - 1]);
    EQUAL("counter", "static of a function after", from + 502, *counter());

    /* Megabytes, whole. */
    char *mine = (char *)malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        mine[i] = (char)value_of(me, 1, i / 16);
    shmem_barrier_all();
    shmem_putmem(zeros, mine, LARGE, to);
    shmem_barrier_all();
    for (size_t i = 0; i < LARGE; i += 37)
        SAME(char, "shmem_putmem", i, value_of(from, 1, i / 16), zeros[i]);
    /* A global as the source, the heap as the destination, and back. */
    char *heap = (char *)room(LARGE);
    shmem_putmem(heap, zeros, LARGE, to);
    shmem_barrier_all();
    memset(zeros, 0, LARGE);
    shmem_getmem(zeros, heap, LARGE, to);
    for (size_t i = 0; i < LARGE; i += 37)
        SAME(char, "shmem_getmem", i, value_of(from, 1, i / 16), zeros[i]);

    /* As everywhere: atomic operations, waiting, locks, pointers. */
    static long word, lock, protected_count;
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_add(&word, me + 1, pe);
    shmem_quiet();
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, (long)npes * (npes + 1) / 2);
    shmem_set_lock(&lock);
    shmem_long_p(&protected_count, shmem_long_g(&protected_count, 0) + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    EQUAL("shmem_set_lock", "count", npes, shmem_long_g(&protected_count, 0));
    long *there = (long *)shmem_ptr(&word, to);
    if (there)
        EQUAL("shmem_ptr", "value", (long)npes * (npes + 1) / 2, *there);
    TRUE_THAT("shmem_addr_accessible", shmem_addr_accessible(&word, to));
    TRUE_THAT("shmem_addr_accessible", shmem_addr_accessible(&zeros[LARGE - 1], to));
    free(mine);
    return end();
}
