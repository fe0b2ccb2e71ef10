/* pes: 1 3 */
/* Atomic operations from C++: integer types. */
#include "check.h"

#define TYPES AMO_BASE_TYPES
#define INTEGER_PART INTEGERS
#define INTEGER_RACE INTEGERS_AT_ONCE
#define INTEGER_RESULT INTEGERS_AFTER
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
