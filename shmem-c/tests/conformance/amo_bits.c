/* pes: 1 2 3 4 5 */
/* Atomic operations: types that have and, or and xor; typed, generic and on contexts. */
#include "check.h"

#define TYPES AMO_BITWISE_TYPES
#define INTEGER_PART INTEGERS
#define INTEGER_RACE INTEGERS_AT_ONCE
#define INTEGER_RESULT INTEGERS_AFTER
#define BITWISE_PART BITS
#include "amo_parts.h"
#define BODY "amo_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
