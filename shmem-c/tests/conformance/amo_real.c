/* pes: 1 2 3 4 5 */
/* Atomic operations: real types, which have fetch, set and swap; typed, generic and on contexts. */
#include "check.h"

#define TYPES AMO_REAL_TYPES
#define INTEGER_PART NOTHING
#define INTEGER_RACE NOTHING
#define INTEGER_RESULT NOTHING
#define BITWISE_PART NOTHING
#include "amo_parts.h"
#define BODY "amo_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
