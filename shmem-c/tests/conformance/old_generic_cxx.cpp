/* pes: 1 3 */
/* since: 1.5 */
/* Old generic names, of all types of atomic operations. */
#include "old_generic_body.h"
