/* pes: 1 3 */
/* Atomic operations from C++: real types, which have fetch, set and swap. */
#include "check.h"

#define TYPES AMO_REAL_TYPES
#define INTEGER_PART NOTHING
#define INTEGER_RACE NOTHING
#define INTEGER_RESULT NOTHING
#define BITWISE_PART NOTHING
#include "amo_parts.h"
#define BODY "amo_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
