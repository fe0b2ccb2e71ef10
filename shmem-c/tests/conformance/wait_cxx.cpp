/* pes: 2 */
/* wait_until and test from C++. */
#include "check.h"

#define TYPES AMO_BASE_TYPES
#define NO_CONTEXT
#define BODY "wait_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
