/* pes: 3 */
/* since: 1.5 */
/* Reductions of teams: all types and operations, from C++. */
#include "team_reduce.h"

BIT_TYPES(BITWISE)
SIGNED_TYPES(ORDERED)
BIT_TYPES(ORDERED)
REAL_TYPES(ORDERED)
SIGNED_TYPES(ARITHMETIC)
BIT_TYPES(ARITHMETIC)
REAL_TYPES(ARITHMETIC)
COMPLEX_TYPES(PAIRS)

static void all(void)
{
#undef REDUCE
#define REDUCE(NAME, TYPE, OP, KIND) NAME##_##OP();
    BIT_TYPES(BITWISE)
    SIGNED_TYPES(ORDERED)
    BIT_TYPES(ORDERED)
    REAL_TYPES(ORDERED)
    SIGNED_TYPES(ARITHMETIC)
    BIT_TYPES(ARITHMETIC)
    REAL_TYPES(ARITHMETIC)
    COMPLEX_TYPES(PAIRS)
}

int main()
{
    begin();
    OVER_TEAMS(all);
    return end();
}
