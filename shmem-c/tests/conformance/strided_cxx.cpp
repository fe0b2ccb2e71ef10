/* pes: 2 */
/* iput and iget from C++. */
#include "check.h"

#define ROOM 1400
#define SHAPES 3
static const int shapes[SHAPES][3] = {{1, 2, 30}, {3, 1, 33}, {129, 2, 5}};

#define TYPES RMA_BASE_TYPES
#define BODY "strided_body.h"
#include "forms.h"

int main()
{
    begin();
    all_forms();
    return end();
}
