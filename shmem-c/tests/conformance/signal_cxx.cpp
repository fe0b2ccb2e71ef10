/* pes: 2 */
/* since: 1.5 */
/* Puts with signals from C++. */
#include "check.h"

static const int lengths[] = {1, 0, 33, 7};
#define ROOM 40

#define TYPES RMA_BASE_TYPES
#define BODY "signal_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
