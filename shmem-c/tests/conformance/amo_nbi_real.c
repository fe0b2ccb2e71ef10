/* pes: 1 2 5 */
/* since: 1.5 */
/* Nonblocking fetching atomic operations: real types; typed, generic and on contexts. */
#include "check.h"

#define TYPES AMO_REAL_TYPES
#define CALLS 2
#define INTEGER_NBI NOTHING
#define INTEGER_MODEL NOTHING
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
