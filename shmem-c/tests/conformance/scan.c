/* pes: 1 2 3 5 */
/* since: 1.6 */
/* Inclusive and exclusive scans: all types, typed and generic, in place and not. */
#include "team_reduce.h"

SIGNED_TYPES(SUMS)
BIT_TYPES(SUMS)
REAL_TYPES(SUMS)
COMPLEX_TYPES(PAIR_SUMS)

static void all(void)
{
#undef SCAN
#define SCAN(NAME, TYPE, KIND) NAME##_scan();
    SIGNED_TYPES(SUMS)
    BIT_TYPES(SUMS)
    REAL_TYPES(SUMS)
    COMPLEX_TYPES(PAIR_SUMS)
}

int main(void)
{
    begin();
    OVER_TEAMS(all);
    return end();
}
