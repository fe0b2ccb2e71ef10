/* pes: 3 */
/* since: 1.5 */
/* The collectives of teams from C++. */
#include "team_collective.h"

#define TYPES RMA_BASE_TYPES
#define NO_CONTEXT
#define BODY "team_body.h"
#include "forms.h"

int main()
{
    begin();
    take(SHMEM_TEAM_WORLD);
    all_forms();
    return end();
}
