/* pes: 1 2 5 */
/* since: 1.5 */
/* Nonblocking fetching atomic operations: types with bitwise operations; typed, generic and on contexts. */
#include "check.h"

#define TYPES AMO_BITWISE_TYPES
#define CALLS 9
#define INTEGER_NBI INTEGERS_NBI
#define INTEGER_MODEL INTEGERS_MODEL
#define BITWISE_NBI BITS_NBI
#define BITWISE_MODEL BITS_MODEL
#include "amo_parts.h"
#define BODY "amo_nbi_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
