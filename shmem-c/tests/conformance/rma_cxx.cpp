/* pes: 1 3 */
/* The same from C++: overloads instead of C11's generic selection. */
#include "check.h"

static const int lengths[] = {0, 1, 2, 3, 8, 17, 64};
#define ROOM 120

#define TYPES RMA_BASE_TYPES
#define BODY "rma_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
