/* pes: 1 2 3 5 */
/* since: 1.5 */
/* Reductions of teams: all types and operations, typed and generic, in place and not. */
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

int main(void)
{
    begin();
    OVER_TEAMS(all);
    return end();
}
