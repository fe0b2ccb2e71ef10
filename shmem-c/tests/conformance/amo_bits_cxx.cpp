/* pes: 1 3 */
/* Atomic operations from C++: types that have and, or and xor. */
#include "check.h"

/* Types that coincide have one overload. */
#define AMO_CXX_BITWISE(EACH)                                                                                          \
    EACH(uint, unsigned int)                                                                                           \
    EACH(ulong, unsigned long)                                                                                         \
    EACH(ulonglong, unsigned long long)                                                                                \
    AMO_BITWISE_SIZED_TYPES(EACH)
#define TYPES AMO_CXX_BITWISE
#define INTEGER_PART INTEGERS
#define INTEGER_RACE INTEGERS_AT_ONCE
#define INTEGER_RESULT INTEGERS_AFTER
#define BITWISE_PART BITS
#include "amo_parts.h"
#define BODY "amo_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
