/* pes: 1 2 3 5 */
/* put, get, p, g and the nonblocking ones: all types, typed, generic and on contexts. */
#include "check.h"

static const int lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100};
#define ROOM 520

#define TYPES RMA_TYPES
#define BODY "rma_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
