/* pes: 1 2 3 5 */
/* wait_until and test: all types and comparisons, typed and generic. */
#include "check.h"

#ifdef LEGACY
#define TYPES AMO_BASE_TYPES
#else
#define TYPES AMO_TYPES
#endif
#define NO_CONTEXT
#define BODY "wait_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();

    /* Of signed types, -1 is less than 0; of unsigned ones it is the largest. */
    static long number;
    static unsigned long natural;
    number = -1;
    natural = (unsigned long)-1;
    TRUE_THAT("shmem_long_test", shmem_long_test(&number, SHMEM_CMP_LT, 0));
    TRUE_THAT("shmem_ulong_test", shmem_ulong_test(&natural, SHMEM_CMP_GT, 0));
    TRUE_THAT("shmem_ulong_test", !shmem_ulong_test(&natural, SHMEM_CMP_LT, 1));
    return end();
}
