/* pes: 1 3 */
/* since: 1.5 */
/* Old names, typed and generic, of all types of atomic operations. */
#include "old_generic_body.h"
