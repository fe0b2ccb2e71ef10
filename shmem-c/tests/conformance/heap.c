/* pes: 1 2 3 5 */
/* says: shmem_malloc: no room for .*; set SHMEM_SYMMETRIC_SIZE= */
/* The symmetric heap: the same offsets everywhere, no overlaps, alignment, contents that outlive a new size, zeros. */
#include "check.h"

#define OBJECTS 64

struct object {
    unsigned char *place;
    size_t size;
    uint64_t seed;
};

static struct object objects[OBJECTS];

static void fill(struct object *object)
{
    for (size_t i = 0; i < object->size; i++)
        object->place[i] = (unsigned char)value_of(me, object->seed, i);
}

static void verify(const char *routine, const struct object *object, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char expected = (unsigned char)value_of(me, object->seed, i);
        if (object->place[i] != expected) {
            report_bytes(routine, i, &expected, &object->place[i], 1);
            return;
        }
    }
}

/* What this PE has there, seen by its neighbour. */
static void verify_remotely(const char *routine, const struct object *object)
{
    int pe = (me + 1) % npes;
    for (size_t i = 0; i < object->size; i += 1 + object->size / 7) {
        unsigned char got = shmem_uchar_g(&object->place[i], pe);
        unsigned char expected = (unsigned char)value_of(pe, object->seed, i);
        if (got != expected) {
            report_bytes(routine, i, &expected, &got, 1);
            return;
        }
    }
}

int main(void)
{
    begin();
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    TRUE_THAT("shmem_malloc", shmem_malloc(0) == NULL);
    TRUE_THAT("shmem_calloc", shmem_calloc(0, 8) == NULL);
    TRUE_THAT("shmem_calloc", shmem_calloc(8, 0) == NULL);
    TRUE_THAT("shmem_align", shmem_align(64, 0) == NULL);
    TRUE_THAT("shmem_realloc", shmem_realloc(NULL, 0) == NULL);
#endif
    shmem_free(NULL);

    for (size_t alignment = sizeof(void *); alignment <= (size_t)1 << 16; alignment *= 2)
        for (size_t size = 1; size <= 1000; size = size * 10 + 1) {
            unsigned char *place = shmem_align(alignment, size);
            TRUE_THAT("shmem_align", place != NULL && (uintptr_t)place % alignment == 0);
            if (place) {
                memset(place, 1, size);
                shmem_free(place);
            }
        }
    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        void *place = shmem_malloc(size);
        TRUE_THAT("shmem_malloc", place != NULL && (uintptr_t)place % sizeof(long) == 0);
        memset(place, 0xA5, size);
        shmem_free(place);
        /* Zeros also where something else was. */
        unsigned char *zeros = shmem_calloc(size, 1);
        TRUE_THAT("shmem_calloc", zeros != NULL);
        for (size_t i = 0; zeros && i < size; i++)
            if (zeros[i]) {
                unsigned char zero = 0;
                report_bytes("shmem_calloc", i, &zero, &zeros[i], 1);
                break;
            }
        shmem_free(zeros);
    }
    long double *pairs = shmem_calloc(33, sizeof(long double));
    TRUE_THAT("shmem_calloc", pairs != NULL && pairs[0] == 0 && pairs[32] == 0);
    shmem_free(pairs);

    /* Many objects of all sizes; the same on all PEs. */
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct object *object = &objects[mix(seed++) % OBJECTS];
        size_t most = (size_t)1 << (1 + mix(seed++) % 16);
        size_t size = 1 + mix(seed++) % most;
        if (!object->place) {
            size_t alignment = sizeof(void *) << mix(seed++) % 8;
            switch (mix(seed++) % 3) {
            case 0:
                object->place = shmem_malloc(size);
                break;
            case 1:
                object->place = shmem_align(alignment, size);
                TRUE_THAT("shmem_align", (uintptr_t)object->place % alignment == 0);
                break;
            default:
                object->place = shmem_calloc(1, size);
            }
            TRUE_THAT("shmem_malloc, shmem_align, shmem_calloc", object->place != NULL);
        } else if (mix(seed++) % 3) {
            verify("shmem_malloc", object, object->size);
            object->place = shmem_realloc(object->place, size);
            TRUE_THAT("shmem_realloc", object->place != NULL);
            verify("shmem_realloc", object, object->size < size ? object->size : size);
        } else {
            verify("shmem_free", object, object->size);
            shmem_free(object->place);
            object->place = NULL;
            continue;
        }
        object->size = size;
        object->seed = seed++;
        fill(object);
        if (round % 16 == 0) {
            shmem_barrier_all();
            for (int i = 0; i < OBJECTS; i++)
                if (objects[i].place)
                    verify_remotely("shmem_malloc", &objects[i]);
            shmem_barrier_all();
        }
    }
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].place) {
            verify("shmem_malloc", &objects[i], objects[i].size);
            shmem_free(objects[i].place);
        }

    /* realloc of nothing is malloc; realloc to nothing is free. */
    unsigned char *place = shmem_realloc(NULL, 100);
    TRUE_THAT("shmem_realloc", place != NULL);
    memset(place, 7, 100);
    place = shmem_realloc(place, 1000000);
    TRUE_THAT("shmem_realloc", place != NULL && place[0] == 7 && place[99] == 7);
    place = shmem_realloc(place, 10);
    TRUE_THAT("shmem_realloc", place != NULL && place[0] == 7 && place[9] == 7);
    TRUE_THAT("shmem_realloc", shmem_realloc(place, 0) == NULL);

    /* A megabyte, again and again: what is freed comes back. */
    for (int i = 0; i < 200; i++) {
        char *large = shmem_malloc((size_t)8 << 20);
        TRUE_THAT("shmem_free", large != NULL);
        if (large)
            large[((size_t)8 << 20) - 1] = 1;
        shmem_free(large);
    }
    /* More than there is. */
    TRUE_THAT("shmem_malloc", shmem_malloc((size_t)1 << 50) == NULL);
    TRUE_THAT("shmem_calloc", shmem_calloc((size_t)1 << 40, (size_t)1 << 40) == NULL);
    return end();
}
