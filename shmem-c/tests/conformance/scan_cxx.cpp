/* pes: 3 */
/* since: 1.6 */
/* Inclusive and exclusive scans: all types, from C++. */
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

int main()
{
    begin();
    OVER_TEAMS(all);
    return end();
}
