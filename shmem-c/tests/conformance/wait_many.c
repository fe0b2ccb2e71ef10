/* pes: 1 2 4 */
/* since: 1.5 */
/* Waiting for all, any and some of several values, and testing them: all types, typed and generic. */
#include "check.h"

#define COUNT 12
#define DO_AMO(NAME, word, value, pe) shmem_##NAME##_atomic_set(word, value, pe)
#define TYPES AMO_TYPES
#define NO_CONTEXT
#define BODY "wait_many_body.h"
#include "forms.h"

int main(void)
{
    begin();
    all_forms();
    return end();
}
