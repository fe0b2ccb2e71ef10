/* pes: 1 2 5 */
/* since: 1.5 */
/* Nonblocking fetching atomic operations: integer types, in C++; typed, generic and on contexts. */
#include "check.h"

#define TYPES AMO_BASE_TYPES
#define CALLS 6
#define INTEGER_NBI INTEGERS_NBI
#define INTEGER_MODEL INTEGERS_MODEL
#define BITWISE_NBI NOTHING
#define BITWISE_MODEL NOTHING
#include "amo_parts.h"
#define BODY "amo_nbi_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
